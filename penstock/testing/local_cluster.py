"""Servers of one process that tests of clusters talk to."""

from __future__ import annotations

from typing import Any

from penstock.distributed.cluster_spec import ClusterSpec
from penstock.distributed.launch.processes import free_addresses
from penstock.distributed.server import Server


def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> tuple[list[Server], list[Server]]:
    """Starts a cluster of this process; its workers and its parameter servers.

    Args:
      num_workers: how many tasks the job "worker" has.
      num_ps: how many tasks the job "ps" has.
      protocol: see `tf.train.Server`.
      worker_config: a `ConfigProto` for the workers.
      ps_config: a `ConfigProto` for the parameter servers.
    """
    addresses = free_addresses(num_workers + num_ps)
    cluster = ClusterSpec({"worker": addresses[:num_workers], "ps": addresses[num_workers:]})

    def servers(job: str, count: int, config: Any) -> list[Server]:
        return [
            Server(cluster, job_name=job, protocol=protocol, task_index=i, config=config)
            for i in range(count)
        ]

    return servers("worker", num_workers, worker_config), servers("ps", num_ps, ps_config)
