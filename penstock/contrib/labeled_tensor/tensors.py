"""`LabeledTensor`: a tensor whose axes have names, and how they are brought in line."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.labeled_tensor import typecheck as tc
from penstock.contrib.labeled_tensor.axes import Axes, Axis, AxisLike, Scalar, shown_axes
from penstock.shapes import Dimension

_AXIS_ORDER_KEY = ("__axis_order",)


class AxisOrderError(ValueError):
    """Axes are not in the order that an operation needs."""


class LabeledTensor:
    """A tensor with a name for each axis, and labels for the places along some of them.

    Args:
      axes: an axis, a pair of name and value, or a name alone, for each dimension.
    """

    @tc.accepts(object, tf.Tensor, tc.Union(Axes, tc.Collection(tc.Union(str, AxisLike))))
    def __init__(self, tensor: Any, axes: Any):
        shape = tensor.get_shape()
        if not isinstance(axes, Axes):
            axes = Axes(
                [
                    (given, shape[place]) if isinstance(given, str) else given
                    for place, given in enumerate(axes)
                ]
            )
        if len(shape) != len(axes):
            raise ValueError(
                f"Tensor rank was not equal to the number of axes: {shape!r}, {axes!r}"
            )
        for size, axis in zip(shape.as_list(), axes.values(), strict=True):
            if None not in (size, axis.size) and size != axis.size:
                raise ValueError(
                    f"Provided axis size {axis.size} does not match tensor dimension size {size}"
                    f"in tensor {tensor!r}"
                )
        self._tensor = tensor
        self._axes = axes

    @property
    def tensor(self) -> Any:
        """The tensor without its labels."""
        return self._tensor

    @property
    def axes(self) -> Axes:
        return self._axes

    @property
    def dtype(self) -> Any:
        return self._tensor.dtype

    @property
    def shape(self) -> Any:
        return self._tensor.shape

    @property
    def name(self) -> str:
        name: str = self._tensor.name
        return name

    def get_shape(self) -> Any:
        return self._tensor.get_shape()

    def _as_graph_element(self) -> Any:
        return self._tensor

    def __repr__(self) -> str:
        axes = shown_axes(self.axes, indent=len(" axes=["))
        return (
            f"<{type(self).__name__} '{self.name}' shape={self.shape} dtype={self.dtype.name}\n"
            f" axes=[{axes}]>"
        )

    def __getitem__(self, key: Any) -> LabeledTensor:
        places = key if isinstance(key, tuple) else (key,)
        if len(places) != len(self.axes):
            raise ValueError(
                f"indexer {places!r} must have the same length as the Tensor rank "
                f"({len(self.axes)!r})"
            )
        return slice_function(self, dict(zip(self.axes, places, strict=True)))

    def __pos__(self) -> LabeledTensor:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LabeledTensor):
            return False
        return self.tensor is other.tensor and self.axes == other.axes

    def __hash__(self) -> int:
        return hash((self.tensor, self.axes))


def _as_tensor(
    value: LabeledTensor, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Any:
    return tf.convert_to_tensor(value.tensor, dtype=dtype, name=name)


tf.register_tensor_conversion_function(LabeledTensor, _as_tensor)

for _type, _alias in (
    (Dimension, "tensorflow.Dimension"),
    (tf.Tensor, "tensorflow.Tensor"),
    (tf.DType, "tensorflow.DType"),
    (Axis, "labeled_tensor.Axis"),
    (Axes, "labeled_tensor.Axes"),
    (LabeledTensor, "labeled_tensor.LabeledTensor"),
):
    tc.register_type_abbreviation(_type, _alias)

LabeledTensorLike = tc.Union(LabeledTensor, tf.Tensor, np.ndarray, Scalar)


@tc.accepts(LabeledTensorLike, object, tc.Optional(str))
def convert_to_labeled_tensor(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A labeled tensor from one, or from a scalar."""
    axes: list[Any] = []
    if isinstance(value, LabeledTensor):
        axes, value = list(value.axes.values()), value.tensor
    tensor = tf.convert_to_tensor(value, dtype=dtype, name=name)
    if len(tensor.get_shape()) != len(axes):
        raise ValueError(
            "cannot automatically convert unlabeled arrays or tensors with rank>0 into "
            f"LabeledTensors: {value!r}"
        )
    return LabeledTensor(tensor, axes)


@tc.accepts(LabeledTensorLike, tc.Optional(str))
def identity(labeled_tensor: Any, name: str | None = None) -> Any:
    """The same tensor as a node of its own."""
    with tf.name_scope(name, "lt_identity", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(tf.identity(given.tensor, name=scope), given.axes)


@tc.accepts(LabeledTensorLike, tc.Mapping(str, tc.Union(int, slice)), tc.Optional(str))
def slice_function(labeled_tensor: Any, selection: Any, name: str | None = None) -> Any:
    """The part of a tensor at given places along the named axes; a number drops its axis."""
    with tf.name_scope(name, "lt_slice", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        places = [selection.get(axis, slice(None)) for axis in given.axes]
        part = given.tensor[tuple(places)]
        axes = [
            axis.name if axis.labels is None else (axis.name, axis.labels[place])
            for axis, place in zip(given.axes.values(), places, strict=True)
            if isinstance(place, slice)
        ]
        return LabeledTensor(tf.identity(part, name=scope), axes)


@tc.accepts(LabeledTensorLike, tc.Optional(tc.Collection(str)), tc.Optional(str))
def transpose(labeled_tensor: Any, axis_order: Any = None, name: str | None = None) -> Any:
    """The tensor with its axes in another order, by default the reverse."""
    with tf.name_scope(name, "lt_transpose", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        names = list(given.axes)
        order = names[::-1] if axis_order is None else list(axis_order)
        if sorted(order) != sorted(names):
            raise ValueError(
                "The new axis order must have the same names as the original axes, but the new "
                f"order is {order!r} while the original order is {names!r}"
            )
        turned = tf.transpose(given.tensor, [names.index(each) for each in order], name=scope)
        return LabeledTensor(turned, [given.axes[each] for each in order])


@tc.accepts(
    LabeledTensorLike, tc.Collection(tc.Union(str, tc.Tuple(str, object))), tc.Optional(str)
)
def expand_dims(labeled_tensor: Any, axes: Any, name: str | None = None) -> Any:
    """The tensor with new axes of size 1, among the old ones in their order."""
    with tf.name_scope(name, "lt_expand_dims", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        check_axis_order(given, [a if isinstance(a, str) else a[0] for a in axes])
        new_axes: list[Any] = []
        for each in axes:
            if isinstance(each, str):
                new_axes.append(given.axes[each] if each in given.axes else Axis(each, 1))
            else:
                new_axes.append(Axis(each[0], (each[1],)))
        shape = [-1 if axis.size is None else axis.size for axis in new_axes]
        return LabeledTensor(tf.reshape(given.tensor, shape, name=scope), new_axes)


# The order of axes --------------------------------------------------------------------------------


def get_axis_order() -> list[str] | None:
    """The order that an `axis_order_scope` sets, or None."""
    orders = tf.get_collection(_AXIS_ORDER_KEY)
    order: list[str] | None = orders[0] if orders else None
    return order


def _set_axis_order(order: list[str] | None) -> None:
    tf.get_collection_ref(_AXIS_ORDER_KEY)[:] = [order]


@contextmanager
@tc.accepts(tc.Optional(tc.List(str)))
def axis_order_scope(axis_order: list[str] | None = None) -> Iterator[list[str] | None]:
    """A block whose operations need, and give, axes in one order."""
    before = get_axis_order()
    _set_axis_order(axis_order)
    try:
        yield axis_order
    finally:
        _set_axis_order(before)


def _needed_order(axis_order: Any) -> Sequence[str]:
    order: Sequence[str] | None = get_axis_order() if axis_order is None else axis_order
    if order is None:
        raise AxisOrderError(
            "an explicit axis order must be provided with the axis_order argument or by using an "
            "axis_order_scope"
        )
    return order


@tc.accepts(LabeledTensorLike, tc.Optional(tc.Collection(str)))
def check_axis_order(labeled_tensor: Any, axis_order: Any = None) -> None:
    """Refuses a tensor whose axes are not in the order given or set."""
    given = convert_to_labeled_tensor(labeled_tensor)
    order = _needed_order(axis_order)
    relevant = [each for each in order if each in given.axes]
    if len(relevant) < len(given.axes):
        raise AxisOrderError(
            f"not all axis names appear in the required axis order {order!r}: {given!r}"
        )
    if relevant != list(given.axes):
        raise AxisOrderError(
            "axes on a labeled tensor do not appear in the same order as the required axis order "
            f"{order!r}: {given!r}"
        )


@tc.accepts(LabeledTensorLike, tc.Optional(tc.Collection(str)), tc.Optional(str))
def impose_axis_order(labeled_tensor: Any, axis_order: Any = None, name: str | None = None) -> Any:
    """The tensor with its axes in the order given or set."""
    with tf.name_scope(name, "lt_impose_axis_order", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        relevant = [each for each in _needed_order(axis_order) if each in given.axes]
        return transpose(given, relevant, name=scope)


@tc.accepts(list, list)
def _find_consistent_ordering(a: list[Any], b: list[Any]) -> list[Any] | None:
    """Both lists as one in which each keeps its order; None where they contradict."""
    ordering: list[Any] = []
    left, right = list(a), list(b)
    while left and right:
        if left[0] not in b:
            ordering.append(left.pop(0))
        elif right[0] not in a:
            ordering.append(right.pop(0))
        elif left[0] == right[0]:
            ordering.append(left.pop(0))
            right.pop(0)
        else:
            return None
    return ordering + left + right


@tc.accepts(LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
def align(labeled_tensor_0: Any, labeled_tensor_1: Any, name: str | None = None) -> Any:
    """Both tensors with all axes of both, for broadcasting, and the axes of the result."""
    with tf.name_scope(name, "lt_align", [labeled_tensor_0, labeled_tensor_1]) as scope:
        first = convert_to_labeled_tensor(labeled_tensor_0)
        second = convert_to_labeled_tensor(labeled_tensor_1)
        for each in first.axes:
            if each in second.axes and first.axes[each] != second.axes[each]:
                raise ValueError(
                    f"Mismatched {each!r} axis on input tensors: {first.axes[each]!r} and "
                    f"{second.axes[each]!r}"
                )
        names = _common_order(first, second)
        joined = [first.axes[n] if n in first.axes else second.axes[n] for n in names]
        return (
            expand_dims(first, names, name=scope + "0"),
            expand_dims(second, names, name=scope + "1"),
            Axes(joined),
        )


def _common_order(first: LabeledTensor, second: LabeledTensor) -> list[str]:
    order = get_axis_order()
    if order is not None:
        check_axis_order(first, order)
        check_axis_order(second, order)
        return [each for each in order if each in first.axes or each in second.axes]
    names = _find_consistent_ordering(list(first.axes), list(second.axes))
    if names is None:
        raise AxisOrderError(
            "No consistent axis order allows for aligning tensors with axis orders "
            f"{list(first.axes)!r} and {list(second.axes)!r} without copying data. Use transpose "
            "or impose_axis_order to reorder axes on one of more of the inputs."
        )
    return names


@tc.accepts(str, collections.abc.Callable)
def define_unary_op(op_name: str, elementwise_function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of labeled tensors from one of tensors that keeps their shape."""

    @tc.accepts(LabeledTensorLike, tc.Optional(str))
    def op(labeled_tensor: Any, name: str | None = None) -> Any:
        with tf.name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            given = convert_to_labeled_tensor(labeled_tensor)
            return LabeledTensor(elementwise_function(given.tensor, name=scope), given.axes)

    op.__name__ = op_name
    op.__doc__ = f"LabeledTensor version of `tf.{op_name}`."
    return op


@tc.accepts(str, collections.abc.Callable)
def define_binary_op(op_name: str, elementwise_function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of two labeled tensors, which it aligns, from one of tensors."""

    @tc.accepts(LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
    def op(labeled_tensor_0: Any, labeled_tensor_1: Any, name: str | None = None) -> Any:
        both = [labeled_tensor_0, labeled_tensor_1]
        with tf.name_scope(name, f"lt_{op_name}", both) as scope:
            first, second, axes = align(*both)
            result = elementwise_function(first.tensor, second.tensor, name=scope)
            return LabeledTensor(result, axes)

    op.__name__ = op_name
    op.__doc__ = f"LabeledTensor version of `tf.{op_name}` with label based alignment."
    return op
