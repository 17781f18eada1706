"""Transformations for `Dataset.apply`: batches, single passes, selections, copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.data import structure
from penstock.data.argument_tensors import partial_shape_to_tensor
from penstock.data.dataset import AUTOTUNE, DatasetV2, UnaryDataset, flat_structure
from penstock.data.mapped import MappedDataset, check_predicate, state_function
from penstock.data.mapped_function import StructuredFunctionWrapper
from penstock.data.readers import ParallelInterleaveDataset
from penstock.data.rearranged import batch_spec, flag, flat_of, int64
from penstock.data.seeds import dataset_seeds
from penstock.dtypes import DType
from penstock.ir.defaults import executing_eagerly
from penstock.ir.sparse_tensor_spec import SparseTensorSpec
from penstock.ops.control import device as device_scope
from penstock.ops.datasets import mapped as mapped_nodes
from penstock.ops.datasets import rearranged as nodes
from penstock.ops.identity import identity
from penstock.shapes import TensorShape

Transformation = Callable[[DatasetV2], DatasetV2]


# Batches --------------------------------------------------------------------------------------


class _DenseToSparseBatchDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2, batch_size: Any, row_shape: Any):
        types = input_dataset.output_types
        if not isinstance(types, DType):
            raise TypeError(
                "DenseToSparseDataset requires an input whose elements have a single component, "
                f"whereas the input has {types!r}."
            )
        spec = SparseTensorSpec(TensorShape([None]).concatenate(row_shape), types)
        variant = nodes.DenseToSparseBatchDataset(
            input_dataset._variant_tensor,
            batch_size,
            partial_shape_to_tensor(row_shape),
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, spec)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """Batches of elements of different sizes, each batch as one sparse tensor."""
    return lambda dataset: _DenseToSparseBatchDataset(dataset, batch_size, row_shape)


class _MapAndBatchDataset(MappedDataset):
    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        batch_size: Any,
        num_parallel_calls: Any,
        drop_remainder: Any,
    ):
        function = StructuredFunctionWrapper(
            map_func, "tf.data.experimental.map_and_batch()", dataset=input_dataset
        )
        size = int64(batch_size, "batch_size")
        calls = int64(num_parallel_calls, "num_parallel_calls")
        drop = flag(drop_remainder, "drop_remainder")
        spec = batch_spec(function.output_structure, size, drop)
        variant = mapped_nodes.MapAndBatchDataset(
            input_dataset._variant_tensor,
            function.captured_inputs,
            size,
            calls,
            drop,
            f=function.function,
            preserve_cardinality=True,
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, [function], spec)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: Any = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """`map` and `batch` in one."""
    if num_parallel_calls is None:
        batches = 1 if num_parallel_batches is None else num_parallel_batches
        num_parallel_calls = batch_size * batches
    elif num_parallel_batches is not None:
        raise ValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive."
        )
    return lambda dataset: _MapAndBatchDataset(
        dataset, map_func, batch_size, num_parallel_calls, drop_remainder
    )


map_and_batch_with_legacy_function = map_and_batch


def unbatch() -> Transformation:
    """The rows of each element, as elements."""
    return lambda dataset: dataset.unbatch()


# Orders ---------------------------------------------------------------------------------------


class _ShuffleAndRepeatDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2, buffer_size: Any, count: Any, seed: Any):
        size = int64(buffer_size, "buffer_size")
        number = int64(-1 if count is None else count, "count")
        seeds = dataset_seeds(seed)
        variant = nodes.ShuffleAndRepeatDataset(
            input_dataset._variant_tensor, size, *seeds, number, **flat_of(input_dataset)
        )
        super().__init__(input_dataset, variant)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """`shuffle` and `repeat` in one: the buffer stays full where epochs meet."""
    return lambda dataset: _ShuffleAndRepeatDataset(dataset, buffer_size, count, seed)


def enumerate_dataset(start: Any = 0) -> Transformation:
    """Pairs of a number and an element."""
    return lambda dataset: dataset.enumerate(start)


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """Takes turns among the datasets that a function makes."""
    return lambda dataset: ParallelInterleaveDataset(
        dataset,
        map_func,
        cycle_length,
        block_length,
        sloppy,
        buffer_output_elements,
        prefetch_input_elements,
    )


# Selections -----------------------------------------------------------------------------------


class _UniqueDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2):
        if input_dataset.output_types not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, "
                "`tf.int64`, or `tf.string` component."
            )
        variant = nodes.UniqueDataset(input_dataset._variant_tensor, **flat_of(input_dataset))
        super().__init__(input_dataset, variant)


def unique() -> Transformation:
    """Each element once, where it comes first."""
    return _UniqueDataset


class _IgnoreErrorsDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2):
        variant = nodes.IgnoreErrorsDataset(input_dataset._variant_tensor, **flat_of(input_dataset))
        super().__init__(input_dataset, variant)


def ignore_errors() -> Transformation:
    """Leaves out the elements that fail."""
    return _IgnoreErrorsDataset


class _TakeWhileDataset(MappedDataset):
    def __init__(self, input_dataset: DatasetV2, predicate: Callable[..., Any]):
        function = StructuredFunctionWrapper(
            predicate, "tf.data.experimental.take_while()", dataset=input_dataset
        )
        try:
            check_predicate(function)
        except ValueError:
            raise ValueError("`predicate` must return a scalar boolean tensor.") from None
        variant = mapped_nodes.TakeWhileDataset(
            input_dataset._variant_tensor,
            function.captured_inputs,
            predicate=function.function,
            **flat_of(input_dataset),
        )
        super().__init__(input_dataset, variant, [function])


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """The elements before the first for which a function is false."""
    return lambda dataset: _TakeWhileDataset(dataset, predicate)


# State ----------------------------------------------------------------------------------------


def _new_state(output: Any) -> Any:
    if not (isinstance(output, (tuple, list)) and len(output) == 2):
        raise TypeError(
            "The scan function must return a pair comprising the new state and the output value."
        )
    return output[0]


class _ScanDataset(MappedDataset):
    def __init__(self, input_dataset: DatasetV2, initial_state: Any, scan_func: Callable[..., Any]):
        state = structure.normalize_element(initial_state)
        function, state_spec = state_function(
            scan_func,
            "tf.data.experimental.scan()",
            structure.type_spec_from_value(state),
            input_dataset.element_spec,
            _new_state,
        )
        spec = function.output_structure[1]
        variant = mapped_nodes.ScanDataset(
            input_dataset._variant_tensor,
            structure.to_tensor_list(state_spec, state),
            function.captured_inputs,
            f=function.function,
            preserve_cardinality=True,
            **flat_structure(spec),
        )
        super().__init__(input_dataset, variant, [function], spec)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """Results of `state, result = scan_func(state, element)`."""
    return lambda dataset: _ScanDataset(dataset, initial_state, scan_func)


# Devices --------------------------------------------------------------------------------------


def copy_to_device(target_device: Any, source_device: str = "/cpu:0") -> Transformation:
    """The same elements: a step moves what it reads to the devices of its nodes by itself.

    In eager mode they are then on the target device.
    """

    def copied(dataset: DatasetV2) -> DatasetV2:
        if not executing_eagerly():
            return UnaryDataset(dataset, dataset._variant_tensor)
        with device_scope(target_device):
            return UnaryDataset(dataset, identity(dataset._variant_tensor))

    return copied


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """Elements that are computed ahead; a step moves them to its devices."""
    return lambda dataset: dataset.prefetch(AUTOTUNE if buffer_size is None else buffer_size)
