"""Sessions around a session: one calls hooks, one minds a coordinator, one recovers from failures.

A monitored session is `_RecoverableSession(_CoordinatedSession(_HookedSession(tf.Session)))`.
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from penstock import errors, proto
from penstock.platform import logging
from penstock.train.coordinator import Coordinator
from penstock.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

# Errors that mean that a task was restarted: a new session can go on from the last checkpoint.
_PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)

_PREEMPTED = (
    "This may be due to a preemption in a connected worker or parameter server. {} "
    "This error may also occur due to a gRPC failure caused by high memory or network bandwidth "
    "usage in the parameter servers. If this error occurs repeatedly, try increasing the number "
    "of parameter servers assigned to the job. Error: %s"
)
_RENEWED = _PREEMPTED.format(
    "The current session will be closed and a new session will be created."
)


class SessionCreator(ABC):
    """Makes sessions: the first one, and new ones after failures."""

    @abstractmethod
    def create_session(self) -> Any:
        """A new session, ready for use."""
        raise NotImplementedError(f"create_session is not implemented for {self}.")


class StepContext:
    """What the function given to `run_step_fn` works with."""

    def __init__(self, session: Any, run_with_hooks_fn: Callable[..., Any]):
        self._session = session
        self._run_with_hooks_fn = run_with_hooks_fn

    @property
    def session(self) -> Any:
        """The bare session; its steps call no hooks."""
        return self._session

    def run_with_hooks(self, *args: Any, **kwargs: Any) -> Any:
        """Runs a step as `MonitoredSession.run` does."""
        return self._run_with_hooks_fn(*args, **kwargs)

    def request_stop(self) -> None:
        """Ends the training loop."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class _WrappedSession:
    """A session that passes everything on to another one."""

    def __init__(self, sess: Any):
        self._sess = sess
        self._wrapped_is_stoppable = isinstance(sess, _WrappedSession)

    @property
    def graph(self) -> Any:
        return self._sess.graph

    @property
    def sess_str(self) -> str:
        return str(self._sess.sess_str)

    def should_stop(self) -> bool:
        """Whether the training loop is to end; true of a closed session."""
        if self._check_stop() or not self._sess:
            return True
        return self._wrapped_is_stoppable and self._sess.should_stop()

    def _check_stop(self) -> bool:
        """Whether this wrapper itself asks to stop."""
        return False

    def close(self) -> None:
        """Closes the wrapped session; a failure of its tasks doesn't matter any more."""
        if not self._sess:
            return
        try:
            self._sess.close()
        except _PREEMPTION_ERRORS as error:
            logging.warning(
                "An error occurred when attempting to close the session. This may be due to a "
                "preemption in a connected worker or parameter server. Error: %s",
                error,
            )
        finally:
            self._sess = None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return self._sess.run(*args, **kwargs)

    def run_step_fn(
        self,
        step_fn: Callable[[Any], Any],
        raw_session: Any,
        run_with_hooks: Callable[..., Any] | None,
    ) -> Any:
        """Calls `step_fn` with a `StepContext`."""
        return step_fn(StepContext(raw_session, run_with_hooks or self.run))


class _RecoverableSession(_WrappedSession):
    """Makes a new session, and runs the step again, when one fails because a task was restarted.

    It does so without end, so that whoever looks at the job has to be told what it waits for.
    """

    def __init__(self, sess_creator: Any):
        self._sess_creator = sess_creator
        super().__init__(self._create_session())

    def _create_session(self) -> Any:
        while True:
            try:
                return self._sess_creator.create_session()
            except _PREEMPTION_ERRORS as error:
                logging.warning(
                    "An error was raised while a session was being created. "
                    + _PREEMPTED.format("A new session will be created."),
                    error,
                )

    def _check_stop(self) -> bool:
        if not self._sess:
            return True
        try:
            return bool(self._sess._check_stop())
        except _PREEMPTION_ERRORS as error:
            logging.warning(
                "An error was raised while considering whether the session is complete. "
                + _RENEWED,
                error,
            )
            self.close()
            self._sess = self._create_session()
            return False
        except Exception:
            return True  # the next run() raises it again

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        return self._until_done(
            lambda sess: sess.run(
                fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
            )
        )

    def run_step_fn(
        self,
        step_fn: Callable[[Any], Any],
        raw_session: Any,
        run_with_hooks: Callable[..., Any] | None,
    ) -> Any:
        def work(sess: Any) -> Any:
            # After a failure `raw_session` is closed: the new one is at its creator.
            current = getattr(self._sess_creator, "tf_sess", None) or raw_session
            return sess.run_step_fn(step_fn, current, sess.run)

        return self._until_done(work)

    def _until_done(self, work: Callable[[Any], Any]) -> Any:
        while True:
            try:
                if not self._sess:
                    self._sess = self._create_session()
                return work(self._sess)
            except _PREEMPTION_ERRORS as error:
                logging.warning("An error was raised. " + _RENEWED, error)
                self.close()
                self._sess = None


class _CoordinatedSession(_WrappedSession):
    """Stops when its coordinator does, and raises what the coordinator's threads failed with."""

    def __init__(self, sess: Any, coord: Coordinator, stop_grace_period_secs: float = 120):
        super().__init__(sess)
        self._coord = coord
        self._stop_grace_period_secs = stop_grace_period_secs

    def _check_stop(self) -> bool:
        self._coord.raise_requested_exception()
        return self._coord.should_stop()

    def close(self) -> None:
        self._coord.request_stop()
        try:
            self._coord.join(
                stop_grace_period_secs=self._stop_grace_period_secs, ignore_live_threads=True
            )
        finally:
            # A failure of the session is a consequence of what `join` raises, if anything.
            with contextlib.suppress(Exception):
                super().close()

    def run(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._sess.run(*args, **kwargs)
        except _PREEMPTION_ERRORS:
            raise
        except Exception as error:
            # A task that went away in a thread is the cause of it all, and can be recovered from;
            # any other error of a thread says less than the step's own.
            try:
                self._coord.raise_requested_exception()
            except _PREEMPTION_ERRORS:
                raise
            except Exception:
                raise error from None
            raise


class _HookedSession(_WrappedSession):
    """Calls hooks around every step."""

    def __init__(self, sess: Any, hooks: Sequence[SessionRunHook]):
        super().__init__(sess)
        self._hooks = hooks
        self._should_stop = False

    def _check_stop(self) -> bool:
        return self._should_stop

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(
            original_args=SessionRunArgs(fetches, feed_dict), session=self._sess
        )
        options = options or proto.RunOptions()
        run_metadata = run_metadata or proto.RunMetadata()
        all_fetches: dict[Any, Any] = {"caller": fetches}
        feed_dict = self._call_hook_before_run(context, all_fetches, feed_dict, options)
        outputs = self._sess.run(
            fetches=all_fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
        )
        for hook in self._hooks:
            values = SessionRunValues(outputs.get(hook), options, run_metadata)
            hook.after_run(context, values)
        self._should_stop = self._should_stop or context.stop_requested
        return outputs["caller"]

    def _call_hook_before_run(
        self, run_context: SessionRunContext, fetch_dict: Any, user_feed_dict: Any, options: Any
    ) -> Any:
        """Adds the requests of the hooks to the fetches and options; returns what to feed."""
        hook_feeds: dict[Any, Any] = {}
        for hook in self._hooks:
            request = hook.before_run(run_context)
            if request is None:
                continue
            if request.fetches is not None:
                fetch_dict[hook] = request.fetches
            if request.feed_dict:
                _check_disjoint(hook_feeds, request.feed_dict, "Same tensor is fed by two hooks.")
                hook_feeds.update(request.feed_dict)
            if request.options:
                _merge_run_options(options, request.options)
        if not hook_feeds:
            return user_feed_dict
        if user_feed_dict:
            _check_disjoint(
                user_feed_dict, hook_feeds, "Same tensor is fed by a SessionRunHook and user."
            )
            hook_feeds.update(user_feed_dict)
        return hook_feeds


def _check_disjoint(feeds: Any, others: Any, message: str) -> None:
    both = set(feeds) & set(others)
    if both:
        raise RuntimeError(f"{message} Conflict(s): {list(both)}")


def _merge_run_options(options: Any, incoming: Any) -> None:
    """Makes options ask for what either asks for."""
    for field in (
        "trace_level",
        "timeout_in_ms",
        "inter_op_thread_pool",
        "output_partition_graphs",
        "report_tensor_allocations_upon_oom",
    ):
        setattr(options, field, max(getattr(options, field), getattr(incoming, field)))
    watched = incoming.debug_options
    options.debug_options.debug_tensor_watch_opts.extend(watched.debug_tensor_watch_opts)
    if watched.reset_disk_byte_usage:
        options.debug_options.reset_disk_byte_usage = True
