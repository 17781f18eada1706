"""Layers that join several inputs into one."""

from __future__ import annotations

from functools import reduce
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer

__all__ = [
    "Add",
    "Average",
    "Concatenate",
    "Dot",
    "Maximum",
    "Minimum",
    "Multiply",
    "Subtract",
    "add",
    "average",
    "concatenate",
    "dot",
    "maximum",
    "minimum",
    "multiply",
    "subtract",
]


class _Merge(Layer):
    """Joins inputs element by element; those of lower rank are broadcast behind the batch axis."""

    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge_function(self, inputs: list[Any]) -> Any:
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        if not isinstance(input_shape, list):
            raise ValueError("A merge layer should be called on a list of inputs.")
        if len(input_shape) < 2:
            raise ValueError(
                "A merge layer should be called on a list of at least 2 inputs. Got "
                f"{len(input_shape)} inputs."
            )
        shapes = [tuple(tf.TensorShape(shape).as_list()) for shape in input_shape]
        batches = {shape[0] for shape in shapes if shape} - {None}
        if len(batches) > 1:
            raise ValueError(
                f"Can not merge tensors with different batch sizes. Got tensors with shapes : "
                f"{shapes}"
            )
        _merged_shape(shapes)
        self.built = True

    def call(self, inputs: Any) -> Any:
        if not isinstance(inputs, list):
            raise ValueError("A merge layer should be called on a list of inputs.")
        rank = max(K.ndim(tensor) for tensor in inputs)
        return self._merge_function([_of_rank(tensor, rank) for tensor in inputs])

    def compute_output_shape(self, input_shape: Any) -> Any:
        return tf.TensorShape(
            _merged_shape([tuple(tf.TensorShape(shape).as_list()) for shape in input_shape])
        )

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if mask is None:
            return None
        _check_masks(inputs, mask)
        given = [tf.expand_dims(each, axis=0) for each in mask if each is not None]
        return K.all(K.concatenate(given, axis=0), axis=0) if given else None


def _check_masks(inputs: Any, mask: Any) -> None:
    if not isinstance(mask, list):
        raise ValueError("`mask` should be a list.")
    if not isinstance(inputs, list):
        raise ValueError("`inputs` should be a list.")
    if len(mask) != len(inputs):
        raise ValueError("The lists `inputs` and `mask` should have the same length.")


def _of_rank(tensor: Any, rank: int) -> Any:
    for _ in range(rank - K.ndim(tensor)):
        tensor = tf.expand_dims(tensor, axis=1)
    return tensor


def _merged_shape(shapes: list[tuple[Any, ...]]) -> list[Any]:
    def merged(first: tuple[Any, ...], second: tuple[Any, ...]) -> tuple[Any, ...]:
        long, short = sorted((first, second), key=len, reverse=True)
        sizes = list(long[: len(long) - len(short)])
        for i, j in zip(long[len(long) - len(short) :], short, strict=True):
            if i is None or j is None:
                sizes.append(None)
            elif i == 1 or j == 1:
                sizes.append(j if i == 1 else i)
            elif i != j:
                raise ValueError(
                    f"Operands could not be broadcast together with shapes {first} {second}"
                )
            else:
                sizes.append(i)
        return tuple(sizes)

    batch = shapes[0][0] if all(shape[0] == shapes[0][0] for shape in shapes) else None
    return [batch, *reduce(merged, [shape[1:] for shape in shapes])]


class Add(_Merge):
    """The sum of the inputs."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return reduce(lambda x, y: x + y, inputs)


class Subtract(_Merge):
    """The first input less the second."""

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")

    def _merge_function(self, inputs: list[Any]) -> Any:
        if len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The product of the inputs."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return reduce(lambda x, y: x * y, inputs)


class Average(_Merge):
    """The mean of the inputs."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return reduce(lambda x, y: x + y, inputs) / len(inputs)


class Maximum(_Merge):
    """The largest of the inputs."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return reduce(tf.maximum, inputs)


class Minimum(_Merge):
    """The smallest of the inputs."""

    def _merge_function(self, inputs: list[Any]) -> Any:
        return reduce(tf.minimum, inputs)


class Concatenate(_Merge):
    """The inputs one after the other along an axis."""

    _CONFIG = ("axis",)

    def __init__(self, axis: int = -1, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        if not isinstance(input_shape, list) or len(input_shape) < 2:
            raise ValueError(
                "A `Concatenate` layer should be called on a list of at least 2 inputs"
            )
        shapes = [tf.TensorShape(shape).as_list() for shape in input_shape]
        others = []
        for shape in shapes:
            rest = list(shape)
            del rest[self.axis]
            others.append(rest)
        for rest in others[1:]:
            pairs = zip(others[0], rest, strict=False)
            differs = any(None not in (i, j) and i != j for i, j in pairs)
            if len(rest) != len(others[0]) or differs:
                raise ValueError(
                    "A `Concatenate` layer requires inputs with matching shapes except for the "
                    f"concat axis. Got inputs shapes: {[tuple(shape) for shape in shapes]}"
                )
        self.built = True

    def call(self, inputs: Any) -> Any:
        return K.concatenate(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape: Any) -> Any:
        shapes = [tf.TensorShape(shape).as_list() for shape in input_shape]
        output = list(shapes[0])
        lengths: list[Any] = [shape[self.axis] for shape in shapes]
        output[self.axis] = None if None in lengths else sum(lengths)
        return tf.TensorShape(output)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if mask is None:
            return None
        _check_masks(inputs, mask)
        if all(each is None for each in mask):
            return None
        masks = []
        for tensor, each in zip(inputs, mask, strict=True):
            if each is None:
                masks.append(tf.ones_like(tensor, dtype=tf.bool))
            elif K.ndim(each) < K.ndim(tensor):
                masks.append(tf.expand_dims(each, axis=-1))
            else:
                masks.append(each)
        return K.all(tf.concat(masks, axis=self.axis), axis=-1, keepdims=False)


class Dot(_Merge):
    """Products of two inputs over an axis.

    Args:
      axes: one axis for both inputs, or one for each.
      normalize: whether to make vectors along the axis of length 1 first.
    """

    _CONFIG = ("axes", "normalize")

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any):
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)):
                raise TypeError(f"Invalid type for `axes` - should be a list or an int: {axes}")
            if len(axes) != 2:
                raise ValueError("Invalid format for `axes` - should contain two elements.")
            if not all(isinstance(axis, int) for axis in axes):
                raise ValueError("Invalid format for `axes` - list elements should be 'int'.")
        self.axes = axes
        self.normalize = normalize

    def _both_axes(self, ranks: list[int]) -> list[int]:
        axes = [self.axes] * 2 if isinstance(self.axes, int) else list(self.axes)
        return [axis % rank for axis, rank in zip(axes, ranks, strict=True)]

    def build(self, input_shape: Any) -> None:
        if not isinstance(input_shape, list) or len(input_shape) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        shapes = [tf.TensorShape(shape).as_list() for shape in input_shape]
        first, second = self._both_axes([len(shape) for shape in shapes])
        if shapes[0][first] != shapes[1][second]:
            raise ValueError(
                f"Dimension incompatibility {shapes[0][first]} != {shapes[1][second]}. Layer "
                f"shapes: {tuple(shapes[0])}, {tuple(shapes[1])}"
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        if len(inputs) != 2:
            raise ValueError("A `Dot` layer should be called on exactly 2 inputs")
        first, second = inputs
        axes = self._both_axes([K.ndim(first), K.ndim(second)])
        if self.normalize:
            first = tf.nn.l2_normalize(first, axis=axes[0])
            second = tf.nn.l2_normalize(second, axis=axes[1])
        return K.batch_dot(first, second, axes)

    def compute_output_shape(self, input_shape: Any) -> Any:
        shapes = [tf.TensorShape(shape).as_list() for shape in input_shape]
        first, second = self._both_axes([len(shape) for shape in shapes])
        left, right = list(shapes[0]), list(shapes[1])
        del left[first], right[second]
        output = left + right[1:]
        return tf.TensorShape(output if len(output) > 1 else [*output, 1])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None


def add(inputs: Any, **kwargs: Any) -> Any:
    """The sum of the inputs."""
    return Add(**kwargs)(inputs)


def subtract(inputs: Any, **kwargs: Any) -> Any:
    """The first input less the second."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs: Any, **kwargs: Any) -> Any:
    """The product of the inputs."""
    return Multiply(**kwargs)(inputs)


def average(inputs: Any, **kwargs: Any) -> Any:
    """The mean of the inputs."""
    return Average(**kwargs)(inputs)


def maximum(inputs: Any, **kwargs: Any) -> Any:
    """The largest of the inputs."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs: Any, **kwargs: Any) -> Any:
    """The smallest of the inputs."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """The inputs one after the other along an axis."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: Any, axes: Any, normalize: bool = False, **kwargs: Any) -> Any:
    """Products of two inputs over an axis."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
