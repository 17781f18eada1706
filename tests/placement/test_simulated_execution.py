"""Simulated execution, the greedy choice, and the search that improves on it."""

import itertools
import random

import pytest

from benchmarks.placement import random_step, workload_of
from penstock import dtypes
from penstock.ir.registry import find
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.placement import greedy as greedy_module
from penstock.placement.cost_model import CostModel
from penstock.placement.greedy import greedy, place_greedily, refine
from penstock.placement.groups import Candidate, Group
from penstock.placement.search import search
from penstock.placement.simulate import Run, Workload, schedule_of
from penstock.placement.units import units_of

LATENCY = 50e-6


def workload(edges, milliseconds, together=(), devices=2):
    """Nodes with these times on CPU devices, and edges of four bytes between them."""
    spec = find("AddN")
    nodes = [
        Node(spec, f"n{i}", {"N": 0}, [dtypes.float32], [()], order=i)
        for i in range(len(milliseconds))
    ]
    for producer, consumer in edges:
        nodes[consumer].inputs.append(Edge(nodes[producer], 0))
    for node in nodes:
        node.attrs["N"] = len(node.inputs)
    names = [f"/job:localhost/replica:0/task:0/device:CPU:{i}" for i in range(devices)]
    candidates = [Candidate.of(name) for name in names]
    alone = [i for i in range(len(nodes)) if not any(i in group for group in together)]
    members = [*together, *([i] for i in alone)]
    groups = [Group([nodes[i] for i in sorted(m)], devices=list(candidates)) for m in members]
    step = StepGraph(nodes, [], [], nodes)
    measured = {(f"n{i}", "CPU"): time * 1e-3 for i, time in enumerate(milliseconds)}
    model = CostModel(measured=measured)
    return Workload(step, candidates, units_of(step, groups, candidates), model)


def best_of_all(load):
    every = itertools.product(*load.units.choices)
    return min(Run(load, list(placement)).makespan for placement in every)


def test_a_device_runs_one_node_after_the_other():
    run = Run(workload([], [1, 2, 3]), [0, 0, 1])
    assert run.finish == pytest.approx([1e-3, 3e-3, 3e-3])
    assert run.makespan == pytest.approx(3e-3)


def test_a_value_from_another_device_arrives_later():
    load = workload([(0, 1), (0, 2)], [1, 1, 1])
    assert Run(load, [0, 0, 1]).finish == pytest.approx([1e-3, 2e-3, 2e-3 + LATENCY])


def test_bars_are_what_devices_do():
    schedule = schedule_of(Run(workload([(0, 1)], [1, 2, 0]), [0, 1, 0]))
    spans = [(bar.node.name, bar.device[-1], bar.begin) for bar in schedule.bars]
    assert spans == [("n0", "0", 0.0), ("n1", "1", pytest.approx(1e-3 + LATENCY))]
    assert schedule.busy(schedule.devices[1]) == pytest.approx(2e-3)


@pytest.mark.parametrize("seed", range(10))
def test_a_change_is_simulated_as_if_from_the_start(seed):
    rng = random.Random(seed)
    load = workload_of(random_step(40, seed), 3)
    run = Run(load, [rng.randrange(3) for _ in load.units.choices])
    for _ in range(20):
        units = rng.sample(range(len(load.units.choices)), 2)
        moves = {unit: rng.randrange(3) for unit in units}
        expected = list(run.placement)
        for unit, device in moves.items():
            expected[unit] = device
        anew = Run(load, expected)
        assert run.tried(moves) == anew.makespan
        run.move(moves)
        assert (run.finish, run.free) == (anew.finish, anew.free)


def test_what_the_makespan_hangs_on():
    load = workload([(0, 2), (1, 2), (2, 3)], [1, 5, 1, 1])
    assert Run(load, [0, 1, 0, 0]).critical() == [3, 2, 1]
    assert Run(load, [0, 0, 0, 0]).critical() == [3, 2, 1, 0]


# Choices --------------------------------------------------------------------------------------


def test_independent_work_is_spread():
    load = workload([], [1, 1, 1, 1])
    placement = greedy(load, count_transfers=False)
    assert sorted(placement) == [0, 0, 1, 1]


def test_a_chain_stays_together():
    load = workload([(i, i + 1) for i in range(5)], [1] * 6)
    assert len(set(place_greedily(load).placement)) == 1


def test_transfers_that_cost_more_than_they_bring_are_not_made():
    load = workload([(0, 1), (0, 2), (1, 3), (2, 3)], [0.01] * 4)  # far below the latency
    assert len(set(place_greedily(load).placement)) == 1


def test_what_belongs_together_goes_as_one():
    load = workload([], [3, 1, 1, 1], together=[(1, 2, 3)])
    run = place_greedily(load)
    assert len(run.placement) == 2 and run.makespan == pytest.approx(3e-3)


@pytest.mark.parametrize("seed", range(30))
def test_near_the_best_of_all_placements(seed):
    devices = 2 + seed % 2
    load = workload_of(random_step(9 if devices == 2 else 6, seed, span=5), devices)
    best = best_of_all(load)
    run = place_greedily(load)
    assert run.makespan <= 1.1 * best
    assert best <= search(run, effort=5000).makespan <= run.makespan


@pytest.mark.parametrize("seed", range(3))
def test_the_search_improves_what_is_far_from_the_best(seed):
    load = workload_of(random_step(80, seed), 4)
    start = Run(load, load.default)
    found = search(start, effort=100_000)
    assert found.makespan < start.makespan
    assert Run(load, found.placement).makespan == found.makespan


def test_the_same_step_is_placed_the_same_way():
    placements = set()
    for _ in range(2):
        load = workload_of(random_step(60, 5), 4)
        found = search(place_greedily(load), effort=20_000, seed=3)
        placements.add(tuple(found.placement))
    assert len(placements) == 1


def test_a_search_with_nothing_to_move_gives_back_what_it_got():
    load = workload([(0, 1)], [1, 1], devices=1)
    run = Run(load, load.default)
    assert search(run) is run


def test_refinement_stops_when_its_effort_is_spent(monkeypatch):
    load = workload_of(random_step(300, 1), 8)
    run = Run(load, load.default)
    before = run.visited
    refine(run, 2000)
    # The try, and the move, that were under way when it was spent.
    assert run.visited - before <= 2000 + 3 * 320
    monkeypatch.setattr(greedy_module, "REFINEMENT_VISITS", 0)
    assert place_greedily(load).makespan < run.makespan
