"""What a training session calls around every step: `tf.train.SessionRunHook`."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["SessionRunArgs", "SessionRunContext", "SessionRunHook", "SessionRunValues"]


class SessionRunArgs(NamedTuple):
    """What a hook adds to a call of `run`: more fetches, feeds and options."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a step gave: the hook's own fetches, and the options and metadata of the run."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """The call of `run` that a hook is asked about."""

    def __init__(self, original_args: SessionRunArgs, session: Any):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """The arguments that the caller gave to `run`."""
        return self._original_args

    @property
    def session(self) -> Any:
        """The session that runs the step; steps run in it call no hooks."""
        return self._session

    @property
    def stop_requested(self) -> bool:
        """Whether a hook has asked to stop."""
        return self._stop_requested

    def request_stop(self) -> None:
        """Makes `should_stop()` of the session true."""
        self._stop_requested = True


class SessionRunHook:
    """A part of a training loop that is called around every step; override what you need.

    The order of calls: `begin`, `after_create_session`, then `before_run` and `after_run` around
    each step, and `end`, unless the loop ended with an error.
    """

    def begin(self) -> None:
        """Called once before the session exists: the last chance to add to the graph."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Called when a session has been made, and again after a recovery."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each step; what it returns is added to the arguments of `run`."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each step with the values that `before_run` asked for."""

    def end(self, session: Any) -> None:
        """Called at the end of the loop, unless it ended with an error."""
