"""Selecting, joining and reshaping labeled tensors."""

from __future__ import annotations

import collections.abc
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.labeled_tensor import typecheck as tc
from penstock.contrib.labeled_tensor.axes import (
    Axes,
    Axis,
    AxisLike,
    AxisValue,
    Scalar,
    as_axis,
    concat_axes,
)
from penstock.contrib.labeled_tensor.tensors import (
    AxisOrderError,
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
    slice_function,
    transpose,
)
from penstock.internal_paths.constant_functions import constant as strict_constant


@tc.accepts(
    LabeledTensorLike,
    tc.Mapping(str, tc.Union(slice, collections.abc.Hashable, list)),
    tc.Optional(str),
)
def select(labeled_tensor: Any, selection: Any, name: str | None = None) -> Any:
    """The part of a tensor at given labels.

    Args:
      selection: for names of axes, a label, a slice of labels with both ends, or a list of them.
    """
    with tf.name_scope(name, "lt_select", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        slices: dict[str, Any] = {}
        listed: dict[str, list[int]] = {}
        for axis_name, value in selection.items():
            axis = _labeled_axis(given, axis_name)
            if isinstance(value, slice):
                slices[axis_name] = _slice_of_labels(axis, value)
            elif isinstance(value, collections.abc.Hashable):
                slices[axis_name] = axis.index(value)
            elif listed:
                raise NotImplementedError(
                    "select does not yet support more than one list selection at the same time"
                )
            else:
                listed[axis_name] = [axis.index(label) for label in value]
        if listed and slices:
            raise NotImplementedError(
                "select does not yet support combined scalar and list selection"
            )
        if not listed:
            return slice_function(given, slices, name=scope)
        ((axis_name, places),) = listed.items()
        return _taken(given, places, Axis(axis_name, selection[axis_name]), scope)


def _labeled_axis(given: LabeledTensor, axis_name: str) -> Axis:
    if axis_name not in given.axes:
        raise ValueError(
            f"The tensor does not have an axis named {axis_name}. Its axes are: "
            f"{given.axes.keys()!r}"
        )
    axis = given.axes[axis_name]
    if axis.labels is None:
        raise ValueError(f"The axis named {axis_name} does not have labels. The axis is: {axis!r}")
    return axis


def _slice_of_labels(axis: Axis, labels: slice) -> slice:
    start = None if labels.start is None else axis.index(labels.start)
    stop = None if labels.stop is None else axis.index(labels.stop) + 1
    if labels.step is not None:
        raise NotImplementedError("slicing with a step is not yet supported")
    return slice(start, stop)


def _taken(given: LabeledTensor, places: list[int], axis: Axis, scope: str) -> Any:
    indices = tf.convert_to_tensor(places, dtype=tf.int64)
    with tf.name_scope(scope, "lt_take", [given]) as inner:
        axes = Axes([axis, *given.axes.remove(axis.name).values()])
        first = transpose(given, list(axes))
        taken = LabeledTensor(tf.gather(first.tensor, indices), axes)
        return transpose(taken, list(given.axes), name=inner)


@tc.accepts(tc.Collection(LabeledTensorLike), str, tc.Optional(str))
def concat(labeled_tensors: Any, axis_name: str, name: str | None = None) -> Any:
    """Tensors one after the other along an axis that all have."""
    with tf.name_scope(name, "lt_concat", labeled_tensors) as scope:
        given = [convert_to_labeled_tensor(each) for each in labeled_tensors]
        if not given:
            raise ValueError(f"concat expects at least 1 tensor, but received {labeled_tensors}")
        names = list(given[0].axes)
        if axis_name not in names:
            raise ValueError(f"{axis_name} not in {names}")
        shared = given[0].axes.remove(axis_name)
        for each in given[1:]:
            if each.axes.remove(axis_name) != shared:
                raise ValueError(
                    f"Mismatched shared axes: the first tensor had axes {shared!r} but this "
                    f"tensor has axes {each.axes.remove(axis_name)!r}."
                )
        place = names.index(axis_name)
        axes = list(given[0].axes.values())
        axes[place] = concat_axes([each.axes[axis_name] for each in given])
        joined = tf.concat([each.tensor for each in given], place, name=scope)
        return LabeledTensor(joined, axes)


@tc.accepts(tc.Collection(LabeledTensorLike), tc.Union(str, AxisLike), int, tc.Optional(str))
def pack(
    labeled_tensors: Any, new_axis: Any, axis_position: int = 0, name: str | None = None
) -> Any:
    """Tensors of the same axes as one, along a new axis."""
    with tf.name_scope(name, "lt_pack", labeled_tensors) as scope:
        given = [convert_to_labeled_tensor(each) for each in labeled_tensors]
        if not given:
            raise ValueError(f"pack expects at least 1 tensors, but received {labeled_tensors}")
        axes = list(given[0].axes.values())
        for each in given:
            if each.axes != given[0].axes:
                raise ValueError(
                    f"Non-identical axes. Expected {given[0].axes} but got {each.axes}"
                )
        packed = tf.stack([each.tensor for each in given], axis=axis_position, name=scope)
        axes.insert(axis_position, new_axis)
        return LabeledTensor(packed, axes)


@tc.accepts(LabeledTensorLike, tc.Optional(str), tc.Optional(str))
def unpack(labeled_tensor: Any, axis_name: str | None = None, name: str | None = None) -> Any:
    """The tensors that lie along an axis, by default the first."""
    with tf.name_scope(name, "lt_unpack", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        names = list(given.axes)
        along = names[0] if axis_name is None else axis_name
        if along not in names:
            raise ValueError(f"{along} not in {names}")
        parts = tf.unstack(given.tensor, axis=names.index(along), name=scope)
        axes = list(given.axes.remove(along).values())
        return [LabeledTensor(part, axes) for part in parts]


def _known_size(axis: Axis) -> int:
    return -1 if axis.size is None else axis.size


@tc.accepts(
    LabeledTensorLike,
    tc.Collection(str),
    tc.Collection(tc.Union(str, AxisLike)),
    tc.Optional(str),
)
def reshape(labeled_tensor: Any, existing_axes: Any, new_axes: Any, name: str | None = None) -> Any:
    """The tensor with neighbouring axes replaced by others; one of these may be a name alone."""
    with tf.name_scope(name, "lt_reshape", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        names, existing = list(given.axes), list(existing_axes)
        if not set(existing) <= set(names):
            raise ValueError(
                f"existing_axes {existing!r} are not contained in the set of axis names {names!r} "
                "on the input labeled tensor"
            )
        start, stop = names.index(existing[0]), names.index(existing[-1]) + 1
        if existing != names[start:stop]:
            raise AxisOrderError(
                f"existing_axes {existing!r} are not a slice of axis names {names!r} on the input "
                "labeled tensor. Use `transpose` or `impose_axis_order` to reorder axes on the "
                "input explicitly."
            )
        if sum(isinstance(axis, str) for axis in new_axes) > 1:
            raise ValueError(
                "at most one axis in new_axes can have unknown size. All other axes must have an "
                f"indicated integer size or labels: {new_axes!r}"
            )
        old = list(given.axes.values())
        shape = [
            *map(_known_size, old[:start]),
            *(-1 if isinstance(axis, str) else _known_size(as_axis(axis)) for axis in new_axes),
            *map(_known_size, old[stop:]),
        ]
        reshaped = tf.reshape(given.tensor, shape, name=scope)
        return LabeledTensor(reshaped, [*old[:start], *new_axes, *old[stop:]])


@tc.accepts(LabeledTensorLike, str, str, tc.Optional(str))
def rename_axis(
    labeled_tensor: Any, existing_name: str, new_name: str, name: str | None = None
) -> Any:
    """The tensor with an axis under another name."""
    with tf.name_scope(name, "lt_rename_axis", [labeled_tensor]) as scope:
        axes = labeled_tensor.axes
        if existing_name not in axes:
            raise ValueError(
                f"existing_name {existing_name!r} are not contained in the set of axis names "
                f"{axes.keys()!r} on the input labeled tensor"
            )
        new_axis = Axis(new_name, axes[existing_name].value)
        return reshape(labeled_tensor, [existing_name], [new_axis], name=scope)


@tc.accepts(LabeledTensorLike, tc.Mapping(str, int), tc.Optional(int), tc.Optional(str))
def random_crop(
    labeled_tensor: Any, shape_map: Any, seed: int | None = None, name: str | None = None
) -> Any:
    """A part at a random place, with given sizes along the named axes."""
    with tf.name_scope(name, "lt_random_crop", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        for axis_name in shape_map:
            if axis_name not in given.axes:
                raise ValueError(f"Selection axis {axis_name} not in axes {given.axes}")
        axes = [
            Axis(axis.name, shape_map[axis.name]) if axis.name in shape_map else axis
            for axis in given.axes.values()
        ]
        shape = [len(axis) for axis in axes]
        return LabeledTensor(tf.random_crop(given.tensor, shape, seed=seed, name=scope), axes)


@tc.accepts(LabeledTensorLike, tc.Optional(tc.Collection(str)), tc.Optional(str))
def squeeze(labeled_tensor: Any, axis_names: Any = None, name: str | None = None) -> Any:
    """The tensor without axes of size 1: those named, or all."""
    with tf.name_scope(name, "lt_squeeze", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        if axis_names is None:
            axis_names = [axis.name for axis in given.axes.values() if len(axis) == 1]
        for each in axis_names:
            if each not in given.axes:
                raise ValueError(f"axis {each} is not in tensor axes {given.axes}")
            if len(given.axes[each]) != 1:
                raise ValueError(
                    f"cannot squeeze axis with size greater than 1: ({each}, {given.axes[each]})"
                )
        places = [place for place, each in enumerate(given.axes) if each in axis_names]
        axes = [axis for axis in given.axes.values() if axis.name not in axis_names]
        if not places:
            return LabeledTensor(tf.identity(given.tensor, name=scope), axes)
        return LabeledTensor(tf.squeeze(given.tensor, places, name=scope), axes)


@tc.accepts(LabeledTensorLike, tc.Mapping(str, tc.Union(int, tf.Tensor)), tc.Optional(str))
def tile(labeled_tensor: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor repeated along named axes, which have no labels."""
    with tf.name_scope(name, "lt_tile", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        if not set(multiples) <= set(given.axes):
            raise ValueError(
                f"tile axes {multiples.keys()!r} are not contained in the set of axis names "
                f"{given.axes!r} on the input labeled tensor"
            )
        labeled = [each for each in multiples if given.axes[each].labels is not None]
        if labeled:
            raise ValueError(f"cannot tile axes with tick labels: {labeled!r}")
        counts = [multiples.get(each, 1) for each in given.axes]
        axes = [axis.name if axis.labels is None else axis for axis in given.axes.values()]
        return LabeledTensor(tf.tile(given.tensor, counts, name=scope), axes)


@tc.accepts(
    LabeledTensorLike, tc.Mapping(str, tc.Tuple(AxisValue, AxisValue)), str, tc.Optional(str)
)
def pad(labeled_tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None) -> Any:
    """The tensor with more before and after named axes: sizes, or the labels of new places."""
    with tf.name_scope(name, "lt_pad", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        if not set(paddings) <= set(given.axes):
            raise ValueError(
                f"pad axes {paddings.keys()!r} are not contained in the set of axis names "
                f"{given.axes!r} on the input labeled tensor"
            )
        axes, sizes = [], []
        for each, axis in given.axes.items():
            before, after = (Axis(each, part) for part in paddings.get(each, (0, 0)))
            axes.append(concat_axes([before, axis, after]) if each in paddings else axis)
            sizes.append((len(before), len(after)))
        return LabeledTensor(tf.pad(given.tensor, sizes, mode, name=scope), axes)


@tc.accepts(
    tc.Union(np.ndarray, list, tuple, Scalar),
    tc.Optional(tf.DType),
    tc.Optional(tc.Union(Axes, tc.Collection(tc.Union(str, AxisLike)))),
    tc.Optional(str),
)
def constant(value: Any, dtype: Any = None, axes: Any = None, name: str | None = None) -> Any:
    """A constant; its shape is that of its axes, unless one is a name alone."""
    with tf.name_scope(name, "lt_constant", [value]) as scope:
        known = list(axes.values() if isinstance(axes, Axes) else axes or [])
        shape = None
        if not any(isinstance(axis, str) for axis in known):
            known = [as_axis(axis) for axis in known]
            shape = [axis.size for axis in known]
        return LabeledTensor(strict_constant(value, dtype, shape, name=scope), known)


@tc.accepts(LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
def boolean_mask(labeled_tensor: Any, mask: Any, name: str | None = None) -> Any:
    """The places along the first axis at which a mask of that axis is true."""
    with tf.name_scope(name, "lt_boolean_mask", [labeled_tensor, mask]) as scope:
        given, chosen = map(convert_to_labeled_tensor, (labeled_tensor, mask))
        if len(chosen.axes) > 1:
            raise NotImplementedError(
                "LabeledTensor's boolean_mask currently only supports 1D masks"
            )
        first, *rest = given.axes.values()
        (masked,) = chosen.axes.values()
        if masked != first:
            raise ValueError(
                "the first axis of the labeled tensor and the mask are not equal:\n"
                f"{first!r}\n{masked!r}"
            )
        result = tf.boolean_mask(given.tensor, chosen.tensor, name=scope)
        return LabeledTensor(result, [first.name, *rest])


@tc.accepts(LabeledTensorLike, LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
def where(condition: Any, x: Any, y: Any, name: str | None = None) -> Any:
    """`x` where a condition holds, `y` elsewhere; all have the same axes."""
    with tf.name_scope(name, "lt_where", [condition, x, y]) as scope:
        given = [convert_to_labeled_tensor(each) for each in (condition, x, y)]
        if not given[0].axes == given[1].axes == given[2].axes:
            raise ValueError("all inputs to `where` must have equal axes")
        chosen, first, second = given
        result = tf.where(chosen.tensor, first.tensor, second.tensor, name=scope)
        return LabeledTensor(result, first.axes)
