"""Jobs as processes: prefixed output, restarts, the end of those that serve, signals."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import SimpleQueue

import pytest

from penstock.cli import main
from penstock.distributed.launch.job import Job, JobRun, Task
from penstock.distributed.launch.loop import JobLoop, Printer
from penstock.distributed.launch.processes import (
    LocalTasks,
    free_addresses,
    kernel_threads_of,
    run_locally,
)

PROGRAM = """
import json, os, pathlib, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
print("hello from", task["type"])
if task["type"] == "ps":
    time.sleep(600)
marker = pathlib.Path(sys.argv[1])
if not marker.exists():
    marker.write_text("failed once")
    sys.exit(7)
"""


def test_a_job_with_a_worker_that_fails_once(tmp_path, capsys):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    addresses = free_addresses(2)
    job = Job({"ps": addresses[:1], "worker": addresses[1:]})
    command = [sys.executable, str(program), str(tmp_path / "marker")]
    printer = Printer(str(tmp_path / "logs"))
    tasks = LocalTasks(job, command, printer)
    assert JobLoop(JobRun(job, restarts=2), tasks, printer).run() == 0
    printed = capsys.readouterr()
    assert printed.out.count("[worker 0] hello from worker") == 2
    assert "[ps 0] hello from ps" in printed.out
    assert "worker 0 ended with status 7; it is started again" in printed.err
    assert all(process.poll() is not None for process in tasks._processes.values())
    assert (tmp_path / "logs" / "worker-0.log").read_text() == "hello from worker\n" * 2


@pytest.mark.parametrize(
    ("workers", "evaluator", "processors", "expected"),
    [(2, False, 2, 1), (2, False, 8, 4), (3, True, 8, 2), (5, False, 4, 1), (1, False, 6, 6)],
)
def test_tasks_share_the_processors(workers, evaluator, processors, expected):
    job = Job({"ps": ["h:0", "h:1"], "worker": ["h:2"] * workers}, evaluator=evaluator)
    assert kernel_threads_of(job, processors) == expected


@pytest.mark.parametrize("chosen", [None, "7"])
def test_a_task_learns_its_share_of_the_processors(chosen, monkeypatch, capsys):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if chosen is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", chosen)
    job = Job({"worker": free_addresses(1)})
    monkeypatch.setattr("penstock.distributed.launch.processes.processors", lambda: 3)
    command = [sys.executable, "-c", "import os; print(os.environ['OMP_NUM_THREADS'])"]
    assert run_locally(job, command) == 0
    assert f"[worker 0] {chosen or 3}\n" in capsys.readouterr().out


def test_a_job_that_fails(capsys):
    job = Job({"worker": free_addresses(1)})
    command = [sys.executable, "-c", "raise SystemExit(4)"]
    assert run_locally(job, command, restarts=0) == 4
    assert "the job has failed" in capsys.readouterr().err


def test_what_a_dead_task_has_started_goes_with_it(capsys):
    """A child holds the output: the end of its parent is seen all the same."""
    job = Job({"worker": free_addresses(1)})
    code = "import os, subprocess; subprocess.Popen(['sleep', '600']); os._exit(3)"
    assert run_locally(job, [sys.executable, "-c", code], restarts=0) == 3
    assert "status 3; the job has failed" in capsys.readouterr().err


LAUNCHER = """
import sys
from penstock.distributed.launch.job import Job
from penstock.distributed.launch.processes import free_addresses, run_locally
code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
sys.exit(run_locally(Job({"worker": free_addresses(2)}), [sys.executable, "-c", code]))
"""


def is_gone(process: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet has, too."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_who_ends_the_launcher_ends_the_job(number, status):
    launcher = subprocess.Popen(
        [sys.executable, "-c", LAUNCHER], stdout=subprocess.PIPE, text=True, errors="replace"
    )
    assert launcher.stdout is not None
    with launcher.stdout as lines:
        tasks = [int(lines.readline().split()[-1]) for _ in range(2)]
        os.kill(launcher.pid, number)
        assert launcher.wait(30) == status
    limit = time.monotonic() + 30
    while not all(map(is_gone, tasks)):
        assert time.monotonic() < limit, "tasks go on without their launcher"
        time.sleep(0.01)


class Scripted:
    """Tasks that end as they are told, in the order in which they are started."""

    def __init__(self, statuses):
        self._statuses = iter(statuses)
        self.started = []
        self.ended = SimpleQueue()
        self.over = False

    def start(self, task):
        self.started.append(task)
        self.ended.put((task, next(self._statuses)))

    def end_all(self):
        self.over = True


def test_the_loop_does_what_the_job_asks_for(capsys):
    job = Job({"worker": ["h:1"]})
    tasks = Scripted([-9, 0])
    assert JobLoop(JobRun(job), tasks, Printer()).run() == 0
    assert tasks.started == [Task("worker", 0)] * 2 and tasks.over
    assert "worker 0 ended with status -9; it is started again (failure 1)" in (
        capsys.readouterr().err
    )


def test_the_loop_can_be_in_another_thread():
    found = []
    job = Job({"worker": ["h:1"]})
    loop = JobLoop(JobRun(job), Scripted([0]), Printer())
    thread = threading.Thread(target=lambda: found.append(loop.run()))
    thread.start()
    thread.join(30)
    assert found == [0]


def test_a_program_that_is_not_there_is_not_started(capsys):
    assert main(["launch", "no_such_program.py"]) == 2
    assert "there is no file 'no_such_program.py'" in capsys.readouterr().err
