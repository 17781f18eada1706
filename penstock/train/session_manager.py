"""`tf.train.SessionManager`: sessions whose model is initialized, restored, or waited for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from penstock import errors
from penstock.client.session import Session
from penstock.ir.defaults import get_default_graph
from penstock.ir.graph import Graph
from penstock.platform import logging
from penstock.train.checkpoint_state import get_checkpoint_state

__all__ = ["SessionManager"]

_FIRST_PAUSE = 0.1  # seconds
_LONG_WAIT_SECS = 30.0  # for the chief, after which that is worth a warning
_Readiness = tuple[bool, str | None]


def _maybe_name(obj: Any) -> str:
    if obj is None:
        return "None"
    return str(getattr(obj, "name", f"<no name for {type(obj)}>"))


class SessionManager:
    """Makes sessions ready for training: from a checkpoint, by initializing, or by waiting.

    Args:
      local_init_op: run in every new session, to initialize local variables and tables.
      ready_op: a vector of the names of variables that are not initialized yet.
      ready_for_local_init_op: the same for the variables that `local_init_op` needs.
      graph: the graph of the sessions; the default one if None.
      recovery_wait_secs: the longest pause between two looks at whether the model is ready; the
        first ones are shorter.
      local_init_run_options: `RunOptions` for `local_init_op`.
    """

    def __init__(
        self,
        local_init_op: Any = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: Any = None,
    ):
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._target: str | None = None
        self._local_init_run_options = local_init_run_options
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )

    def prepare_session(
        self,
        master: str,
        init_op: Any = None,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
        init_feed_dict: Any = None,
        init_fn: Callable[[Any], Any] | None = None,
    ) -> Session:
        """A session with the model restored from a checkpoint, or else initialized.

        Args:
          master: the target of the session.
          init_op: initializes the model if there is no checkpoint.
          saver: restores it.
          checkpoint_dir: where to look for a checkpoint; or
          checkpoint_filename_with_path: which checkpoint to restore.
          wait_for_checkpoint: whether to wait for one, `max_wait_secs` at most.
          config: a `ConfigProto` for the session.
          init_feed_dict: what `init_op` is fed with.
          init_fn: called with the session after `init_op`.
        """
        sess, restored = self._restore_checkpoint(
            master,
            saver,
            checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
            wait_for_checkpoint=wait_for_checkpoint,
            max_wait_secs=max_wait_secs,
            config=config,
        )
        if not restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError(
                    "Model is not initialized and no init_op or init_fn or local_init_op was given"
                )
            if init_op is not None:
                sess.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(sess)
        ready, problem = self._try_run_local_init_op(sess)
        if not ready:
            raise RuntimeError(
                "Init operations did not make model ready for local_init.  Init op: "
                f"{_maybe_name(init_op)}, init fn: {init_fn}, error: {problem}"
            )
        ready, problem = self._model_ready(sess)
        if not ready:
            raise RuntimeError(
                f"Init operations did not make model ready.  Init op: {_maybe_name(init_op)}, "
                f"init fn: {init_fn}, local_init_op: {self._local_init_op}, error: {problem}"
            )
        return sess

    def recover_session(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Session, bool]:
        """A session, and whether its model was restored and is ready; see `prepare_session`."""
        sess, restored = self._restore_checkpoint(
            master,
            saver,
            checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
            wait_for_checkpoint=wait_for_checkpoint,
            max_wait_secs=max_wait_secs,
            config=config,
        )
        ready_for_local_init, problem = self._try_run_local_init_op(sess)
        if not restored:
            return sess, False
        source = checkpoint_dir or checkpoint_filename_with_path
        if not ready_for_local_init:
            logging.info(
                "Restoring model from %s did not make model ready for local init: %s",
                source,
                problem,
            )
            return sess, False
        ready, problem = self._model_ready(sess)
        if not ready:
            logging.info("Restoring model from %s did not make model ready: %s", source, problem)
            return sess, False
        logging.info("Restored model from %s", source)
        return sess, True

    def wait_for_session(
        self, master: str, config: Any = None, max_wait_secs: float | None = float("Inf")
    ) -> Session:
        """A session whose model somebody else, the chief, has made ready."""
        self._target = master
        limit = float("Inf") if max_wait_secs is None else max_wait_secs
        timer = _CountDownTimer(limit)
        for pause in _growing_pauses(self._recovery_wait_secs):
            sess = Session(master, graph=self._graph, config=config)
            problem = None
            ready, local_problem = self._try_run_local_init_op(sess)
            if ready:
                ready, problem = self._model_ready(sess)
                if ready:
                    return sess
            with contextlib.suppress(Exception):  # it is of no use any more
                sess.close()
            if timer.secs_remaining() - pause < 0:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {limit:g} secs."
                )
            # A chief that takes that long may not be there at all: that is to be seen.
            logging.log(
                logging.WARN if timer.secs_gone() > _LONG_WAIT_SECS else logging.INFO,
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s",
                local_problem,
                problem,
            )
            time.sleep(pause)
        raise AssertionError("there is always another pause")

    def _restore_checkpoint(
        self,
        master: str,
        saver: Any = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: Any = None,
    ) -> tuple[Session, bool]:
        """A new session, and whether a checkpoint was restored in it."""
        self._target = master
        sess = Session(master, graph=self._graph, config=config)
        if checkpoint_dir and checkpoint_filename_with_path:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        if not saver or not (checkpoint_dir or checkpoint_filename_with_path):
            return sess, False
        if checkpoint_filename_with_path:
            saver.restore(sess, checkpoint_filename_with_path)
            return sess, True
        state = self._find_checkpoint(checkpoint_dir, max_wait_secs if wait_for_checkpoint else 0)
        if state is None:
            return sess, False
        saver.restore(sess, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return sess, True

    def _find_checkpoint(self, checkpoint_dir: Any, max_wait_secs: float) -> Any:
        """The state of checkpoints in a directory, None if none comes in so many seconds."""
        waited = 0.0
        while True:
            state = get_checkpoint_state(checkpoint_dir)
            if state and state.model_checkpoint_path:
                return state
            if waited >= max_wait_secs:
                return None
            logging.info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited += self._recovery_wait_secs

    def _model_ready(self, sess: Any) -> _Readiness:
        return _ready(self._ready_op, sess, "Model not ready")

    def _model_ready_for_local_init(self, sess: Any) -> _Readiness:
        return _ready(self._ready_for_local_init_op, sess, "Model not ready for local init")

    def _try_run_local_init_op(self, sess: Any) -> _Readiness:
        """Runs `local_init_op` if what it needs is ready; whether it was, and why not."""
        if self._local_init_op is None:
            return True, None
        ready, problem = self._model_ready_for_local_init(sess)
        if not ready:
            return False, problem
        logging.info("Running local_init_op.")
        sess.run(self._local_init_op, options=self._local_init_run_options)
        logging.info("Done running local_init_op.")
        return True, None


def _ready(op: Any, sess: Any, msg: str) -> _Readiness:
    """Whether a ready op says that all is initialized, and what it says otherwise."""
    if op is None:
        return True, None
    try:
        value = sess.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" not in str(error):
            logging.warning("%s : error [%s]", msg, str(error))
            raise
        return False, str(error)
    # A ready op of old is assert_variables_initialized, whose value means nothing.
    if value is None or value.dtype == np.int32 or value.size == 0:
        return True, None
    names = ", ".join(name.decode() for name in value)
    return False, f"Variables not initialized: {names}"


def _growing_pauses(longest: float) -> Iterator[float]:
    """A chief is ready soon, as a rule; one that is not need not be asked all the time."""
    pause = min(_FIRST_PAUSE, longest)
    while True:
        yield pause
        pause = min(2 * pause, longest)


class _CountDownTimer:
    """How much is left of a time."""

    def __init__(self, duration_secs: float):
        self._start_time_secs = time.time()
        self._duration_secs = duration_secs

    def secs_gone(self) -> float:
        return time.time() - self._start_time_secs

    def secs_remaining(self) -> float:
        return max(0, self._duration_secs - self.secs_gone())
