"""The devices of several workers that replicas of one graph run on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.devices import DeviceSpec
from penstock.distribute import clusters
from penstock.distribute.device_names import is_local, local_devices
from penstock.train.cluster_resolver import TFConfigClusterResolver

_JOBS = ("chief", "worker")


def all_devices() -> list[str]:
    """Those of all workers if TF_CONFIG names a cluster, or else this machine's."""
    spec = TFConfigClusterResolver().cluster_spec()
    if not spec:
        return local_devices()
    gpus = gpus_per_worker(local_devices())
    return devices_of_cluster(spec, gpus) or local_devices()


def devices_of_cluster(cluster_spec: Any, gpus: int) -> list[str]:
    """So many GPUs of each worker, or the workers' CPUs if they are to use none."""
    spec = clusters.normalized(cluster_spec)
    tasks = [
        f"/job:{job}/task:{number}"
        for job in _JOBS
        if job in spec.jobs
        for number in range(spec.num_tasks(job))
    ]
    if not gpus:
        return tasks
    return [f"{task}/device:GPU:{number}" for task in tasks for number in range(gpus)]


def by_worker(devices: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Each worker, the chief first, with its devices."""
    found: dict[tuple[int, int], tuple[str, list[str]]] = {}
    for device in devices:
        spec = DeviceSpec.from_string(device)
        if spec.job not in _JOBS or spec.task is None:
            raise ValueError(
                f"a device of several workers needs a task of the jobs {_JOBS}, got {device!r}"
            )
        place = (_JOBS.index(spec.job), spec.task)
        worker = f"/job:{spec.job}/task:{spec.task}"
        found.setdefault(place, (worker, []))[1].append(device)
    return [found[place] for place in sorted(found)]


def gpus_per_worker(devices: Sequence[str]) -> int:
    """How many GPUs each worker has; ValueError if not all have as many, from the first on."""
    parts = [list(devices)] if is_local(devices[0]) else [own for _, own in by_worker(devices)]
    counts = set()
    for own in parts:
        specs = [DeviceSpec.from_string(device) for device in own]
        gpus = [spec.device_index or 0 for spec in specs if spec.device_type == "GPU"]
        counts.add(len(gpus))
        if not is_local(devices[0]) and any(index >= len(gpus) for index in gpus):
            raise ValueError(
                "GPU `device_index` on a worker should be consecutive and start from 0."
            )
    if len(counts) > 1:
        raise ValueError("All workers should have the same number of GPUs.")
    return counts.pop()
