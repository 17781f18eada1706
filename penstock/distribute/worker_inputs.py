"""Inputs of the replicas of several workers in one graph: TensorFlow's `input_lib`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import nest
from penstock.distribute import input_pipelines
from penstock.distribute.copied_datasets import copied_dataset
from penstock.distribute.device_maps import DeviceMap
from penstock.distribute.device_names import resolve
from penstock.distribute.input_pipelines import MultiStepContext, split_batches
from penstock.distribute.padded_inputs import (
    can_be_empty,
    next_of_workers,
    padded,
    reduce_steps,
)
from penstock.distribute.values import regroup
from penstock.errors import OutOfRangeError
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ops.control import group

__all__ = [
    "DatasetIterator",
    "DistributedDataset",
    "DistributedDatasetV1",
    "DistributedDatasetsFromFunction",
    "DistributedDatasetsFromFunctionV1",
    "DistributedIterator",
    "DistributedIteratorV1",
    "InputFunctionIterator",
    "InputWorkers",
    "MultiStepContext",
    "get_distributed_dataset",
    "get_distributed_datasets_from_function",
]


class InputWorkers:
    """Which devices compute on the inputs of which worker.

    Args:
      device_map: the devices of all replicas.
      worker_device_pairs: a worker's device and those of its replicas, for each worker; if None,
        one worker has all.
      logical_device: which devices of the map.
    """

    def __init__(
        self,
        device_map: DeviceMap,
        worker_device_pairs: Sequence[tuple[str, Sequence[str]]] | None = None,
        logical_device: int = 0,
    ):
        self._device_map = device_map
        self._logical_device = logical_device
        pairs = worker_device_pairs or [("/device:CPU:0", tuple(device_map))]
        self._workers = tuple(resolve(worker) for worker, _ in pairs)
        self._devices = tuple(tuple(resolve(each) for each in devices) for _, devices in pairs)

    @property
    def device_map(self) -> DeviceMap:
        return self._device_map

    @property
    def logical_device(self) -> int:
        return self._logical_device

    @property
    def num_workers(self) -> int:
        return len(self._workers)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return self._workers

    def compute_devices_for_worker(self, worker_index: int) -> tuple[str, ...]:
        """The devices of a worker's replicas."""
        return self._devices[worker_index]

    def __repr__(self) -> str:
        pairs = zip(self._workers, self._devices, strict=True)
        lines = ",\n".join(f"  {i} {w}: {d}" for i, (w, d) in enumerate(pairs))
        return f"InputWorkers:{{\n{lines}}}"


class DistributedIterator:
    """The inputs of all workers: `get_next` gives each replica an element.

    Args:
      input_workers: who gets inputs.
      iterators: one for each worker.
      strategy: whose replicas they are.
    """

    def __init__(self, input_workers: InputWorkers, iterators: Sequence[Any], strategy: Any):
        self._input_workers = input_workers
        self._iterators = list(iterators)
        self._strategy = strategy

    @property
    def _initializer(self) -> Any:
        started = [each.initialize() for each in self._iterators]
        return [] if executing_eagerly() else group(*nest.flatten(started))

    def initialize(self) -> Any:
        """The operation that (re)starts the inputs; in eager mode they start at once."""
        return self._initializer

    @property
    def initializer(self) -> Any:
        return self._initializer

    def get_next(self, name: str | None = None) -> Any:
        """The next element of each replica."""
        workers = self._input_workers
        found: list[Any] = []
        if self._may_end_one_by_one():
            devices = [workers.compute_devices_for_worker(i) for i in range(workers.num_workers)]
            found = next_of_workers([each._iterator for each in self._iterators], devices)
        else:
            for iterator in self._iterators:
                found += iterator.get_next_list(name)
        return regroup(workers.device_map, found)

    def _may_end_one_by_one(self) -> bool:
        """Whether a worker goes on, without rows, until all have come to their end."""
        return (
            self._input_workers.num_workers > 1
            and _completes_steps(self._strategy)
            and all(each._make is None for each in self._iterators)
            and all(can_be_empty(each._iterator.element_spec) for each in self._iterators)
        )

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except OutOfRangeError:
            raise StopIteration from None

    def get_iterator(self, worker: str) -> Any:
        """The iterator of one worker; None if it is none of them."""
        pairs = zip(self._input_workers.worker_devices, self._iterators, strict=True)
        return next((each for device, each in pairs if device == worker), None)

    @property
    def output_classes(self) -> Any:
        return self._iterators[0].output_classes

    @property
    def output_shapes(self) -> Any:
        return self._iterators[0].output_shapes

    @property
    def output_types(self) -> Any:
        return self._iterators[0].output_types


class DistributedIteratorV1(DistributedIterator):
    """Inputs of a graph's workers."""


class InputFunctionIterator(DistributedIteratorV1):
    """Inputs from a function, which is called for each worker.

    Args:
      input_fn: gives a dataset, or a function without arguments that gives an element.
      input_workers: who gets inputs.
      input_contexts: what the function is told, for each worker.
      strategy: whose replicas they are.
    """

    def __init__(
        self,
        input_fn: Callable[[Any], Any],
        input_workers: InputWorkers,
        input_contexts: Sequence[Any],
        strategy: Any,
    ):
        if input_workers.num_workers != len(input_contexts):
            raise ValueError(
                f"Number of input workers ({input_workers.num_workers}) is not same as number of "
                f"input_contexts ({len(input_contexts)})"
            )
        made = _called(input_fn, input_workers, input_contexts)
        super().__init__(input_workers, _iterators(made, input_workers, strategy), strategy)


class DistributedDataset:
    """A dataset of which each worker's replicas get elements.

    Args:
      dataset: the dataset; several workers get different elements of it.
      input_workers: who gets inputs.
      strategy: whose replicas they are.
      split_batch_by: into how many parts batches are cut.
      input_context: which part of the elements this process is for, if it is one of several.
    """

    def __init__(
        self,
        dataset: Any,
        input_workers: InputWorkers,
        strategy: Any,
        split_batch_by: int | None = None,
        input_context: Any = None,
    ):
        self._input_workers = input_workers
        self._strategy = strategy
        self.element_spec = dataset.element_spec
        whole = split_batches(dataset, split_batch_by) if split_batch_by else dataset
        self._datasets = _shards(whole, input_workers, input_context)

    def __iter__(self) -> DistributedIterator:
        input_pipelines.require_eager_or_function()
        return self._made(DistributedIterator)

    def reduce(self, initial_state: Any, reduce_fn: Callable[[Any, Any], Any]) -> Any:
        """The last state of `state = reduce_fn(state, elements)`, in the body of a function."""
        workers = self._input_workers
        if workers.num_workers > 1:
            raise ValueError(
                "Dataset iteration within a tf.function is not supported for multiple workers."
            )
        iterator = iter(self)._iterators[0]._iterator

        def grouped(elements: Sequence[Any]) -> Any:
            return regroup(workers.device_map, elements)

        count = len(workers.compute_devices_for_worker(0))
        return reduce_steps(iterator, count, grouped, initial_state, reduce_fn)

    def _autograph_for_loop(self, extra_test: Any, body: Any, init_state: Any) -> Any:
        return input_pipelines.for_loop(self, extra_test, body, init_state)

    def _made(self, kind: type[DistributedIterator]) -> DistributedIterator:
        iterators = _iterators(self._datasets, self._input_workers, self._strategy)
        return kind(self._input_workers, iterators, self._strategy)


class DistributedDatasetV1(DistributedDataset):
    """A dataset of a graph's workers."""

    def make_initializable_iterator(self, shared_name: str | None = None) -> DistributedIteratorV1:
        """An iterator that `initialize` starts."""
        if executing_eagerly():
            raise ValueError("Cannot create initializable iterator in Eager mode.")
        made = self._made(DistributedIteratorV1)
        assert isinstance(made, DistributedIteratorV1)
        return made

    def make_one_shot_iterator(self) -> DistributedIterator:
        """An iterator that has started, in eager mode."""
        return self._made(DistributedIteratorV1)

    _make_initializable_iterator = make_initializable_iterator
    _make_one_shot_iterator = make_one_shot_iterator

    @property
    def output_classes(self) -> Any:
        return self._datasets[0].output_classes

    @property
    def output_shapes(self) -> Any:
        return self._datasets[0].output_shapes

    @property
    def output_types(self) -> Any:
        return self._datasets[0].output_types


class DistributedDatasetsFromFunction(DistributedDataset):
    """The datasets that a function returns for each worker.

    Args:
      dataset_fn: gives a dataset.
      input_workers: who gets inputs.
      input_contexts: what the function is told, for each worker.
      strategy: whose replicas they are.
    """

    def __init__(
        self,
        dataset_fn: Callable[[Any], Any],
        input_workers: InputWorkers,
        input_contexts: Sequence[Any],
        strategy: Any,
    ):
        self._input_workers = input_workers
        self._strategy = strategy
        self._datasets = _called(dataset_fn, input_workers, input_contexts)
        self.element_spec = self._datasets[0].element_spec


class DistributedDatasetsFromFunctionV1(DistributedDatasetsFromFunction, DistributedDatasetV1):
    """The datasets that a function returns for each worker of a graph."""


class DatasetIterator(DistributedIteratorV1):
    """Inputs from a dataset; see `DistributedDataset`."""

    def __init__(
        self,
        dataset: Any,
        input_workers: InputWorkers,
        strategy: Any,
        split_batch_by: int | None = None,
        input_context: Any = None,
    ):
        whole = DistributedDatasetV1(
            dataset, input_workers, strategy, split_batch_by, input_context
        )
        iterators = _iterators(whole._datasets, input_workers, strategy)
        super().__init__(input_workers, iterators, strategy)


def get_distributed_dataset(
    dataset: Any,
    input_workers: InputWorkers,
    strategy: Any,
    split_batch_by: int | None = None,
    input_context: Any = None,
) -> DistributedDatasetV1:
    """A dataset of which each worker's replicas get elements."""
    return DistributedDatasetV1(dataset, input_workers, strategy, split_batch_by, input_context)


def get_distributed_datasets_from_function(
    dataset_fn: Callable[[Any], Any],
    input_workers: InputWorkers,
    input_contexts: Sequence[Any],
    strategy: Any,
) -> DistributedDatasetsFromFunction:
    """The datasets that a function returns for each worker."""
    return DistributedDatasetsFromFunctionV1(dataset_fn, input_workers, input_contexts, strategy)


class _WorkerIterator(input_pipelines.DistributedIterator):
    """The inputs of one worker's replicas, as a list."""

    def get_next_list(self, name: str | None = None) -> list[Any]:
        return self._next_of_each(name)


def _called(
    input_fn: Callable[[Any], Any], workers: InputWorkers, contexts: Sequence[Any]
) -> list[Any]:
    made = []
    for worker, told in zip(workers.worker_devices, contexts, strict=True):
        with get_default_graph().device(worker):
            made.append(input_fn(told))
        if not callable(made[-1]) and not hasattr(made[-1], "make_one_shot_iterator"):
            raise ValueError("input_fn must return a tf.data.Dataset or a callable.")
    return made


def _iterators(
    datasets: Sequence[Any], workers: InputWorkers, strategy: Any
) -> list[_WorkerIterator]:
    made = []
    for number, dataset in enumerate(datasets):
        with get_default_graph().device(workers.worker_devices[number]):
            devices = workers.compute_devices_for_worker(number)
            made.append(_worker_iterator(dataset, devices, strategy))
    return made


def _worker_iterator(dataset: Any, devices: Sequence[str], strategy: Any) -> _WorkerIterator:
    if not callable(dataset) and _completes_steps(strategy):
        dataset = padded(dataset, len(devices))
    return _WorkerIterator(dataset, devices)


def _completes_steps(strategy: Any) -> bool:
    extended = getattr(strategy, "extended", None)
    return bool(getattr(extended, "experimental_enable_get_next_as_optional", False))


def _shards(dataset: Any, workers: InputWorkers, input_context: Any) -> list[Any]:
    """The dataset's part of each worker, or of this process."""
    if input_context is not None:
        count, number = input_context.num_input_pipelines, input_context.input_pipeline_id
        return [_shard(dataset, count, number)]
    if workers.num_workers == 1:
        return [dataset]
    found = []
    for number, worker in enumerate(workers.worker_devices):
        with get_default_graph().device(worker):  # a dataset is read in the task that it is in
            own = copied_dataset(dataset).with_options(dataset.options())
            found.append(_shard(own, workers.num_workers, number))
    return found


def _shard(dataset: Any, count: int, number: int) -> Any:
    if count == 1 or not dataset.options().experimental_distribute.auto_shard:
        return dataset
    return dataset.shard(count, number)
