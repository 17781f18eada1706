"""The configuration of sessions that are given none; `tf.config` changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import proto
from penstock.ir import defaults

_config = proto.ConfigProto()
_is_fixed = False
#: What else of the settings is forgotten when they start afresh.
_forgotten_with: list[Callable[[], None]] = []


def fix_settings() -> None:
    """From now on the devices and threads of eager operations are as they are."""
    global _is_fixed
    _is_fixed = True


def start_afresh() -> None:
    """Forgets all settings: those that TensorFlow has before it is told any hold again."""
    global _is_fixed
    _is_fixed = False
    _config.Clear()
    for forget in _forgotten_with:
        forget()


def forgotten_with_settings(forget: Callable[[], None]) -> Callable[[], None]:
    """Lets a function be called when the settings start afresh."""
    _forgotten_with.append(forget)
    return forget


def check_change(before: Any, after: Any, message: str) -> None:
    """Refuses to change a setting that eager operations have relied on already."""
    have_run = getattr(defaults.graph_at_start(), "has_run", False)
    if (_is_fixed or have_run) and before != after:
        raise RuntimeError(message)


def session_defaults() -> Any:
    """The ConfigProto that `tf.config` changes."""
    return _config


def new_session_config() -> Any:
    """A copy of it, for a session."""
    made = proto.ConfigProto()
    made.CopyFrom(_config)
    return made
