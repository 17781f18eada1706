"""`tf.distribute.experimental.MultiWorkerMirroredStrategy`: replicas in all workers, in step.

Each worker runs the same program, with a session on its own server; the graphs meet in collective
ops. Without a cluster it is a `MirroredStrategy`.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from penstock import proto
from penstock.distribute import clusters
from penstock.distribute.collective_reduce import (
    CollectiveAllReduce,
    CollectiveCommunication,
    CollectiveKeys,
)
from penstock.distribute.cross_device_ops import CrossDeviceOps
from penstock.distribute.device_names import local_devices, resolve
from penstock.distribute.input_pipelines import (
    DistributedDataset,
    DistributedIterator,
    InputContext,
    split_batches,
)
from penstock.distribute.mirrored import MirroredExtended
from penstock.distribute.strategy import Strategy
from penstock.distribute.values import PerReplica, is_distributed
from penstock.distribute.worker_devices import gpus_per_worker
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ops.collectives import broadcast_recv, broadcast_send
from penstock.ops.control import control_dependencies
from penstock.ops.identity import identity
from penstock.train.cluster_resolver import SimpleClusterResolver, TFConfigClusterResolver


class MultiWorkerMirroredStrategy(Strategy):
    """One replica on each device of each worker, all of which take each step together.

    The cluster and this task's place in it are read from the environment variable TF_CONFIG. A
    session belongs on the worker's own `tf.train.Server`, with the configuration that
    `update_config_proto` gives; the first worker's initial values become those of all.

    Args:
      communication: a `CollectiveCommunication`.
    """

    def __init__(self, communication: CollectiveCommunication = CollectiveCommunication.AUTO):
        super().__init__(CollectiveAllReduceExtended(self, communication))

    @classmethod
    def _from_local_devices(cls, devices: Sequence[str]) -> Any:
        """The strategy without a cluster, on these devices of this machine."""
        made = cls()
        made.extended._use_devices(devices)  # type: ignore[attr-defined]
        return made


class CollectiveAllReduceExtended(MirroredExtended):
    """The methods of `MultiWorkerMirroredStrategy` for libraries.

    Args:
      cluster_resolver: knows the cluster; TF_CONFIG does if None.
      num_gpus: how many GPUs of this machine to use; all if None.
    """

    experimental_enable_get_next_as_optional = False  # workers don't know of each other's ends

    def __init__(
        self,
        container_strategy: Any,
        communication: CollectiveCommunication,
        cluster_resolver: Any = None,
        num_gpus: int | None = None,
    ):
        if not isinstance(communication, CollectiveCommunication):
            raise TypeError(f"communication is no CollectiveCommunication: {communication!r}")
        self._communication = communication
        self._num_gpus = num_gpus
        self._collective_keys = CollectiveKeys()
        self._cluster_spec: Any = None
        self._num_workers, self._is_chief = 1, True
        super().__init__(container_strategy, local_devices(num_gpus))
        resolver = TFConfigClusterResolver() if cluster_resolver is None else cluster_resolver
        if resolver.cluster_spec():
            self._join_cluster(resolver)

    def _join_cluster(self, resolver: Any) -> None:
        task_type, task_id = resolver.task_type, resolver.task_id
        if task_type is None or task_id is None:
            raise ValueError(
                "When `cluster_spec` is given, you must also specify `task_type` and `task_id`."
            )
        self._cluster_spec = clusters.normalized(resolver.cluster_spec())
        self._task_type, self._task_id = task_type, task_id
        self._num_workers = clusters.worker_count(self._cluster_spec, task_type)
        if not self._num_workers:
            raise ValueError(
                "No `worker`, `chief` or `evaluator` tasks can be found in `cluster_spec`."
            )
        self._is_chief = clusters.is_chief(self._cluster_spec, task_type, task_id)
        task = f"/job:{task_type}/task:{task_id}"
        gpus = clusters.told_gpus(resolver) if self._num_gpus is None else self._num_gpus
        own = [device.partition("/device")[2] for device in local_devices(gpus)]
        self._devices = tuple(resolve(f"{task}/device{name}") for name in own)
        self._device = self._devices[0]
        self._collective_keys = CollectiveKeys()

    @property
    def _num_gpus_per_worker(self) -> int:
        return gpus_per_worker(self._devices)

    @property
    def _cross_device_ops(self) -> CrossDeviceOps:
        return CollectiveAllReduce(
            self._num_workers, self._num_gpus_per_worker, self._collective_keys
        )

    @property
    def _num_replicas_in_sync(self) -> int:
        return self._num_workers * len(self._devices)

    # Reductions -----------------------------------------------------------------------------------

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        return super()._reduce_to(reduce_op, self._of_replicas(value), destinations)

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        pairs = [(self._of_replicas(value), where) for value, where in value_destination_pairs]
        return super()._batch_reduce_to(reduce_op, pairs)

    def _of_replicas(self, value: Any) -> Any:
        """The value of this worker's only replica as that of one among others."""
        if self._num_workers == 1 or is_distributed(value):
            return value
        if not isinstance(value, (Tensor, IndexedSlices)):
            return value
        return PerReplica(self._devices, [value] * len(self._devices))

    @property
    def experimental_between_graph(self) -> bool:
        return True

    @property
    def should_checkpoint(self) -> bool:
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        return self._is_chief

    # Variables ------------------------------------------------------------------------------------

    def _initial_value(
        self, number: int, device: str, copies: Sequence[Any], kwargs: dict[str, Any]
    ) -> Any:
        """The first worker's, for all."""
        if number > 0 or self._num_workers == 1:
            return super()._initial_value(number, device, copies, kwargs)

        def of_the_chief() -> Any:
            group = self._collective_keys.get_group_key([device])
            instance = self._collective_keys.get_variable_instance_key()
            with get_default_graph().device(device):
                given = kwargs["initial_value"]
                value = convert_to_tensor(
                    given() if callable(given) else given, dtype=kwargs.get("dtype")
                )
                where = (value.shape, value.dtype, self._num_workers, group, instance)
                if not self._is_chief:
                    return broadcast_recv(*where)
                with control_dependencies([broadcast_send(identity(value), *where)]):
                    return identity(value)

        return of_the_chief

    # Inputs ---------------------------------------------------------------------------------------

    def _input_context(self) -> InputContext:
        number = 0
        if self._cluster_spec is not None:
            number = clusters.id_in_cluster(self._cluster_spec, self._task_type, self._task_id)
        return InputContext(self._num_workers, number, self._num_replicas_in_sync)

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return DistributedIterator(self._own_part(dataset), self._devices)

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        return DistributedDataset(self._own_part(dataset), self._devices)

    def _own_part(self, dataset: Any) -> Any:
        """Batches for one replica each, of which this worker takes its own."""
        parts = split_batches(dataset, self._num_replicas_in_sync)
        if self._num_workers == 1:
            return parts
        count, total = len(self._devices), self._num_replicas_in_sync
        before = self._input_context().input_pipeline_id * count

        def own(*windows: Any) -> Any:
            return _elements(*windows).skip(before).take(count)

        # All workers end with the same step: one that goes on alone would wait for the others.
        return parts.window(total, shift=total, drop_remainder=True).flat_map(own)

    # Sessions -------------------------------------------------------------------------------------

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
        rewrites = changed.graph_options.rewrite_options
        rewrites.scoped_allocator_optimization = proto.RewriterConfig.ON
        del rewrites.scoped_allocator_opts.enable_op[:]
        rewrites.scoped_allocator_opts.enable_op.append("CollectiveReduce")
        if self._communication is CollectiveCommunication.NCCL:
            changed.experimental.collective_nccl = True
        if self._cluster_spec is None:
            return changed
        where = (self._cluster_spec, self._task_type, self._task_id)
        changed.experimental.collective_group_leader = clusters.collective_leader(*where)
        changed.isolate_session_state = False
        del changed.device_filters[:]
        changed.device_filters.append(f"/job:{self._task_type}/task:{self._task_id}")
        return changed


def _elements(*windows: Any) -> Any:
    from penstock.data import Dataset

    return windows[0] if len(windows) == 1 else Dataset.zip(windows)
