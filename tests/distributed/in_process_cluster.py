"""Tasks in one process, joined by the road of real clusters, without front doors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.distributed.cluster_runtime import ClusterRuntime
from penstock.distributed.credentials import Credentials
from penstock.distributed.road import Address, Peers, Road
from penstock.distributed.worker import Worker
from penstock.runtime.local import LocalRuntime

_TOKEN_ALONE = Credentials(token="secret")


class InProcessCluster:
    def __init__(self, tasks: Sequence[str], credentials: Credentials = _TOKEN_ALONE) -> None:
        self.names = [f"/job:{task.split(':')[0]}/replica:0/task:{task[-1]}" for task in tasks]
        self.workers: dict[str, Worker] = {}
        self.roads: dict[str, Road] = {}
        self.peers: dict[str, Peers] = {}
        for name in self.names:
            worker = Worker(name, LocalRuntime(task_name=name), self._connect_from(name))
            self.workers[name] = worker
            self.roads[name] = Road("127.0.0.1", name, worker.handle, credentials, worker.lost)
        for name in self.names:
            addresses = {n: f"127.0.0.1:{r.address.port}" for n, r in self.roads.items()}
            del addresses[name]
            worker = self.workers[name]
            self.peers[name] = Peers(
                name, addresses, self._road, worker.handle, credentials, worker.lost
            )

    def _road(self, address: str, timeout: float) -> Address:
        port = int(address.rpartition(":")[2])
        return next(each.address for each in self.roads.values() if each.address.port == port)

    def _connect_from(self, name):
        return lambda task: self.peers[name].connect(task)

    def runtime(self, index: int = -1, **settings: Any) -> ClusterRuntime:
        """A session's runtime whose master is in one of the tasks; `settings` are its own."""
        name = self.names[index]
        worker = self.workers[name]
        state = worker.runtime.host.resources
        local = LocalRuntime(task_name=name, resources=state, **settings)
        devices = {n: w.runtime.device_attributes() for n, w in self.workers.items()}
        incarnations = {n: w.incarnation for n, w in self.workers.items()}
        return ClusterRuntime(worker, local, devices, incarnations)

    def close(self) -> None:
        for peers in self.peers.values():
            peers.close()
        for road in self.roads.values():
            road.close()
        for worker in self.workers.values():
            worker.runtime.close()

    def __enter__(self) -> InProcessCluster:
        return self

    def __exit__(self, *_) -> None:
        self.close()
