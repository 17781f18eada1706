"""Placement by the cost model: how long it takes on a large graph, how good it is on small ones.

    python -m benchmarks.placement [nodes] [devices]

Places a random graph of 10,000 nodes on 8 simulated devices, and 200 random graphs of up to ten
nodes on two or three, which it compares with the best of all placements. Then trains two towers on
two CPU devices with one thread each, on the first device alone and spread by the greedy choice: the
measured times beside the simulated ones. Fails if the large graph takes 5 s or more to place, or if
a small one is longer than 1.1 times the best.
"""

from __future__ import annotations

import itertools
import random
import sys
import time

from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.placement.chooser import chooser
from penstock.placement.cost_model import CostModel
from penstock.placement.greedy import place_greedily
from penstock.placement.groups import Candidate, Group
from penstock.placement.options import PlacementOptions
from penstock.placement.placer import place
from penstock.placement.search import search
from penstock.placement.simulate import Run, Workload
from penstock.placement.units import units_of

SMALL_GRAPHS = 200
LIMIT_SECONDS = 5.0
LIMIT_RATIO = 1.1


def random_step(count: int, seed: int, span: int = 60) -> StepGraph:
    """Matrix products and sums of what the last `span` nodes made."""
    from penstock import dtypes
    from penstock.ir.registry import find

    rng = random.Random(seed)
    nodes: list[Node] = []
    for i in range(count):
        size = rng.choice((64, 128, 256, 512))
        recent = nodes[-span:]
        is_source = not recent or rng.random() < 0.05
        spec = find("Placeholder" if is_source else rng.choice(("MatMul", "AddV2")))
        assert spec is not None, "penstock has not been imported"
        node = Node(spec, f"n{i}", {}, [dtypes.float32], [(size, size)], order=i)
        if not is_source:
            node.inputs = [Edge(rng.choice(recent), 0) for _ in range(2)]
        nodes.append(node)
    return StepGraph(nodes, [], [], nodes[-1:])


def device_names(count: int) -> list[str]:
    return [f"/job:localhost/replica:0/task:0/device:GPU:{i}" for i in range(count)]


def workload_of(step: StepGraph, devices: int) -> Workload:
    """A step every node of which may run on every device."""
    candidates = [Candidate.of(name) for name in device_names(devices)]
    groups = [Group([node], devices=list(candidates)) for node in step.nodes]
    return Workload(step, candidates, units_of(step, groups, candidates), CostModel())


def large(nodes: int, devices: int) -> bool:
    step = random_step(nodes, seed=0)
    begin = time.perf_counter()
    place(step, device_names(devices), choose=chooser(PlacementOptions("greedy", least_seconds=0)))
    took = time.perf_counter() - begin
    workload = workload_of(step, devices)
    alone = Run(workload, workload.default).makespan
    number = {name: i for i, name in enumerate(device_names(devices))}
    run = Run(workload, [number[node.device] for node in step.nodes])
    print(f"{nodes:,} nodes on {devices} devices: placed in {took:.2f} s")
    print(f"  simulated: {run.makespan * 1e3:.2f} ms, on one device {alone * 1e3:.2f} ms")
    begin = time.perf_counter()
    found = search(run)
    print(f"  search: {found.makespan * 1e3:.2f} ms, in {time.perf_counter() - begin:.2f} s more")
    return took < LIMIT_SECONDS


def small() -> bool:
    ratios = []
    for seed in range(SMALL_GRAPHS):
        devices = 2 + seed % 2
        workload = workload_of(random_step(10 if devices == 2 else 8, seed, span=6), devices)
        every = itertools.product(range(devices), repeat=len(workload.units.choices))
        best = min(Run(workload, list(placement)).makespan for placement in every)
        ratios.append(place_greedily(workload).makespan / best)
    mean = sum(ratios) / len(ratios)
    worst = max(ratios)
    print(f"{SMALL_GRAPHS} small graphs: {mean:.4f} x the best on average, {worst:.4f} x at most")
    return worst <= LIMIT_RATIO


def towers() -> None:
    import numpy as np

    import penstock as tf
    from penstock.config.placement import set_placement

    x = tf.placeholder(tf.float32, [256, 512])
    weights = [tf.get_variable(f"w{i}", [512, 512], use_resource=True) for i in range(6)]
    losses = []
    for number in range(2):
        value = x * float(number + 1)
        for weight in weights:
            value = tf.tanh(tf.matmul(value, weight))
        losses.append(tf.reduce_mean(value**2))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.add_n(losses))
    batch = np.random.default_rng(0).standard_normal([256, 512], np.float32)
    for mode in ("off", "greedy"):
        config = tf.ConfigProto(device_count={"CPU": 2}, intra_op_parallelism_threads=1)
        set_placement(mode, config=config)
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            times = []
            for _ in range(30):
                begin = time.perf_counter()
                session.run(train, {x: batch})
                times.append(time.perf_counter() - begin)
            simulated = tf.explain(train, [x], session).schedule.makespan
        best = min(times)
        print(f"two towers, {mode}: {best * 1e3:.1f} ms, simulated {simulated * 1e3:.1f} ms")


if __name__ == "__main__":
    import penstock  # noqa: F401  # registers the ops

    arguments = [int(argument) for argument in sys.argv[1:]]
    passed = [large(*(arguments + [10_000, 8][len(arguments) :])), small()]
    towers()
    sys.exit(int(not all(passed)))
