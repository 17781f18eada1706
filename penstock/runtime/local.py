"""The runtime of one process: its devices, and compiled steps ready to run on them."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from penstock.dtypes import DType
from penstock.ir.operation import Operation
from penstock.ir.step_graph import StepGraph
from penstock.ir.tensor import Tensor
from penstock.kernels.values import to_array
from penstock.passes.fusion import may_have_regions
from penstock.passes.pipeline import AS_WRITTEN, PassOptions, compile_step
from penstock.passes.prune import prune
from penstock.placement.chooser import chooser
from penstock.placement.options import PlacementOptions
from penstock.placement.placer import place
from penstock.runtime import device_types
from penstock.runtime.allocator import keep_freed_memory
from penstock.runtime.binding import BoundNode, evaluator, has_kernel
from penstock.runtime.compiled import CompiledStep, compiled, uncut
from penstock.runtime.cost_graph import MeasuredRuns
from penstock.runtime.crew import Crew
from penstock.runtime.cuda_graphs import Replaying
from penstock.runtime.cudnn import configure_cudnn
from penstock.runtime.device import Device
from penstock.runtime.device_attributes import device_attributes
from penstock.runtime.ending import let_threads_stay_at_the_end
from penstock.runtime.fusion.warming import HOT, Warming
from penstock.runtime.joined_nodes import join_nodes
from penstock.runtime.number_loops import has_number_loops
from penstock.runtime.partial_run import PartialRun
from penstock.runtime.thread_pools import ThreadPools
from penstock.state.containers import ResourceManager, SessionResources
from penstock.state.session_tensors import SessionTensors
from penstock.state.waiting import Cancellation


def _local_devices(
    task_name: str, cpus: int, gpus: Sequence[int], added: Mapping[str, int]
) -> list[Device]:
    """The devices of a task: its CPUs, the GPUs with these numbers in torch, those of users' types.

    `added` says how many there are of a user's type, where that is not what its type says.
    """
    cpu = torch.device("cpu")
    found = [Device(f"{task_name}/device:CPU:{i}", "CPU", cpu) for i in range(cpus)]
    if gpus:
        configure_cudnn()
    for i, number in enumerate(gpus):
        name = f"{task_name}/device:GPU:{i}"
        found.append(Device(name, "GPU", torch.device("cuda", number), host=found[0]))
    for kind in device_types.registered():
        for i in range(added.get(kind.name, kind.count)):
            name = f"{task_name}/device:{kind.name}:{i}"
            found.append(Device(name, kind.name, cpu, host=found[0], kind=kind))
    return found


def _rank(device: Device) -> int:
    """What constraints leave open goes to the first devices: to GPUs before CPUs."""
    if device.kind is not None:
        return 0 if device.kind.preferred else 3
    return 2 if device.device_type == "CPU" else 1


def visible_gpus(count: int | None, listed: str, memory_fraction: float = 0.0) -> list[int]:
    """The numbers of the GPUs to use: at most `count`, those `listed` ("1,0") if any are.

    `memory_fraction` limits what torch takes of each; without it memory grows as it is needed.
    """
    if count == 0 or not torch.cuda.is_available():
        return []
    numbers = [int(entry) for entry in listed.split(",")] if listed else None
    found = list(range(torch.cuda.device_count())) if numbers is None else numbers
    found = found if count is None else found[:count]
    for number in found if memory_fraction > 0 else ():
        torch.cuda.set_per_process_memory_fraction(min(1.0, memory_fraction), number)
    return found


class LocalRuntime:
    """The devices of one session in this process."""

    def __init__(
        self,
        cpu_devices: int = 1,
        threads: int = 0,  # of one kernel; 0 leaves the choice to torch
        options: PassOptions | None = None,
        *,
        pools: ThreadPools | None = None,
        gpus: Sequence[int] = (),
        added_devices: Mapping[str, int] | None = None,
        soft_placement: bool = False,
        log_placement: bool = False,
        placement: PlacementOptions | None = None,
        measured: tuple[int, int] = (0, 0),  # every how many runs, and after how many
        task_name: str = "/job:localhost/replica:0/task:0",
        resources: ResourceManager | None = None,
    ):
        keep_freed_memory()
        let_threads_stay_at_the_end()
        self._kernel_threads = max(0, threads)
        #: Whether kernels may use a number of threads that is not torch's: those of `crew` do.
        self.limits_threads = threads > 0
        self.pools = pools or ThreadPools()
        self.devices = _local_devices(task_name, cpu_devices, gpus, added_devices or {})
        # The devices of a process share one list of state by name; a server's outlives its
        # sessions, but for what is theirs alone.
        self.state = ResourceManager() if resources is None else SessionResources(resources)
        for device in self.devices:
            device.resources = self.state
        self.state.of_device(self.devices[0].name)
        self.options = options or PassOptions()
        self.cancellation = Cancellation()
        self.soft_placement = soft_placement
        self.log_placement = log_placement
        self._logged: set[str] = set()  # the nodes whose places were told
        self._choose = chooser(placement or PlacementOptions())
        self._measured = measured
        preferred = sorted(self.devices, key=_rank)
        self._by_name = {device.name: device for device in preferred}
        self._state_places: dict[str, str] = {}  # which device has a stateful node of this name
        self.crew = Crew("penstock-device", self._kernel_threads, self.pools.default)
        self._replaying = Replaying(self._by_name)

    def compile(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        options: PassOptions | None = None,
    ) -> CompiledStep:
        """A step ready to run."""
        chosen = self.options if options is None else options
        graph = self._placed(feeds, fetches, targets, chosen)
        join_nodes(graph, self._by_name, chosen)
        step = compiled(graph, self._by_name, self.crew, structure=chosen.structure)
        step.cancellation = self.cancellation
        step.warming = self.warming(step, chosen)
        if self._replaying.is_on and not step.parts and chosen != AS_WRITTEN:
            step.replay_with(self._replaying.replayed)
        if self._kernel_threads:
            step.limit_threads(self._kernel_threads)
        step.measured_runs = self.measured_runs()
        step.rewritten = partial(self.as_written, feeds, fetches, targets)
        return step

    def as_written(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> CompiledStep:
        """A step with every node of the graph, for who wants to see each; it is not cut."""
        graph = self._placed(feeds, fetches, targets, AS_WRITTEN)
        step = CompiledStep(*uncut(graph, self._by_name))
        step.placed, step.cancellation = graph, self.cancellation
        return step

    def measured_runs(self) -> MeasuredRuns | None:
        """Which runs of a new step are measured for `RunMetadata.cost_graph`; None for none."""
        return MeasuredRuns(*self._measured) if self._measured[0] > 0 else None

    def warming(self, step: CompiledStep, options: PassOptions) -> Warming | None:
        """What watches for a step that is hot, where something can be fused for its devices."""
        if options.fusion == "never" or step.plan is None:
            return None
        if not any(may_have_regions(each) or has_number_loops(each) for each in step.planned):
            return None
        return Warming(
            self._by_name,
            *HOT[options.fusion],
            beside=options.beside and self._computes_nodes_at_once(),
        )

    def _computes_nodes_at_once(self) -> bool:
        """Whether kernels and nodes may use more than one thread each."""
        pool = self.pools.default
        threads = self._kernel_threads or torch.get_num_threads()
        return threads > 1 and (pool is None or pool.count > 1)

    def prepare(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        options: PassOptions | None = None,
    ) -> tuple[StepGraph, list[BoundNode]]:
        """The optimised, placed step with its kernels."""
        graph = self._placed(feeds, fetches, targets, options or self.options)
        return uncut(graph, self._by_name)

    def _placed(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        targets: Sequence[Operation],
        options: PassOptions,
    ) -> StepGraph:
        if self.log_placement:
            written = prune(feeds, fetches, targets)
            self._place(written, dict(self._state_places))
            self.tell_places(written)
        graph = compile_step(feeds, fetches, targets, evaluator(self.host), options)
        self._place(graph, self._state_places)
        return graph

    @property
    def device_names(self) -> list[str]:
        """The names of the devices, CPUs first."""
        return [device.name for device in self.devices]

    def _place(self, graph: StepGraph, sticky: dict[str, str]) -> None:
        place(
            graph,
            list(self._by_name),
            soft=self.soft_placement,
            supports=has_kernel,
            sticky=sticky,
            choose=self._choose,
        )

    def tell_places(self, graph: StepGraph) -> None:
        """Says where the nodes of a placed graph are, those that it was not said of yet."""
        new = [n for n in graph.nodes if n.type != "_Feed" and n.name not in self._logged]
        self._logged.update(node.name for node in new)
        sys.stderr.write("".join(f"{n.name}: ({n.type}): {n.device}\n" for n in new))

    @property
    def host(self) -> Device:
        """The CPU of this process."""
        return next(device for device in self.devices if device.device_type == "CPU")

    def partial_run(
        self, feeds: Sequence[Tensor], fetches: Sequence[Tensor], targets: Sequence[Operation]
    ) -> PartialRun:
        """A step that is run in parts."""
        prepared = self.prepare(feeds, fetches, targets)
        return PartialRun(prepared, feeds, fetches, targets, self.cancellation)

    def device_attributes(self) -> list[Any]:
        """The DeviceAttributes messages of the devices."""
        return device_attributes(self.devices)

    def kept_tensor(self, handle: str, dtype: DType) -> np.ndarray:
        """The tensor that a step has left here under a handle."""
        return to_array(self._session_tensors().get(handle)).copy()

    def forget_tensor(self, handle: str) -> None:
        """Drops the tensor of a handle."""
        self._session_tensors().delete(handle)

    def _session_tensors(self) -> SessionTensors:
        device = self.host
        return device.resources.own.get_or_create(
            SessionTensors, "", "", lambda: SessionTensors(device.name)
        )

    def cancel(self) -> None:
        """Ends the waits of all steps, those to come too, with CancelledError."""
        self.cancellation.cancel()
        self.crew.close()

    def close(self) -> None:
        """Ends all steps; state that is this runtime's own goes with it."""
        self.cancel()
        self._replaying.close()
        self.state.own.clear()
        if any(device.torch_device.type == "cuda" for device in self.devices):
            torch.cuda.empty_cache()  # to other processes: torch keeps what was freed

    def reset(self, containers: Sequence[str] = ()) -> None:
        """Clears containers of state; without names, the default one."""
        self.state.reset(containers)
