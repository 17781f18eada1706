"""`tf.contrib.distribute`: `tf.distribute` under its older names."""

from __future__ import annotations

from typing import Any

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
from penstock.distribute import NcclAllReduce as AllReduceCrossDeviceOps
from penstock.distribute import ReductionToOneDevice as ReductionToOneDeviceCrossDeviceOps
from penstock.distribute import Strategy as DistributionStrategy

DistributionStrategyExtended = StrategyExtended
get_distribution_strategy = get_strategy
has_distribution_strategy = has_strategy


class MirroredStrategy(distribute.MirroredStrategy):
    """`tf.distribute.MirroredStrategy` that can be given a number of GPUs.

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
            devices = [f"/device:GPU:{index}" for index in range(count)] or ["/device:CPU:0"]
        super().__init__(devices, cross_device_ops or cross_tower_ops)


__all__ = [
    "AllReduceCrossDeviceOps",
    "CrossDeviceOps",
    "DistributionStrategy",
    "DistributionStrategyExtended",
    "InputContext",
    "InputReplicationMode",
    "MirroredStrategy",
    "OneDeviceStrategy",
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
