"""Export strategies for the best of several models, and for what is made of an export."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib import layers
from penstock.contrib.learn.export_strategy import ExportStrategy, make_export_strategy
from penstock.contrib.learn.utils.input_fn_utils import build_parsing_serving_input_fn
from penstock.platform import gfile

_LOSS = "loss"


def make_parsing_export_strategy(
    feature_columns: Any,
    default_output_alternative_key: str | None = None,
    assets_extra: Any = None,
    as_text: bool = False,
    exports_to_keep: int | None = 5,
    target_core: bool = False,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """An `ExportStrategy` whose models are fed Examples with the features of columns.

    Args:
      target_core: whether the estimator is one of `tf.estimator`.
    """
    spec = layers.create_feature_spec_for_parsing(feature_columns)
    receiver = tf.estimator.export.build_parsing_serving_input_receiver_fn
    return make_export_strategy(
        receiver(spec) if target_core else build_parsing_serving_input_fn(spec),
        default_output_alternative_key,
        assets_extra,
        as_text,
        exports_to_keep,
        strip_default_attrs,
    )


def _has_smaller_loss(best: Any, candidate: Any) -> bool:
    if not best or _LOSS not in best:
        raise ValueError("curr_best_eval_result cannot be empty or no loss is found in it.")
    if not candidate or _LOSS not in candidate:
        raise ValueError("cand_eval_result cannot be empty or no loss is found in it.")
    return bool(best[_LOSS] > candidate[_LOSS])


class BestModelSelector:
    """Remembers the best metrics so far.

    Args:
      event_file_pattern: event files whose metrics have been met before.
      compare_fn: whether the second metrics are better than the first; by their loss by default.
    """

    def __init__(
        self,
        event_file_pattern: str | None = None,
        compare_fn: Callable[[Any, Any], bool] | None = None,
    ):
        self._compare_fn = compare_fn or _has_smaller_loss
        self._best_eval_result: Any = None
        for path in gfile.Glob(event_file_pattern) if event_file_pattern else ():
            for event in tf.train.summary_iterator(path):
                if event.HasField("summary"):
                    self._meet(
                        {
                            value.tag: value.simple_value
                            for value in event.summary.value
                            if value.HasField("simple_value")
                        }
                    )

    def _meet(self, candidate: Any) -> bool:
        best = self._best_eval_result
        if best is not None and not self._compare_fn(best, candidate):
            return False
        self._best_eval_result = candidate
        return True

    def update(self, checkpoint_path: Any, eval_result: Any) -> tuple[Any, Any]:
        """The checkpoint and its metrics if these are the best so far, else ('', None)."""
        if not checkpoint_path:
            raise ValueError("Checkpoint path is empty.")
        if eval_result is None:
            raise ValueError(f"{checkpoint_path} has empty evaluation results.")
        return (checkpoint_path, eval_result) if self._meet(eval_result) else ("", None)


def make_best_model_export_strategy(
    serving_input_fn: Callable[[], Any],
    exports_to_keep: int | None = 1,
    model_dir: str | None = None,
    event_file_pattern: str | None = None,
    compare_fn: Callable[[Any, Any], bool] | None = None,
    default_output_alternative_key: str | None = None,
    strip_default_attrs: bool | None = None,
) -> ExportStrategy:
    """An `ExportStrategy` that exports a model only if it is the best so far.

    Args:
      event_file_pattern: event files below `model_dir` with earlier metrics.
      compare_fn: whether the second metrics are better than the first; by their loss by default.
    """
    every = make_export_strategy(
        serving_input_fn,
        exports_to_keep=exports_to_keep,
        default_output_alternative_key=default_output_alternative_key,
        strip_default_attrs=strip_default_attrs,
    )
    both = model_dir and event_file_pattern
    pattern = os.path.join(str(model_dir), str(event_file_pattern)) if both else None
    selector = BestModelSelector(pattern, compare_fn)

    def export_fn(
        estimator: Any, export_dir_base: Any, checkpoint_path: Any, eval_result: Any = None
    ) -> Any:
        latest = checkpoint_path or tf.train.latest_checkpoint(estimator.model_dir)
        best, result = selector.update(latest, eval_result)
        if not best or result is None:
            return ""
        export_dir = os.path.join(export_dir_base, os.path.basename(best))
        return every.export(estimator, export_dir, best, result)

    return ExportStrategy("best_model", export_fn)


def extend_export_strategy(
    base_export_strategy: ExportStrategy,
    post_export_fn: Callable[[Any, Any], Any],
    post_export_name: str | None = None,
) -> ExportStrategy:
    """An `ExportStrategy` that makes something else of what another one exports.

    Args:
      post_export_fn: gets the directory of the export and one to write to, and gives a directory
        below that, which is kept in the place of the export.
    """

    def new_folder(base: str, kind: str, what: str) -> str:
        path = os.path.join(base, f"temp-{kind}-export-{int(time.time())}")
        if gfile.Exists(path):
            raise RuntimeError(f"Failed to obtain {what} directory")
        gfile.MakeDirs(path)
        return path

    def export_fn(estimator: Any, export_dir_base: Any, checkpoint_path: Any = None) -> Any:
        first_folder = new_folder(export_dir_base, "base", "base export")
        first = base_export_strategy.export(estimator, first_folder, checkpoint_path)
        second_folder = new_folder(export_dir_base, "post", "temp export")
        second = post_export_fn(first, second_folder)
        if not second.startswith(second_folder):
            raise ValueError(f"post_export_fn must return a sub-directory of {second_folder}")
        kept = os.path.join(export_dir_base, os.path.relpath(second, second_folder))
        if gfile.Exists(kept):
            raise RuntimeError("Failed to obtain final export directory")
        gfile.Rename(second, kept)
        gfile.DeleteRecursively(first_folder)
        gfile.DeleteRecursively(second_folder)
        return kept

    return ExportStrategy(post_export_name or base_export_strategy.name, export_fn)
