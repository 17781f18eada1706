"""The inputs of replicas: iterators over datasets, and what their functions are told."""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any

from penstock import nest
from penstock.data.eager_iterator import IteratorV2
from penstock.distribute.device_names import host_of
from penstock.distribute.padded_inputs import reduce_steps
from penstock.distribute.values import regroup
from penstock.errors import OutOfRangeError
from penstock.execution_modes import executing_eagerly_outside_functions
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ops.constants import constant
from penstock.ops.control import control_dependencies, group, init_scope
from penstock.ops.identity import identity


class InputReplicationMode(enum.Enum):
    """How an input function is used: one pipeline for each worker."""

    PER_WORKER = "PER_WORKER"


class InputContext:
    """What an input function may know of the cluster."""

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ):
        self._num_input_pipelines = num_input_pipelines
        self._input_pipeline_id = input_pipeline_id
        self._num_replicas_in_sync = num_replicas_in_sync

    @property
    def num_replicas_in_sync(self) -> int:
        return self._num_replicas_in_sync

    @property
    def input_pipeline_id(self) -> int:
        return self._input_pipeline_id

    @property
    def num_input_pipelines(self) -> int:
        return self._num_input_pipelines

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """A replica's part of a batch; ValueError if they can't have equal parts."""
        if global_batch_size % self._num_replicas_in_sync != 0:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by "
                f"`num_replicas_in_sync` {self._num_replicas_in_sync!r} "
            )
        return global_batch_size // self._num_replicas_in_sync


class DistributedIterator:
    """The inputs of the replicas of one worker: each gets an element of its own.

    Args:
      dataset: elements for replicas, one after the other; or a function without arguments that
        makes the tensors of one.
      devices: those of the replicas; one replica of a strategy without devices takes the
        elements as they are.
    """

    def __init__(self, dataset: Any, devices: Sequence[str] = ()):
        self._devices = tuple(devices)
        self._make = dataset if callable(dataset) else None
        self._dataset = dataset
        self._iterator: Any = None
        if self._make is None:
            self._start()

    def _start(self) -> None:
        graph = get_default_graph()
        with graph.device(host_of(self._devices[0]) if self._devices else None):
            if executing_eagerly() or graph.building_function:
                self._iterator = IteratorV2(self._dataset)
            else:
                self._iterator = self._dataset.make_initializable_iterator()

    @property
    def initializer(self) -> Any:
        return group() if self._iterator is None else self._iterator.initializer

    def initialize(self) -> Any:
        """The operation that (re)starts the iterator; in eager mode it starts at once."""
        if not executing_eagerly_outside_functions():
            return self.initializer
        if self._make is None:
            with init_scope():
                self._start()
        return []

    def __iter__(self) -> DistributedIterator:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except OutOfRangeError:
            raise StopIteration from None

    def get_next(self, name: str | None = None) -> Any:
        """The next element of each replica."""
        if not self._devices:
            return self._next(name)
        return regroup(self._devices, self._next_of_each(name))

    def _next_of_each(self, name: str | None) -> list[Any]:
        graph = get_default_graph()
        found: list[Any] = []
        for device in self._devices:
            # The replicas take elements in their order.
            before = [] if executing_eagerly() else nest.flatten(found[-1:], expand_composites=True)
            with graph.device(host_of(device)), control_dependencies([each.op for each in before]):
                element = self._next(name)
            with graph.device(device):
                found.append(nest.map_structure(identity, element, expand_composites=True))
        return found

    def _next(self, name: str | None) -> Any:
        return self._make() if self._make is not None else self._iterator.get_next(name)

    @property
    def output_types(self) -> Any:
        return self._iterator.output_types

    @property
    def output_shapes(self) -> Any:
        return self._iterator.output_shapes

    @property
    def output_classes(self) -> Any:
        return self._iterator.output_classes


class DistributedDataset:
    """A dataset whose elements go to the replicas of a worker, one to each."""

    def __init__(self, dataset: Any, devices: Sequence[str]):
        self._dataset = dataset
        self._devices = tuple(devices)

    def make_initializable_iterator(self, shared_name: str | None = None) -> DistributedIterator:
        return DistributedIterator(self._dataset, self._devices)

    def __iter__(self) -> DistributedIterator:
        require_eager_or_function()
        return DistributedIterator(self._dataset, self._devices)

    def reduce(self, initial_state: Any, reduce_fn: Callable[[Any, Any], Any]) -> Any:
        """The last state of `state = reduce_fn(state, elements)`, in the body of a function."""
        iterator = iter(self)._iterator

        def grouped(elements: Sequence[Any]) -> Any:
            return regroup(self._devices, elements)

        return reduce_steps(iterator, len(self._devices), grouped, initial_state, reduce_fn)

    def _autograph_for_loop(self, extra_test: Any, body: Any, init_state: Any) -> Any:
        return for_loop(self, extra_test, body, init_state)

    def make_one_shot_iterator(self) -> DistributedIterator:
        """An iterator that starts by itself."""
        made = DistributedIterator.__new__(DistributedIterator)
        made._devices, made._make = self._devices, None
        with get_default_graph().device(host_of(self._devices[0])):
            made._iterator = self._dataset.make_one_shot_iterator()
        return made

    @property
    def element_spec(self) -> Any:
        return self._dataset.element_spec

    @property
    def output_types(self) -> Any:
        return self._dataset.output_types

    @property
    def output_shapes(self) -> Any:
        return self._dataset.output_shapes

    @property
    def output_classes(self) -> Any:
        return self._dataset.output_classes


def require_eager_or_function() -> None:
    """RuntimeError in a graph, where Python has no elements to go through."""
    if not executing_eagerly() and not get_default_graph().building_function:
        raise RuntimeError(
            "__iter__() is only supported inside of tf.function or when eager execution is enabled."
        )


def for_loop(inputs: Any, extra_test: Any, body: Any, init_state: Any) -> Any:
    """A `for` over distributed inputs whose code has been converted."""
    if extra_test is not None:
        raise NotImplementedError(
            "break and return statements are not yet supported in for ... in distributed input "
            "loops."
        )
    if init_state:
        return inputs.reduce(init_state, lambda state, element: body(element, *state))

    def unchanged(state: Any, element: Any) -> Any:
        body(element)
        return state

    inputs.reduce((constant(0),), unchanged)
    return ()


def split_batches(dataset: Any, parts: int) -> Any:
    """Each batch of a dataset as so many smaller ones; of a small batch some have no rows."""
    from penstock.data.experimental.workers import _RebatchDataset

    return dataset if parts == 1 else _RebatchDataset(dataset, parts)


class MultiStepContext:
    """What a step function of `experimental_run_steps_on_iterator` may hand out."""

    run_op: Any = None

    def __init__(self) -> None:
        self._last_step_outputs: dict[str, Any] = {}
        self._reduce_ops: dict[str, Any] = {}
        self._non_tensor_outputs: dict[str, Any] = {}

    @property
    def last_step_outputs(self) -> dict[str, Any]:
        return self._last_step_outputs

    def set_last_step_output(self, name: str, output: Any, reduce_op: Any = None) -> None:
        """Hands out a tensor of the last step; replicas' values are reduced if asked."""
        from penstock.distribute import context

        if context.in_cross_replica_context():
            if reduce_op is not None:
                output = context.get_strategy().reduce(reduce_op, output, axis=None)
            self._last_step_outputs[name] = output
            return

        def merged(strategy: Any, value: Any) -> None:
            whole = value if reduce_op is None else strategy.reduce(reduce_op, value, axis=None)
            self._last_step_outputs[name] = whole

        context.get_replica_context().merge_call(merged, args=(output,))

    @property
    def non_tensor_outputs(self) -> dict[str, Any]:
        return self._non_tensor_outputs

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Hands out something that is not a tensor; of replicas the values of all of them."""
        from penstock.distribute import context

        if context.in_cross_replica_context():
            self._non_tensor_outputs[name] = output
            return

        def merged(strategy: Any, value: Any) -> None:
            self._non_tensor_outputs[name] = strategy.experimental_local_results(value)

        context.get_replica_context().merge_call(merged, args=(output,))
