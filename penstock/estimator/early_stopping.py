"""Hooks that end training early: when a metric of evaluations is good enough, or gets no better."""

from __future__ import annotations

import operator
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import penstock as tf
from penstock.estimator.estimator import Estimator
from penstock.platform import gfile, logging
from penstock.train.global_step import get_global_step
from penstock.train.hook_timers import SecondOrStepTimer
from penstock.train.session_run_hook import SessionRunArgs, SessionRunHook


def make_early_stopping_hook(
    estimator: Any,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook of training that ends it, on all workers, when a function says so.

    Args:
      estimator: the Estimator that is trained.
      should_stop_fn: whether to stop; only the chief calls it.
      run_every_secs: how often it is called, in seconds; or
      run_every_steps: in steps.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(
            f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}"
        )
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopOnPredicateHook(should_stop_fn, run_every_secs, run_every_steps)
    return _CheckForStoppingHook()


def stop_if_higher_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends training when a metric is above a threshold.

    Args:
      estimator: the Estimator that is trained.
      metric_name: a metric of its evaluations.
      threshold: the value above which training ends.
      eval_dir: where the results of evaluations are; the Estimator's usual place by default.
      min_steps: results of earlier steps don't count.
      run_every_secs: how often results are read, in seconds; or
      run_every_steps: in steps.
    """
    stop = _threshold_crossed(estimator, metric_name, threshold, operator.gt, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_lower_hook(
    estimator: Any,
    metric_name: str,
    threshold: float,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends training when a metric is below a threshold; see `stop_if_higher_hook`."""
    stop = _threshold_crossed(estimator, metric_name, threshold, operator.lt, eval_dir, min_steps)
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_no_increase_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends training when a metric hasn't risen for so many steps; see `stop_if_higher_hook`."""
    stop = _no_improvement(
        estimator, metric_name, max_steps_without_increase, operator.gt, eval_dir, min_steps
    )
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(
    estimator: Any,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: str | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Ends training when a metric hasn't fallen for so many steps; see `stop_if_higher_hook`."""
    stop = _no_improvement(
        estimator, metric_name, max_steps_without_decrease, operator.lt, eval_dir, min_steps
    )
    return make_early_stopping_hook(estimator, stop, run_every_secs, run_every_steps)


def read_eval_metrics(eval_dir: str) -> dict[int, dict[str, float]]:
    """The metrics of all evaluations, by global step, read from their event files."""
    by_step: dict[int, dict[str, float]] = defaultdict(dict)
    for event in _events(eval_dir):
        for value in event.summary.value:
            if value.HasField("simple_value"):
                by_step[event.step][value.tag] = value.simple_value
    return dict(sorted(by_step.items()))


def _events(eval_dir: str) -> Iterator[Any]:
    if not gfile.Exists(eval_dir):
        return
    for path in gfile.Glob(os.path.join(eval_dir, "events.out.tfevents.*")):
        try:
            yield from tf.train.summary_iterator(path)
        except tf.errors.DataLossError as error:  # it may be being written
            logging.warning("Skipping the rest of %s: %s", path, error)


def _results(
    estimator: Any, metric_name: str, eval_dir: str | None, min_steps: int
) -> list[tuple[int, float]]:
    found = read_eval_metrics(estimator.eval_dir() if eval_dir is None else eval_dir)
    return [(step, metrics[metric_name]) for step, metrics in found.items() if step >= min_steps]


def _threshold_crossed(
    estimator: Any,
    metric_name: str,
    threshold: float,
    crosses: Callable[[float, float], bool],
    eval_dir: str | None,
    min_steps: int,
) -> Callable[[], bool]:
    def should_stop() -> bool:
        for step, value in _results(estimator, metric_name, eval_dir, min_steps):
            if crosses(value, threshold):
                logging.info(
                    'At step %s, metric "%s" has value %s, beyond the threshold (%s) for early '
                    "stopping.",
                    step,
                    metric_name,
                    value,
                    threshold,
                )
                return True
        return False

    return should_stop


def _no_improvement(
    estimator: Any,
    metric_name: str,
    max_steps: int,
    is_better: Callable[[float, float], bool],
    eval_dir: str | None,
    min_steps: int,
) -> Callable[[], bool]:
    def should_stop() -> bool:
        best: tuple[int, float] | None = None
        for step, value in _results(estimator, metric_name, eval_dir, min_steps):
            if best is None or is_better(value, best[1]):
                best = step, value
            if step - best[0] >= max_steps:
                logging.info(
                    'Metric "%s" is no better for %s steps; %s are allowed before early stopping.',
                    metric_name,
                    step - best[0],
                    max_steps,
                )
                return True
        return False

    return should_stop


def _get_or_create_stop_var() -> Any:
    """A variable that tells all workers to stop."""
    with tf.variable_scope("signal_early_stopping", reuse=tf.AUTO_REUSE):
        return tf.get_variable(
            name="STOP",
            shape=[],
            dtype=tf.bool,
            initializer=tf.constant_initializer(False),
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            trainable=False,
        )


class _StopOnPredicateHook(SessionRunHook):
    """Asks a function now and then whether to stop, and tells the other workers."""

    def __init__(
        self,
        should_stop_fn: Any,
        run_every_secs: float | None = 60,
        run_every_steps: int | None = None,
    ):
        if not callable(should_stop_fn):
            raise TypeError("`should_stop_fn` must be callable.")
        self._should_stop_fn = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self) -> None:
        self._global_step_tensor = get_global_step()
        self._stop_var = _get_or_create_stop_var()
        self._stop_op = tf.assign(self._stop_var, True)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop_fn():
            logging.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._stop_op)
            run_context.request_stop()


class _CheckForStoppingHook(SessionRunHook):
    """Stops a worker when the chief has said so."""

    def begin(self) -> None:
        self._stop_var = _get_or_create_stop_var()

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._stop_var)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results:
            logging.info("Early stopping requested, suspending run.")
            run_context.request_stop()
