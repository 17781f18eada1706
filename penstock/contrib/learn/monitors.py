"""`tf.contrib.learn.monitors`: the older name of hooks, and one that evaluates."""

from __future__ import annotations

from typing import Any

from penstock.estimator.estimator import Estimator as CoreEstimator
from penstock.platform import logging
from penstock.train.basic_session_run_hooks import (
    LoggingTensorHook,
    NanLossDuringTrainingError,
    NanTensorHook,
    StopAtStepHook,
)
from penstock.train.checkpoint_state import latest_checkpoint
from penstock.train.global_step import get_or_create_global_step_read
from penstock.train.recording_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from penstock.train.session_run_hook import SessionRunArgs, SessionRunHook

__all__ = [
    "CheckpointSaver",
    "NanLoss",
    "NanLossDuringTrainingError",
    "PrintTensor",
    "StepCounter",
    "StopAtStep",
    "SummarySaver",
    "ValidationMonitor",
    "replace_monitors_with_hooks",
]

CheckpointSaver = CheckpointSaverHook
NanLoss = NanTensorHook
PrintTensor = LoggingTensorHook
StepCounter = StepCounterHook
SummarySaver = SummarySaverHook


def StopAtStep(num_steps: int | None = None, last_step: int | None = None) -> StopAtStepHook:
    """A hook that stops training after so many steps, or at a step."""
    return StopAtStepHook(num_steps=num_steps, last_step=last_step)


class ValidationMonitor(SessionRunHook):
    """Evaluates the latest checkpoint during training, and may stop it early.

    Args:
      x: arrays to evaluate on, with
      y: their labels; or
      input_fn: a function that gives features and labels.
      batch_size: the size of batches of arrays.
      eval_steps: how many batches to take.
      every_n_steps: evaluate every so many steps, if there is a new checkpoint.
      metrics: `MetricSpec`s by name.
      hooks: hooks of the evaluation.
      early_stopping_rounds: stop training when the metric is no better for so many steps.
      early_stopping_metric: which metric that is.
      early_stopping_metric_minimize: whether a smaller value is better.
      name: tells the results of several evaluations apart.
    """

    def __init__(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Any = None,
        hooks: Any = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        name: str | None = None,
        check_interval_secs: float = 5,
    ):
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self._input = {"x": x, "y": y, "input_fn": input_fn, "batch_size": batch_size}
        self._evaluation = {"steps": eval_steps, "name": name, "hooks": hooks}
        self._metrics = metrics
        self._every_n_steps = every_n_steps
        self._rounds = early_stopping_rounds
        self._metric = early_stopping_metric
        self._minimize = early_stopping_metric_minimize
        self._estimator: Any = None
        self._checkpoint: Any = None
        self._last_step: int | None = None
        self.best_step: int | None = None
        self.best_value: Any = None
        self.best_metrics: Any = None
        self.early_stopped = False

    def set_estimator(self, estimator: Any) -> None:
        """Says whose checkpoints to evaluate."""
        self._estimator = estimator

    def begin(self) -> None:
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        self._global_step_tensor = get_or_create_global_step_read()

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        step = int(run_values.results)
        if self._last_step is not None and step < self._last_step + self._every_n_steps:
            return
        latest = latest_checkpoint(self._estimator.model_dir)
        if latest is None or latest == self._checkpoint:
            return
        self._last_step, self._checkpoint = step, latest
        results = self._evaluate(latest)
        if self._rounds is not None and self._has_stalled(step, results):
            logging.info(
                "Stopping. Best step: %s with %s = %s.",
                self.best_step,
                self._metric,
                self.best_value,
            )
            self.early_stopped = True
            run_context.request_stop()

    def _evaluate(self, checkpoint_path: Any) -> dict[str, Any]:
        if isinstance(self._estimator, CoreEstimator):
            return self._estimator.evaluate(
                self._input["input_fn"], checkpoint_path=checkpoint_path, **self._evaluation
            )
        found: dict[str, Any] = self._estimator.evaluate(
            **self._input,
            **self._evaluation,
            metrics=self._metrics,
            checkpoint_path=checkpoint_path,
        )
        return found

    def _has_stalled(self, step: int, results: dict[str, Any]) -> bool:
        if self._metric not in results:
            raise ValueError(f"Metric {self._metric} missing from outputs {set(results)}.")
        value = results[self._metric]
        best = self.best_value
        if best is None or (value < best if self._minimize else value > best):
            self.best_value, self.best_step, self.best_metrics = value, step, results
        assert self.best_step is not None and self._rounds is not None
        return step - self.best_step >= self._rounds


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[Any]:
    """Hooks, those that evaluate told whose checkpoints they evaluate."""
    hooks = list(monitors_or_hooks or ())
    for hook in hooks:
        if hasattr(hook, "set_estimator"):
            hook.set_estimator(estimator)
    return hooks
