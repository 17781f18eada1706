"""A process that has loaded everything and starts tasks by forking: a start takes milliseconds.

It reads one request a line and answers each with one line; `tests/cluster/nursery.py` is the other
end. It must never run an operation or open a channel itself: threads don't survive a fork. When
its standard input ends, it kills all tasks that it has started.
"""

import atexit
import gc
import importlib
import json
import os
import select
import signal
import sys
import threading
from contextlib import suppress

import torch  # noqa: F401

import penstock  # noqa: F401
from penstock.distributed import cluster_task, grpc_door, local_master, remote_runtime  # noqa: F401

_PAUSE = 0.02  # seconds between two looks at whether tasks have ended


class _IsChild(Exception):
    """Raised in a new process, to get out of the zygote's loop."""

    def __init__(self, work):
        self.work = work


class Zygote:
    def __init__(self):
        self._running = set()
        self._ended = {}
        self._input = b""

    def serve(self):
        while True:
            self._reap()
            if not select.select([0], [], [], _PAUSE)[0]:
                continue
            data = os.read(0, 1 << 16)
            if not data:
                return
            *lines, self._input = (self._input + data).split(b"\n")
            for line in lines:
                answer = json.dumps(self._answer(json.loads(line))) + "\n"
                os.write(1, answer.encode())

    def _answer(self, request):
        if "start" in request:
            return self._start(**request["start"])
        if "signal" in request:
            return self._signal(*request["signal"])
        self._reap()
        return self._ended

    def _start(self, program, arguments, log, environment):
        assert threading.active_count() == 1
        pid = os.fork()
        if pid == 0:
            raise _IsChild((program, arguments, log, environment))
        self._running.add(pid)
        return pid

    def _signal(self, pid, number):
        self._reap()  # so that the number of a process that is gone is never signalled
        if pid in self._running:
            os.kill(pid, number)
        return pid in self._running

    def _reap(self):
        for pid in list(self._running):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                self._running.discard(pid)
                self._ended[pid] = os.waitstatus_to_exitcode(status)

    def end_all(self):
        for pid in self._running:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _become(program, arguments, log, environment):
    """Runs a program, "module:function", as the whole of this process."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (file, 1), (file, 2)):
        os.dup2(source, target)
    os.close(file)
    os.close(nothing)
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    module, _, function = program.partition(":")
    status = 0
    try:
        getattr(importlib.import_module(module), function)(*arguments)
    except SystemExit as end:
        status = int(end.code or 0)
    except BaseException as error:
        sys.last_value = error  # as the interpreter does
        sys.excepthook(type(error), error, error.__traceback__)
        status = 1
    # What the end of a program does, but for taking all modules apart, which takes seconds.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests to hand on
    zygote = Zygote()
    gc.freeze()  # what is loaded now is shared with all tasks
    os.write(1, b'"ready"\n')
    work = None
    try:
        zygote.serve()
    except _IsChild as child:
        work = child.work
    if work is not None:
        _become(*work)
    zygote.end_all()
    os._exit(0)


if __name__ == "__main__":
    main()
