"""The configuration of sessions that are given none; `tf.config` changes it."""

from __future__ import annotations

from typing import Any

from penstock import proto

_config = proto.ConfigProto()


def session_defaults() -> Any:
    """The ConfigProto that `tf.config` changes."""
    return _config


def new_session_config() -> Any:
    """A copy of it, for a session."""
    made = proto.ConfigProto()
    made.CopyFrom(_config)
    return made
