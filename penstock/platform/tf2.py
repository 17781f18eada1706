"""Whether the behaviour of TensorFlow 2 is on: what `tensorflow.python.tf2` is asked for."""

from __future__ import annotations

_is_enabled = False


def enabled() -> bool:
    """Whether `tf.enable_v2_behavior` has been called."""
    return _is_enabled


def enable() -> None:
    """Part of `tf.enable_v2_behavior`: lets `enabled` tell so."""
    global _is_enabled
    _is_enabled = True


def disable() -> None:
    """Part of `tf.disable_v2_behavior`: lets `enabled` tell so."""
    global _is_enabled
    _is_enabled = False
