"""Monitors that write summaries and checkpoints, and that evaluate."""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.contrib.learn.monitor_base import BaseMonitor, EveryN
from penstock.contrib.learn.monitors_of_values import PrintTensor, _extract_output
from penstock.estimator.estimator import Estimator as CoreEstimator
from penstock.platform import logging
from penstock.proto import SessionLog, Summary
from penstock.summary import FileWriter, FileWriterCache
from penstock.train.checkpoint_state import latest_checkpoint


class SummarySaver(EveryN):
    """Writes summaries.

    Args:
      summary_op: the summaries; those of `scaffold` if None.
      output_dir: where; with neither this nor `summary_writer` the estimator's folder.
    """

    def __init__(
        self,
        summary_op: Any,
        save_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: Any = None,
        scaffold: Any = None,
    ):
        super().__init__(every_n_steps=save_steps)
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriter(output_dir)
        self._scaffold = scaffold

    def set_estimator(self, estimator: Any) -> None:
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriter(estimator.model_dir)

    def every_n_step_begin(self, step: int) -> Sequence[Any]:
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        if self._summary_op is not None and self._summary_writer:
            self._summary_writer.add_summary(_extract_output(outputs, self._summary_op), step)
        return False

    def end(self, session: Any = None) -> None:
        super().end(session=session)
        if self._summary_writer:
            self._summary_writer.flush()


class StepCounter(EveryN):
    """Writes how many steps are made in a second."""

    def __init__(
        self,
        every_n_steps: int = 100,
        output_dir: str | None = None,
        summary_writer: Any = None,
    ):
        super().__init__(every_n_steps=every_n_steps)
        self._summary_tag = "global_step/sec"
        self._last_report: tuple[int, float] | None = None
        self._summary_writer = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriterCache.get(output_dir)

    def set_estimator(self, estimator: Any) -> None:
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> None:
        now = time.time()
        if self._last_report is not None and self._summary_writer:
            last_step, last_time = self._last_report
            rate = (step - last_step) / (now - last_time)
            value = Summary.Value(tag=self._summary_tag, simple_value=rate)
            self._summary_writer.add_summary(Summary(value=[value]), step)
        self._last_report = (step, now)


class CheckpointSaver(BaseMonitor):
    """Saves checkpoints: after the first step, every so often, and after the last.

    Args:
      save_secs: every so many seconds; or
      save_steps: every so many steps.
      saver: the saver; that of `scaffold` if None.
    """

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Any = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Any = None,
    ):
        logging.info("Create CheckpointSaver.")
        super().__init__()
        self._saver = saver
        self._summary_writer = FileWriterCache.get(checkpoint_dir)
        self._save_path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._save_secs = save_secs
        self._save_steps = save_steps
        self._forget()
        if save_steps is None and save_secs is None:
            raise ValueError("Either save_steps or save_secs should be provided")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both save_steps and save_secs.")

    def _forget(self) -> None:
        self._last_save: tuple[int, float] | None = None
        self._last_begin_step: int | None = None

    def begin(self, max_steps: int | None = None) -> None:
        super().begin(max_steps)
        self._forget()

    def step_begin(self, step: int) -> None:
        super().step_begin(step)
        self._last_begin_step = step

    def _is_due(self, step: int) -> bool:
        if self._last_save is None:
            return True
        last_step, last_time = self._last_save
        if self._save_steps is not None:
            return step >= last_step + self._save_steps
        assert self._save_secs is not None
        return time.time() >= last_time + self._save_secs

    def post_step(self, step: int, session: Any) -> None:
        super().post_step(step, session)
        if self._is_due(step):
            self._save(step, session)

    def end(self, session: Any = None) -> None:
        super().end(session)
        if self._last_begin_step is not None:
            self._save(self._last_begin_step, session)

    def _save(self, step: int, session: Any) -> None:
        if self._last_save is not None and step == self._last_save[0]:
            return
        logging.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._last_save = (step, time.time())
        saver = self._scaffold.saver if self._saver is None else self._saver
        saver.save(session, self._save_path, global_step=step)
        entry = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(entry, step)


class ValidationMonitor(EveryN):
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
      check_interval_secs: look for a new checkpoint not more often than this; None always does.
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
        check_interval_secs: float | None = 5,
    ):
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise ValueError("Either x or input_fn should be provided.")
        self.x, self.y, self.batch_size, self.metrics = x, y, batch_size, metrics
        self.input_fn, self.eval_steps, self.hooks, self.name = input_fn, eval_steps, hooks, name
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_metric = early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self._best: tuple[int, Any, Any] | None = None
        self._early_stopped = False
        self._latest_path: str | None = None
        self._last_check: float | None = None
        self._check_interval_secs = check_interval_secs

    @property
    def early_stopped(self) -> bool:
        """Whether it has stopped training."""
        return self._early_stopped

    @property
    def best_step(self) -> int | None:
        """The step with the best value so far."""
        return None if self._best is None else self._best[0]

    @property
    def best_value(self) -> Any:
        """The best value of the metric so far."""
        return None if self._best is None else self._best[1]

    @property
    def best_metrics(self) -> Any:
        """All metrics of the best step."""
        return None if self._best is None else self._best[2]

    def _evaluate_estimator(self) -> Mapping[str, Any]:
        settings = {"steps": self.eval_steps, "hooks": self.hooks, "name": self.name}
        of_arrays = {
            "x": self.x,
            "y": self.y,
            "batch_size": self.batch_size,
            "metrics": self.metrics,
        }
        if not isinstance(self._estimator, CoreEstimator):
            results: Mapping[str, Any] = self._estimator.evaluate(
                input_fn=self.input_fn, **of_arrays, **settings
            )
            return results
        if any(given is not None for given in of_arrays.values()):
            raise ValueError(
                "tf.estimator.Estimator does not support following arguments: x, y, batch_size, "
                "metrics. Should set as `None` in ValidationMonitor"
            )
        return self._estimator.evaluate(input_fn=self.input_fn, **settings)

    def _has_new_checkpoint(self, step: int) -> bool:
        now, interval = time.time(), self._check_interval_secs
        if None not in (interval, self._last_check) and now - self._last_check <= interval:  # type: ignore[operator]
            logging.debug("Skipping evaluation: the last check was %d seconds ago.", interval)
            return False
        self._last_check = now
        latest = latest_checkpoint(self._estimator.model_dir)
        if latest is None or latest == self._latest_path:
            logging.debug("Skipping evaluation: no new checkpoint at step %d.", step)
            return False
        self._latest_path = latest
        return True

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        if self._estimator is None:
            raise ValueError("Missing call to set_estimator.")
        if not self._has_new_checkpoint(step):
            return False
        results = self._evaluate_estimator()
        listed = ", ".join(f"{name} = {value!s}" for name, value in results.items())
        logging.info("Validation (step %d): %s", step, listed)
        if self.early_stopping_rounds is None or not self._has_stalled(step, results):
            return False
        logging.info(
            "Stopping. Best step: %s with %s = %s.",
            self.best_step,
            self.early_stopping_metric,
            self.best_value,
        )
        self._early_stopped = True
        return True

    def _has_stalled(self, step: int, results: Mapping[str, Any]) -> bool:
        metric = self.early_stopping_metric
        if metric not in results:
            raise ValueError(f"Metric {metric} missing from outputs {set(results)}.")
        value = results[metric]
        if self._best is None or (
            value < self.best_value
            if self.early_stopping_metric_minimize
            else value > self.best_value
        ):
            self._best = (step, value, copy.deepcopy(results))
        assert self.early_stopping_rounds is not None
        return step - self._best[0] >= self.early_stopping_rounds


def get_default_monitors(
    loss_op: Any = None,
    summary_op: Any = None,
    save_summary_steps: int = 100,
    output_dir: str | None = None,
    summary_writer: Any = None,
) -> list[EveryN]:
    """Monitors that log a loss and write summaries."""
    monitors: list[EveryN] = []
    if loss_op is not None:
        monitors.append(PrintTensor(tensor_names={"loss": loss_op.name}))
    if summary_op is not None:
        monitors.append(
            SummarySaver(
                summary_op,
                save_steps=save_summary_steps,
                output_dir=output_dir,
                summary_writer=summary_writer,
            )
        )
    return monitors
