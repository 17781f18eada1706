"""`penstock tensorboard`: the real TensorBoard on the event files of a folder."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence

_INSTALL = "pip install 'penstock[tensorboard]'"


def start(logdir: str, arguments: Sequence[str]) -> int:
    """Becomes TensorBoard's process; returns the exit status only if that can't be.

    Args:
      logdir: the folder with event files; runs are its folders.
      arguments: TensorBoard's own, such as `--port 6006`.
    """
    if importlib.util.find_spec("tensorboard") is None:
        _say(f"TensorBoard is not installed: {_INSTALL}")
        return 1
    if not os.path.isdir(logdir):
        # TensorBoard waits for a folder to appear, which is right while a program starts.
        _say(f"there is no folder {logdir!r} yet")
    sys.stdout.flush()
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", logdir, *arguments]
    os.execv(sys.executable, command)


def _say(message: str) -> None:
    print(f"penstock tensorboard: {message}", file=sys.stderr, flush=True)
