"""Loops that compute nothing but numbers: as Python code, and as C++ once their step is hot."""

import random
import threading
import time

import numpy as np
import pytest

import penstock as tf
from penstock.runtime.fusion import inductor, native_loops
from penstock.runtime.number_loops import is_of_numbers, numbers_of

SOON = tf.ConfigProto(device_count={"GPU": 0})  # loops of numbers are compiled for CPUs
SOON.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
AS_WRITTEN = tf.ConfigProto()
AS_WRITTEN.graph_options.optimizer_options.opt_level = tf.OptimizerOptions.L0

needs_compiler = pytest.mark.skipif(
    inductor.missing_compiler("cpu") is not None, reason="needs a C++ compiler"
)


@pytest.fixture(autouse=True)
def graph(monkeypatch):
    monkeypatch.delenv("PENSTOCK_FUSION", raising=False)
    with tf.Graph().as_default() as graph:
        yield graph


def loops_of(session, fetches, feeds=None):
    step = session._prepare(None, fetches, feeds or {}).step
    return [node for node in step.graph.nodes if node.type == "_While"]


def heated(session, fetches, feeds=None):
    """Runs until the loops of a step are compiled."""
    step = session._prepare(None, fetches, feeds or {}).step
    warming = step.warming
    for _ in range(3):
        session.run(fetches, feeds)
    warming.wait()
    natives = [node for node in step.fused[0].nodes if node.attrs.get("native") is not None]
    assert natives, "no loop was compiled"
    return step


def all_ways(fetches, feeds):
    """The results of a plan of Python code, of compiled code and of single nodes."""
    with tf.Session() as session:
        (loop,) = loops_of(session, fetches, feeds)
        assert is_of_numbers(loop, numbers_of(loop))
        found = [session.run(fetches, feeds)]
    with tf.Session(config=SOON) as session:
        heated(session, fetches, feeds)
        found.append(session.run(fetches, feeds))
    with tf.Session(config=AS_WRITTEN) as session:
        found.append(session.run(fetches, feeds))
    return found


class RandomLoop:
    """A loop of a few integers that ends when a counter has reached a limit, or before that."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._kind = self._random.choice([tf.int32, tf.int64])
        self._edge = 2 ** (31 if self._kind == tf.int32 else 63)
        self.fed = tf.placeholder(self._kind, [])
        self._rule = self._random.choice(["<", "<=", ">", ">=", "both", "mirrored"])
        self._step = self._random.choice([1, 2, 7])
        starts = [self._number(), self._number(), 0 if self._counts_up else 40]
        self.results = tf.while_loop(
            self._goes_on, self._next, [tf.constant(each, self._kind) for each in starts]
        )

    @property
    def _counts_up(self):
        return self._rule in ("<", "<=", "both", "mirrored")

    def _number(self):
        near = self._random.randrange(-5, 6)
        return near + self._random.choice([0, 0, self._edge - 6, 5 - self._edge])

    def _goes_on(self, a, b, counter):
        limit = self.fed if self._counts_up else self.fed - self.fed
        return {
            "<": lambda: counter < limit,
            "<=": lambda: counter <= limit,
            ">": lambda: counter > limit,
            ">=": lambda: counter >= limit,
            "mirrored": lambda: limit > counter,
            "both": lambda: tf.logical_and(counter < limit, tf.logical_not(tf.equal(a, b + 3))),
        }[self._rule]()

    def _next(self, a, b, counter):
        values = [a, b, counter, tf.constant(self._number(), self._kind)]
        for _ in range(6):
            x, y = self._random.choice(values), self._random.choice(values)
            make = self._random.choice(
                [tf.add, tf.subtract, tf.multiply, tf.minimum, tf.maximum, lambda x, y: -x]
            )
            values.append(make(x, y))
        change = self._step if self._counts_up else -self._step
        return values[-1], values[-2], counter + change


@needs_compiler
@pytest.mark.parametrize("seed", range(12))
def test_random_loops(seed):
    program = RandomLoop(seed)
    python, native, written = all_ways(program.results, {program.fed: 23})
    assert python == native == written
    assert [value.dtype for value in native] == [value.dtype for value in written]


@needs_compiler
@pytest.mark.parametrize("kind", [tf.int32, tf.int64])
def test_a_counter_that_wraps_around_before_its_limit(kind):
    """It passes the largest number, so how often the loop runs is not (limit - start) / step."""
    largest = kind.max
    start = tf.placeholder(kind, [])
    end, count = tf.while_loop(
        lambda i, n: i < largest, lambda i, n: (i + 2, n + 1), [start, tf.constant(0)]
    )
    python, native, written = all_ways([end, count], {start: largest - 4})
    assert python == native == written == [largest, 2]
    with tf.Session(config=SOON) as session:
        ended, _ = tf.while_loop(
            lambda i, n: tf.logical_and(i < largest, n < 10),
            lambda i, n: (i + 2, n + 1),
            [start, tf.constant(0)],
        )
        heated(session, ended, {start: largest - 3})
        assert session.run(ended, {start: largest - 3}) == kind.min + 16


@needs_compiler
def test_new_limits_and_loops_that_do_not_run():
    limit = tf.placeholder(tf.int64, [])
    counted = tf.while_loop(lambda i: i < limit, lambda i: i + 3, [tf.constant(0, tf.int64)])
    with tf.Session(config=SOON) as session:
        heated(session, counted, {limit: 10})
        found = [session.run(counted, {limit: each}) for each in (10, 0, -5, 1, 3, 4, 10**9)]
    assert found == [12, 0, 0, 3, 3, 6, 10**9 + 2]


@needs_compiler
def test_long_loops_are_run_in_parts(monkeypatch):
    monkeypatch.setattr(native_loops, "_AT_A_TIME", 4)
    limit = tf.placeholder(tf.int32, [])
    a, b = tf.while_loop(
        lambda a, b: tf.logical_not(tf.greater_equal(a, limit)),
        lambda a, b: (b, a + b),
        [tf.constant(0), tf.constant(1)],
    )
    python, native, written = all_ways([a, b], {limit: 10000})
    assert python == native == written == [10946, 17711]
    counted = tf.while_loop(lambda i: i <= limit, lambda i: i + 1, [tf.constant(0)])
    assert all_ways([counted], {limit: 10}) == [[11]] * 3


@needs_compiler
def test_closing_the_session_ends_a_loop_that_never_ends(monkeypatch):
    monkeypatch.setattr(native_loops, "_AT_A_TIME", 1000)
    wanted = tf.placeholder(tf.int32, [])
    loop = tf.while_loop(lambda i: tf.not_equal(i, wanted), lambda i: i + 2, [tf.constant(0)])
    session = tf.Session(config=SOON)
    heated(session, loop, {wanted: 20})
    errors = []

    def run():
        try:
            session.run(loop, {wanted: 1})
        except tf.errors.CancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.05)
    session.close()
    thread.join(60)
    assert not thread.is_alive() and len(errors) == 1


@needs_compiler
def test_steps_with_a_timeout_and_traces_see_iterations():
    limit = tf.placeholder(tf.int32, [])
    loop = tf.while_loop(lambda i: i < limit, lambda i: i + 1, [tf.constant(0)])
    forever = tf.while_loop(lambda i: i >= limit, lambda i: tf.maximum(i + 1, 0), [tf.constant(0)])
    with tf.Session(config=SOON) as session:
        heated(session, loop, {limit: 5})
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert session.run(loop, {limit: 5}, options, metadata) == 5
        names = [n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats]
        assert names.count("while/Less") == 6
        heated(session, forever, {limit: 5})
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(forever, {limit: 0}, tf.RunOptions(timeout_in_ms=50))


@needs_compiler
def test_explained():
    loop = tf.while_loop(lambda i: i < 9, lambda i: i + 1, [tf.constant(0)], name="counting")
    with tf.Session(config=SOON) as session:
        heated(session, loop)
        assert "counting/while_context: all of the loop" in str(tf.explain(loop, [], session))


def test_what_is_no_loop_of_numbers():
    limit = tf.constant(3)
    total = tf.Variable(0)
    tensors = tf.while_loop(lambda i, x: i < limit, lambda i, x: (i + 1, x * 2.0), [0, 1.0])
    counting = tf.while_loop(lambda i: i < limit, lambda i: i + total.assign_add(1), [0])
    with tf.Session() as session:
        session.run(total.initializer)
        for fetches in (tensors, counting):
            (loop,) = loops_of(session, fetches)
            assert not is_of_numbers(loop, numbers_of(loop))
        assert session.run(tensors) == (3, 8.0)
        assert session.run(counting) == 3


def test_results_are_scalars_of_their_type():
    flag, number = tf.while_loop(
        lambda flag, number: flag,
        lambda flag, number: (number < 3, number + 1),
        [tf.constant(True), tf.constant(0, tf.int64)],
    )
    with tf.Session() as session:
        found = session.run([flag, number])
    assert [type(each) for each in found] == [np.bool_, np.int64] and found == [False, 4]
