"""Servers of one process that tests of clusters talk to."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock import errors


def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> NoReturn:
    """UnimplementedError: there are no servers yet."""
    raise errors.UnimplementedError(
        None,
        None,
        f"create_local_cluster: {num_workers} workers and {num_ps} parameter servers need "
        "tf.train.Server, which is not there yet",
    )
