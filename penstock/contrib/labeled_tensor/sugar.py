"""Reshaping there and back."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.labeled_tensor import typecheck as tc
from penstock.contrib.labeled_tensor.axes import AxisLike, as_axis
from penstock.contrib.labeled_tensor.shaping import reshape
from penstock.contrib.labeled_tensor.tensors import LabeledTensorLike, convert_to_labeled_tensor


class ReshapeCoder:
    """Replaces axes of tensors by others, and puts the old ones back."""

    @tc.accepts(
        object, tc.Collection(str), tc.Collection(tc.Union(str, AxisLike)), tc.Optional(str)
    )
    def __init__(self, existing_axis_names: Any, new_axes: Any, name: str | None = None):
        self._name = name
        self._existing_axis_names = existing_axis_names
        self._new_axes = new_axes
        self._existing_axes: list[Any] | None = None

    @tc.accepts(object, LabeledTensorLike)
    def encode(self, labeled_tensor: Any) -> Any:
        """The tensor with the new axes."""
        with tf.name_scope(self._name, "lt_reshape_encode", [labeled_tensor]) as scope:
            given = convert_to_labeled_tensor(labeled_tensor)
            encoded = reshape(given, self._existing_axis_names, self._new_axes, name=scope)
            axes = [given.axes[each] for each in self._existing_axis_names]
            if self._existing_axes not in (None, axes):
                raise ValueError(
                    f"input axes {axes!r} do not match axes from previous method call "
                    f"{self._existing_axes!r}"
                )
            self._existing_axes = axes
            return encoded

    @tc.accepts(object, LabeledTensorLike)
    def decode(self, labeled_tensor: Any) -> Any:
        """A tensor with the new axes, with the old ones again."""
        if self._existing_axes is None:
            raise ValueError("decode called before encode")
        with tf.name_scope(self._name, "lt_reshape_decode", [labeled_tensor]) as scope:
            given = convert_to_labeled_tensor(labeled_tensor)
            names = [a if isinstance(a, str) else as_axis(a).name for a in self._new_axes]
            return reshape(given, names, self._existing_axes, name=scope)
