"""The results of an evaluation as summaries, for TensorBoard and for exporters."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

import penstock as tf
from penstock.ops.tensor_values import make_tensor_proto
from penstock.platform import logging


def write(output_dir: str, results: dict[str, Any], checkpoint_path: Any) -> None:
    """Writes the values of metrics, and which checkpoint they are of."""
    step = results[tf.GraphKeys.GLOBAL_STEP]
    _write_dict_to_summary(output_dir, results, step)
    if checkpoint_path:
        _write_checkpoint_path_to_summary(output_dir, checkpoint_path, step)


def _write_dict_to_summary(
    output_dir: str, dictionary: dict[str, Any], current_global_step: int
) -> None:
    text = _as_text(dictionary)
    logging.info("Saving dict for global step %d: %s", current_global_step, text)
    summary = tf.Summary()
    for key, value in dictionary.items():
        if value is not None and key != tf.GraphKeys.GLOBAL_STEP:
            _add(summary, key, value)
    _write(output_dir, summary, current_global_step)


def _write_checkpoint_path_to_summary(
    output_dir: str, checkpoint_path: Any, current_global_step: int
) -> None:
    tag = "checkpoint_path"
    logging.info(
        "Saving '%s' summary for global step %d: %s", tag, current_global_step, checkpoint_path
    )
    summary = tf.Summary()
    summary.value.add(tag=tag, tensor=make_tensor_proto(checkpoint_path, dtype=tf.string))
    _write(output_dir, summary, current_global_step)


def _write(output_dir: str, summary: Any, step: int) -> None:
    writer = tf.summary.FileWriterCache.get(output_dir)
    writer.add_summary(summary, step)
    writer.flush()


def _as_text(results: dict[str, Any]) -> str:
    return ", ".join(
        f"{key} = {value!s}"  # a float32 has its own digits in a text, and more in a format
        for key, value in sorted(results.items())
        if not isinstance(value, bytes)
    )


def _add(summary: Any, key: str, value: Any) -> None:
    if isinstance(value, np.floating | float | np.integer | int):
        summary.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, bytes):
        _add_serialized(summary, key, value)
    elif isinstance(value, np.ndarray):
        summary.value.add(tag=key, node_name=key, tensor=make_tensor_proto(value))
    else:
        logging.warn(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or "
            "np.ndarray or a serialized string of Summary.",
            key,
        )


def _add_serialized(summary: Any, key: str, value: bytes) -> None:
    """Adds the summaries of a metric that makes summaries itself, such as images."""
    try:
        given = tf.Summary.FromString(value)
    except DecodeError:
        logging.warn("Skipping summary for %s, cannot parse string to Summary.", key)
        return
    for number, part in enumerate(given.value):
        part.tag = f"{key}/{number}"
    summary.value.extend(given.value)
