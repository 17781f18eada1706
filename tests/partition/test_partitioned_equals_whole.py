"""A step cut into parts for several devices gives what it gives uncut, wherever its nodes are."""

import random

import numpy as np
import pytest

import penstock as tf
from tests.runtime.test_control_flow_plans import RandomControlFlow
from tests.runtime.test_plan_equals_executor import RandomGraph

DEVICES = 3


def scattered(graph, seed):
    """Gives every node of a graph a random device; those that share state settle on one."""
    rng = random.Random(seed)
    for op in graph.get_operations():
        op._set_device(f"/device:CPU:{rng.randrange(DEVICES)}")


def session(graph, count):
    config = tf.ConfigProto(device_count={"CPU": count}, allow_soft_placement=True)
    return tf.Session(graph=graph, config=config)


def outcomes(count, graph, init, runs, state):
    with session(graph, count) as sess:
        sess.run(init)
        found = []
        for fetches, feeds in runs:
            found.append(sess.run(fetches, feeds))
            found.append(sess.run(state))
        return found


def assert_same(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_straight_graphs_with_state(seed):
    # A reference that crosses devices is read when it is sent, not where it is used: with
    # reference variables the order of reads and updates would depend on the placement.
    made = RandomGraph(seed, size=30, only_resources=True)
    runs = [made.random_run() for _ in range(2)]
    whole = outcomes(1, made.graph, made.init, runs, made.variables)
    scattered(made.graph, seed)
    assert_same(outcomes(DEVICES, made.graph, made.init, runs, made.variables), whole)


@pytest.mark.parametrize("seed", range(60))
def test_loops_and_conditionals(seed):
    made = RandomControlFlow(seed)
    runs = [
        (
            made.fetches,
            {made.input: np.array([0.3, -0.8], np.float32) * scale, made.flag: flag},
        )
        for flag, scale in ((True, 1.0), (False, -1.0))
    ]
    whole = outcomes(1, made.graph, made.init, runs, [made.counter])
    scattered(made.graph, seed)
    assert_same(outcomes(DEVICES, made.graph, made.init, runs, [made.counter]), whole)
