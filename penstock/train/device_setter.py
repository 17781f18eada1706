"""`tf.train.replica_device_setter`: variables to parameter servers, all else to the worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.devices import DeviceSpec
from penstock.distributed.cluster_spec import ClusterSpec
from penstock.platform import logging

__all__ = ["replica_device_setter"]

#: The types of the operations that hold state, which live on parameter servers.
STANDARD_PS_OPS = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
)


class _RoundRobinStrategy:
    """Gives operations to tasks in turn."""

    def __init__(self, num_tasks: int):
        self._num_tasks = num_tasks
        self._next_task = 0

    def __call__(self, unused_op: Any) -> int:
        task = self._next_task
        self._next_task = (task + 1) % self._num_tasks
        return task


class _ReplicaDeviceChooser:
    """Chooses a device for every operation of a replica."""

    def __init__(
        self,
        ps_tasks: int,
        ps_device: str | None,
        worker_device: str | None,
        merge_devices: bool,
        ps_ops: Sequence[str],
        ps_strategy: Callable[[Any], int],
    ):
        self._ps_tasks = ps_tasks
        self._ps_device = ps_device
        self._worker_device = worker_device
        self._merge_devices = merge_devices
        self._ps_ops = ps_ops
        self._ps_strategy = ps_strategy

    def device_function(self, op: Any) -> str:
        """The device of an operation: what its own device leaves open is filled in."""
        if not self._merge_devices and op.device:
            return str(op.device)
        asked = DeviceSpec.from_string(op.device or "")
        # An operation has its type in `type`, a NodeDef in `op`.
        kind = getattr(op, "type", None) or op.op
        if not (self._ps_tasks and self._ps_device and kind in self._ps_ops):
            worker = DeviceSpec.from_string(self._worker_device or "")
            return worker.make_merged_spec(asked).to_string()
        server = DeviceSpec.from_string(self._ps_device)
        if server.job and asked.job in (None, "", server.job):
            server = server.replace(task=self._ps_strategy(op))
        return server.make_merged_spec(asked).to_string()


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Any], int] | None = None,
) -> Callable[[Any], str] | None:
    """A function for `tf.device` that spreads variables over parameter servers.

    Args:
      ps_tasks: how many tasks the job of the servers has; or
      cluster: a `ClusterSpec`, or what one is made of, that says so.
      ps_device: the device of the servers.
      worker_device: the device of everything else.
      merge_devices: whether an operation's own device is completed, not kept as it is.
      ps_ops: the types of operations that go to servers.
      ps_strategy: gives the task for an operation; in turn if None.

    Returns:
      The function; None if there are no servers.
    """
    if cluster is not None:
        spec = cluster if isinstance(cluster, ClusterSpec) else ClusterSpec(cluster)
        jobs = spec.as_dict()
        job = DeviceSpec.from_string(ps_device).job
        if job is None or jobs.get(job) is None:
            return None
        ps_tasks = len(jobs[job])
    if ps_tasks == 0:
        return None
    if ps_ops is None:
        ps_ops = list(STANDARD_PS_OPS)
    if not merge_devices:
        logging.warning(
            "DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter"
        )
    if ps_strategy is None:
        ps_strategy = _RoundRobinStrategy(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    chooser = _ReplicaDeviceChooser(
        ps_tasks, ps_device, worker_device, merge_devices, ps_ops, ps_strategy
    )
    return chooser.device_function
