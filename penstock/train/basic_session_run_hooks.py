"""Hooks that watch a training loop: logging, stopping, waiting, feeding."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from penstock import dtypes, errors
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ops.initializers import ones_initializer
from penstock.ops.variable_scope import AUTO_REUSE, get_variable, variable_scope
from penstock.platform import logging
from penstock.train.global_step import get_global_step, get_or_create_global_step_read
from penstock.train.hook_timers import NeverTriggerTimer, _HookTimer
from penstock.train.hook_timers import SecondOrStepTimer as SecondOrStepTimer
from penstock.train.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)

__all__ = [
    "FeedFnHook",
    "FinalOpsHook",
    "GlobalStepWaiterHook",
    "LoggingTensorHook",
    "NanLossDuringTrainingError",
    "NanTensorHook",
    "StopAtStepHook",
]

_STEPS_PER_RUN = "steps_per_run"
_WAIT_SECS = 0.5
_LOG_EVERY_STEPS = 1000


def global_step_to_read(user: str) -> Any:
    """The tensor that reads the global step; an error that names who needs it without one."""
    step = get_or_create_global_step_read()
    if step is None:
        raise RuntimeError(f"Global step should be created to use {user}.")
    return step


def _as_graph_element(obj: Any) -> Any:
    """A tensor or operation of the default graph, given as such or by name."""
    graph = get_default_graph()
    if not isinstance(obj, str):
        if getattr(obj, "graph", None) is not graph:
            raise ValueError(
                f"Passed {obj} should have graph attribute that is equal to current graph {graph}."
            )
        return obj
    if ":" in obj:
        return graph.as_graph_element(obj)
    element = graph.as_graph_element(f"{obj}:0")
    if len(element.op.outputs) > 1:
        raise ValueError(
            f"Name {obj} is ambiguous, as this `Operation` has multiple outputs (at least 2)."
        )
    return element


class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors every so many steps or seconds, at the end, or both.

    Args:
      tensors: tensors or their names by tag, or a list of names.
      every_n_iter: log every so many steps.
      every_n_secs: or every so many seconds.
      at_end: whether to log at the end.
      formatter: makes the line from a dictionary of tags and values.
    """

    def __init__(
        self,
        tensors: Mapping[str, Any] | Sequence[Any],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[str, Any]], str] | None = None,
    ):
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise ValueError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be "
                "provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, Mapping):
            self._tag_order: Sequence[Any] = sorted(tensors)
            self._tensors = dict(tensors)
        else:
            self._tag_order = tensors
            self._tensors = {item: item for item in tensors}
        self._formatter = formatter
        self._timer: _HookTimer = NeverTriggerTimer()
        if not only_at_end:
            self._timer = SecondOrStepTimer(every_secs=every_n_secs, every_steps=every_n_iter)
        self._log_at_end = at_end

    def begin(self) -> None:
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {
            tag: _as_graph_element(tensor) for tag, tensor in self._tensors.items()
        }

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: Any) -> None:
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))

    def _log_tensors(self, tensor_values: dict[str, Any]) -> None:
        elapsed_secs, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                logging.info(self._formatter(tensor_values))
                return
            line = ", ".join(f"{tag} = {tensor_values[tag]!s}" for tag in self._tag_order)
        if elapsed_secs is None:
            logging.info("%s", line)
        else:
            logging.info("%s (%.3f sec)", line, elapsed_secs)


def _check_one_of(num_steps: int | None, last_step: int | None) -> None:
    if num_steps is None and last_step is None:
        raise ValueError("One of num_steps or last_step must be specified.")
    if num_steps is not None and last_step is not None:
        raise ValueError("Only one of num_steps or last_step can be specified.")


class StopAtStepHook(SessionRunHook):
    """Asks to stop after `num_steps` more steps, or at global step `last_step`."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None):
        _check_one_of(num_steps, last_step)
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self) -> None:
        self._global_step_tensor = global_step_to_read("StopAtStepHook")

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self._last_step is None:
            assert self._num_steps is not None
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results + 1 < self._last_step:
            return
        # The step may have read the global step before it was increased, or after.
        if run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


def get_or_create_steps_per_run_variable() -> Any:
    """The variable that says how many steps one call of `run` takes, in loops on a device."""
    collection = f"hooks_{_STEPS_PER_RUN}"
    found = get_default_graph().get_collection(collection)
    if len(found) > 1:
        raise RuntimeError("Multiple steps_per_run_var in collection.")
    if found:
        return found[0]
    with variable_scope("hooks", reuse=AUTO_REUSE):
        return get_variable(
            _STEPS_PER_RUN,
            initializer=ones_initializer(),
            shape=[],
            dtype=dtypes.int32,
            trainable=False,
            collections=[collection, GraphKeys.LOCAL_VARIABLES],
            use_resource=True,
        )


class _MultiStepStopAtStepHook(SessionRunHook):
    """Asks to stop at a step, where one call of `run` takes several steps."""

    def __init__(
        self,
        num_steps: int | None = None,
        last_step: int | None = None,
        steps_per_run: int | None = 1,
    ):
        _check_one_of(num_steps, last_step)
        if steps_per_run is None or steps_per_run < 1:
            raise ValueError("steps_per_run should be greater than 0")
        self._num_steps = num_steps
        self._last_step = last_step
        self._steps_per_run_initial_value = steps_per_run

    def begin(self) -> None:
        self._global_step_tensor = get_global_step()
        if self._global_step_tensor is None:
            raise RuntimeError("Global step should be created to use StopAtStepHook.")
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def _plan_next_run(self, global_step: int, session: Any) -> None:
        assert self._last_step is not None
        left = self._last_step - global_step
        self._steps_per_run_variable.load(
            min(left, self._steps_per_run_initial_value), session=session
        )

    def after_create_session(self, session: Any, coord: Any) -> None:
        global_step = session.run(self._global_step_tensor)
        if self._last_step is None:
            self._last_step = global_step + self._num_steps
        self._plan_next_run(global_step, session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        global_step = run_context.session.run(self._global_step_tensor)
        if global_step >= self._last_step:
            run_context.request_stop()
        else:
            self._plan_next_run(global_step, run_context.session)


class NanLossDuringTrainingError(RuntimeError):
    """The loss has become NaN."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Fails, or asks to stop, when a loss is NaN."""

    def __init__(self, loss_tensor: Any, fail_on_nan_loss: bool = True):
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            logging.error(message)
            raise NanLossDuringTrainingError
        logging.warning(message)
        run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Holds back the first step of a worker until the global step has come so far."""

    def __init__(self, wait_until_step: int):
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        self._worker_is_started = False
        self._global_step_tensor = global_step_to_read("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        if not self._worker_is_started:
            if self._wait_until_step > 0:
                self._wait(run_context.session)
            self._worker_is_started = True
        return None

    def _wait(self, session: Any) -> None:
        wanted = self._wait_until_step
        logging.info("Waiting for global step %d before starting training.", wanted)
        logged = 0
        while (step := session.run(self._global_step_tensor)) < wanted:
            if step - logged > _LOG_EVERY_STEPS:
                logging.info(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    wanted,
                    step,
                )
                logged = step
            time.sleep(_WAIT_SECS)


class FinalOpsHook(SessionRunHook):
    """Evaluates tensors at the end of a session; `final_ops_values` are their values."""

    def __init__(self, final_ops: Any, final_ops_feed_dict: Any = None):
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        return self._final_ops_values

    def end(self, session: Any) -> None:
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(
                self._final_ops, feed_dict=self._final_ops_feed_dict
            )
        except (errors.OutOfRangeError, StopIteration):
            logging.warning(
                "An OutOfRangeError or StopIteration exception is raised by the code in "
                "FinalOpsHook: the final ops have a dependency back to some input source, which "
                "has ended. Final ops, such as the values of metrics, should only read variables."
            )
            raise


class FeedFnHook(SessionRunHook):
    """Feeds every step with what a function returns."""

    def __init__(self, feed_fn: Callable[[], Any]):
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())
