"""Becomes a program that ends when the process which started it does.

Run by its file's name, with the starting process's number and the program's command line: nothing
but the standard library is loaded before the program is.
"""

from __future__ import annotations

import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # of Linux's prctl


def bound_command(command: list[str]) -> list[str]:
    """The command line of a program that is not to outlive this process, where Linux can see to it.

    A task whose launcher was killed would go on alone otherwise, and hold its port against the
    task that replaces it.
    """
    if not sys.platform.startswith("linux"):
        return command
    return [sys.executable, "-S", "-E", __file__, str(os.getpid()), *command]


def _become(parent: int, command: list[str]) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before it could be watched
        sys.exit(128 + signal.SIGKILL)
    os.execvp(command[0], command)


if __name__ == "__main__":
    _become(int(sys.argv[1]), sys.argv[2:])
