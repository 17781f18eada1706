"""Placeholders and parsed Examples with labeled axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.labeled_tensor import typecheck as tc
from penstock.contrib.labeled_tensor.axes import Axes, AxisLike, as_axis
from penstock.contrib.labeled_tensor.tensors import (
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
)


class FixedLenFeature:
    """A feature whose axes have known sizes."""

    def __init__(self, axes: Any, dtype: Any, default_value: Any = None):
        self._axes = [as_axis(axis) for axis in axes]
        self._dtype = dtype
        self._default_value = default_value

    @property
    def axes(self) -> list[Any]:
        return self._axes

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def default_value(self) -> Any:
        return self._default_value


def _without_labels(features: Any) -> dict[str, Any]:
    plain = {}
    for name, feature in features.items():
        shape = [axis.size for axis in feature.axes]
        if None in shape:
            raise ValueError("axes with unknown size are not supported")
        plain[name] = tf.FixedLenFeature(shape, feature.dtype, feature.default_value)
    return plain


def _parsed(
    parse: Callable[..., Any], given: LabeledTensor, features: Any, name: Any, names: Any
) -> dict[str, LabeledTensor]:
    tensors = parse(given.tensor, _without_labels(features), name, names)
    outer = list(given.axes.values())
    return {key: LabeledTensor(each, outer + features[key].axes) for key, each in tensors.items()}


@tc.accepts(LabeledTensorLike, tc.Mapping(str, FixedLenFeature), tc.Optional(str), object)
def parse_example(
    serialized: Any, features: Any, name: str | None = None, example_names: Any = None
) -> Any:
    """The features of a batch of serialized Examples."""
    given = convert_to_labeled_tensor(serialized)
    return _parsed(tf.parse_example, given, features, name, example_names)


@tc.accepts(LabeledTensorLike, tc.Mapping(str, FixedLenFeature), tc.Optional(str), object)
def parse_single_example(
    serialized: Any, features: Any, name: str | None = None, example_names: Any = None
) -> Any:
    """The features of one serialized Example."""
    given = convert_to_labeled_tensor(serialized)
    return _parsed(tf.parse_single_example, given, features, name, example_names)


@tc.accepts(tf.DType, tc.Collection(tc.Union(str, AxisLike)), tc.Optional(str))
def placeholder(dtype: Any, axes: Any, name: str | None = None) -> Any:
    """A placeholder; an axis given as a name has any size."""
    with tf.name_scope(name, "lt_placeholder", []) as scope:
        known = Axes([(axis, None) if isinstance(axis, str) else axis for axis in axes])
        shape = [axis.size for axis in known.values()]
        return LabeledTensor(tf.placeholder(dtype, shape, name=scope), known)
