"""`tf.config`: what sessions are like that are given no ConfigProto, and which devices there are.

A setting counts for the sessions that are made after it.
"""

from __future__ import annotations

from typing import Any, NoReturn

from penstock import absent
from penstock.client.session_defaults import session_defaults
from penstock.config import experimental, optimizer, threading
from penstock.config.device_types import register_device_type, unregister_device_type
from penstock.config.placement import get_placement, set_placement
from penstock.platform.file_limits import get_graph_file_roots, set_graph_file_roots

__all__ = [
    "experimental",
    "experimental_connect_to_cluster",
    "experimental_connect_to_host",
    "experimental_list_devices",
    "experimental_run_functions_eagerly",
    "get_graph_file_roots",
    "get_placement",
    "get_soft_device_placement",
    "optimizer",
    "register_device_type",
    "set_graph_file_roots",
    "set_placement",
    "set_soft_device_placement",
    "threading",
    "unregister_device_type",
]


def get_soft_device_placement() -> bool:
    """Whether an operation may run on another device than the one it asks for."""
    return bool(session_defaults().allow_soft_placement)


def set_soft_device_placement(enabled: bool) -> None:
    """Whether an operation may run on another device than the one it asks for."""
    session_defaults().allow_soft_placement = enabled


def experimental_list_devices() -> list[str]:
    """The full names of the devices of this process."""
    return [device.name for device in experimental.list_logical_devices()]


def experimental_connect_to_host(remote_host: Any = None, job_name: str = "worker") -> NoReturn:
    """RuntimeError: a session connects to its target."""
    _refuse("tf.config.experimental_connect_to_host", "Give tf.Session the server's target.")


def experimental_connect_to_cluster(
    cluster_spec_or_resolver: Any,
    job_name: str = "localhost",
    task_index: int = 0,
    protocol: Any = None,
) -> NoReturn:
    """RuntimeError: a server joins a cluster, a session connects to it."""
    _refuse(
        "tf.config.experimental_connect_to_cluster",
        "Start a tf.train.Server and give tf.Session its target.",
    )


def experimental_run_functions_eagerly(run_eagerly: bool) -> None:
    """Lets calls of `tf.function`s run the Python functions as they are, or no more."""
    from penstock.ops.graph_functions import run_functions_eagerly

    run_functions_eagerly(run_eagerly)


def _refuse(symbol: str, advice: str) -> NoReturn:
    absent.met.add(symbol)
    raise RuntimeError(f"{symbol} is for eager execution. {advice}")
