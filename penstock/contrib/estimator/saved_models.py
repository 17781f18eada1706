"""Exports of an Estimator in several modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.estimator.export.receivers import build_raw_supervised_input_receiver_fn
from penstock.estimator.input_results import parse_input_fn_result
from penstock.estimator.mode_keys import ModeKeys


def export_saved_model_for_mode(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn: Callable[[], Any],
    assets_extra: Any = None,
    as_text: bool = False,
    checkpoint_path: Any = None,
    mode: str = ModeKeys.PREDICT,
) -> bytes:
    """Writes a SavedModel for one mode; see `Estimator.export_saved_model`."""
    return bytes(
        estimator.export_saved_model(
            export_dir_base, input_receiver_fn, assets_extra, as_text, checkpoint_path, mode
        )
    )


def export_all_saved_models(
    estimator: Any,
    export_dir_base: Any,
    input_receiver_fn_map: dict[str, Callable[[], Any]],
    assets_extra: Any = None,
    as_text: bool = False,
    checkpoint_path: Any = None,
) -> bytes:
    """Writes a SavedModel with a graph for each mode."""
    return bytes(
        estimator.experimental_export_all_saved_models(
            export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
        )
    )


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], Any]:
    """A function for export whose model is fed what an input function gives."""
    with tf.Graph().as_default():
        features, labels, _ = parse_input_fn_result(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)
