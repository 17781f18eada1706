"""The white paper's placement: a simulated execution that puts each unit where it ends first.

The simulation goes through the step once. When it comes to a unit that has no device yet, it looks
at each device that the unit may use: when that is free, when the inputs would have arrived there,
how long the work takes there; and takes the device where the unit ends first.

That is shortsighted: a unit that would end a little later beside its producer may spare those
behind it a transfer. So the same is done a second time with all transfers of inputs counted as if
nothing hid them, and the better of the two (and of leaving everything where it is) is kept.
Then, as long as that is cheap, units are offered the other devices.
"""

from __future__ import annotations

import random

from penstock.placement.simulate import Placement, Run, Workload

#: How many nodes `refine` may simulate: it stops early on large graphs.
REFINEMENT_VISITS = 200_000
_SHAKES = 12


def place_greedily(workload: Workload) -> Run:
    """The best placement that greedy choices find, as a simulated execution."""
    starts = [
        workload.default,
        greedy(workload, count_transfers=False),
        greedy(workload, count_transfers=True),
    ]
    runs = [Run(workload, placement) for placement in starts]
    for run in runs:
        refine(run, REFINEMENT_VISITS // len(runs))
    return _shaken(min(runs, key=lambda run: run.makespan), sum(run.visited for run in runs))


def _shaken(best: Run, visited: int) -> Run:
    """The best of a few refinements that begin with some units of the best so far elsewhere."""
    workload = best.workload
    movable = [u for u, choices in enumerate(workload.units.choices) if len(choices) > 1]
    rng = random.Random(0)
    for _ in range(_SHAKES):
        if visited > REFINEMENT_VISITS or not movable:
            break
        placement = list(best.placement)
        for unit in rng.sample(movable, (len(movable) + 2) // 3):
            placement[unit] = rng.choice(workload.units.choices[unit])
        run = Run(workload, placement)
        refine(run, REFINEMENT_VISITS - visited)
        visited += run.visited
        best = min(best, run, key=lambda each: each.makespan)
    return best


def greedy(workload: Workload, *, count_transfers: bool) -> Placement:
    """A device for each unit: the one where it ends first.

    `count_transfers` adds the time of all transfers of inputs to the time at which a unit ends.
    """
    unit_of, choices = workload.units.of, workload.units.choices
    placement = [-1] * len(choices)
    finish = [0.0] * len(workload.nodes)
    free = [0.0] * len(workload.devices)
    for i, unit in enumerate(unit_of):
        if placement[unit] < 0:
            options = choices[unit]
            if len(options) > 1:
                arrivals = [_arrival(workload, i, d, placement, finish) for d in options]
                ends = [
                    max(free[device], arrival)
                    + workload.unit_seconds(unit, device)
                    + transfers * count_transfers
                    for device, (arrival, transfers) in zip(options, arrivals, strict=True)
                ]
                placement[unit] = options[ends.index(min(ends))]
            else:
                placement[unit] = options[0]
        device = placement[unit]
        arrival, _ = _arrival(workload, i, device, placement, finish)
        finish[i] = free[device] = max(free[device], arrival) + workload.seconds[i][device]
    return placement


def _arrival(
    workload: Workload, node: int, device: int, placement: Placement, finish: list[float]
) -> tuple[float, float]:
    """When the last input of a node is on a device, and how long all transfers take."""
    last = transfers = 0.0
    for producer, size in workload.inputs[node]:
        arrives = finish[producer]
        source = placement[workload.units.of[producer]]
        if source != device:
            way = workload.latency[source][device] + size * workload.per_byte[source][device]
            transfers += way
            arrives += way
        last = max(last, arrives)
    return last, transfers


def refine(run: Run, visits: int) -> None:
    """Moves units, one at a time or with a neighbour, while the makespan falls.

    `visits` limits the nodes that are simulated for it.
    """
    workload = run.workload
    open_units = [u for u, choices in enumerate(workload.units.choices) if len(choices) > 1]
    neighbours = neighbouring_units(workload)
    limit = run.visited + visits
    improved = True
    while improved:
        improved = False
        for unit in open_units:
            for device in workload.units.choices[unit]:
                if device == run.placement[unit]:
                    continue
                for moves in _moves(workload, unit, device, neighbours[unit]):
                    if run.visited > limit:
                        return
                    if run.tried(moves, run.makespan * (1 - 1e-9)) < run.makespan:
                        run.move(moves)
                        improved = True
                        break


def _moves(
    workload: Workload, unit: int, device: int, neighbours: list[int]
) -> list[dict[int, int]]:
    alone = {unit: device}
    both = [alone | {n: device} for n in neighbours if device in workload.units.choices[n]]
    everyone = {unit: device, **{n: device for moved in both for n in moved}}
    return [alone, *both, everyone]


def neighbouring_units(workload: Workload) -> list[list[int]]:
    """For each unit, the movable units that it has an edge with."""
    units = workload.units
    found: list[dict[int, None]] = [{} for _ in units.choices]
    for i, inputs in enumerate(workload.inputs):
        own = units.of[i]
        for producer, _ in inputs:
            other = units.of[producer]
            if own != other and len(units.choices[own]) > 1 and len(units.choices[other]) > 1:
                found[own][other] = found[other][own] = None
    return [list(each) for each in found]
