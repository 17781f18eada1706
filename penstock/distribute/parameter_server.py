"""Strategies that keep each variable in one place: on parameter servers, or on one device.

The replicas of a worker take steps together; workers don't wait for each other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from penstock import nest
from penstock.devices import DeviceSpec
from penstock.distribute import clusters, context
from penstock.distribute.cross_device_ops import ReductionToOneDevice, devices_of
from penstock.distribute.device_names import local_devices, resolve
from penstock.distribute.input_pipelines import InputContext
from penstock.distribute.mirrored import MirroredExtended
from penstock.distribute.strategy import Strategy
from penstock.distribute.values import Mirrored, PerReplica
from penstock.distribute.variables import AggregatingVariable
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ops.control import colocate_with as colocated
from penstock.ops.identity import identity
from penstock.ops.variables import Variable, VariableAggregation, is_trainable
from penstock.train.cluster_resolver import SimpleClusterResolver, TFConfigClusterResolver
from penstock.train.device_setter import replica_device_setter


class ParameterServerStrategy(Strategy):
    """Variables on the tasks of the job `ps`, taking turns; replicas on the devices of a worker.

    Args:
      cluster_resolver: knows the cluster and this task; TF_CONFIG does if None.
    """

    def __init__(self, cluster_resolver: Any = None):
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        super().__init__(ParameterServerExtended(self, resolver))


class CentralStorageStrategy(Strategy):
    """Variables on one device of a machine, replicas on several.

    Args:
      compute_devices: those of the replicas; all GPUs, or else the CPU, if None.
      parameter_device: that of the variables; the CPU if there are several replicas.
    """

    def __init__(self, compute_devices: Any = None, parameter_device: str | None = None):
        extended = ParameterServerExtended(
            self, compute_devices=compute_devices, parameter_device=parameter_device
        )
        super().__init__(extended)

    @classmethod
    def _from_num_gpus(cls, num_gpus: int) -> CentralStorageStrategy:
        return cls(local_devices(num_gpus))


# Their names inside TensorFlow.
ParameterServerStrategyV1 = ParameterServerStrategy
CentralStorageStrategyV1 = CentralStorageStrategy


class ParameterServerExtended(MirroredExtended):
    """The methods of both strategies for libraries."""

    def __init__(
        self,
        container_strategy: Any,
        cluster_resolver: Any = None,
        compute_devices: Any = None,
        parameter_device: str | None = None,
        num_gpus: int | None = None,
    ):
        self._num_gpus = num_gpus
        self._cluster_spec: Any = None
        self._is_chief = True
        devices = local_devices(num_gpus) if compute_devices is None else compute_devices
        one_device = ReductionToOneDevice(reduce_to_device=resolve("/device:CPU:0"))
        super().__init__(container_strategy, devices, one_device)
        alone = self._devices[0] if len(self._devices) == 1 else resolve("/device:CPU:0")
        self._variable_device: Any = parameter_device or alone
        self._parameter_devices: tuple[str, ...] = (self._variable_device,)
        if cluster_resolver is not None and cluster_resolver.cluster_spec():
            self._join_cluster(cluster_resolver)

    def _join_cluster(self, resolver: Any) -> None:
        task_type, task_id = resolver.task_type, resolver.task_id
        if not task_type or task_id is None:
            raise ValueError(
                "When `cluster_spec` is given, you must also specify `task_type` and `task_id`"
            )
        spec = self._cluster_spec = clusters.normalized(resolver.cluster_spec())
        self._task_type, self._task_id = task_type, task_id
        servers = spec.num_tasks("ps") if "ps" in spec.jobs else 0
        if not servers:
            raise ValueError("The cluster spec needs to have `ps` jobs.")
        worker = f"/job:{task_type}/task:{task_id}"
        gpus = clusters.told_gpus(resolver) if self._num_gpus is None else self._num_gpus
        own = [device.partition("/device")[2] for device in local_devices(gpus)]
        self._devices = tuple(resolve(f"{worker}/device{name}") for name in own)
        self._device = self._devices[0]
        self._given_ops = ReductionToOneDevice(resolve(f"{worker}/device:CPU:0"))
        self._variable_device = replica_device_setter(
            ps_tasks=servers, worker_device=worker, merge_devices=True, cluster=spec
        )
        self._parameter_devices = tuple(f"/job:ps/task:{i}" for i in range(servers))
        self._is_chief = clusters.is_chief(spec, task_type, task_id)

    # Where ----------------------------------------------------------------------------------------

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        return self._parameter_devices

    def non_slot_devices(self, var_list: Any) -> Any:
        return min(var_list, key=lambda variable: variable.name)

    @property
    def experimental_between_graph(self) -> bool:
        return True

    @property
    def experimental_should_init(self) -> bool:
        return self._is_chief

    @property
    def should_checkpoint(self) -> bool:
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        return self._is_chief

    # Variables ------------------------------------------------------------------------------------

    def _allow_variable_partition(self) -> bool:
        return not executing_eagerly()

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        near = kwargs.pop("colocate_with", None)
        graph = get_default_graph()
        if near is not None:
            inner = near.get() if isinstance(near, AggregatingVariable) else near
            with graph.device(None), colocated(inner):
                return self._made(next_creator, kwargs)
        with graph.colocate_with(None, ignore_existing=True), graph.device(self._variable_device):
            return self._made(next_creator, kwargs)

    def _made(self, next_creator: Callable[..., Any], kwargs: dict[str, Any]) -> Any:
        """A variable; where several replicas update it, one that aggregates their values."""
        if len(self._devices) == 1:
            return next_creator(**kwargs)
        aggregation = kwargs.pop("aggregation", None) or VariableAggregation.NONE
        joined = kwargs.pop("collections", None)
        joined = [GraphKeys.GLOBAL_VARIABLES] if joined is None else list(joined)
        inner = next_creator(collections=[], **kwargs)
        made = AggregatingVariable(self._container_strategy(), inner, aggregation)
        graph = get_default_graph()
        if is_trainable(kwargs.get("trainable"), kwargs.get("synchronization")):
            joined.append(GraphKeys.TRAINABLE_VARIABLES)
            listed = graph.get_collection_ref(GraphKeys.TRAINABLE_VARIABLES)
            listed[:] = [each for each in listed if each is not inner]
        graph.add_to_collections(joined, made)
        return made

    def _validate_colocation(self, variable: Any) -> None:
        strategy = getattr(variable, "_distribute_strategy", None)
        if strategy is None or strategy.extended is not self:
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this "
                f"tf.distribute.Strategy.scope(), not: {variable!r}"
            )

    # Replicas -------------------------------------------------------------------------------------

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        self._check_worker(destinations)
        return super()._reduce_to(reduce_op, value, destinations)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        pairs = list(value_destination_pairs)
        for _, destinations in pairs:
            self._check_worker(destinations)
        return super()._batch_reduce_to(reduce_op, pairs)

    def _check_worker(self, destinations: Any) -> None:
        for device in devices_of(destinations) if self._cluster_spec is not None else ():
            spec = DeviceSpec.from_string(device)
            if spec.job == self._task_type and spec.task != self._task_id:
                raise ValueError(
                    f"Cannot reduce to another worker: {device!r}, current worker is "
                    f"{self._devices[0]!r}"
                )

    def _update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        inner = var.get() if isinstance(var, AggregatingVariable) else var
        if not isinstance(inner, Variable):
            raise ValueError(f"You can not update `var` {var!r}. It must be a Variable.")
        with colocated(inner), context.updating(inner.device):
            given = nest.map_structure(_single, tuple(args))
            options = nest.map_structure(_single, kwargs or {})
            made = fn(inner, *given, **options)
        return made if group else nest.map_structure(self._local_results, made)

    def _update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        device = colocate_with.device
        with get_default_graph().device(device), context.updating(device):
            made = fn(*args, **(kwargs or {}))
        return made if group else nest.map_structure(self._local_results, made)

    def value_container(self, value: Any) -> Any:
        reference = getattr(value, "_aggregating_container", None)
        container = None if reference is None else reference()
        return value if container is None else container

    def read_var(self, v: Any) -> Any:
        return identity(v)

    # Inputs and sessions --------------------------------------------------------------------------

    def _input_context(self) -> InputContext:
        if self._cluster_spec is None:
            return super()._input_context()
        where = (self._cluster_spec, self._task_type)
        number = clusters.id_in_cluster(*where, self._task_id)
        return InputContext(clusters.worker_count(*where), number, self._num_replicas_in_sync)

    def _configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: Any = None,
        task_id: Any = None,
    ) -> None:
        if cluster_spec:
            spec = clusters.normalized(cluster_spec)
            self._join_cluster(SimpleClusterResolver(spec, task_type=task_type, task_id=task_id))
        if session_config:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _update_config_proto(self, config_proto: Any) -> Any:
        changed = copy.deepcopy(config_proto)
        changed.isolate_session_state = self._cluster_spec is None
        if self._cluster_spec is None:
            return changed
        del changed.device_filters[:]
        changed.device_filters.append(f"/job:{self._task_type}/task:{self._task_id}")
        if self._task_type in ("chief", "worker"):
            changed.device_filters.append("/job:ps")
        return changed


def _single(value: Any) -> Any:
    """The only value that a variable in one place can be updated with."""
    if isinstance(value, Mirrored) and len(value.values) == 1:
        return value.primary
    if isinstance(value, (Mirrored, PerReplica)):
        raise ValueError(
            f"You cannot update variable with a {type(value).__name__} object {value!r} of several "
            "values when using ParameterServerStrategy. You must specify a single value or a "
            "Mirrored with a single value."
        )
    return value
