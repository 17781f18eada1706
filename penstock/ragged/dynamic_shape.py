"""The shape of a ragged tensor as tensors: lengths of ragged dimensions, sizes of the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.ragged.conversion import convert_to_tensor_or_ragged_tensor, is_ragged
from penstock.ragged.row_ranges import convert_to_int_tensor, lengths_to_splits, repeat_ranges


class RaggedTensorDynamicShape:
    """The sizes of a (possibly ragged) tensor.

    1. `partitioned_dim_sizes` has one entry for each outer dimension up to the innermost ragged
       one: a scalar for a uniform dimension, the vector of row lengths for a ragged one.
    2. `inner_dim_sizes` is the vector of the sizes of the dimensions below, which are uniform.
    """

    def __init__(
        self, partitioned_dim_sizes: Sequence[Any], inner_dim_sizes: Any, dim_size_dtype: Any = None
    ):
        assert isinstance(partitioned_dim_sizes, (list, tuple))
        with tf.name_scope(
            None, "RaggedTensorDynamicShape", [*partitioned_dim_sizes, inner_dim_sizes]
        ):
            sizes = [
                tf.convert_to_tensor(size, name=f"partitioned_dimension_size_{i}")
                for i, size in enumerate(partitioned_dim_sizes)
            ]
            inner = tf.convert_to_tensor(inner_dim_sizes, name="inner_dim_sizes")
            _check_partitioned(sizes)
            inner.shape.assert_has_rank(1)
            dtype = _common_type(sizes) if dim_size_dtype is None else dim_size_dtype
            self._partitioned_dim_sizes = tuple(tf.cast(size, dtype) for size in sizes)
            self._inner_dim_sizes = tf.cast(inner, dtype)

    def __repr__(self) -> str:
        return (
            f"RaggedTensorDynamicShape(partitioned_dim_sizes={self._partitioned_dim_sizes!r}, "
            f"inner_dim_sizes={self._inner_dim_sizes!r})"
        )

    @staticmethod
    def from_dim_sizes(dim_sizes: Sequence[Any]) -> RaggedTensorDynamicShape:
        """A shape of one scalar or vector for each dimension."""
        with tf.name_scope(None, "RaggedTensorDynamicShapeFromDimensionSizes", [dim_sizes]):
            sizes = tuple(
                tf.convert_to_tensor(size, preferred_dtype=tf.int64, name="dim_sizes")
                for size in dim_sizes
            )
            outer = 0
            for dim, size in enumerate(sizes):
                if size.shape.ndims == 1:
                    outer = dim + 1
                elif size.shape.ndims != 0:
                    raise ValueError("Each dim_size must be a scalar or a vector")
            return RaggedTensorDynamicShape(sizes[:outer], sizes[outer:])

    @classmethod
    def from_tensor(cls, rt_input: Any, dim_size_dtype: Any = None) -> RaggedTensorDynamicShape:
        """The shape of a tensor or ragged tensor."""
        with tf.name_scope(None, "RaggedTensorDynamicShapeFromTensor", [rt_input]):
            value = convert_to_tensor_or_ragged_tensor(rt_input)
            if not is_ragged(value):
                return cls([], tf.shape(value))
            outer = (value.nrows(), *value.nested_row_lengths())
            return cls(outer, tf.shape(value.flat_values)[1:], dim_size_dtype)

    # Facts ---------------------------------------------------------------------------------------

    def dimension_size(self, axis: int) -> Any:
        """The size of a uniform dimension, or the row lengths of a ragged one."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        outer = len(self._partitioned_dim_sizes)
        if axis < outer:
            return self._partitioned_dim_sizes[axis]
        return self._inner_dim_sizes[axis - outer]

    def is_ragged(self, axis: int) -> bool:
        """Whether a dimension is ragged."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0:
            raise ValueError("Negative axis values are not supported")
        if self.rank is not None and axis >= self.rank:
            raise ValueError(f"Expected axis={axis} < rank={self.rank}")
        return 0 < axis < len(self._partitioned_dim_sizes) and (
            self._partitioned_dim_sizes[axis].shape.ndims == 1
        )

    @property
    def rank(self) -> int | None:
        """The number of dimensions; None if it is not known."""
        inner = self.num_inner_dimensions
        return None if inner is None else len(self._partitioned_dim_sizes) + inner

    @property
    def partitioned_dim_sizes(self) -> tuple[Any, ...]:
        """The sizes of the dimensions down to the innermost ragged one."""
        return self._partitioned_dim_sizes

    @property
    def inner_dim_sizes(self) -> Any:
        """The sizes of the uniform dimensions below."""
        return self._inner_dim_sizes

    @property
    def num_partitioned_dimensions(self) -> int:
        return len(self._partitioned_dim_sizes)

    @property
    def num_inner_dimensions(self) -> int | None:
        count: int | None = self._inner_dim_sizes.shape.as_list()[0]
        return count

    @property
    def dim_size_dtype(self) -> Any:
        return self._inner_dim_sizes.dtype

    def num_slices_in_dimension(self, axis: int) -> Any:
        """How many slices `x[i, j, …]` down to this axis there are."""
        if axis < 0:
            return tf.constant(1, dtype=self.dim_size_dtype)
        if self.is_ragged(axis):
            return tf.reduce_sum(self._partitioned_dim_sizes[axis])
        return self.dimension_size(axis) * self.num_slices_in_dimension(axis - 1)

    def with_dim_size_dtype(self, dtype: Any) -> RaggedTensorDynamicShape:
        """The same shape with sizes of type int32 or int64."""
        if dtype not in (tf.int32, tf.int64):
            raise ValueError("dtype must be int32 or int64")
        if self.dim_size_dtype == dtype:
            return self
        return RaggedTensorDynamicShape(
            [tf.cast(size, dtype) for size in self._partitioned_dim_sizes],
            tf.cast(self._inner_dim_sizes, dtype),
        )

    # Broadcasting ------------------------------------------------------------------------------

    def broadcast_to_rank(self, rank: int) -> RaggedTensorDynamicShape:
        """The same shape with dimensions of size 1 in front."""
        if self.rank is None:
            raise ValueError("Unable to broadcast: self.rank is unknown")
        missing = rank - self.rank
        if missing < 0:
            raise ValueError(
                f"Unable to broadcast: rank={rank} must be greater than self.rank={self.rank}."
            )
        if missing == 0:
            return self
        if self._partitioned_dim_sizes:
            sizes = ((1,) * missing) + self._partitioned_dim_sizes
            return RaggedTensorDynamicShape(sizes, self._inner_dim_sizes, self.dim_size_dtype)
        ones = tf.ones([missing], self.dim_size_dtype)
        inner = tf.concat([ones, self._inner_dim_sizes], axis=0)
        return RaggedTensorDynamicShape([], inner, self.dim_size_dtype)

    def broadcast_dimension(self, axis: int, lengths: Any) -> RaggedTensorDynamicShape:
        """The shape with one dimension stretched: to a size, or to the lengths of rows."""
        lengths = convert_to_int_tensor(lengths, "lengths", self.dim_size_dtype)
        if lengths.shape.ndims is None:
            raise ValueError("lengths must have a known rank.")
        if lengths.shape.ndims > 1:
            raise ValueError("lengths must be a scalar or vector")
        is_scalar = lengths.shape.ndims == 0
        with tf.control_dependencies([self._check_broadcast(axis, lengths, is_scalar)]):
            if axis < self.num_partitioned_dimensions:
                if not self.is_ragged(axis):
                    return self._broadcast_uniform_partitioned(axis, lengths)
                inner = tf.identity(self._inner_dim_sizes)
                return RaggedTensorDynamicShape(self._partitioned_dim_sizes, inner)
            if is_scalar:
                return self._broadcast_inner_to_uniform(axis, lengths)
            if axis == 0:
                raise ValueError("Unable to broadcast: outermost dimension must be uniform.")
            return self._broadcast_inner_to_ragged(axis, lengths)

    def _check_broadcast(self, axis: int, lengths: Any, is_scalar: bool) -> Any:
        size = self.dimension_size(axis)
        if self.is_ragged(axis):
            fits = tf.equal(lengths, 1) if is_scalar else tf.reduce_all(tf.equal(lengths, size))
        elif is_scalar:
            fits = tf.logical_or(
                tf.logical_or(tf.equal(lengths, 1), tf.equal(size, 1)), tf.equal(size, lengths)
            )
        else:
            fits = tf.equal(size, 1)
        text = "Unable to broadcast: dimension size mismatch in dimension"
        data = [text, axis, "lengths=", lengths, "dim_size=", size]
        return tf.Assert(fits, data, summarize=10)

    def _broadcast_uniform_partitioned(self, axis: int, lengths: Any) -> RaggedTensorDynamicShape:
        size = self.dimension_size(axis)
        sizes = list(self._partitioned_dim_sizes[:axis])
        if lengths.shape.ndims == 0:
            is_one = tf.equal(size, 1)
            lengths = tf.where(is_one, lengths, size)
            repeats = tf.where(is_one, lengths, tf.constant(1, self.dim_size_dtype))
            splits = tf.stack([0, self.num_slices_in_dimension(axis)])
        else:
            splits = tf.range(tf.size(lengths, out_type=self.dim_size_dtype) + 1)
            repeats = lengths
        sizes.append(lengths)
        for below in self._partitioned_dim_sizes[axis + 1 :]:
            if below.shape.ndims == 0:
                sizes.append(below)
                splits *= below
            else:
                sizes.append(repeat_ranges(below, splits, repeats))
                splits = tf.gather(lengths_to_splits(below), splits)
        return RaggedTensorDynamicShape(sizes, self._inner_dim_sizes)

    def _broadcast_inner_to_uniform(self, axis: int, length: Any) -> RaggedTensorDynamicShape:
        size = self.dimension_size(axis)
        place = axis - self.num_partitioned_dimensions
        stretched = tf.where(tf.equal(size, 1), length, size)
        inner = self._inner_dim_sizes
        inner = tf.concat([inner[:place], [stretched], inner[place + 1 :]], axis=0)
        return RaggedTensorDynamicShape(self._partitioned_dim_sizes, inner, self.dim_size_dtype)

    def _broadcast_inner_to_ragged(self, axis: int, lengths: Any) -> RaggedTensorDynamicShape:
        place = axis - self.num_partitioned_dimensions
        uniform = [self._inner_dim_sizes[i] for i in range(place)]
        sizes = (*self._partitioned_dim_sizes, *uniform, lengths)
        return RaggedTensorDynamicShape(sizes, self._inner_dim_sizes[place + 1 :])


def _check_partitioned(sizes: list[Any]) -> None:
    for axis, size in enumerate(sizes):
        if size.shape.ndims is None:
            raise ValueError(f"rank of partitioned_dim_sizes[{axis}] is unknown")
        size.shape.with_rank_at_most(1)
    if sizes and sizes[0].shape.ndims == 1:
        raise ValueError("outermost partitioned dimension must be uniform")
    if sizes and sizes[-1].shape.ndims == 0:
        raise ValueError("innermost partitioned dimension must be ragged")


def _common_type(sizes: list[Any]) -> Any:
    found = {size.dtype for size in sizes if size.shape.ndims == 1}
    if len(found) > 1:
        raise ValueError("partitioned_dim_sizes must have matching dtypes")
    return found.pop() if found else tf.int64
