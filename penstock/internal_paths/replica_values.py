"""`tensorflow.python.distribute.values`: names of `penstock.distribute.values` and its kin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.distribute.device_maps import (
    DeviceMap,
    LogicalDeviceSpec,
    ReplicaDeviceMap,
    SingleDeviceMap,
    WorkerDeviceMap,
)
from penstock.distribute.values import PerReplica, regroup_updates
from penstock.distribute.values import container_of as value_container
from penstock.distribute.values import regroup as _regroup
from penstock.distribute.values import select_device as select_device_mirrored
from penstock.distribute.variables import MirroredVariable, SyncOnReadVariable

__all__ = [
    "DeviceMap",
    "LogicalDeviceSpec",
    "ReplicaDeviceMap",
    "SingleDeviceMap",
    "TPUMirroredVariable",
    "TPUSyncOnReadVariable",
    "WorkerDeviceMap",
    "regroup",
    "select_device_mirrored",
    "update_regroup",
    "validate_colocate",
    "validate_colocate_distributed_variable",
    "value_container",
]


class TPUMirroredVariable(MirroredVariable):
    """A mirrored variable on TPUs, of which there are none: no variable is of this class."""


class TPUSyncOnReadVariable(SyncOnReadVariable):
    """A variable of replicas on TPUs, of which there are none: no variable is of this class."""


def regroup(device_map: DeviceMap, values: Sequence[Any], wrap_class: Any = PerReplica) -> Any:
    """One structure of distributed values from a structure for each replica."""
    return _regroup(device_map, values, wrap_class)


def update_regroup(extended: Any, device_map: DeviceMap, updates: Any, group: bool) -> Any:
    """What an update gives for what it has given on each device."""
    return regroup_updates(device_map, updates, extended._local_results, group)


def validate_colocate(v: Any, extended: Any) -> None:
    """ValueError unless something is a variable of a strategy."""
    if not hasattr(v, "_distribute_strategy"):
        raise ValueError(
            f"`colocate_vars_with` must only be passed a variable created in this "
            f"tf.distribute.Strategy.scope(), not: {v!r}"
        )
    _validate_strategy(v, extended)


def validate_colocate_distributed_variable(v: Any, extended: Any) -> None:
    """ValueError unless something is a variable of which each replica of a strategy has one."""
    if not getattr(v, "_is_distributed", False):
        raise ValueError(
            f"`colocate_vars_with` must only be passed a variable created in this "
            f"tf.distribute.Strategy.scope(), not: {v!r}"
        )
    _validate_strategy(v, extended)


def _validate_strategy(v: Any, extended: Any) -> None:
    if v._distribute_strategy.extended is not extended:
        raise ValueError(
            f"`colocate_vars_with` must only be passed a variable created in this "
            f"tf.distribute.Strategy.scope(), not {v} created in scope: {v._distribute_strategy}"
        )
