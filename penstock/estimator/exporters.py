"""Exporters: what `train_and_evaluate` exports after an evaluation."""

from __future__ import annotations

import abc
import os
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.estimator.argument_names import fn_args
from penstock.estimator.estimator_spec import LOSS_METRIC_KEY
from penstock.platform import gfile, logging
from penstock.platform.compat import as_str_any


class Exporter(abc.ABC):
    """Exports a model in a way of its own."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The name of the directory that it exports to."""

    @abc.abstractmethod
    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        """Exports, and returns the directory; or None if there was no need to.

        Args:
          estimator: the Estimator to export.
          export_path: a directory for all exports of this exporter.
          checkpoint_path: the checkpoint that was evaluated.
          eval_result: the metrics of the evaluation.
          is_the_final_export: whether training has ended.
        """


class _SavedModelExporter(Exporter):
    """Exports SavedModels, and keeps the latest of them."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: Any,
        as_text: bool,
        exports_to_keep: int | None = None,
    ):
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError("`exports_to_keep`, if provided, must be a positive number")
        self._name = name
        self._serving_input_receiver_fn = serving_input_receiver_fn
        self._assets_extra = assets_extra
        self._as_text = as_text
        self._exports_to_keep = exports_to_keep

    @property
    def name(self) -> str:
        return self._name

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        written = estimator.export_saved_model(
            export_path,
            self._serving_input_receiver_fn,
            assets_extra=self._assets_extra,
            as_text=self._as_text,
            checkpoint_path=checkpoint_path,
        )
        self._garbage_collect_exports(export_path)
        return written

    def _garbage_collect_exports(self, export_dir_base: Any) -> None:
        """Deletes all but the latest exports: directories named after the time."""
        if self._exports_to_keep is None:
            return
        entries = [as_str_any(entry).rstrip("/") for entry in gfile.ListDirectory(export_dir_base)]
        exports = sorted((e for e in entries if len(e) == 10 and e.isdigit()), key=int)
        for old in exports[: -self._exports_to_keep]:
            path = os.path.join(as_str_any(export_dir_base), old)
            try:
                gfile.DeleteRecursively(path)
            except tf.errors.NotFoundError as error:
                logging.warn("Can not delete %s recursively: %s", path, error)


class FinalExporter(_SavedModelExporter):
    """Exports the model once, when training has ended.

    Args:
      name: the name of the directory below `export`.
      serving_input_receiver_fn: returns a `ServingInputReceiver`.
      assets_extra: files to copy into `assets.extra`, by their path there.
      as_text: write the graph as text.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: Any = None,
        as_text: bool = False,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text)

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        if not is_the_final_export:
            return None
        logging.info("Performing the final export in the end of training.")
        return super().export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )


class LatestExporter(_SavedModelExporter):
    """Exports the model after each evaluation, and keeps the latest exports.

    Args:
      name: the name of the directory below `export`.
      serving_input_receiver_fn: returns a `ServingInputReceiver`.
      assets_extra: files to copy into `assets.extra`, by their path there.
      as_text: write the graph as text.
      exports_to_keep: how many exports to keep; all if None.
    """

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Any,
        assets_extra: Any = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ):
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)


def _loss_smaller(best_eval_result: Any, current_eval_result: Any) -> bool:
    """Whether the loss of the second result is smaller."""
    for name, result in (
        ("best_eval_result", best_eval_result),
        ("current_eval_result", current_eval_result),
    ):
        if not result or LOSS_METRIC_KEY not in result:
            raise ValueError(f"{name} cannot be empty or no loss is found in it.")
    return bool(best_eval_result[LOSS_METRIC_KEY] > current_eval_result[LOSS_METRIC_KEY])


class BestExporter(_SavedModelExporter):
    """Exports the model when an evaluation is better than all before.

    Args:
      name: the name of the directory below `export`.
      serving_input_receiver_fn: returns a `ServingInputReceiver`.
      event_file_pattern: where results of earlier runs are found, below the model's directory.
      compare_fn: of `best_eval_result` and `current_eval_result`: whether the second is better.
      assets_extra: files to copy into `assets.extra`, by their path there.
      as_text: write the graph as text.
      exports_to_keep: how many exports to keep; all if None.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Any = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] | None = _loss_smaller,
        assets_extra: Any = None,
        as_text: bool = False,
        exports_to_keep: int | None = 5,
    ):
        if compare_fn is None:
            raise ValueError("`compare_fn` must not be None.")
        _check_compare_fn(compare_fn)
        super().__init__(name, serving_input_receiver_fn, assets_extra, as_text, exports_to_keep)
        self._compare_fn = compare_fn
        self._event_file_pattern = event_file_pattern
        self._model_dir: Any = None
        self._best_eval_result: Any = None
        self._has_exported = False

    def export(
        self,
        estimator: Any,
        export_path: Any,
        checkpoint_path: Any,
        eval_result: Any,
        is_the_final_export: bool,
    ) -> Any:
        if self._model_dir != estimator.model_dir and self._event_file_pattern:
            logging.info("Loading best metric from event files.")
            self._model_dir = estimator.model_dir
            pattern = os.path.join(self._model_dir, self._event_file_pattern)
            self._best_eval_result = self._get_best_eval_result(pattern)
        best = self._best_eval_result
        if (
            self._has_exported
            and best is not None
            and not self._compare_fn(best_eval_result=best, current_eval_result=eval_result)
        ):
            return None
        logging.info("Performing best model export.")
        self._best_eval_result = eval_result
        self._has_exported = True
        return super().export(
            estimator, export_path, checkpoint_path, eval_result, is_the_final_export
        )

    def _get_best_eval_result(self, event_files: str) -> Any:
        best = None
        for path in gfile.Glob(event_files):
            for event in tf.train.summary_iterator(path):
                result = {
                    value.tag: value.simple_value
                    for value in event.summary.value
                    if value.HasField("simple_value")
                }
                if result and (best is None or self._compare_fn(best, result)):
                    best = result
        return best


def _check_compare_fn(compare_fn: Any) -> None:
    names = set(fn_args(compare_fn))
    for wanted in ("best_eval_result", "current_eval_result"):
        if wanted not in names:
            raise ValueError(f"compare_fn ({compare_fn}) must include {wanted} argument.")
    others = list(names - {"best_eval_result", "current_eval_result"})
    if others:
        raise ValueError(f"compare_fn ({compare_fn}) has following not expected args: {others}")
