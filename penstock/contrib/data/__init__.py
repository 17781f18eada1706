"""`tf.contrib.data`: the names that pipelines had before they moved to `tf.data`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.contrib import lazy_paths
from penstock.data import (
    AUTOTUNE,
    Dataset,
    FixedLengthRecordDataset,
    Iterator,
    TextLineDataset,
    TFRecordDataset,
    nest,
    structure,
)
from penstock.data.dataset import DatasetV2, UnaryDataset, flat_structure
from penstock.data.experimental import (
    CheckpointInputPipelineHook,
    Counter,
    CsvDataset,
    Optional,
    RandomDataset,
    Reducer,
    SqlDataset,
    TFRecordWriter,
    bucket_by_sequence_length,
    choose_from_datasets,
    copy_to_device,
    dense_to_sparse_batch,
    enumerate_dataset,
    get_next_as_optional,
    get_single_element,
    group_by_reducer,
    group_by_window,
    ignore_errors,
    latency_stats,
    make_batched_features_dataset,
    make_csv_dataset,
    make_saveable_from_iterator,
    map_and_batch,
    parallel_interleave,
    parse_example_dataset,
    prefetch_to_device,
    rejection_resample,
    sample_from_datasets,
    scan,
    shuffle_and_repeat,
    unbatch,
    unique,
)
from penstock.data.experimental.files import LMDBDataset
from penstock.data.experimental.transformations import Transformation
from penstock.data.rearranged import int64
from penstock.ops.datasets.rearranged import SlidingWindowDataset
from penstock.ops.shaping import ensure_shape
from penstock.shapes import TensorShape

__all__ = [
    "AUTOTUNE",
    "CheckpointInputPipelineHook",
    "Counter",
    "CsvDataset",
    "Dataset",
    "FixedLengthRecordDataset",
    "Iterator",
    "LMDBDataset",
    "Optional",
    "RandomDataset",
    "Reducer",
    "SqlDataset",
    "TFRecordDataset",
    "TFRecordWriter",
    "TextLineDataset",
    "assert_element_shape",
    "batch_and_drop_remainder",
    "bucket_by_sequence_length",
    "choose_from_datasets",
    "copy_to_device",
    "dense_to_sparse_batch",
    "enumerate_dataset",
    "get_next_as_optional",
    "get_single_element",
    "group_by_reducer",
    "group_by_window",
    "ignore_errors",
    "latency_stats",
    "make_batched_features_dataset",
    "make_csv_dataset",
    "make_saveable_from_iterator",
    "map_and_batch",
    "padded_batch_and_drop_remainder",
    "parallel_interleave",
    "parse_example_dataset",
    "prefetch_to_device",
    "read_batch_features",
    "reduce_dataset",
    "rejection_resample",
    "sample_from_datasets",
    "scan",
    "shuffle_and_repeat",
    "sliding_window_batch",
    "sloppy_interleave",
    "unbatch",
    "unique",
]


__getattr__ = lazy_paths.resolver(__name__)


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """Batches, without a last, smaller one."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Transformation:
    """Padded batches, without a last, smaller one."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1
) -> Transformation:
    """Takes turns among datasets, in an order that may depend on who is ready first."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def reduce_dataset(dataset: DatasetV2, reducer: Reducer) -> Any:
    """What a reducer makes of all elements, as tensors."""
    import penstock as tf

    if not isinstance(dataset, DatasetV2):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    one_key = group_by_reducer(lambda *element: tf.constant(0, tf.int64), reducer)
    return get_single_element(dataset.apply(one_key))


class _SlideDataset(UnaryDataset):
    """Overlapping windows as batches."""

    def __init__(self, input_dataset: DatasetV2, size: Any, shift: Any, stride: Any):
        spec = structure.batched(input_dataset.element_spec, None)
        variant = SlidingWindowDataset(
            input_dataset._variant_tensor,
            int64(size, "window_size"),
            int64(shift, "window_shift"),
            int64(stride, "window_stride"),
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, spec)


def sliding_window_batch(
    window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1
) -> Transformation:
    """Batches of `window_size` elements, each `window_shift` after the one before."""
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = window_shift if window_shift is not None else (1 if stride is None else stride)
    return lambda dataset: _SlideDataset(dataset, window_size, shift, window_stride)


def assert_element_shape(expected_shapes: Any) -> Transformation:
    """Elements whose shapes are checked, and then known."""

    def apply(dataset: DatasetV2) -> DatasetV2:
        pairs = zip(
            nest.flatten(dataset.output_shapes),
            nest.flatten_up_to(dataset.output_shapes, expected_shapes),
            strict=True,
        )
        merged = [known.merge_with(TensorShape(shape)) for known, shape in pairs]

        def checked(*element: Any) -> Any:
            leaves = nest.flatten(element)
            tensors = [
                ensure_shape(tensor, shape) for tensor, shape in zip(leaves, merged, strict=True)
            ]
            packed = nest.pack_sequence_as(element, tensors)
            return packed if type(dataset.element_spec) is tuple else packed[0]

        return dataset.map(checked)

    return apply


def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = TFRecordDataset,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> Any:
    """A dict of tensors with the next batch of parsed Examples."""
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return dataset.make_one_shot_iterator().get_next()
