"""`tf.contrib.distribute`: `tf.distribute` under its older names."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock import distribute
from penstock.distribute import (
    CrossDeviceOps,
    InputContext,
    InputReplicationMode,
    OneDeviceStrategy,
    ReplicaContext,
    StrategyExtended,
    get_cross_replica_context,
    get_loss_reduction,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
    require_replica_context,
)
from penstock.distribute import ReductionToOneDevice as ReductionToOneDeviceCrossDeviceOps
from penstock.distribute import Strategy as DistributionStrategy
from penstock.distribute.collective_reduce import CollectiveCommunication
from penstock.distribute.coordinator import (
    run_standard_tensorflow_server as run_standard_tensorflow_server,
)
from penstock.distribute.cross_device_ops import AllReduceCrossDeviceOps
from penstock.distribute.device_names import local_devices
from penstock.distribute.input_pipelines import DistributedIterator
from penstock.distribute.multi_worker import CollectiveAllReduceExtended
from penstock.distribute.parameter_server import ParameterServerExtended
from penstock.train.cluster_resolver import TFConfigClusterResolver

DistributionStrategyExtended = StrategyExtended
get_distribution_strategy = get_strategy
has_distribution_strategy = has_strategy


class MirroredStrategy(distribute.MirroredStrategy):
    """`tf.distribute.MirroredStrategy` that can be given a number of GPUs.

    Batches of its `make_dataset_iterator` are for one replica each.

    Args:
      devices: names of devices.
      num_gpus, num_gpus_per_worker: the first so many GPUs, where there are no `devices`.
      cross_device_ops, cross_tower_ops: how values go from device to device.
      auto_shard_dataset: whether workers share a dataset; there is one.
    """

    def __init__(
        self,
        devices: Any = None,
        num_gpus: int | None = None,
        num_gpus_per_worker: int | None = None,
        cross_device_ops: Any = None,
        auto_shard_dataset: bool = False,
        cross_tower_ops: Any = None,
    ):
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        count = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is not None and count is not None:
            raise ValueError("Must only specify one of `devices` and `num_gpus`.")
        if count is not None:
            devices = local_devices(count)
        super().__init__(devices, cross_device_ops or cross_tower_ops)
        self.extended._global_batch_size = False

    def make_dataset_iterator(self, dataset: Any) -> Any:
        return DistributedIterator(dataset, self.extended.worker_devices)


class CollectiveAllReduceStrategy(distribute.experimental.MultiWorkerMirroredStrategy):
    """`tf.distribute.experimental.MultiWorkerMirroredStrategy` with a number of GPUs.

    Batches of its `make_dataset_iterator` are for one replica each.

    Args:
      num_gpus_per_worker: how many GPUs each worker uses; 0 for the CPU.
      communication: a `CollectiveCommunication`.
    """

    def __init__(
        self,
        num_gpus_per_worker: int = 0,
        communication: CollectiveCommunication = CollectiveCommunication.AUTO,
    ):
        extended = CollectiveAllReduceExtended(self, communication, num_gpus=num_gpus_per_worker)
        extended._global_batch_size = False
        distribute.Strategy.__init__(self, extended)

    def make_dataset_iterator(self, dataset: Any) -> Any:
        return DistributedIterator(dataset, self.extended.worker_devices)


class ParameterServerStrategy(distribute.Strategy):
    """Variables on the tasks of the job `ps` or, without a cluster, on one device.

    Args:
      num_gpus_per_worker: how many GPUs each worker uses; 0 for the CPU.
    """

    def __init__(self, num_gpus_per_worker: int = 0):
        resolver = TFConfigClusterResolver()
        super().__init__(ParameterServerExtended(self, resolver, num_gpus=num_gpus_per_worker))
        self.extended._global_batch_size = False

    def make_dataset_iterator(self, dataset: Any) -> Any:
        return DistributedIterator(dataset, self.extended.worker_devices)


class DistributeConfig(NamedTuple):
    """The strategies of an Estimator's `experimental_distribute`."""

    train_distribute: Any = None
    eval_distribute: Any = None
    remote_cluster: Any = None


__all__ = [
    "AllReduceCrossDeviceOps",
    "CollectiveAllReduceStrategy",
    "CrossDeviceOps",
    "DistributeConfig",
    "DistributionStrategy",
    "DistributionStrategyExtended",
    "InputContext",
    "InputReplicationMode",
    "MirroredStrategy",
    "OneDeviceStrategy",
    "ParameterServerStrategy",
    "ReductionToOneDeviceCrossDeviceOps",
    "ReplicaContext",
    "get_cross_replica_context",
    "get_distribution_strategy",
    "get_loss_reduction",
    "get_replica_context",
    "get_strategy",
    "has_distribution_strategy",
    "has_strategy",
    "in_cross_replica_context",
    "require_replica_context",
]
