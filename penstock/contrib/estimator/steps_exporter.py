"""`StepsExporter`: SavedModels of the steps that are asked for."""

from __future__ import annotations

import os
from typing import Any

import penstock as tf
from penstock.estimator.exporters import Exporter, _SavedModelExporter
from penstock.platform import gfile, logging

DEFAULT_GLOBAL_STEP_KEY = tf.GraphKeys.GLOBAL_STEP


class StepsExporter(Exporter):
    """Exports the model at given steps, or at the first evaluation behind them.

    Args:
      steps_to_keep: the steps.
      name: the name of the directory below `export`.
      serving_input_receiver_fn: returns a `ServingInputReceiver`.
      event_file_pattern: event files below the model's directory of evaluations before: their
        steps are not exported again.
      assets_extra: files to copy into `assets.extra`, by their path there.
      as_text: write the graph as text.
    """

    def __init__(
        self,
        steps_to_keep: Any,
        name: str = "steps_exporter",
        serving_input_receiver_fn: Any = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        assets_extra: Any = None,
        as_text: bool = False,
    ):
        self._exporter = _SavedModelExporter(name, serving_input_receiver_fn, assets_extra, as_text)
        self._event_file_pattern = event_file_pattern
        self._model_dir: Any = None
        steps = [step for step in steps_to_keep if isinstance(step, int) and step > 0]
        if not steps:
            raise ValueError("`steps_to_keep` list must have at least one positive integer")
        if steps != list(steps_to_keep):
            logging.warning("Of `steps_to_keep` those are kept that are positive: %s", steps)
        self._steps_to_keep = sorted(steps)

    @property
    def name(self) -> str:
        return self._exporter.name

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        if not eval_result or DEFAULT_GLOBAL_STEP_KEY not in eval_result:
            raise ValueError(
                f"`eval_result` is empty, or does not have global step. Got: {eval_result}"
            )
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            self._model_dir = estimator.model_dir
            self._forget_evaluated()
        step = eval_result[DEFAULT_GLOBAL_STEP_KEY]
        due = [each for each in self._steps_to_keep if each <= step]
        if not due:
            return None
        if due != [step]:
            logging.warning("Exporting step %d for %s: there was no evaluation at them.", step, due)
        self._steps_to_keep = self._steps_to_keep[len(due) :]
        return self._exporter.export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )

    def _forget_evaluated(self) -> None:
        """Leaves out the steps up to the last one that was evaluated, by the event files."""
        files = gfile.Glob(os.path.join(self._model_dir, self._event_file_pattern or ""))
        done = [event.step for file in files for event in tf.train.summary_iterator(file)]
        last = max(done, default=0)
        self._steps_to_keep = [step for step in self._steps_to_keep if step > last]
