"""`tf.train.MonitoredSession`: a session that initializes, calls hooks, stops and recovers."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Sequence
from typing import Any

from penstock import errors
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.train.coordinator import Coordinator
from penstock.train.queue_runner import start_queue_runners
from penstock.train.recording_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from penstock.train.scaffold import Scaffold
from penstock.train.session_manager import SessionManager
from penstock.train.session_run_hook import SessionRunHook
from penstock.train.wrapped_sessions import (
    _PREEMPTION_ERRORS,
    SessionCreator,
    StepContext,
    _CoordinatedSession,
    _HookedSession,
    _RecoverableSession,
    _WrappedSession,
)

__all__ = [
    "USE_DEFAULT",
    "_PREEMPTION_ERRORS",
    "ChiefSessionCreator",
    "MonitoredSession",
    "MonitoredTrainingSession",
    "Scaffold",
    "SessionCreator",
    "SingularMonitoredSession",
    "WorkerSessionCreator",
    "_CoordinatedSession",
    "_HookedSession",
    "_RecoverableSession",
    "_WrappedSession",
]

#: Stands for an argument that was not given.
USE_DEFAULT = object()

_DEFAULT_SUMMARY_STEPS = 100
_DEFAULT_CHECKPOINT_SECS = 600


class _ScaffoldSessionCreator(SessionCreator):
    """Makes sessions of the default graph with the operations of a scaffold."""

    def __init__(self, scaffold: Scaffold | None, master: str, config: Any):
        self._scaffold = scaffold or Scaffold()
        self._session_manager: SessionManager | None = None
        self._master = master
        self._config = config

    def _get_session_manager(self) -> SessionManager:
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._session_manager


class ChiefSessionCreator(_ScaffoldSessionCreator):
    """Makes sessions for a chief: it restores the model from a checkpoint or initializes it.

    Args:
      scaffold: operations to do so; a default `Scaffold` if None.
      master: the target of the session.
      config: its `ConfigProto`.
      checkpoint_dir: where to look for a checkpoint; or
      checkpoint_filename_with_path: which checkpoint to restore.
    """

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ):
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self) -> Any:
        scaffold = self._scaffold.finalize()
        return self._get_session_manager().prepare_session(
            self._master,
            saver=scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=scaffold.init_op,
            init_feed_dict=scaffold.init_feed_dict,
            init_fn=scaffold.init_fn,
        )


class WorkerSessionCreator(_ScaffoldSessionCreator):
    """Makes sessions for a worker: it waits until the chief has made the model ready."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        max_wait_secs: float = 30 * 60,
    ):
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self) -> Any:
        self._scaffold.finalize()
        return self._get_session_manager().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._max_wait_secs
        )


class _CoordinatedSessionCreator(SessionCreator):
    """Makes a session, starts its queue runners, tells the hooks, and wraps it."""

    def __init__(
        self,
        session_creator: SessionCreator,
        hooks: Sequence[SessionRunHook],
        stop_grace_period_secs: float,
    ):
        self._session_creator = session_creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord: Coordinator | None = None
        self.tf_sess: Any = None

    def create_session(self) -> Any:
        self.tf_sess = self._session_creator.create_session()
        # The end of the input is no clean stop here: the step that meets it raises it.
        self.coord = Coordinator(clean_stop_exception_types=[])
        if get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        return _CoordinatedSession(
            _HookedSession(self.tf_sess, self._hooks), self.coord, self._stop_grace_period_secs
        )


class _MonitoredSession:
    """What `MonitoredSession` and `SingularMonitoredSession` share."""

    StepContext = StepContext
    _CoordinatedSessionCreator = _CoordinatedSessionCreator

    def __init__(
        self,
        session_creator: SessionCreator | None,
        hooks: Sequence[SessionRunHook] | None,
        should_recover: bool,
        stop_grace_period_secs: float = 120,
    ):
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = _CoordinatedSessionCreator(
            session_creator or ChiefSessionCreator(), self._hooks, stop_grace_period_secs
        )
        self._sess: Any
        if should_recover:
            self._sess = _RecoverableSession(self._coordinated_creator)
        else:
            self._sess = self._coordinated_creator.create_session()

    @property
    def graph(self) -> Any:
        """The graph of the session; None once it is closed."""
        session = self._tf_sess()
        return None if session is None else session.graph

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """Runs a step with the hooks around it; see `tf.Session.run`."""
        return self._sess.run(
            fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata
        )

    def run_step_fn(self, step_fn: Callable[..., Any]) -> Any:
        """Calls `step_fn(step_context)`, which may run several steps, with hooks or without."""
        code = inspect.unwrap(step_fn)
        arguments = tuple(inspect.signature(code).parameters)
        if arguments not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and "
                f"`step_context` arguments if it's an instance method. Got {arguments} instead."
            )
        # `run_with_hooks` is None: the innermost session that calls hooks says how to run a step.
        return self._sess.run_step_fn(step_fn, self._tf_sess(), run_with_hooks=None)

    def should_stop(self) -> bool:
        """Whether the training loop is to end."""
        return self._sess is None or self._sess.should_stop()

    def close(self) -> None:
        """Calls `end` of the hooks, stops the threads and closes the session."""
        self._close_internal()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, error_type: Any, error: Any, trace: Any) -> bool:
        if error_type in (errors.OutOfRangeError, StopIteration):
            error_type = None  # the end of the input ends the loop
        self._close_internal(error_type)
        return error_type is None

    def _close_internal(self, exception_type: Any = None) -> None:
        try:
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._coordinated_creator.tf_sess)
        finally:
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    get_default_graph()._unsafe_unfinalize()

    def _is_closed(self) -> bool:
        return self._coordinated_creator.tf_sess is None

    def _tf_sess(self) -> Any:
        return self._coordinated_creator.tf_sess


class MonitoredSession(_MonitoredSession):
    """A session that makes itself ready, calls hooks, and recovers when a task is restarted.

    >>> with tf.train.MonitoredSession(hooks=[tf.train.StopAtStepHook(last_step=100)]) as sess:
    ...     while not sess.should_stop():
    ...         sess.run(train_op)

    Args:
      session_creator: makes the session; `ChiefSessionCreator()` if None.
      hooks: `SessionRunHook`s.
      stop_grace_period_secs: how long threads may take to end.
    """

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ):
        context = _worker_context()
        if session_creator is None and context is not None:
            session_creator = context.session_creator()
        super().__init__(
            session_creator,
            hooks,
            should_recover=True,
            stop_grace_period_secs=stop_grace_period_secs,
        )


def _worker_context() -> Any:
    """What a coordinator told the function that runs: no one did unless its module is loaded."""
    module = sys.modules.get("penstock.distribute.worker_context")
    return None if module is None else module.get_current_worker_context()


class SingularMonitoredSession(_MonitoredSession):
    """A monitored session that doesn't recover, and whose bare session can be had."""

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: Any = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ):
        creator = ChiefSessionCreator(
            scaffold=scaffold,
            master=master,
            config=config,
            checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
        )
        super().__init__(
            creator, hooks, should_recover=False, stop_grace_period_secs=stop_grace_period_secs
        )

    def raw_session(self) -> Any:
        """The `tf.Session` inside."""
        return self._tf_sess()


def _steps_and_secs(
    steps: Any, secs: Any, default_steps: int | None, default_secs: float | None
) -> tuple[Any, Any]:
    """The two ways to say how often: the defaults count only where neither is given."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default_steps, default_secs
    return (None if steps is USE_DEFAULT else steps), (None if secs is USE_DEFAULT else secs)


def MonitoredTrainingSession(
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: Any = USE_DEFAULT,
    save_summaries_steps: Any = USE_DEFAULT,
    save_summaries_secs: Any = USE_DEFAULT,
    config: Any = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Any = USE_DEFAULT,
    summary_dir: str | None = None,
) -> MonitoredSession:
    """A `MonitoredSession` with the usual hooks of training.

    Args:
      master: the target of the session.
      is_chief: whether this task initializes and saves the model; the others wait for it.
      checkpoint_dir: where to restore from and to save to.
      scaffold: operations to initialize, check, summarize and save.
      hooks: more hooks.
      chief_only_hooks: more hooks, for the chief alone.
      save_checkpoint_secs: save every so many seconds (600 by default; "auto": as often as saves
        are cheap and failures frequent); or
      save_checkpoint_steps: every so many steps.
      save_summaries_steps: write summaries every so many steps (100 by default); or
      save_summaries_secs: every so many seconds.
      config: a `ConfigProto`.
      stop_grace_period_secs: how long threads may take to end.
      log_step_count_steps: log the steps per second every so many steps.
      max_wait_secs: how long a worker waits for the chief.
      summary_dir: where summaries go; `checkpoint_dir` if None.
    """
    save_summaries_steps, save_summaries_secs = _steps_and_secs(
        save_summaries_steps, save_summaries_secs, _DEFAULT_SUMMARY_STEPS, None
    )
    save_checkpoint_steps, save_checkpoint_secs = _steps_and_secs(
        save_checkpoint_steps, save_checkpoint_secs, None, _DEFAULT_CHECKPOINT_SECS
    )
    scaffold = scaffold or Scaffold()
    context = _worker_context()
    if context is not None:
        master, is_chief = context.master_target, context.experimental_should_init
        own = context.session_config
        if config is not None:
            own.MergeFrom(config)
        config = own
    if not is_chief:
        worker = WorkerSessionCreator(
            scaffold=scaffold, master=master, config=config, max_wait_secs=max_wait_secs
        )
        return MonitoredSession(worker, hooks or [], stop_grace_period_secs)

    def often(count: Any) -> bool:
        return count == "auto" or (bool(count) and count > 0)

    all_hooks = list(chief_only_hooks or ())
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir and often(log_step_count_steps):
        all_hooks.append(
            StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps)
        )
    if summary_dir and (often(save_summaries_steps) or often(save_summaries_secs)):
        all_hooks.append(
            SummarySaverHook(
                scaffold=scaffold,
                save_steps=save_summaries_steps,
                save_secs=save_summaries_secs,
                output_dir=summary_dir,
            )
        )
    if checkpoint_dir and (often(save_checkpoint_secs) or often(save_checkpoint_steps)):
        all_hooks.append(
            CheckpointSaverHook(
                checkpoint_dir,
                save_steps=save_checkpoint_steps,
                save_secs=save_checkpoint_secs,
                scaffold=scaffold,
            )
        )
    all_hooks += hooks or ()
    chief = ChiefSessionCreator(
        scaffold=scaffold, checkpoint_dir=checkpoint_dir, master=master, config=config
    )
    return MonitoredSession(chief, all_hooks, stop_grace_period_secs)
