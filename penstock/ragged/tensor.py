"""`tf.RaggedTensor`: a tensor whose rows differ in length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.ir.constants import constant_value
from penstock.ir.convert import CompositeTensor
from penstock.ops.ragged import RaggedTensorFromVariant, RaggedTensorToSparse, RaggedTensorToVariant
from penstock.ragged import dense_conversion, partition_checks
from penstock.ragged.row_ranges import get_positive_axis, lengths_to_splits
from penstock.ragged.segment_ids import row_splits_to_segment_ids
from penstock.ragged.tensor_spec import RaggedTensorSpec
from penstock.ragged.tensor_value import RaggedTensorValue
from penstock.shapes import dimension_at_index

_ROW_SPLITS_TYPES = (tf.int32, tf.int64)


class RaggedTensor(CompositeTensor):
    """A tensor with rows of different lengths.

    1. Row i is `values[row_splits[i]:row_splits[i + 1]]`.
    2. `values` is a tensor, or ragged again: then its rows are the rows of the next dimension.
    3. The row splits of all dimensions have one type, int32 or int64.

    Made by `tf.ragged.constant` or by one of the methods `from_…`:

    >>> tf.RaggedTensor.from_row_lengths([3, 1, 4, 1, 5], [2, 0, 3])  # [[3, 1], [], [4, 1, 5]]
    """

    def __init__(
        self,
        values: Any,
        row_splits: Any,
        cached_row_lengths: Any = None,
        cached_value_rowids: Any = None,
        cached_nrows: Any = None,
        internal: bool = False,
    ):
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_lengths())"
            )
        if not isinstance(row_splits, tf.Tensor):
            raise TypeError(f"Row-partitioning argument must be a Tensor, got {row_splits!r}")
        if not isinstance(values, (RaggedTensor, tf.Tensor)):
            raise TypeError(f"values must be a Tensor or RaggedTensor, got {values!r}")
        if row_splits.dtype not in _ROW_SPLITS_TYPES:
            raise ValueError("Row-partitioning argument must be int32 or int64")
        row_splits.shape.assert_has_rank(1)
        values.shape.with_rank_at_least(1)
        row_splits.set_shape([None])
        if isinstance(values, RaggedTensor):
            assert row_splits.dtype == values.row_splits.dtype
        for cached in (cached_row_lengths, cached_value_rowids, cached_nrows):
            if cached is not None and not isinstance(cached, tf.Tensor):
                raise TypeError("Cached value must be a Tensor or None.")
            if cached is not None and cached.dtype not in _ROW_SPLITS_TYPES:
                raise TypeError("Cached value must be int32 or int64.")
        self._values = values
        self._row_splits = row_splits
        self._cached_row_lengths = cached_row_lengths
        self._cached_value_rowids = cached_value_rowids
        self._cached_nrows = cached_nrows

    # Made of values and a partition of them ----------------------------------------------------

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Rows of values, of which each has the number of its row; `nrows` counts empty ones too.

        >>> tf.RaggedTensor.from_value_rowids([3, 1, 4], [0, 0, 2])  # [[3, 1], [], [4]]
        """
        _check_flag(validate)
        with tf.name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values, value_rowids = partition_checks.converted(values, value_rowids, "value_rowids")
            value_rowids.shape.assert_has_rank(1)
            nrows, known = _row_number(value_rowids, nrows)
            nrows.shape.assert_has_rank(0)
            values.shape[:1].assert_is_compatible_with(value_rowids.shape)
            if validate:
                text = partition_checks.message("from_value_rowids")
                checks = [
                    tf.assert_rank(value_rowids, 1, message=text),
                    tf.assert_rank(nrows, 0, message=text),
                    tf.assert_equal(
                        partition_checks.row_count(values),
                        partition_checks.row_count(value_rowids),
                        message=text,
                    ),
                    tf.assert_non_negative(value_rowids[:1], message=text),
                    partition_checks.assert_increasing(value_rowids, text),
                    tf.assert_less(value_rowids[-1:], nrows, message=text),
                ]
                value_rowids = partition_checks.after_checks(value_rowids, values, checks)
            count = tf.cast(nrows, tf.int32)
            row_lengths = tf.bincount(
                tf.cast(value_rowids, tf.int32),
                minlength=count,
                maxlength=count,
                dtype=value_rowids.dtype,
            )
            row_splits = lengths_to_splits(row_lengths)
            if known is not None:
                row_lengths.set_shape([known])
                row_splits.set_shape([known + 1])
            return cls(values, row_splits, row_lengths, value_rowids, nrows, internal=True)

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that begin and end where `row_splits` says.

        >>> tf.RaggedTensor.from_row_splits([3, 1, 4], [0, 2, 2, 3])  # [[3, 1], [], [4]]
        """
        _check_flag(validate)
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with tf.name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values, row_splits = partition_checks.converted(values, row_splits, "row_splits")
            row_splits.shape.assert_has_rank(1)
            if validate:
                text = partition_checks.message("from_row_splits")
                count = partition_checks.row_count(values, row_splits.dtype)
                checks = [
                    tf.assert_rank(row_splits, 1, message=text),
                    partition_checks.assert_zero(row_splits[0], text),
                    partition_checks.assert_increasing(row_splits, text),
                    tf.assert_equal(row_splits[-1], count, message=text),
                ]
                row_splits = partition_checks.after_checks(row_splits, values, checks)
            return cls(values, row_splits, internal=True)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows of these lengths.

        >>> tf.RaggedTensor.from_row_lengths([3, 1, 4], [2, 0, 1])  # [[3, 1], [], [4]]
        """
        _check_flag(validate)
        with tf.name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values, row_lengths = partition_checks.converted(values, row_lengths, "row_lengths")
            row_lengths.shape.assert_has_rank(1)
            if validate:
                text = partition_checks.message("from_row_lengths")
                count = partition_checks.row_count(values, row_lengths.dtype)
                checks = [
                    tf.assert_rank(row_lengths, 1, message=text),
                    tf.assert_non_negative(row_lengths, message=text),
                    tf.assert_equal(tf.reduce_sum(row_lengths), count, message=text),
                ]
                row_lengths = partition_checks.after_checks(row_lengths, values, checks)
            splits = lengths_to_splits(row_lengths)
            return cls(values, splits, cached_row_lengths=row_lengths, internal=True)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that begin at these places; the last one ends with the values.

        >>> tf.RaggedTensor.from_row_starts([3, 1, 4], [0, 2, 2])  # [[3, 1], [], [4]]
        """
        _check_flag(validate)
        with tf.name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values, row_starts = partition_checks.converted(values, row_starts, "row_starts")
            row_starts.shape.assert_has_rank(1)
            count = partition_checks.row_count(values, row_starts.dtype)
            if validate:
                text = partition_checks.message("from_row_starts")
                checks = [
                    tf.assert_rank(row_starts, 1, message=text),
                    partition_checks.assert_zero(row_starts[:1], text),
                    partition_checks.assert_increasing(row_starts, text),
                    tf.assert_less_equal(row_starts[-1:], count, message=text),
                ]
                row_starts = partition_checks.after_checks(row_starts, values, checks)
            return cls(values, tf.concat([row_starts, [count]], axis=0), internal=True)

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows that end at these places; the first one begins with the values.

        >>> tf.RaggedTensor.from_row_limits([3, 1, 4], [2, 2, 3])  # [[3, 1], [], [4]]
        """
        _check_flag(validate)
        with tf.name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values, row_limits = partition_checks.converted(values, row_limits, "row_limits")
            row_limits.shape.assert_has_rank(1)
            if validate:
                text = partition_checks.message("from_row_limits")
                count = partition_checks.row_count(values, row_limits.dtype)
                checks = [
                    tf.assert_rank(row_limits, 1, message=text),
                    tf.assert_non_negative(row_limits[:1], message=text),
                    partition_checks.assert_increasing(row_limits, text),
                    tf.assert_equal(row_limits[-1:], count, message=text),
                ]
                row_limits = partition_checks.after_checks(row_limits, values, checks)
            zero = tf.zeros([1], row_limits.dtype)
            return cls(values, tf.concat([zero, row_limits], axis=0), internal=True)

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Sequence[Any],
        nested_nrows: Sequence[Any] | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Several ragged dimensions by `from_value_rowids`, the outermost first."""
        _check_flag(validate)
        _check_list(nested_value_rowids, "nested_value_rowids")
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        _check_list(nested_nrows, "nested_nrows")
        if len(nested_nrows) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        given = [flat_values, *nested_value_rowids, *nested_nrows]
        with tf.name_scope(name, "RaggedFromNestedValueRowIds", given):
            result = flat_values
            pairs = list(zip(nested_value_rowids, nested_nrows, strict=True))
            for rowids, nrows in reversed(pairs):
                result = cls.from_value_rowids(result, rowids, nrows, validate=validate)
            return result

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Several ragged dimensions by `from_row_splits`, the outermost first."""
        _check_flag(validate)
        _check_list(nested_row_splits, "nested_row_splits")
        given = [flat_values, *nested_row_splits]
        with tf.name_scope(name, "RaggedFromNestedRowSplits", given):
            result = flat_values
            for splits in reversed(nested_row_splits):
                result = cls.from_row_splits(result, splits, validate=validate)
            return result

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Sequence[Any],
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Several ragged dimensions by `from_row_lengths`, the outermost first."""
        _check_flag(validate)
        _check_list(nested_row_lengths, "nested_row_lengths")
        given = [flat_values, *nested_row_lengths]
        with tf.name_scope(name, "RaggedFromNestedRowlengths", given):
            result = flat_values
            for lengths in reversed(nested_row_lengths):
                result = cls.from_row_lengths(result, lengths, validate=validate)
            return result

    # What it is made of ------------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        return self._values.dtype

    @property
    def shape(self) -> Any:
        """The static shape; ragged dimensions are None."""
        rows = dimension_at_index(self._row_splits.shape, 0) - 1
        return tf.TensorShape([rows, None]).concatenate(self._values.shape[1:])

    def get_shape(self) -> Any:
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def values(self) -> Any:
        """The rows put together."""
        return self._values

    @property
    def row_splits(self) -> Any:
        """Where in `values` the rows begin and end."""
        return self._row_splits

    @property
    def flat_values(self) -> Any:
        """The tensor of all elements."""
        inner = self._values
        return inner.flat_values if isinstance(inner, RaggedTensor) else inner

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all ragged dimensions, the outermost first."""
        return tuple(level._row_splits for level in self._levels())

    def _levels(self) -> list[RaggedTensor]:
        """This tensor, and those inside it that are ragged again."""
        inner = self._values
        return [self, *(inner._levels() if isinstance(inner, RaggedTensor) else [])]

    @property
    def graph(self) -> Any:
        return self._row_splits.graph

    @property
    def op(self) -> Any:
        return self.flat_values.op

    @property
    def name(self) -> str:
        return str(self.flat_values.name)

    def _parts(self) -> list[Any]:
        return [self.flat_values, *self.nested_row_splits]

    def _with_parts(self, parts: Sequence[Any]) -> Any:
        result, *nested_splits = parts
        for splits in reversed(nested_splits):
            result = RaggedTensor(result, splits, internal=True)
        return result

    def consumers(self) -> list[Any]:
        """The operations that use one of its tensors."""
        return [op for part in self._parts() for op in part.consumers()]

    def _as_graph_element(self) -> Any:
        return self.flat_values

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec.from_value(self)

    def _shape_invariant_to_type_spec(self, shape: Any) -> RaggedTensorSpec:
        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    # Its rows in other forms -------------------------------------------------------------------

    def value_rowids(self, name: str | None = None) -> Any:
        """The number of its row for each of `values`."""
        if self._cached_value_rowids is not None:
            return self._cached_value_rowids
        with tf.name_scope(name, "RaggedValueRowIds", [self]):
            return row_splits_to_segment_ids(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """`value_rowids` of all ragged dimensions, the outermost first."""
        with tf.name_scope(name, "RaggedNestedValueRowIds", [self]):
            return tuple(level.value_rowids() for level in self._levels())

    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """The number of rows."""
        out_type = self._row_splits.dtype if out_type is None else tf.as_dtype(out_type)
        if self._cached_nrows is not None:
            return tf.cast(self._cached_nrows, out_type)
        with tf.name_scope(name, "RaggedNRows", [self]):
            return tf.shape(self._row_splits, out_type=out_type)[0] - 1

    def row_starts(self, name: str | None = None) -> Any:
        """Where in `values` each row begins."""
        with tf.name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Any:
        """Where in `values` each row ends."""
        with tf.name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The lengths of the rows along an axis; ragged for an axis within ragged ones."""
        if axis == 1 and self._cached_row_lengths is not None:
            return self._cached_row_lengths
        with tf.name_scope(name, "RaggedRowLengths", [self]):
            axis = get_positive_axis(axis, self.shape.ndims)
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return self._row_splits[1:] - self._row_splits[:-1]
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            sizes = tf.shape(self._values, out_type=self._row_splits.dtype)
            ones = tf.ones(sizes[: axis - 1], self._row_splits.dtype)
            return self.with_values(ones * sizes[axis - 1])

    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """`row_lengths` of all ragged dimensions, the outermost first."""
        with tf.name_scope(name, "RaggedNestedRowLengths", [self]):
            return tuple(level.row_lengths() for level in self._levels())

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Any:
        """The shape of the smallest dense tensor that holds all rows, or its size along axes."""
        out_type = self._row_splits.dtype if out_type is None else tf.as_dtype(out_type)
        with tf.name_scope(name, "RaggedBoundingBox", [self, axis]):
            rows = tf.shape(self._row_splits, out_type=out_type)[0] - 1
            if isinstance(axis, int) and axis == 0:
                return rows
            if isinstance(axis, int) and axis == 1:
                return tf.maximum(tf.reduce_max(self.row_lengths()), 0)
            longest = [
                tf.cast(tf.maximum(tf.reduce_max(splits[1:] - splits[:-1]), 0), out_type)
                for splits in self.nested_row_splits
            ]
            inner = tf.shape(self.flat_values, out_type=out_type)[1:]
            box = tf.concat([tf.stack([rows, *longest]), inner], axis=0)
            return box if axis is None else tf.gather(box, axis)

    # The same rows of other values --------------------------------------------------------------

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows, of other values."""
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        ragged = isinstance(new_values, RaggedTensor)
        if ragged and self._row_splits.dtype != new_values.row_splits.dtype:
            raise ValueError(
                "self and new_values have mismatched row_splits dtypes; use "
                "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
            )
        return RaggedTensor(
            new_values,
            self._row_splits,
            self._cached_row_lengths,
            self._cached_value_rowids,
            self._cached_nrows,
            internal=True,
        )

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows in all ragged dimensions, of other elements."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same tensor with row splits of type int32 or int64."""
        dtype = tf.as_dtype(dtype)
        if dtype not in _ROW_SPLITS_TYPES:
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == dtype:
            return self

        def cast(tensor: Any) -> Any:
            return None if tensor is None else tf.cast(tensor, dtype)

        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        return RaggedTensor(
            values,
            cast(self._row_splits),
            cast(self._cached_row_lengths),
            cast(self._cached_value_rowids),
            cast(self._cached_nrows),
            internal=True,
        )

    # From and to other kinds of tensors --------------------------------------------------------

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = tf.int64,
    ) -> RaggedTensor:
        """The rows of a dense tensor, cut to `lengths` or where only `padding` follows.

        >>> tf.RaggedTensor.from_tensor([[5, 7, 0], [0, 3, 0]], padding=0)  # [[5, 7], [0, 3]]
        """
        return dense_conversion.from_tensor(
            cls, tensor, lengths, padding, ragged_rank, name, tf.as_dtype(row_splits_dtype)
        )

    def to_tensor(self, default_value: Any = None, name: str | None = None) -> Any:
        """A dense tensor, with `default_value` (0 or empty) behind the rows that are shorter."""
        return dense_conversion.to_tensor(self, default_value, name)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = tf.int64
    ) -> RaggedTensor:
        """The rows of a sparse matrix, whose entries must be the first of their rows."""
        row_splits_dtype = tf.as_dtype(row_splits_dtype)
        if not isinstance(st_input, (tf.SparseTensor, tf.SparseTensorValue)):
            raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
        with tf.name_scope(name, "RaggedFromSparse", None):
            sparse = tf.convert_to_tensor_or_sparse_tensor(st_input, name="st_input")
            ranks = (
                dimension_at_index(sparse.dense_shape.shape, 0).value,
                dimension_at_index(sparse.indices.shape, 1).value,
            )
            if 2 not in ranks:
                raise ValueError("rank(st_input) must be 2")
            with tf.control_dependencies([partition_checks.assert_right_ragged(sparse.indices)]):
                rows = tf.cast(sparse.indices[:, 0], row_splits_dtype)
                count = tf.cast(sparse.dense_shape[0], row_splits_dtype)
                return cls.from_value_rowids(sparse.values, rows, count, validate=False)

    def to_sparse(self, name: str | None = None) -> Any:
        """A sparse tensor with an entry for each element."""
        with tf.name_scope(name, "RaggedToSparse", [self]):
            parts = RaggedTensorToSparse(self.nested_row_splits, self.flat_values, name=name)
            return tf.SparseTensor(*parts)

    @classmethod
    def _from_variant(
        cls,
        variant: Any,
        dtype: Any,
        output_ragged_rank: int,
        input_ragged_rank: int | None = None,
        name: str | None = None,
    ) -> Any:
        variant = tf.convert_to_tensor(variant, name="variant", dtype=tf.variant)
        rank = variant.shape.ndims
        if None not in (rank, input_ragged_rank) and output_ragged_rank != input_ragged_rank + rank:
            raise ValueError(
                "output_ragged_rank must be equal to input_ragged_rank +variant.shape.ndims, found "
                f"variant.shape.ndims: {rank}, input_ragged_rank: {input_ragged_rank}, "
                f"output_ragged_rank: {output_ragged_rank}"
            )
        with tf.name_scope(name, "RaggedFromVariant", [variant]):
            *splits, values = RaggedTensorFromVariant(
                variant,
                input_ragged_rank=-1 if input_ragged_rank is None else input_ragged_rank,
                output_ragged_rank=output_ragged_rank,
                Tvalues=dtype,
                name=name,
            )
            nested = splits[0] if len(splits) == 1 and isinstance(splits[0], list) else splits
            return cls.from_nested_row_splits(values, nested, validate=False)

    def _to_variant(self, batched_input: bool = False, name: str | None = None) -> Any:
        with tf.name_scope(name, "RaggedToVariant", [self]):
            return RaggedTensorToVariant(
                self.nested_row_splits, self.flat_values, batched_input=batched_input, name=name
            )

    # As a Python value ---------------------------------------------------------------------------

    def to_list(self) -> list[Any]:
        """The elements in nested lists, in eager mode; see RaggedTensorValue.to_list()."""
        if self._is_eager():
            found: list[Any] = self._value().to_list()
            return found
        raise ValueError(
            "RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the "
            "RaggedTensor first and then use RaggedTensorValue.to_list()."
        )

    def eval(self, feed_dict: Any = None, session: Any = None) -> RaggedTensorValue:
        """Runs its tensors and returns a RaggedTensorValue."""
        from penstock.ir.defaults import session_for

        result: RaggedTensorValue = session_for(self.graph, session, "evaluate tensor").run(
            self, feed_dict
        )
        return result

    def _is_eager(self) -> bool:
        return all(hasattr(each, "numpy") for each in [self.flat_values, *self.nested_row_splits])

    def _value(self) -> RaggedTensorValue:
        """Its tensors' values, in eager mode."""
        values = self._values
        inner = values._value() if isinstance(values, RaggedTensor) else values.numpy()
        return RaggedTensorValue(inner, self._row_splits.numpy())

    _eager_value = _value  # TensorFlow's name

    def __repr__(self) -> str:
        if self._is_eager():
            return f"<tf.RaggedTensor {self.to_list()}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    def __iter__(self) -> Any:
        if not self._is_eager():
            raise TypeError(
                "RaggedTensor objects are only iterable when eager execution is enabled."
            )
        rows: Any = self
        return (rows[place] for place in range(int(self.nrows())))


def _check_flag(validate: Any) -> None:
    if not isinstance(validate, bool):
        raise TypeError("validate must have type bool")


def _check_list(nested: Any, name: str) -> None:
    if isinstance(nested, tf.Tensor):
        raise TypeError(f"{name} must be a list of Tensors")


def _row_number(value_rowids: Any, nrows: Any) -> tuple[Any, int | None]:
    """How many rows there are, as a tensor and, where it is known, as a number."""
    ids = constant_value(value_rowids)
    if nrows is None:
        if ids is None:
            return tf.concat([value_rowids[-1:], [-1]], axis=0)[0] + 1, None
        known = int(ids[-1]) + 1 if ids.size else 0
        return tf.convert_to_tensor(known, value_rowids.dtype, name="nrows"), known
    nrows = tf.convert_to_tensor(nrows, value_rowids.dtype, name="nrows")
    value = constant_value(nrows)
    if value is None:
        return nrows, None
    if value < 0:
        raise ValueError(f"Expected nrows >= 0; got {value}")
    if ids is not None and ids.size and value < ids[-1] + 1:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={value}, value_rowids[-1]={ids[-1]}"
        )
    return nrows, None if value.ndim else int(value)
