"""Loops and conditionals in plans agree with the dataflow executor, which defines what they mean.

Each seed builds nested loops and conditionals over a few values, with updates of variables inside,
and takes gradients through them; plan and executor run them from the same state.
"""

import random

import numpy as np
import pytest

import penstock as tf
from penstock.passes.pipeline import PassOptions
from penstock.runtime.compiled import CompiledStep


class RandomControlFlow:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.input = tf.placeholder(tf.float32, [2], name="x")
            self.flag = tf.placeholder(tf.bool, [], name="flag")
            self.counter = tf.Variable(0.0, use_resource=True, trainable=False, name="counter")
            self.init = tf.global_variables_initializer()
            values = [self.input, tf.constant([0.5, -0.25])]
            for _ in range(self.rng.randint(1, 3)):
                values.append(self.block(values, depth=self.rng.randint(1, 3)))
            total = tf.add_n([tf.reduce_sum(value) for value in values[2:]])
            grads = tf.gradients(total, [self.input])
            self.fetches = [*values[2:], total, *(grad for grad in grads if grad is not None)]

    def block(self, values, depth):
        kind = self.rng.choice(["plain", "cond", "loop"]) if depth else "plain"
        return getattr(self, kind)(values, depth)

    def plain(self, values, depth):
        a, b = self.rng.choice(values), self.rng.choice(values)
        make = self.rng.choice(
            [
                lambda: tf.tanh(a) + 0.5 * b,
                lambda: a * 0.75,
                lambda: tf.maximum(a, b) - 0.1,
                lambda: a * tf.sigmoid(b),
                lambda: tf.identity(b),
            ]
        )
        return make()

    def predicate(self, values):
        if self.rng.random() < 0.4:
            return self.flag
        return tf.reduce_sum(self.rng.choice(values)) > self.rng.uniform(-1, 1)

    def cond(self, values, depth):
        def branch():
            inner = self.block(values, depth - 1)
            if self.rng.random() < 0.3:
                with tf.control_dependencies([self.counter.assign_add(1.0)]):
                    inner = tf.identity(inner)
            return tf.reshape(inner, [2])

        return tf.cond(self.predicate(values), branch, branch)

    def loop(self, values, depth):
        steps = self.rng.randint(0, 4)
        use_counter = self.rng.random() < 0.3

        def body(i, x):
            new = self.block([*values, x], depth - 1) * 0.5 + x * 0.25
            if use_counter:
                with tf.control_dependencies([self.counter.assign_add(1.0)]):
                    new = tf.identity(new)
            return i + 1, new

        start = self.rng.choice(values)
        return tf.while_loop(lambda i, x: i < steps, body, [tf.constant(0), start])[1]


def _session(graph, *, structure):
    session = tf.Session(graph=graph)
    session._runtime.options = PassOptions(structure=structure)
    compiled = []
    compile_step = session._runtime.compile

    def watched(*signature, **options):
        compiled.append(compile_step(*signature, **options))
        return compiled[-1]

    session._runtime.compile = watched
    return session, compiled


@pytest.mark.parametrize("seed", range(120))
def test_plans_equal_the_executor(seed):
    made = RandomControlFlow(seed)
    results = []
    for structure in (True, False):
        session, compiled = _session(made.graph, structure=structure)
        with session:
            session.run(made.init)
            found = []
            for flag, scale in ((True, 1.0), (False, -1.0)):
                feed = {made.input: np.array([0.3, -0.8], np.float32) * scale, made.flag: flag}
                found += session.run(made.fetches, feed)
                found.append(session.run(made.counter))
        if structure:
            assert all(isinstance(step, CompiledStep) and step.plan for step in compiled)
        results.append(found)
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_an_error_names_its_iteration():
    with tf.Graph().as_default():
        numbers = tf.constant([4, 2, 1, 0, 5])

        def body(i, total):
            return i + 1, total + 12 // numbers[i]

        _, total = tf.while_loop(lambda i, _: i < 5, body, [0, 0])
        with (
            tf.Session() as session,
            pytest.raises(
                tf.errors.InvalidArgumentError,
                match="in iteration 3 of the loop 'while/while_context'",
            ),
        ):
            session.run(total)


def test_an_endless_loop_ends_at_its_timeout():
    with tf.Graph().as_default():
        endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 1, [0])
        with tf.Session() as session, pytest.raises(tf.errors.DeadlineExceededError):
            session.run(endless, options=tf.RunOptions(timeout_in_ms=100))


def test_a_loop_without_gradient_keeps_no_history():
    import tracemalloc

    with tf.Graph().as_default():
        steps = tf.placeholder(tf.int32, [])
        loop = tf.while_loop(
            lambda i, x: i < steps, lambda i, x: (i + 1, x * 1.0), [0, tf.ones([10])]
        )
        with tf.Session() as session:
            session.run(loop, {steps: 10})
            tracemalloc.start()
            session.run(loop, {steps: 2000})
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
    assert peak < 200_000


def test_what_may_be_dead_is_left_to_the_executor():
    with tf.Graph().as_default():
        off, on = tf.raw_ops.Switch(data=1.0, pred=True)
        with tf.Session() as session:
            assert session.run(on + 1.0) == 2.0
            with pytest.raises(tf.errors.InvalidArgumentError, match="dead"):
                session.run(off)


def _both_ways(fetches, feed=None):
    found = []
    for structure in (True, False):
        session, _ = _session(tf.get_default_graph(), structure=structure)
        with session:
            found.append(session.run(fetches, feed))
    return found


def test_counters_as_numbers_wrap_around_as_tensors_do():
    with tf.Graph().as_default():
        limit = tf.placeholder(tf.int32, [])
        start = tf.constant(2**31 - 3)
        loop = tf.while_loop(
            lambda i, n: tf.logical_and(n < limit, tf.logical_not(n >= 100)),
            lambda i, n: (i * 3 - (-i) + 1, tf.minimum(n + 1, tf.maximum(n, 2) + 1)),
            [start, 0],
        )
        wide = tf.while_loop(
            lambda i, n: n > 0,
            lambda i, n: (i * i + n, n - 1),
            [tf.constant(2**62), tf.cast(limit, tf.int64)],
        )
        ours, theirs = _both_ways([loop, wide], {limit: 7})
    assert ours == theirs and ours[0][0] != 2**31 - 3


def test_a_counter_that_is_needed_as_a_tensor_stays_one():
    with tf.Graph().as_default():
        numbers = tf.constant([1.0, 2.0, 4.0, 8.0])
        _, total, last = tf.while_loop(
            lambda i, total, last: i < tf.size(numbers),
            lambda i, total, last: (i + 1, total + numbers[i], tf.stack([i, i])),
            (0, 0.0, tf.constant([0, 0])),
            maximum_iterations=3,
        )
        ours, theirs = _both_ways([total, last])
    assert ours[0] == theirs[0] == 7.0
    np.testing.assert_array_equal(ours[1], theirs[1])
