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
EFFORT = 5_000_000

# By how much the temperature falls, and how often each unit must be tried for all of that fall.
_COOLING = 1e-3
_TRIES_PER_UNIT = 20


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
    critical = _critical_units(current)
    annealing = effort * 9 // 10
    hot = _first_temperature(run, movable, annealing)
    while current.visited < annealing:
        temperature = hot * _COOLING ** (current.visited / annealing)
        unit = rng.choice(critical if critical and rng.random() < 0.5 else movable)
        moves = _random_moves(workload, current.placement, unit, neighbours[unit], rng)
        # The longest makespan that is accepted, drawn ahead: a hopeless try ends early.
        limit = current.makespan - temperature * math.log(1 - rng.random())
        if current.tried(moves, limit) < limit:
            current.move(moves)
            critical = _critical_units(current)
            if current.makespan < shortest:
                best, shortest = list(current.placement), current.makespan
    found = Run(workload, best)
    refine(found, effort - annealing)
    return found if found.makespan < run.makespan else run


def _first_temperature(run: Run, movable: list[int], effort: int) -> float:
    """The mean time of a unit, by about which a move changes the makespan.

    A search that can't try every unit often would only undo what the greedy choice has found: it
    begins colder.
    """
    workload = run.workload
    mean = sum(workload.unit_seconds(u, run.placement[u]) for u in movable) / len(movable)
    tries = 2 * effort / len(workload.nodes)
    return mean * min(1.0, tries / (_TRIES_PER_UNIT * len(movable))) ** 2


def _critical_units(run: Run) -> list[int]:
    """The movable units on which the makespan hangs: moving others makes it no shorter."""
    units = run.workload.units
    found = dict.fromkeys(units.of[i] for i in run.critical())
    return [unit for unit in found if len(units.choices[unit]) > 1]


def _random_moves(
    workload: Workload, placement: Placement, unit: int, neighbours: list[int], rng: random.Random
) -> dict[int, int]:
    """One unit to another device, half of the time with some neighbours that are beside it."""
    choices = workload.units.choices
    device = rng.choice([d for d in choices[unit] if d != placement[unit]])
    moves = {unit: device}
    if rng.random() < 0.5:
        beside = [n for n in neighbours if placement[n] == placement[unit] and device in choices[n]]
        moves.update({other: device for other in beside if rng.random() < 0.5})
    return moves
