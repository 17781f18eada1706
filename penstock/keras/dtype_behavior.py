"""Whether layers have a type before they see inputs, and cast inputs to it, as in TensorFlow 2."""

from __future__ import annotations

from penstock.platform import tf2

__all__ = [
    "disable_v2_dtype_behavior",
    "enable_v2_dtype_behavior",
    "v2_dtype_behavior_enabled",
]


class _Choice:
    """What the program said; None leaves it to the version."""

    is_enabled: bool | None = None


def enable_v2_dtype_behavior() -> None:
    """Lets the type of layers be `floatx()` by default, and real inputs be cast to it."""
    _Choice.is_enabled = True


def disable_v2_dtype_behavior() -> None:
    """Lets layers take over the type of their inputs."""
    _Choice.is_enabled = False


def v2_dtype_behavior_enabled() -> bool:
    """Whether layers cast their inputs."""
    return tf2.enabled() if _Choice.is_enabled is None else _Choice.is_enabled


def chosen_dtype_behavior() -> bool | None:
    """What the program said, to come back to it."""
    return _Choice.is_enabled


def restore_dtype_behavior(chosen: bool | None) -> None:
    """Comes back to what `chosen_dtype_behavior` gave."""
    _Choice.is_enabled = chosen
