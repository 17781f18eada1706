"""The runtime that a session's ConfigProto describes."""

from __future__ import annotations

from typing import Any

from penstock.passes.rewriter_config import pass_options
from penstock.placement.options import PlacementOptions
from penstock.runtime.local import LocalRuntime, visible_gpus
from penstock.runtime.thread_pools import ThreadPools


def configured_runtime(config: Any, *, server: Any = None, **place: Any) -> LocalRuntime:
    """A runtime in this process; `place` says of which task it is and whose state it has.

    `server` is the ConfigProto of the server that the session is on, if it is on one: a server has
    the devices that it was started with, whatever its sessions ask for.
    """
    machine = config if server is None else server
    counts, gpu, graph = machine.device_count, machine.gpu_options, config.graph_options
    gpus = visible_gpus(
        counts.get("GPU", None),
        gpu.visible_device_list,
        gpu.per_process_gpu_memory_fraction,
    )
    return LocalRuntime(
        max(1, counts.get("CPU", 1)),
        config.intra_op_parallelism_threads,
        pass_options(config, has_gpu=bool(gpus)),
        pools=ThreadPools.from_config(config),
        gpus=gpus,
        added_devices={name: counts[name] for name in counts if name not in ("CPU", "GPU")},
        soft_placement=config.allow_soft_placement,
        log_placement=config.log_device_placement,
        placement=PlacementOptions.from_config(config),
        measured=(graph.build_cost_model, graph.build_cost_model_after),
        **place,
    )
