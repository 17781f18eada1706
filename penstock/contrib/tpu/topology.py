"""Where the cores of TPUs lie: a description that programs make, write and read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock import proto


class Topology:
    """A mesh of cores, and which device of which task is at each of its points.

    Args:
      serialized: a `TopologyProto` as bytes, instead of the others.
      mesh_shape: the sizes of the mesh, three numbers.
      device_coordinates: the point of each device, `[tasks, devices of a task, 3]`.
    """

    def __init__(
        self,
        serialized: bytes | None = None,
        mesh_shape: Any = None,
        device_coordinates: Any = None,
    ):
        self._serialized = serialized
        if serialized:
            mesh_shape, device_coordinates = _parsed(serialized)
        self._mesh_shape = np.asarray(mesh_shape, np.int32)
        self._device_coordinates = np.asarray(device_coordinates, np.int32)
        if self._mesh_shape.shape != (3,) or np.any(self._mesh_shape < 1):
            raise ValueError(f"mesh_shape is three sizes of 1 or more, got {self._mesh_shape}")
        if self._device_coordinates.ndim != 3 or self._device_coordinates.shape[2] != 3:
            raise ValueError(
                "device_coordinates has the shape [tasks, devices of a task, 3], got "
                f"{self._device_coordinates.shape}"
            )
        self._topology_tasks = np.full(self._mesh_shape, -1, np.int32)
        self._topology_devices = np.full(self._mesh_shape, -1, np.int32)
        for task, devices in enumerate(self._device_coordinates):
            for device, point in enumerate(devices):
                self._topology_tasks[tuple(point)] = task
                self._topology_devices[tuple(point)] = device

    @property
    def mesh_shape(self) -> np.ndarray:
        return self._mesh_shape

    @property
    def mesh_rank(self) -> int:
        return len(self._mesh_shape)

    @property
    def device_coordinates(self) -> np.ndarray:
        """The point of each device, `[tasks, devices of a task, 3]`."""
        return self._device_coordinates

    @property
    def num_tasks(self) -> int:
        return int(self._device_coordinates.shape[0])

    @property
    def num_tpus_per_task(self) -> int:
        return int(self._device_coordinates.shape[1])

    def task_ordinal_at_coordinates(self, device_coordinates: Sequence[int]) -> int:
        """The task of the device at a point."""
        return self._topology_tasks[tuple(device_coordinates)]

    def tpu_device_ordinal_at_coordinates(self, device_coordinates: Sequence[int]) -> int:
        """The number of the device at a point, within its task."""
        return self._topology_devices[tuple(device_coordinates)]

    def cpu_device_name_at_coordinates(
        self, device_coordinates: Sequence[int], job: str | None = None
    ) -> str:
        """The processor of the task whose device is at a point."""
        return f"{self._task_name(device_coordinates, job)}/device:CPU:0"

    def tpu_device_name_at_coordinates(
        self, device_coordinates: Sequence[int], job: str | None = None
    ) -> str:
        """The device at a point."""
        device = self.tpu_device_ordinal_at_coordinates(device_coordinates)
        return f"{self._task_name(device_coordinates, job)}/device:TPU:{device}"

    def _task_name(self, device_coordinates: Sequence[int], job: str | None) -> str:
        task = f"/task:{self.task_ordinal_at_coordinates(device_coordinates)}"
        return task if job is None else f"/job:{job}{task}"

    def serialized(self) -> bytes:
        """The description as a `TopologyProto`."""
        if self._serialized is None:
            message = proto.TopologyProto(
                mesh_shape=self._mesh_shape.tolist(),
                num_tasks=self.num_tasks,
                num_tpu_devices_per_task=self.num_tpus_per_task,
                device_coordinates=self._device_coordinates.ravel().tolist(),
            )
            self._serialized = message.SerializeToString()
        return self._serialized


def _parsed(serialized: bytes) -> tuple[Any, Any]:
    """The mesh and the points of devices; ValueError unless they fit."""
    message = proto.TopologyProto.FromString(serialized)
    mesh = list(message.mesh_shape)
    if len(mesh) != 3 or min(mesh) < 1:
        raise ValueError(f"mesh_shape is three sizes of 1 or more, got {mesh}")
    sizes = (message.num_tasks, message.num_tpu_devices_per_task, len(mesh))
    for name, size in zip(("num_tasks", "num_tpu_devices_per_task"), sizes, strict=False):
        if size < 0:
            raise ValueError(f"{name} is negative: {size}")
    points = np.array(message.device_coordinates, np.int32)
    if points.size != np.prod(sizes):
        raise ValueError(
            f"device_coordinates has three numbers for each of {sizes[1]} devices of {sizes[0]} "
            f"tasks, got {points.size} in all"
        )
    if np.any(points < 0):
        raise ValueError("device_coordinates has negative numbers")
    return mesh, points.reshape(sizes)
