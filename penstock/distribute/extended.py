"""`tf.distribute.StrategyExtended`: a strategy's methods for code that knows of replicas.

Here is what they do with one replica on one device: its value of a variable, or of a tensor, is
the value. Strategies of several replicas override them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock import nest
from penstock.distribute import context
from penstock.distribute.device_names import host_of
from penstock.distribute.input_pipelines import (
    DistributedDataset,
    DistributedIterator,
    InputContext,
    InputReplicationMode,
    MultiStepContext,
)
from penstock.distribute.reduce_op import as_reduce_op
from penstock.distribute.replica_context import ReplicaContext
from penstock.distribute.scopes import StrategyScope, require_strategy
from penstock.distribute.values import is_distributed, regroup
from penstock.ir.defaults import get_default_graph
from penstock.ops.control import colocate_with as colocated
from penstock.ops.control import group as grouped
from penstock.ops.identity import identity
from penstock.ops.loops import while_loop
from penstock.ops.variable_creation import variable_creator_scope
from penstock.ops.variables import Variable, VariableAggregation, VariableSynchronization

_AUTO = VariableSynchronization.AUTO


class StrategyExtended:
    """What a strategy does, for libraries; `device` is None in the default strategy."""

    _given_default_device: str | None = None
    #: Whether replicas that get no element in the last step take part in it, without rows.
    experimental_enable_get_next_as_optional = False
    #: Whether batches of `make_dataset_iterator` are those of all replicas together.
    _global_batch_size = True

    def __init__(self, container_strategy: Any, device: str | None = None):
        self._container = container_strategy
        self._device = device

    def _container_strategy(self) -> Any:
        """The strategy whose methods these are."""
        return self._container

    # Where --------------------------------------------------------------------------------------

    @property
    def _num_replicas_in_sync(self) -> int:
        return 1

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices that replicas run on."""
        return (self._known_device("worker_devices"),)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that variables are on."""
        return (self._known_device("parameter_devices"),)

    def _known_device(self, method: str) -> str:
        if self._device is None:
            raise RuntimeError(f"{method}() method unsupported by default tf.distribute.Strategy.")
        return self._device

    def non_slot_devices(self, var_list: Any) -> Any:
        """Where variables go that belong to no single one."""
        if self._device is None:
            return min(var_list, key=lambda variable: variable.name)
        return self.worker_devices

    @property
    def experimental_require_static_shapes(self) -> bool:
        return False

    @property
    def experimental_between_graph(self) -> bool:
        return False

    @property
    def experimental_should_init(self) -> bool:
        return True

    @property
    def should_checkpoint(self) -> bool:
        return True

    @property
    def should_save_summary(self) -> bool:
        return True

    # The scope ----------------------------------------------------------------------------------

    def _scope(self, strategy: Any) -> StrategyScope:
        def created(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            require_strategy(strategy)
            kwargs["use_resource"] = True
            kwargs["synchronization"] = kwargs.get("synchronization") or _AUTO
            kwargs["aggregation"] = kwargs.get("aggregation") or VariableAggregation.NONE
            made = self._create_variable(next_creator, **kwargs)
            if isinstance(made, Variable):
                made._distribute_strategy = strategy  # type: ignore[attr-defined]
            return made

        return StrategyScope(
            strategy, created, self._default_device, partitioned=self._allow_variable_partition()
        )

    def _allow_variable_partition(self) -> bool:
        """Whether variables may be made of parts."""
        return False

    @property
    def _default_device(self) -> str | None:
        """Where nodes go that are made between replicas, unless they say otherwise."""
        return (
            self._own_default_device
            if self._given_default_device is None
            else (self._given_default_device)
        )

    @_default_device.setter
    def _default_device(self, device: str | None) -> None:
        self._given_default_device = device

    @property
    def _own_default_device(self) -> str | None:
        return self._device

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        kwargs.pop("colocate_with", None)
        with get_default_graph().device(self._device):
            return next_creator(**kwargs)

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether a variable was made in this strategy's scope."""
        return getattr(v, "_distribute_strategy", None) is self._made_in

    @property
    def _made_in(self) -> Any:
        return None if self._device is None else self._container_strategy()

    @contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Iterator[None]:
        """Variables that are made here are placed with another one."""
        self._validate_colocation(colocate_with_variable)

        def created(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            return self._create_colocated(next_creator, colocate_with_variable, **kwargs)

        with variable_creator_scope(created):
            yield

    def _create_colocated(
        self, next_creator: Callable[..., Any], colocate_with: Any, **kwargs: Any
    ) -> Any:
        with colocated(colocate_with):
            return next_creator(**kwargs)

    def _validate_colocation(self, variable: Any) -> None:
        """ValueError for a variable of another strategy."""

    # What libraries call ------------------------------------------------------------------------
    #
    # A strategy overrides the methods of the same names with an underscore.

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """Calls a function in each replica."""
        self._require_cross_replica()
        with self._container_strategy().scope():
            return self._call_for_each_replica(fn, args, kwargs or {})

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """The sum or mean of the replicas' values, on devices or where a variable is."""
        self._require_cross_replica()
        return self._reduce_to(as_reduce_op(reduce_op), value, destinations)

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """`reduce_to` of several values."""
        self._require_cross_replica()
        return self._batch_reduce_to(as_reduce_op(reduce_op), value_destination_pairs)

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """The value on each of the devices."""
        self._require_cross_replica()
        return self._broadcast_to(tensor, destinations)

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """Calls `fn(var, ...)` where the variable is; its operations are grouped if asked."""
        self._require_cross_replica()
        with self._container_strategy().scope():
            return self._update(var, fn, args, kwargs or {}, group)

    def update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """Calls `fn(...)` where something is."""
        self._require_cross_replica()
        with self._container_strategy().scope():
            return self._update_non_slot(colocate_with, fn, args, kwargs or {}, group)

    def experimental_run_steps_on_iterator(
        self,
        fn: Callable[..., Any],
        iterator: Any,
        iterations: Any = 1,
        initial_loop_values: Any = None,
    ) -> Any:
        """Builds `fn(context, element)`; run in a session, it takes so many steps."""
        self._require_cross_replica()
        with self._container_strategy().scope():
            return self._experimental_run_steps_on_iterator(
                fn, iterator, iterations, initial_loop_values or {}
            )

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of the rows of arrays."""
        self._require_cross_replica()
        return self._experimental_make_numpy_dataset(numpy_input, session=session)

    def _require_cross_replica(self) -> None:
        """RuntimeError inside of a replica, or in the scope of another strategy."""
        mode = context.current_mode()
        if mode.is_default or (mode.strategy.extended is self and mode.replica_context is None):
            return
        strategy = self._container_strategy()
        require_strategy(strategy)
        raise RuntimeError(
            "Method requires being in cross-replica context, use get_replica_context().merge_call()"
        )

    # Replicas -----------------------------------------------------------------------------------

    def _call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        strategy = self._container_strategy()
        with get_default_graph().device(self._device), ReplicaContext(strategy, 0):
            return fn(*args, **(kwargs or {}))

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        """The value of each replica."""
        return tuple(value.values) if is_distributed(value) else (value,)

    def _reduce(self, reduce_op: Any, value: Any) -> Any:
        """The sum or mean over the replicas, on the first device."""
        return nest.map_structure(identity, value)

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        return value

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """`reduce_to` of several values."""
        return [self.reduce_to(reduce_op, value, where) for value, where in value_destination_pairs]

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        return tensor

    def _update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """Calls `fn(var, ...)` where the variable is; its operations are grouped if asked."""
        return self._update_non_slot(var, fn, (var, *args), kwargs, group)

    def _update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """Calls `fn(...)` where something is."""
        is_variable = hasattr(colocate_with, "op")
        on_device = get_default_graph().device(self._device)
        with colocated(colocate_with) if is_variable else on_device:
            made = fn(*args, **(kwargs or {}))
        return made if group else nest.map_structure(lambda each: (each,), made)

    def value_container(self, value: Any) -> Any:
        """What a replica's value is a part of: itself."""
        return value

    def read_var(self, v: Any) -> Any:
        """The value of a variable."""
        return identity(v)

    # Inputs -------------------------------------------------------------------------------------

    def _experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of the rows of arrays."""
        from penstock.data import Dataset

        return Dataset.from_tensor_slices(numpy_input)

    def _experimental_run_steps_on_iterator(
        self,
        fn: Callable[..., Any],
        iterator: Any,
        iterations: Any = 1,
        initial_loop_values: Any = None,
    ) -> Any:
        """Builds `fn(context, element)`; run in a session, it takes so many steps."""
        outputs = MultiStepContext()
        initial = nest.flatten(initial_loop_values or {})

        def step(index: Any, *_: Any) -> Any:
            result = fn(outputs, iterator.get_next())
            parts = {key: self._local_results(v) for key, v in outputs.last_step_outputs.items()}
            with get_default_graph().control_dependencies(self._operations_of(result)):
                return [index + 1, *nest.flatten(parts)]

        loop = while_loop(
            lambda index, *_: index < iterations,
            step,
            [0, *initial],
            parallel_iterations=1,
            back_prop=False,
            name="",  # what a step makes is named as if it were outside
            return_same_structure=True,
        )
        outputs.run_op = grouped(*loop)
        self._hand_out(outputs, loop[1:])
        return outputs

    def _operations_of(self, result: Any) -> list[Any]:
        flat = [part for each in nest.flatten(result) for part in self._local_results(each)]
        return [each for each in flat if each is not None]

    def _hand_out(self, outputs: MultiStepContext, values: Sequence[Any]) -> None:
        """Puts the values of the last iteration in the place of those inside of the loop."""
        left = list(values)
        for name in sorted(outputs.last_step_outputs):  # as `nest.flatten` has laid them out
            count = len(self._local_results(outputs.last_step_outputs[name]))
            own, left = left[:count], left[count:]
            several = count > 1
            outputs.last_step_outputs[name] = (
                regroup(self.worker_devices, own) if several else own[0]
            )

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return DistributedIterator(dataset, self._places)

    def _make_input_fn_iterator(
        self, input_fn: Callable[..., Any], replication_mode: Any = InputReplicationMode.PER_WORKER
    ) -> Any:
        return DistributedIterator(self._made_on_host(input_fn), self._places)

    def _made_on_host(self, input_fn: Callable[..., Any]) -> Any:
        """What an input function makes, on the CPU of the task whose device it is for."""
        with get_default_graph().device(host_of(self._device) if self._device else None):
            return input_fn(self._input_context())

    @property
    def _places(self) -> tuple[str, ...]:
        """Where inputs go; the default strategy leaves it open."""
        return () if self._device is None else (self._device,)

    def _input_context(self) -> InputContext:
        return InputContext(num_replicas_in_sync=self._num_replicas_in_sync)

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        """The dataset on the replica's device; the default strategy's is the dataset as it is."""
        return dataset if self._device is None else DistributedDataset(dataset, self._places)

    def _experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[..., Any]
    ) -> Any:
        return self._experimental_distribute_dataset(self._made_on_host(dataset_fn))

    # Sessions -----------------------------------------------------------------------------------

    def _update_config_proto(self, config_proto: Any) -> Any:
        return copy.deepcopy(config_proto)

    def _configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: Any = None,
        task_id: Any = None,
    ) -> None:
        """Nothing to change for one device."""
