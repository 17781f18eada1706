"""`tf.distribute.MirroredStrategy`: a replica on each device, each with copies of all variables."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from penstock import nest
from penstock.devices import DeviceSpec
from penstock.distribute import context
from penstock.distribute.cross_device_ops import (
    CrossDeviceOps,
    MultiWorkerAllReduce,
    NcclAllReduce,
    broadcast_by_copies,
    choose_the_best,
    devices_of,
    validate_destinations,
)
from penstock.distribute.device_maps import ReplicaDeviceMap
from penstock.distribute.device_names import is_local, resolve
from penstock.distribute.extended import StrategyExtended
from penstock.distribute.input_pipelines import (
    DistributedDataset,
    DistributedIterator,
    InputContext,
    InputReplicationMode,
    split_batches,
)
from penstock.distribute.padded_inputs import padded
from penstock.distribute.reduce_op import ReduceOp, as_reduce_op
from penstock.distribute.replica_threads import call_in_each
from penstock.distribute.strategy import Strategy
from penstock.distribute.values import (
    Mirrored,
    container_of,
    is_distributed,
    regroup_updates,
    select_device,
)
from penstock.distribute.variables import (
    DistributedVariable,
    MirroredVariable,
    SyncOnReadVariable,
)
from penstock.distribute.worker_devices import (
    all_devices,
    by_worker,
    devices_of_cluster,
    gpus_per_worker,
)
from penstock.distribute.worker_inputs import (
    DatasetIterator,
    InputFunctionIterator,
    InputWorkers,
    get_distributed_dataset,
    get_distributed_datasets_from_function,
)
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.identity import identity
from penstock.ops.variables import VariableSynchronization, is_trainable, replica_settings


class MirroredStrategy(Strategy):
    """One replica on each device of a machine, all of which take each step together.

    Inside of `experimental_run_v2(fn)` the function is called once for each replica; the optimizers
    of `tf.train` add the replicas' gradients and update all copies of a variable alike.

    Args:
      devices: names of devices; all GPUs, or else the CPU, if None.
      cross_device_ops: how the replicas' values become one, a `tf.distribute.CrossDeviceOps`.
    """

    def __init__(self, devices: Any = None, cross_device_ops: Any = None):
        super().__init__(MirroredExtended(self, devices, cross_device_ops))


def _checked_devices(devices: Any) -> tuple[str, ...]:
    names = [resolve(each) for each in (all_devices() if devices is None else devices)]
    if not names:
        raise ValueError("Must specify at least one device for MirroredStrategy.")
    if len(names) != len(set(names)):
        raise AssertionError(f"No duplicates allowed in `devices` argument: {names}")
    local = {is_local(name) for name in names}
    if len(local) > 1:
        raise ValueError(
            f"Local device string cannot have job specified other than 'localhost': {names}"
        )
    return tuple(names)


class MirroredExtended(StrategyExtended):
    """The methods of `MirroredStrategy` for libraries."""

    experimental_enable_get_next_as_optional = True

    def __init__(self, container_strategy: Any, devices: Any, cross_device_ops: Any = None):
        self._given_ops = cross_device_ops
        self._use_devices(devices)
        super().__init__(container_strategy, self._devices[0])

    def _use_devices(self, devices: Any) -> None:
        """Replicas go on these devices, which are this machine's or those of workers."""
        self._devices = _checked_devices(devices)
        self._device = self._devices[0]
        self._workers = [] if is_local(self._device) else by_worker(self._devices)
        if len(self._workers) > 1 and not isinstance(self._given_ops, MultiWorkerAllReduce):
            raise ValueError(
                "In-graph multi-worker training with `MirroredStrategy` is not supported. "
                "(tf.distribute.experimental.MultiWorkerMirroredStrategy is for programs that run "
                "on each worker, cross_device_ops=MultiWorkerAllReduce(...) for one on its own.)"
            )

    @property
    def _cross_device_ops(self) -> CrossDeviceOps:
        chosen: CrossDeviceOps | None = self._given_ops
        if chosen is None:
            chosen = NcclAllReduce() if self._workers else choose_the_best(self._devices)
        return chosen

    @property
    def _inferred_cross_device_ops(self) -> CrossDeviceOps:
        return self._cross_device_ops

    # Where ----------------------------------------------------------------------------------------

    @property
    def _num_replicas_in_sync(self) -> int:
        return len(self._devices)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        return self._devices

    @property
    def worker_devices_by_replica(self) -> list[list[str]]:
        return [[device] for device in self._devices]

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self._devices

    def non_slot_devices(self, var_list: Any) -> Any:
        return self._devices

    @property
    def _own_default_device(self) -> str | None:
        """That of the first worker, where devices are another task's."""
        if is_local(self._devices[0]):
            return None
        spec = DeviceSpec.from_string(self._devices[0])
        return f"/job:{spec.job}/task:{spec.task}"

    # Variables ------------------------------------------------------------------------------------

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        near = kwargs.pop("colocate_with", None)
        devices = devices_of(near) if is_distributed(near) else self._devices
        joined = kwargs.pop("collections", None)
        joined = [GraphKeys.GLOBAL_VARIABLES] if joined is None else list(joined)
        kwargs["collections"] = []
        kwargs.pop("caching_device", None)  # each replica has a copy on its own device
        kind = _kind_of(kwargs)
        aggregation = kwargs.pop("aggregation")
        trainable = is_trainable(kwargs.get("trainable"), kwargs.get("synchronization"))
        copies = self._make_copies(next_creator, devices, kwargs)
        made = kind(self._container_strategy(), devices, copies, aggregation)
        graph = get_default_graph()
        if trainable:
            # The copies have joined the collection; the variable of all of them takes their place.
            joined.append(GraphKeys.TRAINABLE_VARIABLES)
            listed = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
            listed[:] = [each for each in listed if not any(each is c for c in copies)]
        graph.add_to_collections(joined, made)
        return made

    def _make_copies(
        self, next_creator: Callable[..., Any], devices: Sequence[str], kwargs: dict[str, Any]
    ) -> list[Any]:
        copies: list[Any] = []
        for number, device in enumerate(devices):
            with get_default_graph().device(device):
                settings = dict(kwargs)
                settings["initial_value"] = self._initial_value(number, device, copies, kwargs)
                if number:
                    name = copies[0].name.partition(":")[0]
                    # The slash at the end keeps name scopes out.
                    settings["name"] = f"{name}/replica_{number}/"
                copies.append(next_creator(**settings))
        return copies

    def _initial_value(
        self, number: int, device: str, copies: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """The first copy's own, of which the others take a copy."""
        if number == 0:
            return kwargs["initial_value"]

        def of_the_first() -> Any:
            with get_default_graph().device(device):
                first = copies[0]
                return identity(first.value() if first._is_eager else first.initial_value)

        return of_the_first

    def _create_colocated(
        self, next_creator: Callable[..., Any], colocate_with: Any, **kwargs: Any
    ) -> Any:
        return next_creator(colocate_with=colocate_with, **kwargs)

    def _validate_colocation(self, variable: Any) -> None:
        if not isinstance(variable, DistributedVariable):
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this "
                f"tf.distribute.Strategy.scope(), not: {variable!r}"
            )
        if variable.distribute_strategy.extended is not self:
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this "
                f"tf.distribute.Strategy.scope(), not {variable} created in scope: "
                f"{variable.distribute_strategy}"
            )

    # Replicas -------------------------------------------------------------------------------------

    def _call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        with self._container_strategy().scope():
            return call_in_each(self._container_strategy(), self._devices, fn, args, kwargs or {})

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        chosen = as_reduce_op(reduce_op)
        if isinstance(value, (Mirrored, MirroredVariable)) and chosen is ReduceOp.MEAN:
            return value
        if isinstance(value, Mirrored):
            raise ValueError(f"A mirrored value is not summed: {value}")
        if not is_distributed(value):
            return self._reduce_single(chosen, value, destinations)
        return self._cross_device_ops.reduce(chosen, value, destinations)

    def _reduce_single(self, reduce_op: ReduceOp, value: Any, destinations: Any) -> Any:
        """Reduces a value that is the same in all replicas."""
        if not isinstance(value, Tensor) and value == 0:
            return 0
        if reduce_op is ReduceOp.MEAN:
            return value
        validate_destinations(destinations)
        if self._num_replicas_in_sync != 1:
            raise ValueError(
                f"A non-DistributedValues value {value} cannot be reduced with the given reduce op "
                f"{reduce_op}."
            )
        return broadcast_by_copies(value, destinations)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        return self._cross_device_ops.batch_reduce(reduce_op, value_destination_pairs)

    def _reduce(self, reduce_op: Any, value: Any) -> Any:
        def reduced(each: Any) -> Any:
            whole = self.reduce_to(reduce_op, each, self._devices[0])
            return self._local_results(whole)[0]

        with self._container_strategy().scope():
            return nest.map_structure(reduced, value)

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        if isinstance(tensor, (float, int)):
            return tensor  # its type is known when it is used
        return self._cross_device_ops.broadcast(tensor, destinations or self._devices)

    def _update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        variable = container_of(var)
        copies = dict(zip(variable.devices, variable.values, strict=True))
        return self._on_devices(variable.devices, fn, args, kwargs, group, copies)

    def _update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        return self._on_devices(tuple(colocate_with), fn, args, kwargs, group, None)

    def _on_devices(
        self,
        devices: Sequence[str],
        fn: Callable[..., Any],
        args: Any,
        kwargs: Any,
        group: bool,
        first: dict[str, Any] | None,
    ) -> Any:
        """Calls a function for each device, with the device's own of `first` before its args."""
        made = []
        for number, device in enumerate(devices):
            with (
                get_default_graph().device(device),
                context.updating(device),
                name_scope(f"update_{number}"),
            ):
                own = () if first is None else (first[device],)
                given = select_device(device, tuple(args))
                options = select_device(device, kwargs or {})
                made.append(fn(*own, *given, **options))
        return regroup_updates(devices, made, self._local_results, group)

    def value_container(self, value: Any) -> Any:
        return container_of(value)

    def read_var(self, v: Any) -> Any:
        if isinstance(v, SyncOnReadVariable):
            with self._container_strategy().scope():
                return v._get_cross_replica()
        return identity(v.get() if is_distributed(v) else v)

    # Inputs ---------------------------------------------------------------------------------------

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        if len(self._workers) > 1:
            count = len(self._devices)
            strategy = self._container_strategy()
            return DatasetIterator(dataset, self._input_workers, strategy, split_batch_by=count)
        return DistributedIterator(split_batches(dataset, len(self._devices)), self._devices)

    def _make_input_fn_iterator(
        self, input_fn: Callable[..., Any], replication_mode: Any = InputReplicationMode.PER_WORKER
    ) -> Any:
        if len(self._workers) > 1:
            told, strategy = self._input_contexts(), self._container_strategy()
            return InputFunctionIterator(input_fn, self._input_workers, told, strategy)
        return DistributedIterator(self._completed(self._made_on_host(input_fn)), self._devices)

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        if len(self._workers) > 1:
            count = len(self._devices)
            strategy = self._container_strategy()
            return get_distributed_dataset(dataset, self._input_workers, strategy, count)
        return DistributedDataset(split_batches(dataset, len(self._devices)), self._devices)

    def _experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[..., Any]
    ) -> Any:
        if len(self._workers) > 1:
            where = (self._input_workers, self._input_contexts(), self._container_strategy())
            return get_distributed_datasets_from_function(dataset_fn, *where)
        return DistributedDataset(self._completed(self._made_on_host(dataset_fn)), self._devices)

    def _completed(self, elements: Any) -> Any:
        """Elements for replicas; where the last step lacks some, they are without rows."""
        if callable(elements) or not self.experimental_enable_get_next_as_optional:
            return elements
        return padded(elements, len(self._devices))

    @property
    def _input_workers(self) -> InputWorkers:
        return InputWorkers(ReplicaDeviceMap(self._devices), self._workers or None)

    def _input_contexts(self) -> list[InputContext]:
        """What an input function is told for each worker."""
        count, replicas = len(self._workers), self._num_replicas_in_sync
        return [InputContext(count, number, replicas) for number in range(count)]

    # Sessions -------------------------------------------------------------------------------------

    def _configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: Any = None,
        task_id: Any = None,
    ) -> None:
        if cluster_spec:
            gpus = gpus_per_worker(self._devices)
            self._use_devices(devices_of_cluster(cluster_spec, gpus))
        if session_config is not None:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _update_config_proto(self, config_proto: Any) -> Any:
        changed = copy.deepcopy(config_proto)
        changed.isolate_session_state = True
        return changed


def _kind_of(kwargs: dict[str, Any]) -> type[DistributedVariable]:
    """What kind of variable is asked for; the settings that say so are checked and settled."""
    name = kwargs.get("name")
    settled = replica_settings(kwargs.get("synchronization"), kwargs.get("aggregation"), name)
    mode, kwargs["aggregation"] = settled
    if mode is VariableSynchronization.NONE:
        raise ValueError(
            "`NONE` variable synchronization mode is not supported with `Mirrored` distribution "
            f"strategy. Please change the `synchronization` for variable: {name}"
        )
    return SyncOnReadVariable if mode is VariableSynchronization.ON_READ else MirroredVariable
