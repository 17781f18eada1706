"""Summaries of tensors, activations and collections."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

import penstock as tf

__all__ = [
    "summarize_activation",
    "summarize_activations",
    "summarize_biases",
    "summarize_collection",
    "summarize_tensor",
    "summarize_tensors",
    "summarize_variables",
    "summarize_weights",
]


def _share(condition: Any, tag: str) -> None:
    tf.summary.scalar(tag, tf.reduce_mean(tf.to_float(condition)))


def summarize_activation(op: Any) -> Any:
    """A histogram of an activation; of rectified ones also the share of zeros (and sixes)."""
    node = op.op
    if node.type in ("Relu", "Softplus", "Relu6"):
        before = node.inputs[0]
        _share(tf.less(before, tf.cast(0.0, before.dtype)), f"{node.name}/zeros")
        if node.type == "Relu6":
            _share(tf.greater(before, tf.cast(6.0, before.dtype)), f"{node.name}/sixes")
    return tf.summary.histogram(f"{node.name}/activation", op)


def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """A summary of a tensor: a scalar or a histogram; None for strings and truth values."""
    if tensor.dtype.base_dtype in (tf.string, tf.bool):
        return None
    tag = tag or f"{tensor.op.name}_summary"
    summarize = tf.summary.scalar if tensor.get_shape().ndims == 0 else tf.summary.histogram
    return summarize(tag, tensor)


def summarize_tensors(
    tensors: Iterable[Any], summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """A summary of each tensor."""
    return [summarizer(tensor) for tensor in tensors]


def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_tensor,
) -> list[Any]:
    """A summary of each tensor of a collection whose name matches a pattern."""
    members = tf.get_collection(collection)
    chosen = [
        each for each in members if name_filter is None or re.match(name_filter, each.op.name)
    ]
    return summarize_tensors(chosen, summarizer)


summarize_variables = functools.partial(summarize_collection, tf.GraphKeys.GLOBAL_VARIABLES)
summarize_weights = functools.partial(summarize_collection, tf.GraphKeys.WEIGHTS)
summarize_biases = functools.partial(summarize_collection, tf.GraphKeys.BIASES)


def summarize_activations(
    name_filter: str | None = None, summarizer: Callable[[Any], Any] = summarize_activation
) -> list[Any]:
    """A summary of each activation."""
    return summarize_collection(tf.GraphKeys.ACTIVATIONS, name_filter, summarizer)
