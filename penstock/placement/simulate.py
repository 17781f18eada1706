"""Simulated execution of a placed step: when each node would begin and end on its device.

The simulation runs a step as `runtime/partitioned.py` does: each device runs its nodes one after
the other in the order of the step, and a node begins when its device is free and its inputs have
arrived. Transfers go on beside the work; constants and feeds are on every device from the start.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.ir.step_graph import Node, StepGraph, is_back_edge
from penstock.placement.cost_model import CostModel
from penstock.placement.groups import Candidate
from penstock.placement.units import Units, frames_of

Placement = list[int]  # for each unit, the index of its device

_ON_EVERY_DEVICE = ("Const", "_Feed", "_Truth")


class Workload:
    """A step as numbers: what the simulation asks for again and again is looked up once."""

    def __init__(
        self, step: StepGraph, devices: Sequence[Candidate], units: Units, model: CostModel
    ):
        self.nodes = step.nodes
        self.devices = devices
        self.units = units
        self.seconds = [
            self._seconds(node, loops, model)
            for node, loops in zip(step.nodes, units.loops, strict=True)
        ]
        number = {node: i for i, node in enumerate(step.nodes)}
        self.inputs = [_inputs(node, number, model) for node in step.nodes]
        links = [[model.link(a.spec, b.spec) for b in devices] for a in devices]
        self.latency = [[link.latency for link in row] for row in links]
        self.per_byte = [[1 / link.bytes for link in row] for row in links]
        self.members: list[list[int]] = [[] for _ in units.choices]
        for i, unit in enumerate(units.of):
            self.members[unit].append(i)

    def _seconds(self, node: Node, loops: int, model: CostModel) -> list[float]:
        """The time of a node on each device."""
        types = [device.spec.device_type or "CPU" for device in self.devices]
        times = {kind: model.time(node, kind, loops) for kind in set(types)}
        return [times[kind] for kind in types]

    def unit_seconds(self, unit: int, device: int) -> float:
        """The time of all nodes of a unit on a device."""
        return sum(self.seconds[i][device] for i in self.members[unit])

    @property
    def default(self) -> Placement:
        """Every unit on the first of its devices."""
        return [choices[0] for choices in self.units.choices]


def _inputs(node: Node, number: dict[Node, int], model: CostModel) -> list[tuple[int, float]]:
    """Where a node's inputs come from, with their sizes; a control edge has no bytes."""
    found: dict[tuple[int, int], float] = {}
    for edge in (*node.inputs, *(predicate for predicate, _ in node.guard)):
        if not is_back_edge(edge.node, node) and edge.node.type not in _ON_EVERY_DEVICE:
            found[number[edge.node], edge.index] = model.bytes(edge)
    for control in node.controls:
        if not is_back_edge(control, node) and control.type not in _ON_EVERY_DEVICE:
            found.setdefault((number[control], -1), 0.0)
    return [(producer, size) for (producer, _), size in found.items()]


class Run:
    """One simulated execution, which can be tried again with another placement of some units.

    `finish` has the time at which each node ends, `free` the times at which the devices are free
    before each node: a change of a unit leaves what comes before its first node as it is. `visited`
    counts the nodes that were simulated, as a measure of the effort.
    """

    def __init__(self, workload: Workload, placement: Placement):
        self.workload = workload
        self.placement = list(placement)
        self.finish = [0.0] * len(workload.nodes)
        self.free: list[tuple[float, ...]] = [(0.0,) * len(workload.devices)]
        self.visited = 0
        self.makespan = self._replay(self.placement, 0, math.inf)
        self._keep()

    def tried(self, moves: dict[int, int], limit: float = math.inf) -> float:
        """The makespan if these units were on these devices; infinity where it reaches `limit`."""
        placement = self.placement[:]
        for unit, device in moves.items():
            placement[unit] = device
        first = min(self.workload.members[unit][0] for unit in moves)
        return self._replay(placement, first, limit)

    def move(self, moves: dict[int, int]) -> None:
        """Puts units on other devices."""
        self.makespan = self.tried(moves)
        for unit, device in moves.items():
            self.placement[unit] = device
        self._keep()

    def critical(self) -> list[int]:
        """The nodes that decide the makespan: each waited for the one behind it in this list.

        It waited for an input of it, or for its device, which was busy with it.
        """
        workload = self.workload
        self.visited += len(workload.nodes) // 2  # about what it costs
        device_of = [self.placement[unit] for unit in workload.units.of]
        before = [-1] * len(device_of)
        latest: dict[int, int] = {}
        for i, device in enumerate(device_of):
            before[i] = latest.get(device, -1)
            latest[device] = i
        node = max(range(len(device_of)), key=self.finish.__getitem__)
        found = []
        while node >= 0:
            found.append(node)
            device = device_of[node]
            begin, cause = 0.0, -1
            if before[node] >= 0:
                begin, cause = self.finish[before[node]], before[node]
            for producer, size in workload.inputs[node]:
                source = device_of[producer]
                way = workload.latency[source][device] + size * workload.per_byte[source][device]
                if self.finish[producer] + way > begin:
                    begin, cause = self.finish[producer] + way, producer
            node = cause
        return found

    def _replay(self, placement: Placement, first: int, limit: float) -> float:
        workload = self.workload
        unit_of, inputs, seconds = workload.units.of, workload.inputs, workload.seconds
        latency, per_byte = workload.latency, workload.per_byte
        finish = self._new_finish = self.finish[:first]
        free = list(self.free[first])
        states = self._new_free = [self.free[first]]
        self._first = first
        count = len(workload.nodes)
        self.visited += count // 16  # what copying the lists costs
        last = max(free)
        for i in range(first, count):
            device = placement[unit_of[i]]
            begin = free[device]
            for producer, size in inputs[i]:
                arrives = finish[producer]
                source = placement[unit_of[producer]]
                if source != device:
                    arrives += latency[source][device] + size * per_byte[source][device]
                if arrives > begin:
                    begin = arrives
            end = begin + seconds[i][device]
            if end >= limit:
                self.visited += i + 1 - first
                return math.inf
            finish.append(end)
            free[device] = end
            states.append(tuple(free))
            if end > last:
                last = end
        self.visited += count - first
        return last

    def _keep(self) -> None:
        self.finish = self._new_finish
        self.free = self.free[: self._first] + self._new_free


@dataclass(frozen=True)
class Bar:
    """A node on a device, from `begin` to `end` in seconds."""

    node: Node
    device: str
    begin: float
    end: float


@dataclass(frozen=True)
class Schedule:
    """The simulated execution of a step: what every device does, and how long it takes."""

    devices: tuple[str, ...]
    bars: tuple[Bar, ...]
    makespan: float

    def busy(self, device: str) -> float:
        """The seconds in which a device works."""
        return sum(bar.end - bar.begin for bar in self.bars if bar.device == device)


def schedule_of(run: Run) -> Schedule:
    """A simulated execution as bars; nodes that take no time have none."""
    workload = run.workload
    names = [device.name for device in workload.devices]
    bars = []
    for i, node in enumerate(workload.nodes):
        device = run.placement[workload.units.of[i]]
        seconds = workload.seconds[i][device]
        if seconds > 0:
            end = run.finish[i]
            bars.append(Bar(node, names[device], end - seconds, end))
    return Schedule(tuple(names), tuple(bars), run.makespan)


def placed_schedule(step: StepGraph, model: CostModel) -> Schedule:
    """The simulated execution of a step whose nodes have their devices."""
    names = list(dict.fromkeys(node.device for node in step.nodes))
    devices = [Candidate.of(name) for name in sorted(names)]
    index = {device.name: i for i, device in enumerate(devices)}
    choices = [[index[node.device]] for node in step.nodes]
    depths = [len(frame) for frame in frames_of(step)]
    workload = Workload(step, devices, Units(list(range(len(choices))), choices, depths), model)
    return schedule_of(Run(workload, workload.default))
