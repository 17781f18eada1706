"""The dataflow executor defines what a step means: plans of random graphs must agree with it.

Each seed makes a graph of arithmetic, views, reads and writes of variables (ref and resource) and
control edges, and runs random fetches with random feeds three ways from the same state: as a
plan, as a plan without optional passes, and by the executor.
"""

import random

import numpy as np
import pytest

import penstock as tf
from penstock.runtime.executor import execute
from penstock.runtime.step import Step

SHAPE = (2, 3)


class ExecutorStep:
    """A compiled step that the executor runs."""

    def __init__(self, runtime, feeds, fetches, targets):
        self.graph, self.bound = runtime.prepare(feeds, fetches, targets)

    def run(self, feeds, timeout=None):
        return tuple(execute(self.graph, self.bound, feeds, Step()))


def executor_session(graph):
    session = tf.Session(graph=graph)
    runtime = session._runtime
    runtime.compile = lambda *signature, every_node=False: ExecutorStep(runtime, *signature)
    return session


class RandomGraph:
    def __init__(self, seed, size=40, only_resources=False):
        self.rng = random.Random(seed)
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.inputs = [tf.placeholder(tf.float32, [2, None], name=f"in{i}") for i in range(2)]
            self.variables = [
                tf.Variable(
                    np.full(SHAPE, i + 1.0, np.float32),
                    name=f"v{i}",
                    use_resource=only_resources or i % 2 == 1,
                )
                for i in range(3)
            ]
            self.init = tf.global_variables_initializer()
            self.tensors = [*self.inputs, tf.constant(np.ones(SHAPE, np.float32))]
            self.updates = []
            for _ in range(size):
                self._grow()

    def _grow(self):
        rng = self.rng
        if rng.random() < 0.25:
            after = rng.sample(self.tensors + self.updates, k=1)
            with tf.control_dependencies(after):
                self._add_node()
        else:
            self._add_node()

    def _add_node(self):
        rng = self.rng
        pick = lambda: rng.choice(self.tensors)  # noqa: E731
        kind = rng.choice(
            ["binary"] * 4 + ["unary"] * 3 + ["view"] * 2 + ["read"] * 2 + ["write"] * 2
        )
        if kind == "binary":
            self.tensors.append(rng.choice([tf.add, tf.subtract, tf.maximum])(pick(), pick()))
        elif kind == "unary":
            function = rng.choice([tf.nn.relu, tf.negative, tf.tanh, tf.identity])
            self.tensors.append(function(pick()))
        elif kind == "view":
            x = pick()
            way = rng.randrange(3)
            if way == 0:
                self.tensors.append(tf.reshape(tf.reshape(x, [-1]), [2, -1]))
            elif way == 1:
                self.tensors.append(tf.transpose(tf.transpose(x)))
            else:
                self.tensors.append(tf.squeeze(tf.expand_dims(x, 0), [0]))
        elif kind == "read":
            variable = rng.choice(self.variables)
            self.tensors.append(rng.choice([variable.read_value, variable.value])())
        else:
            variable = rng.choice(self.variables)
            update = rng.choice([tf.assign, tf.assign_add, tf.assign_sub])(variable, pick())
            self.updates.append(update)
            if rng.random() < 0.5:
                self.tensors.append(tf.identity(update))

    def random_run(self):
        rng = self.rng
        fetches = rng.sample(self.tensors, k=min(4, len(self.tensors)))
        fetches += rng.sample(self.updates, k=min(3, len(self.updates)))
        feeds = {x: np.random.RandomState(rng.randrange(99)).randn(*SHAPE) for x in self.inputs}
        for tensor in rng.sample(self.tensors, k=rng.randrange(2)):
            feeds[tensor] = np.full(SHAPE, 0.5, np.float32)
        return fetches, feeds


def outcome(session, graph, runs):
    session.run(graph.init)
    results = [session.run(fetches, feeds) for fetches, feeds in runs]
    return [*results, session.run([v.value() for v in graph.variables])]


@pytest.mark.parametrize("seed", range(150))
def test_agree(seed):
    graph = RandomGraph(seed)
    runs = [graph.random_run() for _ in range(3)]
    plain = tf.ConfigProto()
    plain.graph_options.optimizer_options.opt_level = -1
    expected = outcome(executor_session(graph.graph), graph, runs)
    for session in (
        tf.Session(graph=graph.graph),
        tf.Session(graph=graph.graph, config=plain),
    ):
        for mine, theirs in zip(outcome(session, graph, runs), expected, strict=True):
            for a, b in zip(mine, theirs, strict=True):
                np.testing.assert_array_equal(a, b)


def test_the_comparison_can_fail():
    """A variable read that ignores order would be noticed: reads come before writes."""
    with tf.Graph().as_default():
        variable = tf.Variable(1.0)
        after = tf.assign_add(variable, 1.0)
        before = variable.read_value() * 1.0
        with tf.Session() as session:
            session.run(variable.initializer)
            assert session.run([before, after]) == [1.0, 2.0]
