"""Whether the behaviour of TensorFlow 2 is on: what `tensorflow.python.tf2` is asked for."""

from __future__ import annotations


def enabled() -> bool:
    """Whether programs run as in TensorFlow 2: never."""
    return False


def disable() -> None:
    """Nothing to do: programs run as in TensorFlow 1.x."""
