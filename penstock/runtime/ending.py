"""The end of the program, while other threads still run steps: daemons, as queue runners are.

A kernel lets go of the interpreter while it computes. Where its thread wants it back after Python
has begun to end, the process is aborted, whatever its exit status was to be. So steps that are
under way are waited for before, and other threads begin none any more. What waits for something, a
queue say, is in no kernel and stays where it is.
"""

from __future__ import annotations

import atexit
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch

from penstock.runtime import observation
from penstock.runtime.observation import Listener

if TYPE_CHECKING:
    from penstock.runtime.compiled import CompiledStep

_LONGEST_KERNEL = 2.0  # seconds that the end of the program waits for one
_LOOK_SECONDS = 0.001

_PACKAGE = Path(__file__).parents[1]
#: Where the files are whose functions call kernels, and what plans are called.
_COMPUTING = (
    *(f"{_PACKAGE / layer}/" for layer in ("kernels", "runtime", "state")),
    f"{Path(torch.__file__).parent}/",
    "<penstock plan ",
)
#: The files among them whose functions wait.
_WAITING = tuple(
    str(_PACKAGE / name)
    for name in (
        "kernels/datasets/prefetching.py",
        "runtime/crew.py",
        "runtime/waits.py",
        "state/gates.py",
        "state/turns.py",
    )
)

_ending_thread: int | None = None  # which ends the program, once it does


class _LastSteps:
    """Lets the thread that ends the program run steps, as its handlers may want to."""

    def __init__(self, listener: Listener | None):
        self._listener = listener

    def run(
        self, step: CompiledStep, feeds: Sequence[Any], timeout: float | None
    ) -> tuple[Any, ...]:
        go_on()
        if self._listener is not None:
            return self._listener.run(step, feeds, timeout)
        return step.run_unseen(feeds, timeout)


def go_on() -> None:
    """Returns, unless another thread is ending the program: then never."""
    if _ending_thread is not None and _ending_thread != threading.get_ident():
        threading.Event().wait()


def begin() -> None:
    """Keeps all threads but the calling one from beginning steps: it ends the program."""
    global _ending_thread
    if _ending_thread is None:
        _ending_thread = threading.get_ident()
        observation.listen(_LastSteps(observation.listener))


@atexit.register
def _leave_kernels() -> None:
    begin()
    given_up = time.monotonic() + _LONGEST_KERNEL
    while time.monotonic() < given_up and any(map(_computes, _other_threads())):
        time.sleep(_LOOK_SECONDS)


def _other_threads() -> Iterator[FrameType]:
    own = threading.get_ident()
    return (frame for thread, frame in sys._current_frames().items() if thread != own)


def _computes(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith(_COMPUTING) and file not in _WAITING
