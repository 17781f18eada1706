"""Simulated annealing over placements: a search that improves on the greedy choice.

A unit, or a unit with its neighbours, moves to another device. What makes the simulated step
shorter is kept, what makes it longer sometimes, less and less often. The search is seeded and its
effort is counted in simulated nodes, not in seconds: the same step is placed the same way on every
machine.
"""

from __future__ import annotations

import math
import random

from penstock.placement.greedy import neighbouring_units, refine
from penstock.placement.simulate import Placement, Run, Workload

#: Simulated nodes: a few seconds.
EFFORT = 2_000_000

# By how much the temperature falls. It starts at the mean time of a unit, by about which a move
# changes the makespan.
_COOLING = 1e-3


def search(run: Run, *, effort: int = EFFORT, seed: int = 0) -> Run:
    """A run whose makespan is no longer than that of `run`."""
    workload = run.workload
    movable = [u for u, choices in enumerate(workload.units.choices) if len(choices) > 1]
    if not movable or not run.makespan:
        return run
    rng = random.Random(seed)
    neighbours = neighbouring_units(workload)
    current = Run(workload, run.placement)
    best, shortest = list(run.placement), run.makespan
    annealing = effort * 9 // 10
    hot = sum(workload.unit_seconds(u, run.placement[u]) for u in movable) / len(movable)
    while current.visited < annealing:
        temperature = hot * _COOLING ** (current.visited / annealing)
        unit = rng.choice(movable)
        moves = _random_moves(workload, current.placement, unit, neighbours[unit], rng)
        # The longest makespan that is accepted, drawn ahead: a hopeless try ends early.
        limit = current.makespan - temperature * math.log(1 - rng.random())
        current.visited += 1
        if current.tried(moves, limit) < limit:
            current.move(moves)
            if current.makespan < shortest:
                best, shortest = list(current.placement), current.makespan
    found = Run(workload, best)
    refine(found, effort - annealing)
    return found if found.makespan < run.makespan else run


def _random_moves(
    workload: Workload, placement: Placement, unit: int, neighbours: list[int], rng: random.Random
) -> dict[int, int]:
    """One unit to another device, half of the time with some neighbours that are beside it."""
    choices = workload.units.choices
    device = rng.choice([d for d in choices[unit] if d != placement[unit]])
    moves = {unit: device}
    if rng.random() < 0.5:
        for other in neighbours:
            if placement[other] == placement[unit] and device in choices[other]:
                if rng.random() < 0.5:
                    moves[other] = device
    return moves
