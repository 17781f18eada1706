"""`tf.data.Dataset`: a pipeline of elements, built as nodes of the graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from penstock.data import iterator, nest, structure
from penstock.data.eager_iterator import IteratorV2
from penstock.data.options import Options
from penstock.data.structure import _Kind, register_kind
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.trackable import Trackable, TrackableReference
from penstock.ir.type_spec import BatchableTypeSpec
from penstock.ops.datasets import pipeline_graphs
from penstock.platform import logging
from penstock.shapes import TensorShape

AUTOTUNE = -1


class DatasetV2(Trackable):
    """A sequence of elements, each a nested structure of tensors.

    >>> dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    >>> dataset = dataset.shuffle(1000).repeat().batch(32)
    >>> image_batch, label_batch = dataset.make_one_shot_iterator().get_next()
    """

    def __init__(self, variant_tensor: Tensor | None = None):
        # A subclass of a user's may give its tensor through a method, as in early versions.
        self._variant = self._as_variant_tensor() if variant_tensor is None else variant_tensor
        self._graph = get_default_graph()

    def _as_variant_tensor(self) -> Tensor:
        return self._variant

    @property
    def _variant_tensor(self) -> Tensor:
        return self._variant

    def _as_serialized_graph(self, stateful_whitelist: Any = None) -> Tensor:
        """A scalar string: the pipeline as a serialized GraphDef.

        Args:
          stateful_whitelist: the stateful op types that its functions may use.
        """
        graph: Tensor = pipeline_graphs.DatasetToGraph(
            self._variant_tensor, stateful_whitelist=stateful_whitelist or []
        )
        return graph

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """What a SavedModel makes the dataset of again; a checkpoint has nothing of it."""
        if "_variant_tracker" not in self._unconditional_dependency_names:
            from penstock.data.exported_datasets import VariantTracker  # which uses functions

            self._track_trackable(VariantTracker(self), name="_variant_tracker")
        return self._unconditional_checkpoint_dependencies

    def _inputs(self) -> list[Any]:
        """The datasets that this one reads."""
        return []

    def _functions(self) -> list[Any]:
        return []

    def _has_captured_ref(self) -> bool:
        """Whether a function of this dataset or of its inputs uses a reference variable."""
        captured = [each for function in self._functions() for each in function.captured_inputs]
        return _come_from_reference(captured) or any(
            dataset._has_captured_ref() for dataset in self._inputs()
        )

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    @property
    def element_spec(self) -> Any:
        """The specs of an element's components, in its structure."""
        return structure.convert_legacy_structure(
            self.output_types, self.output_shapes, self.output_classes
        )

    @property
    def output_types(self) -> Any:
        """The types of an element's components, in its structure."""
        return structure.legacy_types(self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element's components, in its structure."""
        return structure.legacy_shapes(self.element_spec)

    @property
    def output_classes(self) -> Any:
        """The classes of an element's components, in its structure."""
        return structure.legacy_classes(self.element_spec)

    @property
    def _flat_shapes(self) -> list[TensorShape]:
        return structure.get_flat_tensor_shapes(self.element_spec)

    @property
    def _flat_types(self) -> list[Any]:
        return structure.get_flat_tensor_types(self.element_spec)

    @property
    def _flat_structure(self) -> dict[str, Any]:
        return flat_structure(self.element_spec)

    def __repr__(self) -> str:
        sizes = str(nest.map_structure(str, self.output_shapes)).replace("'", "")
        types = str(nest.map_structure(repr, self.output_types)).replace("'", "")
        return f"<{self._shown_as} shapes: {sizes}, types: {types}>"

    _shown_as = "DatasetV1Adapter"

    def __iter__(self) -> Any:
        if executing_eagerly() or get_default_graph().building_function:
            return IteratorV2(self)
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )

    def options(self) -> Options:
        """The options of this dataset and of those that it reads."""
        options = Options()
        for dataset in self._inputs():
            options = options.merge(dataset.options())
        return options

    # Sources ------------------------------------------------------------------------------------

    @staticmethod
    def from_tensors(tensors: Any) -> Dataset:
        """One element, the given tensors."""
        return sources.TensorDataset(tensors)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Dataset:
        """The slices of the tensors along their first dimension."""
        return sources.TensorSliceDataset(tensors)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Dataset:
        """The slices of a sparse tensor, each as (indices, values, dense_shape)."""
        return sources.SparseTensorSliceDataset(sparse_tensor)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any,
        output_shapes: Any = None,
        args: Any = None,
    ) -> Dataset:
        """What a Python generator yields; `generator(*args)` is called for each iteration."""
        from penstock.data.generator import generator_dataset

        return generator_dataset(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args: Any) -> Dataset:
        """Numbers, as Python's `range(start, stop, step)` gives them."""
        return sources.RangeDataset(*args)

    @staticmethod
    def zip(datasets: Any) -> Dataset:
        """Elements put together from one of each dataset of a nested structure."""
        return rearranged.ZipDataset(datasets)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: Any = None, seed: Any = None) -> Dataset:
        """The names of the files that match a pattern, in random order unless `shuffle=False`."""
        return sources.files_matching(file_pattern, shuffle, seed)

    # Transformations ------------------------------------------------------------------------------

    def concatenate(self, dataset: Any) -> Dataset:
        """This dataset's elements, then those of another one."""
        return rearranged.ConcatenateDataset(self, dataset)

    def prefetch(self, buffer_size: Any) -> Dataset:
        """Computes up to `buffer_size` elements ahead, in a thread."""
        return rearranged.PrefetchDataset(self, buffer_size)

    def repeat(self, count: Any = None) -> Dataset:
        """The dataset `count` times; without a count, or with -1, for ever."""
        return rearranged.RepeatDataset(self, count)

    def enumerate(self, start: Any = 0) -> Dataset:
        """Pairs of a number and an element."""
        return DatasetV2.zip((DatasetV2.range(start, 2**63 - 1), self))

    def shuffle(
        self, buffer_size: Any, seed: Any = None, reshuffle_each_iteration: bool | None = None
    ) -> Dataset:
        """Elements drawn at random from a buffer of `buffer_size` that is kept full."""
        return rearranged.ShuffleDataset(self, buffer_size, seed, reshuffle_each_iteration)

    def cache(self, filename: Any = "") -> Dataset:
        """Remembers the elements of the first iteration, in memory or in a file."""
        return rearranged.CacheDataset(self, filename)

    def take(self, count: Any) -> Dataset:
        """The first `count` elements; all with -1."""
        return rearranged.TakeDataset(self, count)

    def skip(self, count: Any) -> Dataset:
        """All but the first `count` elements; none with -1."""
        return rearranged.SkipDataset(self, count)

    def shard(self, num_shards: Any, index: Any) -> Dataset:
        """Every `num_shards`-th element, beginning with number `index`."""
        return rearranged.ShardDataset(self, num_shards, index)

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Dataset:
        """Batches of consecutive elements; `drop_remainder` leaves out a last, smaller one."""
        return rearranged.BatchDataset(self, batch_size, drop_remainder)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: Any = False,
    ) -> Dataset:
        """Batches of elements that are padded to `padded_shapes`; None there: to the largest."""
        from penstock.data.padding import PaddedBatchDataset

        return PaddedBatchDataset(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Dataset:
        """A function of each element, of up to `num_parallel_calls` of them at once."""
        if num_parallel_calls is None:
            return mapped.MapDataset(self, map_func)
        return mapped.ParallelMapDataset(self, map_func, num_parallel_calls)

    map_with_legacy_function = map

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of the datasets that a function makes of the elements."""
        return mapped.FlatMapDataset(self, map_func)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = AUTOTUNE,
        block_length: Any = 1,
        num_parallel_calls: Any = None,
    ) -> Dataset:
        """Takes turns among `cycle_length` of the datasets that a function makes."""
        if num_parallel_calls is None:
            return mapped.InterleaveDataset(self, map_func, cycle_length, block_length)
        return mapped.ParallelInterleaveDataset(
            self, map_func, cycle_length, block_length, num_parallel_calls
        )

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which a function is true."""
        return mapped.FilterDataset(self, predicate)

    filter_with_legacy_function = filter

    def apply(self, transformation_func: Callable[[Any], Any]) -> Any:
        """What a function makes of this dataset."""
        dataset = transformation_func(self)
        if not isinstance(dataset, DatasetV2):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {dataset}.")
        return dataset

    def window(
        self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False
    ) -> Dataset:
        """Windows over the sequence: each component becomes a dataset of `size` elements."""
        return rearranged.WindowDataset(self, size, shift, stride, drop_remainder)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """The last state of `state = reduce_func(state, element)` over all elements."""
        return mapped.reduced(self, initial_state, reduce_func)

    def unbatch(self) -> Dataset:
        """The rows of each element, as elements."""
        return rearranged.unbatched(self)

    def with_options(self, options: Options) -> Dataset:
        """This dataset with options."""
        return rearranged.OptionsDataset(self, options)

    # Iterators ------------------------------------------------------------------------------------

    def _apply_options(self) -> DatasetV2:
        """The dataset with the nodes that its options ask for."""
        options = self.options()
        dataset = rearranged.with_threads(self, options.experimental_threading)
        rewritings = options._static_optimizations()
        if rewritings and self._has_captured_ref():
            warnings.warn(
                "tf.data static optimizations are not compatible with tf.Variable. The following "
                f"optimizations will be disabled: {', '.join(rewritings)}. To enable "
                "optimizations, use resource variables instead by calling "
                "`tf.enable_resource_variables()` at the start of the program.",
                stacklevel=3,
            )
        elif rewritings:
            configs = options._static_optimization_configs()
            dataset = rearranged.OptimizeDataset(dataset, rewritings, configs)
        tuning = options.experimental_optimization
        if tuning.autotune is not False:
            dataset = rearranged.ModelDataset(
                dataset, tuning.autotune_algorithm, tuning.autotune_cpu_budget
            )
        statistics = options.experimental_stats
        if statistics.aggregator is not None:
            dataset = rearranged.RecordedDataset(
                dataset, statistics.aggregator, statistics.prefix, statistics.counter_prefix
            )
        return dataset

    def make_one_shot_iterator(self) -> iterator.Iterator:
        """An iterator that needs no initializer; the pipeline must not use state or feeds."""
        from penstock.data.one_shot import one_shot_iterator

        if executing_eagerly():
            return IteratorV2(self)  # type: ignore[return-value]
        _warn_of_other_graphs(self)
        return one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> iterator.Iterator:
        """An iterator whose `initializer` begins at the beginning, with the values fed then."""
        if executing_eagerly():
            raise RuntimeError(
                "dataset.make_initializable_iterator is not supported when eager execution is "
                "enabled."
            )
        _warn_of_other_graphs(self)
        return iterator.initializable_iterator(self._apply_options(), shared_name)

    _make_one_shot_iterator = make_one_shot_iterator
    _make_initializable_iterator = make_initializable_iterator


def _come_from_reference(tensors: list[Tensor]) -> bool:
    """Whether one of the tensors is a reference variable, or computed from one."""
    waiting = list(tensors)
    seen = {tensor._op for tensor in tensors}
    for tensor in waiting:
        if tensor.dtype.is_ref_dtype:
            return True
        for source in tensor._op.inputs:
            if source.dtype.is_ref_dtype:
                return True
            if source._op not in seen:
                seen.add(source._op)
                waiting.append(source)
    return False


def _warn_of_other_graphs(dataset: DatasetV2) -> None:
    """Says which datasets of a pipeline are not in the graph that its iterator is made in."""
    graph = get_default_graph()
    waiting, seen = [dataset], {id(dataset)}
    for each in waiting:
        if each._graph is not graph:
            logging.warning(
                f"The graph ({graph}) of the iterator is different from the graph ({each._graph}) "
                f"the dataset: {each._variant_tensor} was created in. Please ensure that all "
                "datasets in the pipeline are created in the same graph as the iterator."
            )
        new = [source for source in each._inputs() if id(source) not in seen]
        seen.update(map(id, new))
        waiting += new


class DatasetV1(DatasetV2):
    """See `DatasetV2`, which has what TensorFlow divides between the two."""

    __doc__ = DatasetV2.__doc__


Dataset = DatasetV1


class DatasetSource(DatasetV1):
    """A dataset that reads no other one."""

    def __init__(self, spec: Any, variant_tensor: Tensor):
        self._structure = spec
        super().__init__(variant_tensor)

    @property
    def element_spec(self) -> Any:
        return self._structure


class UnaryDataset(DatasetV1):
    """A dataset that reads one other; its elements are like that one's if `spec` is not given."""

    def __init__(self, input_dataset: DatasetV2, variant_tensor: Tensor, spec: Any = None):
        self._input_dataset = input_dataset
        self._spec = spec
        super().__init__(variant_tensor)

    def _inputs(self) -> list[Any]:
        return [self._input_dataset]

    @property
    def element_spec(self) -> Any:
        # A class of a program's may ask before this one's constructor has run.
        spec = getattr(self, "_spec", None)
        return self._input_dataset.element_spec if spec is None else spec


UnaryUnchangedStructureDataset = UnaryDataset


def DatasetV1Adapter(dataset: DatasetV2) -> DatasetV2:
    """The dataset itself: every dataset has the methods of TensorFlow 1.x."""
    return dataset


def flat_structure(spec: Any) -> dict[str, Any]:
    """The attrs that say what the elements of a dataset are."""
    return {
        "output_types": structure.get_flat_tensor_types(spec),
        "output_shapes": structure.get_flat_tensor_shapes(spec),
    }


# Datasets as elements -----------------------------------------------------------------------------


class _VariantDataset(DatasetSource):
    """The dataset that a variant tensor holds."""

    def __init__(self, dataset_variant: Tensor, structure: Any):
        super().__init__(structure, dataset_variant)


class DatasetSpec(BatchableTypeSpec):
    """What is known of a dataset that is a component of an element."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()):
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    @property
    def value_type(self) -> Any:
        return DatasetV2

    @property
    def element_spec(self) -> Any:
        return self._element_spec

    @staticmethod
    def from_value(value: DatasetV2) -> DatasetSpec:
        return DatasetSpec(value.element_spec)

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a dataset or a spec of one has elements like these."""
        if isinstance(other, DatasetV2):
            other = DatasetSpec.from_value(other)
        return isinstance(other, DatasetSpec) and structure.are_compatible(
            self._element_spec, other._element_spec
        )

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    @property
    def _component_specs(self) -> TensorSpec:
        return _DATASET.flat(self)[0]

    def _to_components(self, value: DatasetV2 | _Datasets) -> Tensor:
        return value._variant_tensor

    def _from_components(self, components: Tensor) -> DatasetV2 | _Datasets:
        return _DATASET.value(self, [components])

    def _batch(self, batch_size: int | None) -> DatasetSpec:
        return _DATASET.batch(self, batch_size)

    def _unbatch(self) -> DatasetSpec:
        return _DATASET.unbatch(self)

    def _to_legacy_output_types(self) -> DatasetSpec:
        return self

    _to_legacy_output_shapes = _to_legacy_output_classes = _to_legacy_output_types


class _DatasetKind(_Kind):
    def flat(self, spec: DatasetSpec) -> list[TensorSpec]:
        from penstock import dtypes

        return [TensorSpec(spec._dataset_shape, dtypes.variant)]

    def tensors(self, spec: DatasetSpec, value: DatasetV2 | _Datasets) -> list[Tensor]:
        return [value._variant_tensor]

    def value(self, spec: DatasetSpec, tensors: list[Tensor]) -> DatasetV2 | _Datasets:
        if spec._dataset_shape.rank == 0:
            return _VariantDataset(tensors[0], spec._element_spec)
        return _Datasets(tensors[0], spec)

    def batch(self, spec: DatasetSpec, size: int | None) -> DatasetSpec:
        shape = TensorShape([size]).concatenate(spec._dataset_shape)
        return DatasetSpec(spec._element_spec, shape)

    def unbatch(self, spec: DatasetSpec) -> DatasetSpec:
        if spec._dataset_shape.rank == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return DatasetSpec(spec._element_spec, spec._dataset_shape[1:])


class _Datasets:
    """A batch of datasets."""

    def __init__(self, variant: Tensor, spec: DatasetSpec):
        self._variant_tensor = variant
        self.spec = spec


_DATASET = _DatasetKind()
register_kind(DatasetSpec, _DATASET, DatasetV2, DatasetSpec.from_value)
register_kind(DatasetSpec, _DATASET, _Datasets, lambda batch: batch.spec)


# The functions of TensorFlow 1.15 that take a dataset ---------------------------------------------


def make_one_shot_iterator(dataset: DatasetV2) -> iterator.Iterator:
    """See `Dataset.make_one_shot_iterator`."""
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(
    dataset: DatasetV2, shared_name: str | None = None
) -> iterator.Iterator:
    """See `Dataset.make_initializable_iterator`."""
    return dataset.make_initializable_iterator(shared_name)


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of the elements of a dataset or iterator."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            "`dataset_or_iterator` must be a Dataset or Iterator object, but got "
            f"{type(dataset_or_iterator)}."
        ) from None


def get_legacy_output_types(dataset_or_iterator: Any) -> Any:
    """The types of the elements of a dataset or iterator."""
    return structure.legacy_types(get_structure(dataset_or_iterator))


def get_legacy_output_shapes(dataset_or_iterator: Any) -> Any:
    """The shapes of the elements of a dataset or iterator."""
    return structure.legacy_shapes(get_structure(dataset_or_iterator))


def get_legacy_output_classes(dataset_or_iterator: Any) -> Any:
    """The classes of the elements of a dataset or iterator."""
    return structure.legacy_classes(get_structure(dataset_or_iterator))


def from_variant(variant: Tensor, structure: Any) -> DatasetV2:
    """The dataset that a variant tensor holds, whose elements have the given specs."""
    return _VariantDataset(variant, structure)


def to_variant(dataset: DatasetV2) -> Tensor:
    """The variant tensor of a dataset."""
    return dataset._variant_tensor


# The kinds of datasets derive from the classes above.
from penstock.data import mapped, rearranged, sources  # noqa: E402
