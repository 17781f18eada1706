"""What may be moved gives the same values wherever it is moved to: state, references, loops."""

import random

import numpy as np
import pytest

import penstock as tf
from penstock.placement.chooser import apply_run
from penstock.placement.cost_model import CostModel
from penstock.placement.simulate import Run, Workload
from penstock.placement.units import eager_order, units_of
from tests.runtime.test_control_flow_plans import RandomControlFlow
from tests.runtime.test_plan_equals_executor import RandomGraph

DEVICES = 3


def scatterer(seed, used):
    """A choice at random among what the units of a step allow."""
    rng = random.Random(seed)

    def choose(step, groups):
        step.nodes = eager_order(step)
        step.verify("eager_order")
        devices = list({device.name: device for g in groups for device in g.devices}.values())
        units = units_of(step, groups, devices)
        workload = Workload(step, devices, units, CostModel())
        apply_run(Run(workload, [rng.choice(choices) for choices in units.choices]), groups)
        used.update(group.devices[0].name for group in groups)

    return choose


def outcomes(graph, init, runs, state, choose=None):
    count = 1 if choose is None else DEVICES
    config = tf.ConfigProto(device_count={"CPU": count})
    with tf.Session(graph=graph, config=config) as sess:
        sess._runtime._choose = choose
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


@pytest.mark.parametrize("seed", range(40))
def test_graphs_with_variables_of_both_kinds(seed):
    made = RandomGraph(seed, size=30)
    runs = [made.random_run() for _ in range(2)]
    whole = outcomes(made.graph, made.init, runs, made.variables)
    used = set()
    choose = scatterer(seed, used)
    assert_same(outcomes(made.graph, made.init, runs, made.variables, choose), whole)
    assert len(used) > 1


@pytest.mark.parametrize("seed", range(20))
def test_loops_and_conditionals(seed):
    made = RandomControlFlow(seed)
    values = np.array([0.3, -0.8], np.float32)
    runs = [(made.fetches, {made.input: values, made.flag: flag}) for flag in (True, False)]
    whole = outcomes(made.graph, made.init, runs, [made.counter])
    choose = scatterer(seed, set())
    assert_same(outcomes(made.graph, made.init, runs, [made.counter], choose), whole)


def test_a_reference_is_looked_at_after_the_update_it_waits_for():
    with tf.Graph().as_default() as graph:
        counter = tf.Variable(1.0, use_resource=False)
        with tf.control_dependencies([counter.assign_add(1.0)]):
            after = counter * 10.0
        for seed in range(10):
            choose = scatterer(seed, set())
            ((value,), _) = outcomes(graph, counter.initializer, [([after], {})], [counter], choose)
            assert value == 20.0
