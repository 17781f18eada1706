"""Transformations that collect elements by a key."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.data import nest
from penstock.data.dataset import DatasetSpec, DatasetV2, flat_structure
from penstock.data.experimental.transformations import Transformation
from penstock.data.mapped import MappedDataset, state_function
from penstock.data.mapped_function import StructuredFunctionWrapper
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ops.datasets import mapped as nodes
from penstock.shapes import TensorShape

_KEY = TensorSpec([], dtypes.int64)


def _returns_number(function: StructuredFunctionWrapper) -> bool:
    spec = function.output_structure
    return isinstance(spec, TensorSpec) and spec.is_compatible_with(_KEY)


class _GroupByWindowDataset(MappedDataset):
    _NAME = "tf.data.experimental.group_by_window()"

    def __init__(
        self,
        input_dataset: DatasetV2,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size_func: Callable[..., Any],
    ):
        def key_of(*args: Any) -> Tensor:
            key: Tensor = convert_to_tensor(key_func(*args), dtypes.int64)
            return key

        def size_of(key: Any) -> Tensor:
            size: Tensor = convert_to_tensor(window_size_func(key), dtypes.int64)
            return size

        keys = StructuredFunctionWrapper(key_of, self._NAME, dataset=input_dataset)
        if not _returns_number(keys):
            raise ValueError("`key_func` must return a single tf.int64 scalar tensor.")
        group = DatasetSpec(input_dataset.element_spec)
        reduce = StructuredFunctionWrapper(reduce_func, self._NAME, input_structure=(_KEY, group))
        if not isinstance(reduce.output_structure, DatasetSpec):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        sizes = StructuredFunctionWrapper(size_of, self._NAME, input_structure=_KEY)
        if not _returns_number(sizes):
            raise ValueError("`window_size_func` must return a single tf.int64 scalar tensor.")
        spec = reduce.output_structure.element_spec
        variant = nodes.GroupByWindowDataset(
            input_dataset._variant_tensor,
            keys.captured_inputs,
            reduce.captured_inputs,
            sizes.captured_inputs,
            key_func=keys.function,
            reduce_func=reduce.function,
            window_size_func=sizes.function,
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, [keys, reduce, sizes], spec)


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """Collects elements of one key and makes `reduce_func(key, dataset of them)` of each window.

    Either `window_size` or `window_size_func(key)` says how many elements a window has.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")
    if window_size_func is None:

        def constant_window_func(unused_key: Any) -> Any:
            return convert_to_tensor(window_size, dtypes.int64)

        window_size_func = constant_window_func
    size_func = window_size_func
    return lambda dataset: _GroupByWindowDataset(dataset, key_func, reduce_func, size_func)


class Reducer:
    """The three functions of `group_by_reducer`."""

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ):
        self.init_func = init_func
        self.reduce_func = reduce_func
        self.finalize_func = finalize_func


class _GroupByReducerDataset(MappedDataset):
    _NAME = "tf.data.experimental.group_by_reducer()"

    def __init__(self, input_dataset: DatasetV2, key_func: Callable[..., Any], reducer: Reducer):
        keys = StructuredFunctionWrapper(key_func, self._NAME, dataset=input_dataset)
        if not _returns_number(keys):
            raise ValueError(
                "`key_func` must return a single tf.int64 tensor. Got "
                f"type={keys.output_types} and shape={keys.output_shapes}"
            )
        init = StructuredFunctionWrapper(reducer.init_func, self._NAME, input_structure=_KEY)
        reduce, state = state_function(
            reducer.reduce_func,
            self._NAME,
            init.output_structure,
            input_dataset.element_spec,
            lambda output: output,
        )
        finalize = StructuredFunctionWrapper(
            reducer.finalize_func, self._NAME, input_structure=state
        )
        spec = finalize.output_structure
        functions = [keys, init, reduce, finalize]
        variant = nodes.ExperimentalGroupByReducerDataset(
            input_dataset._variant_tensor,
            *[function.captured_inputs for function in functions],
            key_func=keys.function,
            init_func=init.function,
            reduce_func=reduce.function,
            finalize_func=finalize.function,
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, functions, spec)


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """One result for each key: the state over its elements, finalized."""
    return lambda dataset: _GroupByReducerDataset(dataset, key_func, reducer)


def _filled(shapes: Any, filler: Any) -> Any:
    """Shapes with `filler` in the place of unknown sizes."""
    filled = [
        [filler if size is None else size for size in TensorShape(shape).as_list()]
        for shape in nest.flatten(shapes)
    ]
    return nest.pack_sequence_as(shapes, filled)


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Any,
    bucket_batch_sizes: Any,
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """Batches of elements of about the same length.

    Args:
      element_length_func: the length of an element, a scalar int32.
      bucket_boundaries: where one bucket ends and the next begins.
      bucket_batch_sizes: the batch size of each bucket, one more than there are boundaries.
      padded_shapes, padding_values: for `padded_batch`; unknown sizes are padded to the batch's.
      pad_to_bucket_boundary: pads unknown sizes to the bucket's boundary minus 1 instead.
      no_padding: batches without padding.
      drop_remainder: leaves out batches that are not full.
    """
    import penstock as tf

    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
    with name_scope("bucket_by_seq_length"):
        batch_sizes = tf.constant(bucket_batch_sizes, dtype=tf.int64)
    limits = np.iinfo(np.int32)

    def element_to_bucket_id(*args: Any) -> Any:
        length = element_length_func(*args)
        low = [limits.min, *bucket_boundaries]
        high = [*bucket_boundaries, limits.max]
        inside = tf.logical_and(tf.less_equal(low, length), tf.less(length, high))
        return tf.reduce_min(tf.where(inside))

    def window_size_fn(bucket_id: Any) -> Any:
        return batch_sizes[bucket_id]

    def batching_fn(bucket_id: Any, grouped_dataset: Any) -> Any:
        batch_size = window_size_fn(bucket_id)
        if no_padding:
            return grouped_dataset.batch(batch_size, drop_remainder=drop_remainder)
        filler = None
        if pad_to_bucket_boundary:
            check = tf.assert_less(
                bucket_id,
                tf.constant(len(bucket_batch_sizes) - 1, dtype=tf.int64),
                message="When pad_to_bucket_boundary=True, elements must have length < "
                "max(bucket_boundaries).",
            )
            with tf.control_dependencies([check]):
                boundaries = tf.constant(bucket_boundaries, dtype=tf.int64)
                filler = boundaries[bucket_id] - 1
        shapes = _filled(padded_shapes or grouped_dataset.output_shapes, filler)
        return grouped_dataset.padded_batch(
            batch_size, shapes, padding_values, drop_remainder=drop_remainder
        )

    def apply(dataset: DatasetV2) -> DatasetV2:
        transformation = group_by_window(
            element_to_bucket_id, batching_fn, window_size_func=window_size_fn
        )
        return dataset.apply(transformation)

    return apply
