"""Datasets that rearrange, select or buffer the elements of others."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.data import nest, structure
from penstock.data.dataset import (
    Dataset,
    DatasetSpec,
    DatasetV1,
    DatasetV2,
    UnaryDataset,
    get_structure,
)
from penstock.data.dataset import flat_structure as flat
from penstock.data.options import Options, ThreadingOptions
from penstock.data.seeds import dataset_seeds
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops.datasets import rearranged as nodes
from penstock.ops.datasets import statistics
from penstock.shapes import Dimension


def int64(value: Any, name: str) -> Tensor:
    """A number as a tensor that is named after the argument it is."""
    tensor: Tensor = convert_to_tensor(value, dtypes.int64, name=name)
    return tensor


def flag(value: Any, name: str) -> Tensor:
    tensor: Tensor = convert_to_tensor(value, dtypes.bool, name=name)
    return tensor


def batch_spec(spec: Any, batch_size: Tensor, drop_remainder: Tensor) -> Any:
    """The spec of batches: their size is known if no smaller one is left at the end."""
    drops, size = constant_value(drop_remainder), constant_value(batch_size)
    fixed = drops is not None and bool(drops) and size is not None
    return structure.batched(spec, int(size) if fixed and size is not None else None)


class ZipDataset(DatasetV1):
    """Elements put together from those of several datasets."""

    def __init__(self, datasets: Any):
        for dataset in nest.flatten(datasets):
            if not isinstance(dataset, DatasetV2):
                message = "The argument to `Dataset.zip()` must be a nested structure of `Dataset` "
                message += "objects."
                if isinstance(dataset, list):
                    message += " Nested structures do not support Python lists; please use a tuple "
                    message += "instead."
                raise TypeError(message)
        self._datasets = nest.flatten(datasets)
        specs = [dataset.element_spec for dataset in self._datasets]
        self._structure = nest.pack_sequence_as(datasets, specs)
        variants = [dataset._variant_tensor for dataset in self._datasets]
        super().__init__(nodes.ZipDataset(variants, **flat(self._structure)))

    def _inputs(self) -> list[Any]:
        return self._datasets

    @property
    def element_spec(self) -> Any:
        return self._structure


def common_spec(first: DatasetV2, second: DatasetV2) -> Any:
    """The spec of elements of either of two datasets, whose types must be the same."""
    specs = [get_structure(each) for each in (first, second)]
    for what, one, other in (
        ("types", *map(structure.legacy_types, specs)),
        ("classes", *map(structure.legacy_classes, specs)),
    ):
        if one != other:
            raise TypeError(f"Two datasets to concatenate have different {what} {one} and {other}")
    sizes = [
        a.most_specific_compatible_shape(b)
        for a, b in zip(
            nest.flatten(first.output_shapes), nest.flatten(second.output_shapes), strict=True
        )
    ]
    return structure.convert_legacy_structure(
        first.output_types, nest.pack_sequence_as(first.output_shapes, sizes), first.output_classes
    )


class ConcatenateDataset(DatasetV1):
    """The elements of one dataset, then those of another."""

    def __init__(self, input_dataset: DatasetV2, dataset_to_concatenate: DatasetV2):
        self._datasets = [input_dataset, dataset_to_concatenate]
        self._structure = common_spec(input_dataset, dataset_to_concatenate)
        variants = [dataset._variant_tensor for dataset in self._datasets]
        super().__init__(nodes.ConcatenateDataset(*variants, **flat(self._structure)))

    def _inputs(self) -> list[Any]:
        return self._datasets

    @property
    def element_spec(self) -> Any:
        return self._structure


class RepeatDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2, count: Any):
        number = int64(-1 if count is None else count, "count")
        super().__init__(
            input_dataset,
            nodes.RepeatDataset(input_dataset._variant_tensor, number, **flat_of(input_dataset)),
        )


def flat_of(dataset: DatasetV2) -> dict[str, Any]:
    return flat(dataset.element_spec)


class TakeDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2, count: Any):
        number = int64(count, "count")
        super().__init__(
            input_dataset,
            nodes.TakeDataset(input_dataset._variant_tensor, number, **flat_of(input_dataset)),
        )


class SkipDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2, count: Any):
        number = int64(count, "count")
        super().__init__(
            input_dataset,
            nodes.SkipDataset(input_dataset._variant_tensor, number, **flat_of(input_dataset)),
        )


class ShardDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2, num_shards: Any, index: Any):
        numbers = int64(num_shards, "num_shards"), int64(index, "index")
        super().__init__(
            input_dataset,
            nodes.ShardDataset(input_dataset._variant_tensor, *numbers, **flat_of(input_dataset)),
        )


class CacheDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2, filename: Any):
        name = convert_to_tensor(filename, dtypes.string, name="filename")
        super().__init__(
            input_dataset,
            nodes.CacheDataset(input_dataset._variant_tensor, name, **flat_of(input_dataset)),
        )


class PrefetchDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2, buffer_size: Any, slack_period: Any = None):
        size = int64(-1 if buffer_size is None else buffer_size, "buffer_size")
        super().__init__(
            input_dataset,
            nodes.PrefetchDataset(
                input_dataset._variant_tensor,
                size,
                slack_period=slack_period or 0,
                **flat_of(input_dataset),
            ),
        )


class ShuffleDataset(UnaryDataset):
    def __init__(
        self,
        input_dataset: DatasetV2,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = None,
    ):
        size = int64(buffer_size, "buffer_size")
        seeds = dataset_seeds(seed)
        super().__init__(
            input_dataset,
            nodes.ShuffleDataset(
                input_dataset._variant_tensor,
                size,
                *seeds,
                reshuffle_each_iteration=reshuffle_each_iteration in (None, True),
                **flat_of(input_dataset),
            ),
        )


class BatchDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2, batch_size: Any, drop_remainder: Any):
        size, drop = int64(batch_size, "batch_size"), flag(drop_remainder, "drop_remainder")
        spec = batch_spec(input_dataset.element_spec, size, drop)
        variant = nodes.BatchDatasetV2(input_dataset._variant_tensor, size, drop, **flat(spec))
        super().__init__(input_dataset, variant, spec)


class WindowDataset(UnaryDataset):
    def __init__(
        self, input_dataset: DatasetV2, size: Any, shift: Any, stride: Any, drop_remainder: Any
    ):
        numbers = [
            int64(size, "size"),
            int64(size if shift is None else shift, "shift"),
            int64(stride, "stride"),
        ]
        drop = flag(drop_remainder, "drop_remainder")
        spec = nest.map_structure(DatasetSpec, input_dataset.element_spec)
        variant = nodes.WindowDataset(input_dataset._variant_tensor, *numbers, drop, **flat(spec))
        super().__init__(input_dataset, variant, spec)


class _Restructured(UnaryDataset):
    """The same elements under other specs."""

    def __init__(self, input_dataset: DatasetV2, spec: Any):
        super().__init__(input_dataset, input_dataset._variant_tensor, spec)


class _UnbatchDataset(UnaryDataset):
    def __init__(self, input_dataset: DatasetV2):
        sizes = input_dataset._flat_shapes
        if any(size.rank == 0 for size in sizes):
            raise ValueError("Cannot unbatch an input with scalar components.")
        rows = Dimension(None)
        for size in sizes:
            if size.rank is not None:
                try:
                    rows = rows.merge_with(size[0])
                except ValueError:
                    raise ValueError(
                        "Cannot unbatch an input whose components have different batch sizes."
                    ) from None
        spec = structure.unbatched(input_dataset.element_spec)
        variant = nodes.UnbatchDataset(input_dataset._variant_tensor, **flat(spec))
        super().__init__(input_dataset, variant, spec)


def unbatched(dataset: DatasetV2) -> Dataset:
    """The rows of a dataset's elements; a sparse tensor is taken apart into sparse rows."""
    spec = dataset.element_spec

    def as_rows(*element: Any) -> Any:
        value = element if type(spec) is tuple else element[0]
        return tuple(structure.to_batched_tensor_list(spec, value))

    if any(getattr(size, "rank", None) == 0 for size in nest.flatten(dataset.output_shapes)):
        raise ValueError("Cannot unbatch an input with scalar components.")
    as_rows.__name__ = "normalize"
    return _UnbatchDataset(_Restructured(dataset.map(as_rows), spec))


class OptionsDataset(UnaryDataset):
    """A dataset with options; its elements are the same."""

    def __init__(self, input_dataset: DatasetV2, options: Options):
        self._options = input_dataset.options().merge(options)
        super().__init__(input_dataset, input_dataset._variant_tensor)

    def options(self) -> Options:
        return self._options


class OptimizeDataset(UnaryDataset):
    """A dataset that is rewritten when it is iterated; `rewritings` are their names."""

    def __init__(self, input_dataset: DatasetV2, rewritings: list[str], configs: list[str]):
        variant = nodes.OptimizeDataset(
            input_dataset._variant_tensor,
            convert_to_tensor(rewritings, dtypes.string, name="optimizations"),
            optimization_configs=configs,
            **input_dataset._flat_structure,
        )
        super().__init__(input_dataset, variant)


class ModelDataset(UnaryDataset):
    """A dataset that TensorFlow's runtime tunes while it is iterated."""

    def __init__(self, input_dataset: DatasetV2, algorithm: Any = None, cpu_budget: Any = None):
        variant = nodes.ModelDataset(
            input_dataset._variant_tensor,
            algorithm=0 if algorithm is None else getattr(algorithm, "value", algorithm),
            cpu_budget=cpu_budget or 0,
            **input_dataset._flat_structure,
        )
        super().__init__(input_dataset, variant)


def with_threads(dataset: DatasetV2, threading: ThreadingOptions) -> DatasetV2:
    """A dataset with the nodes that tell TensorFlow's runtime how many threads it has."""
    for kind, name in (
        (nodes.MaxIntraOpParallelismDataset, "max_intra_op_parallelism"),
        (nodes.PrivateThreadPoolDataset, "private_threadpool_size"),
    ):
        number = getattr(threading, name)
        if number is not None:
            argument = "num_threads" if name == "private_threadpool_size" else name
            variant = kind(
                dataset._variant_tensor, int64(number, argument), **dataset._flat_structure
            )
            dataset = UnaryDataset(dataset, variant)
    return dataset


class RecordedDataset(UnaryDataset):
    """A dataset whose statistics go to a `StatsAggregator`."""

    def __init__(self, input_dataset: DatasetV2, aggregator: Any, prefix: Any, counter_prefix: Any):
        variant = statistics.SetStatsAggregatorDataset(
            input_dataset._variant_tensor,
            aggregator._resource,
            prefix,
            counter_prefix,
            **input_dataset._flat_structure,
        )
        super().__init__(input_dataset, variant)
