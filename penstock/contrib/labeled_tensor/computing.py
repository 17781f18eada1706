"""Products, reductions, loops and conversions of labeled tensors."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.labeled_tensor import typecheck as tc
from penstock.contrib.labeled_tensor.axes import Axes
from penstock.contrib.labeled_tensor.shaping import pack, squeeze, unpack
from penstock.contrib.labeled_tensor.tensors import (
    LabeledTensor,
    LabeledTensorLike,
    convert_to_labeled_tensor,
    get_axis_order,
    identity,
)

ReduceAxis = tc.Union(str, tc.Tuple(str, collections.abc.Hashable))
ReduceAxes = tc.Optional(tc.Union(ReduceAxis, tc.Collection(ReduceAxis)))


@tc.accepts(collections.abc.Callable, LabeledTensorLike, tc.Optional(str))
def map_fn(fn: Callable[..., Any], labeled_tensor: Any, name: str | None = None) -> Any:
    """A function of each of the tensors along the first axis."""
    with tf.name_scope(name, "lt_map_fn", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        first_axis, *axes = given.axes.values()
        parts = unpack(given)
        if given.dtype == tf.string:
            return pack([fn(part) for part in parts], first_axis, name=scope)
        first = fn(parts[0])
        mapped = tf.map_fn(
            lambda part: fn(LabeledTensor(part, axes)).tensor, given.tensor, dtype=first.dtype
        )
        return identity(LabeledTensor(mapped, [first_axis, *first.axes.values()]), name=scope)


@tc.accepts(collections.abc.Callable, LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
def foldl(
    fn: Callable[..., Any], labeled_tensor: Any, initial_value: Any, name: str | None = None
) -> Any:
    """What a function makes of an initial value and the tensors along the first axis in turn."""
    with tf.name_scope(name, "lt_foldl", [labeled_tensor, initial_value]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        initial = convert_to_labeled_tensor(initial_value)
        axes = list(given.axes.values())[1:]

        def step(so_far: Any, part: Any) -> Any:
            return fn(LabeledTensor(so_far, initial.axes), LabeledTensor(part, axes)).tensor

        folded = tf.foldl(step, given.tensor, initializer=initial.tensor)
        return identity(LabeledTensor(folded, initial.axes), name=scope)


@tc.accepts(LabeledTensorLike, LabeledTensorLike, tc.Optional(str))
def matmul(a: Any, b: Any, name: str | None = None) -> Any:
    """The product of matrices or vectors, summed over the one axis that both have."""
    with tf.name_scope(name, "lt_matmul", [a, b]) as scope:
        a, b = convert_to_labeled_tensor(a), convert_to_labeled_tensor(b)
        shared = _shared_axis(a, b)
        axes = [axis for each in (a, b) for axis in each.axes.values() if axis.name != shared]
        order = get_axis_order()
        if order is not None:
            names = [axis.name for axis in axes]
            if [each for each in order if each in names] != names:
                a, b, axes = b, a, axes[::-1]
        squeezed = [place for place, each in enumerate((a, b)) if len(each.axes) == 1]
        left = tf.reshape(a.tensor, (1, -1)) if 0 in squeezed else a.tensor
        right = tf.reshape(b.tensor, (-1, 1)) if 1 in squeezed else b.tensor
        product = tf.matmul(
            left,
            right,
            transpose_a=0 not in squeezed and list(a.axes).index(shared) == 0,
            transpose_b=1 not in squeezed and list(b.axes).index(shared) == 1,
        )
        if squeezed:
            product = tf.squeeze(product, squeezed)
        return LabeledTensor(tf.identity(product, name=scope), axes)


def _shared_axis(a: LabeledTensor, b: LabeledTensor) -> str:
    ranks = f"inputs have ranks {len(a.axes)!r} and {len(b.axes)!r}"
    if len(a.axes) > 2 or len(b.axes) > 2:
        raise NotImplementedError(
            f"matmul currently requires inputs with rank 2 or less, but {ranks}"
        )
    if not a.axes or not b.axes:
        raise ValueError(f"matmul currently requires inputs with at least rank 1, but {ranks}")
    shared = set(a.axes) & set(b.axes)
    if len(shared) > 1:
        raise NotImplementedError(
            f"matmul does not yet support summing over multiple shared axes: {shared!r}. Use "
            "transpose and reshape to create a single shared axis to sum over."
        )
    if not shared:
        raise ValueError(
            "there must have exactly one axis in common between input to matmul: "
            f"{a.axes.keys()!r}, {b.axes.keys()!r}"
        )
    (axis,) = shared
    if a.axes[axis] != b.axes[axis]:
        raise ValueError(
            f"axis {axis!r} does not match on input arguments: {a.axes[axis].value!r} vs "
            f"{b.axes[axis].value!r}"
        )
    return axis


@tc.accepts(str, collections.abc.Callable)
def define_reduce_op(op_name: str, reduce_fn: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction of labeled tensors along named axes from one of tensors.

    An axis given as a name goes; given with a label, it stays, with that label.
    """

    @tc.accepts(LabeledTensorLike, ReduceAxes, tc.Optional(str))
    def op(labeled_tensor: Any, axes: Any = None, name: str | None = None) -> Any:
        with tf.name_scope(name, f"lt_{op_name}", [labeled_tensor]) as scope:
            given = convert_to_labeled_tensor(labeled_tensor)
            chosen = given.axes if axes is None else axes
            chosen = [chosen] if isinstance(chosen, str | tuple) else chosen
            kept: dict[str, Any] = {}
            for each in chosen:
                axis, value = (each, each) if isinstance(each, str) else (each[0], _labeled(each))
                kept[axis] = value
                if axis not in given.axes:
                    raise ValueError(f"Axis {axis} not in axes {given.axes}")
            places = [place for place, axis in enumerate(given.axes) if axis in kept]
            between = [kept.get(axis.name, axis) for axis in given.axes.values()]
            reduced = LabeledTensor(reduce_fn(given.tensor, places, keepdims=True), between)
            return squeeze(reduced, [each for each in chosen if isinstance(each, str)], name=scope)

    op.__name__ = op_name
    op.__doc__ = f"LabeledTensor version of `tf.{op_name}`."
    return op


def _labeled(axis_and_label: tuple[str, Any]) -> tuple[str, Any]:
    axis, label = axis_and_label
    return axis, None if label is None else [label]


reduce_all = define_reduce_op("reduce_all", tf.reduce_all)
reduce_any = define_reduce_op("reduce_any", tf.reduce_any)
reduce_logsumexp = define_reduce_op("reduce_logsumexp", tf.reduce_logsumexp)
reduce_max = define_reduce_op("reduce_max", tf.reduce_max)
reduce_mean = define_reduce_op("reduce_mean", tf.reduce_mean)
reduce_min = define_reduce_op("reduce_min", tf.reduce_min)
reduce_prod = define_reduce_op("reduce_prod", tf.reduce_prod)
reduce_sum = define_reduce_op("reduce_sum", tf.reduce_sum)


@tc.accepts(LabeledTensorLike, tc.Optional(tf.DType), tc.Optional(str))
def zeros_like(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Zeros with the axes of a tensor."""
    with tf.name_scope(name, "lt_zeros_like", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(tf.zeros_like(given.tensor, dtype=dtype, name=scope), given.axes)


@tc.accepts(LabeledTensorLike, tc.Optional(tf.DType), tc.Optional(str))
def ones_like(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Ones with the axes of a tensor."""
    with tf.name_scope(name, "lt_ones_like", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(tf.ones_like(given.tensor, dtype=dtype, name=scope), given.axes)


@tc.accepts(LabeledTensorLike, tc.Optional(tf.DType), tc.Optional(str))
def cast(labeled_tensor: Any, dtype: Any = None, name: str | None = None) -> Any:
    """The tensor in another type."""
    with tf.name_scope(name, "lt_cast", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        return LabeledTensor(tf.cast(given.tensor, dtype=dtype, name=scope), given.axes)


@tc.accepts(LabeledTensorLike, str, tc.Optional(str))
def verify_tensor_all_finite(labeled_tensor: Any, message: str, name: str | None = None) -> Any:
    """The tensor; a step fails where it has values that are not finite."""
    with tf.name_scope(name, "lt_verify_tensor_all_finite", [labeled_tensor]) as scope:
        given = convert_to_labeled_tensor(labeled_tensor)
        checked = tf.verify_tensor_all_finite(given.tensor, msg=message, name=scope)
        return LabeledTensor(checked, given.axes)


# Batches ------------------------------------------------------------------------------------------


@tc.accepts(tc.Collection(LabeledTensorLike), int, int, int, bool, bool, tc.Optional(str))
def batch(
    labeled_tensors: Any,
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> Any:
    """Batches of tensors, along a first axis named "batch"."""
    settings = {
        "batch_size": batch_size,
        "num_threads": num_threads,
        "capacity": capacity,
        "enqueue_many": enqueue_many,
        "allow_smaller_final_batch": allow_smaller_final_batch,
    }
    return _batched("lt_batch", tf.train.batch, labeled_tensors, settings, name)


@tc.accepts(
    tc.Collection(LabeledTensorLike),
    int,
    int,
    int,
    bool,
    int,
    tc.Optional(int),
    bool,
    tc.Optional(str),
)
def shuffle_batch(
    labeled_tensors: Any,
    batch_size: int,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    min_after_dequeue: int = 0,
    seed: int | None = None,
    allow_smaller_final_batch: bool = False,
    name: str | None = None,
) -> Any:
    """Shuffled batches of tensors, along a first axis named "batch"."""
    settings = {
        "batch_size": batch_size,
        "num_threads": num_threads,
        "capacity": capacity,
        "enqueue_many": enqueue_many,
        "min_after_dequeue": min_after_dequeue,
        "seed": seed,
        "allow_smaller_final_batch": allow_smaller_final_batch,
    }
    return _batched("lt_shuffle_batch", tf.train.shuffle_batch, labeled_tensors, settings, name)


def _batched(
    default_name: str,
    function: Callable[..., Any],
    labeled_tensors: Any,
    settings: dict[str, Any],
    name: str | None,
) -> list[LabeledTensor]:
    with tf.name_scope(name, default_name, labeled_tensors) as scope:
        given = [convert_to_labeled_tensor(each) for each in labeled_tensors]
        made = function([each.tensor for each in given], name=scope, **settings)
        size = None if settings["allow_smaller_final_batch"] else settings["batch_size"]
        return [
            LabeledTensor(tensor, _batch_axes(each.axes, size, settings["enqueue_many"]))
            for tensor, each in zip(made if isinstance(made, list) else [made], given, strict=True)
        ]


def _batch_axes(axes: Axes, size: int | None, enqueue_many: bool) -> Axes:
    if not enqueue_many:
        return Axes([("batch", size), *axes.values()])
    if list(axes)[:1] != ["batch"]:
        raise ValueError(
            'When enqueue_many is True, input tensors must have an axis called "batch" as their '
            f"first dimension, but axes were {axes}"
        )
    return Axes([("batch", size), *axes.remove("batch").values()])
