"""Evaluating a checkpoint: running evaluation steps in a session that ends after so many."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ops.casts import cast
from penstock.ops.identity import identity
from penstock.ops.initializers import zeros_initializer
from penstock.ops.variable_scope import get_variable
from penstock.ops.variable_updates import assign_add
from penstock.platform import logging
from penstock.train.basic_session_run_hooks import (
    FinalOpsHook,
    get_or_create_steps_per_run_variable,
)
from penstock.train.monitored_session import ChiefSessionCreator, MonitoredSession
from penstock.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

_FEW_EVALS = 20
_PROGRESS_LINES = 10


def _get_or_create_eval_step() -> Any:
    """The local variable that counts evaluation steps."""
    found = get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable(
        "eval_step",
        shape=[],
        dtype=dtypes.int64,
        initializer=zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


def _get_latest_eval_step_value(update_ops: Any) -> Any:
    """The count of evaluation steps after the update operations."""
    if isinstance(update_ops, dict):
        update_ops = list(update_ops.values())
    with get_default_graph().control_dependencies(update_ops):
        return identity(_get_or_create_eval_step().read_value())


class _EvalCounterHook(SessionRunHook):
    """Reads the count of evaluation steps with every step."""

    def __init__(self, num_evals: int | None):
        self._num_evals = num_evals
        self._evals_completed: Any = None

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def _log(self, completed: int) -> None:
        if self._num_evals is None:
            logging.info("Evaluation [%d]", completed)
        else:
            logging.info("Evaluation [%d/%d]", completed, self._num_evals)

    def _stop_if_done(self, run_context: SessionRunContext, completed: int) -> None:
        if self._num_evals is not None and completed >= self._num_evals:
            run_context.request_stop()


class _StopAfterNEvalsHook(_EvalCounterHook):
    """Asks to stop after so many evaluation steps; None for no end."""

    def __init__(self, num_evals: int | None, log_progress: bool = True):
        super().__init__(num_evals)
        self._log_progress = log_progress
        few = num_evals is None or num_evals < _FEW_EVALS
        self._log_frequency = 1 if few else (num_evals or 0) // _PROGRESS_LINES

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        completed = run_values.results["evals_completed"]
        due = completed % self._log_frequency == 0 or completed == self._num_evals
        if self._log_progress and due:
            self._log(completed)
        self._stop_if_done(run_context, completed)


class _MultiStepStopAfterNEvalsHook(_EvalCounterHook):
    """Asks to stop after so many evaluation steps, where one `run` takes several."""

    def __init__(self, num_evals: int | None, steps_per_run: int = 1):
        super().__init__(num_evals)
        self._steps_per_run_initial_value = steps_per_run

    def begin(self) -> None:
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def after_create_session(self, session: Any, coord: Any) -> None:
        self._plan_next_run(0, session)

    def _plan_next_run(self, completed: int, session: Any) -> None:
        steps = self._steps_per_run_initial_value
        if self._num_evals is not None:
            steps = min(steps, self._num_evals - completed)
        self._steps_per_run_variable.load(steps, session=session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        completed = run_values.results["evals_completed"]
        self._plan_next_run(completed, run_context.session)
        self._log(completed)
        self._stop_if_done(run_context, completed)


def _with_counting(eval_ops: Any, hooks: Sequence[SessionRunHook]) -> Any:
    """The evaluation operations with one that counts their steps, which the hooks read."""
    eval_step = _get_or_create_eval_step()
    increment: Any = 1
    if any(isinstance(hook, _MultiStepStopAfterNEvalsHook) for hook in hooks):
        increment = cast(get_or_create_steps_per_run_variable(), dtype=eval_step.dtype)
    update = assign_add(eval_step, increment, use_locking=True)
    if isinstance(eval_ops, dict):
        eval_ops["update_eval_step"] = update
    elif isinstance(eval_ops, (tuple, list)):
        eval_ops = [*eval_ops, update]
    else:
        eval_ops = [eval_ops, update]
    value = _get_latest_eval_step_value(eval_ops)
    for hook in hooks:
        if isinstance(hook, _EvalCounterHook):
            hook._set_evals_completed_tensor(value)
    return eval_ops


def _evaluate_once(
    checkpoint_path: str | None,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: Any = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Sequence[SessionRunHook] | None = None,
    config: Any = None,
) -> Any:
    """Restores a checkpoint, runs `eval_ops` until a hook stops it, returns `final_ops`' values."""
    _get_or_create_eval_step()
    hooks = list(hooks or ())
    if eval_ops is not None:
        eval_ops = _with_counting(eval_ops, hooks)
    logging.info("Starting evaluation at " + time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    creator = ChiefSessionCreator(
        scaffold=scaffold,
        checkpoint_filename_with_path=checkpoint_path,
        master=master,
        config=config,
    )
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    with MonitoredSession(session_creator=creator, hooks=[*hooks, final]) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    logging.info("Finished evaluation at " + time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    return final.final_ops_values
