"""Steps that are recorded and replayed: on an imitated GPU when, on a real one that it works."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.runtime import cuda_graphs, cuda_recorder
from penstock.runtime.cuda_graphs import MOST_RECORDINGS, TRIALS, WARM_RUNS
from penstock.state.variable import VariableState
from tests.gpu.imitation import imitated_gpu
from tests.gpu.programs import ON_HOST, PROGRAMS, learned
from tests.gpu.recording import ImitatedRecorder

UNTIL_RECORDED = WARM_RUNS + TRIALS + 1
UNTIL_KEPT = UNTIL_RECORDED + TRIALS


class Bench:
    """A session on the imitated GPU whose steps are recorded by an imitated recorder."""

    def __init__(self, session: Any, recorder: ImitatedRecorder):
        self.session = session
        self.recorder = recorder

    def run(self, fetches: Any, feed: Any = None, times: int = 1) -> Any:
        for _ in range(times):
            found = self.session.run(fetches, feed)
        return found

    def explained(self, fetches: Any, feeds: Any = ()) -> str:
        text = str(tf.explain(fetches, feeds, self.session))
        return next(line for line in text.splitlines() if "CUDA graph" in line)


@pytest.fixture
def bench() -> Iterator[Bench]:
    devices: list[Any] = []

    def states() -> list[Any]:
        kept = [entries for d in devices for entries in d.resources._containers.values()]
        found = [value for entries in kept for value in entries.values()]
        return [s for s in found if isinstance(s, VariableState) and s.value is not None]

    recorder = ImitatedRecorder(states)
    with imitated_gpu():

        def make(device: Any) -> Any:
            if device.torch_device.type != "cuda":
                return None
            devices.append(device)
            return recorder

        with (
            mock.patch.object(cuda_graphs, "recorder_for", make),
            tf.Graph().as_default(),
            tf.Session() as session,
        ):
            yield Bench(session, recorder)


@pytest.fixture(params=[False, True], ids=["reference", "resource"])
def counter(bench: Bench, request: Any) -> Any:
    made = tf.get_variable("v", [2], initializer=tf.zeros_initializer(), use_resource=request.param)
    bench.run(made.initializer)
    return made


def test_a_step_is_replayed_once_it_ran_often(bench: Bench, counter: Any) -> None:
    step = counter.assign_add([1.0, 2.0]).op
    bench.run(step, times=UNTIL_RECORDED)
    assert bench.recorder.replays == 0
    bench.run(step, times=10)
    assert bench.recorder.replays == 10
    assert len(bench.recorder.recorded) == 1
    total = UNTIL_RECORDED + 10
    np.testing.assert_array_equal(bench.run(counter), [total, 2 * total])
    assert bench.explained(step) == "# CUDA graph: replayed, in 0.50 of the plan's time"


def test_feeds_and_fetches(bench: Bench, counter: Any) -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    y, shape = tf.reduce_sum(x) * counter, tf.shape(x)
    bench.run(counter.assign([1.0, 3.0]))
    for i in range(UNTIL_KEPT + 5):
        found = bench.run([y, shape], {x: [[i, 1]]})
        np.testing.assert_array_equal(found[0], [i + 1, 3 * i + 3])
        np.testing.assert_array_equal(found[1], [1, 2])
    assert bench.recorder.replays == TRIALS + 5
    kept = bench.run(y, {x: [[1, 2]]})
    bench.run(y, {x: [[5, 5]]})
    np.testing.assert_array_equal(kept, [3, 9])  # a result is nobody's memory but the caller's


def test_other_shapes_are_not_those_that_were_recorded(bench: Bench) -> None:
    x = tf.placeholder(tf.float32, [None])
    y = x * 2.0
    bench.run(y, {x: [1, 2]}, times=UNTIL_KEPT)
    replays = bench.recorder.replays
    np.testing.assert_array_equal(bench.run(y, {x: [1, 2, 3]}), [2, 4, 6])
    assert bench.recorder.replays == replays
    bench.run(y, {x: [1, 2]})
    assert bench.recorder.replays == replays + 1
    for size in range(3, 12):
        np.testing.assert_array_equal(bench.run(y, {x: [1.0] * size}), [2.0] * size)


def test_what_the_host_computes_of_shapes_is_recorded(bench: Bench) -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    total = tf.reduce_mean(tf.square(x)) + tf.cast(tf.shape(x)[0] * 10, tf.float32)
    wanted = [total, *tf.gradients(total, x)]
    for i in range(2 * UNTIL_KEPT):
        rows = 2 + i % 2
        found = bench.run(wanted, {x: np.full([rows, 3], i)})
        np.testing.assert_allclose(found[0], i * i + 10 * rows)
        np.testing.assert_allclose(found[1], np.full([rows, 3], 2 * i / (3 * rows)), rtol=1e-6)
    assert len(bench.recorder.recorded) == 2
    assert bench.recorder.replays == 2 * (UNTIL_KEPT - UNTIL_RECORDED)


def test_a_step_that_waits_for_the_gpu_is_not_recorded(bench: Bench) -> None:
    x = tf.placeholder(tf.float32, [3])
    found = tf.boolean_mask(x, x > 1.0) * 2.0
    for _ in range(UNTIL_KEPT):
        np.testing.assert_array_equal(bench.run(found, {x: [1, 2, 3]}), [4, 6])
    np.testing.assert_array_equal(bench.run(found, {x: [5, 2, 3]}), [10, 4, 6])
    assert bench.recorder.recorded == []
    told = bench.explained(found, [x])
    assert "it waits for the GPU" in told or told.startswith("# no CUDA graph")


def test_a_value_that_the_host_finds_is_not_recorded(bench: Bench, counter: Any) -> None:
    known = tf.cast(tf.is_variable_initialized(counter), tf.float32) + 1.0
    assert bench.run(known, times=UNTIL_KEPT) == 2
    assert bench.recorder.recorded == []
    assert "a value of the host is copied in each step" in bench.explained(known)


def test_a_slower_replay_is_given_up(bench: Bench, counter: Any) -> None:
    bench.recorder.replay_seconds = 1.0
    step = counter.assign_add([1.0, 1.0]).op
    bench.run(step, times=UNTIL_KEPT + 5)
    assert bench.recorder.replays == TRIALS
    assert bench.recorder.recorded[0].is_released
    np.testing.assert_array_equal(bench.run(counter), [UNTIL_KEPT + 5] * 2)
    assert bench.explained(step).endswith("run by its plan: a replay takes 1.00 of its time")


def test_what_can_not_be_recorded_runs_as_before(bench: Bench, counter: Any) -> None:
    bench.recorder.failure = RuntimeError("operation not permitted when stream is capturing\nmore")
    step = counter.assign_add([1.0, 1.0]).op
    bench.run(step, times=UNTIL_KEPT)
    assert bench.recorder.replays == 0
    np.testing.assert_array_equal(bench.run(counter), [UNTIL_KEPT] * 2)
    told = "it can't be recorded (RuntimeError: operation not permitted when stream is capturing)"
    assert bench.explained(step).endswith(told)


def test_a_variable_with_new_memory_is_recorded_anew(bench: Bench) -> None:
    v = tf.get_variable("v", initializer=[1.0], validate_shape=False, use_resource=False)
    bench.run(v.initializer)
    doubled = v * 2.0
    grow = tf.assign(v, tf.concat([v, [5.0]], 0), validate_shape=False)
    bench.run(doubled, times=UNTIL_KEPT)
    bench.run(grow)
    np.testing.assert_array_equal(bench.run(doubled), [2, 10])
    bench.run(doubled, times=TRIALS)
    assert len(bench.recorder.recorded) == 2
    assert bench.recorder.recorded[0].is_released
    for _ in range(MOST_RECORDINGS):
        bench.run(grow)
        bench.run(doubled, times=3)
    assert len(bench.recorder.recorded) == MOST_RECORDINGS
    assert bench.explained(doubled).endswith("its variables keep moving")


def test_an_assigned_value_stays_in_the_variables_memory(bench: Bench, counter: Any) -> None:
    step = counter.assign(counter * 1.0 + 1.0).op
    bench.run(step, times=UNTIL_KEPT + 5)
    assert bench.recorder.replays == TRIALS + 5
    np.testing.assert_array_equal(bench.run(counter), [UNTIL_KEPT + 5] * 2)


def test_loaded_values_are_seen(bench: Bench, counter: Any) -> None:
    doubled = counter * 2.0
    bench.run(doubled, times=UNTIL_KEPT)
    counter.load([7.0, 8.0], bench.session)
    np.testing.assert_array_equal(bench.run(doubled), [14, 16])


def test_steps_of_several_threads(bench: Bench, counter: Any) -> None:
    step = counter.assign_add([1.0, 1.0])
    bench.run(step.op, times=UNTIL_KEPT)
    assert bench.recorder.lock.acquire()  # another thread's replay
    try:
        done = threading.Thread(target=bench.run, args=(step.op,))
        done.start()
        done.join()
    finally:
        bench.recorder.lock.release()
    assert bench.recorder.replays == TRIALS
    np.testing.assert_array_equal(bench.run(counter), [UNTIL_KEPT + 1] * 2)


def test_memory_is_given_back_with_the_session(bench: Bench, counter: Any) -> None:
    bench.run(counter * 2.0, times=UNTIL_KEPT)
    held = list(bench.session._runtime._replaying._plans)  # as by somebody's `make_callable`
    assert not bench.recorder.recorded[0].is_released
    bench.session.close()
    assert held
    assert bench.recorder.recorded[0].is_released


class TestObstacles:
    def _told(self, bench: Bench, fetches: Any, feeds: Any = ()) -> str:
        line = bench.explained(fetches, feeds)
        assert line.startswith("# no CUDA graph: ")
        return line.removeprefix("# no CUDA graph: ")

    def test_seeded_numbers(self, bench: Bench) -> None:
        drawn = tf.random_uniform([3], seed=1, name="drawn") * 2.0
        assert "drawn" in self._told(bench, drawn)
        assert "counted on the host" in self._told(bench, drawn)

    def test_numbers_without_a_seed_are_none(self, bench: Bench) -> None:
        assert "tried after" in bench.explained(tf.random_uniform([3]) * 2.0)

    def test_a_value_that_the_host_needs(self, bench: Bench) -> None:
        size = tf.placeholder(tf.int32, [1])
        told = self._told(bench, tf.fill(size, tf.reduce_sum(tf.zeros([2]) + 1.0)), [size])
        assert "the host needs what is fed" in told

    def test_a_loop(self, bench: Bench) -> None:
        looped = tf.while_loop(lambda x: tf.reduce_sum(x) < 9, lambda x: x + 1.0, [tf.ones([2])])
        assert "while the step runs" in self._told(bench, looped)

    @pytest.mark.parametrize("part", ["a function of Python", "a variable"])
    def test_a_part_on_the_host(self, bench: Bench, part: str) -> None:
        x = tf.placeholder(tf.float32, [2])
        if part == "a variable":
            count = tf.get_variable("count", initializer=3)
            bench.run(count.initializer)
            y = x * tf.cast(count, tf.float32)
        else:
            y = tf.py_func(lambda value: value * 3, [x * 1.0], tf.float32) * 1.0
        for i in range(UNTIL_KEPT):
            np.testing.assert_array_equal(bench.run(y, {x: [i, 1]}), [3 * i, 3])
        assert bench.recorder.replays == 0

    def test_steps_of_the_host_say_nothing(self, bench: Bench) -> None:
        with tf.device("/cpu:0"):
            y = tf.placeholder(tf.float32, [2]) * 2.0
        assert "CUDA graph" not in str(tf.explain(y, [y.op.inputs[0]], bench.session))


@pytest.mark.parametrize("program", ["perceptron", "convolutions", "embedding"])
def test_training_is_that_of_the_plan(program: str, bench: Bench) -> None:
    with tf.Graph().as_default():
        expected = learned(PROGRAMS[program], _optimizer, ON_HOST, steps=UNTIL_KEPT + 3)
    before = bench.recorder.replays
    # `learned` makes a session of its own, which the same recorder serves.
    found = learned(PROGRAMS[program], _optimizer, None, steps=UNTIL_KEPT + 3)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-5)
    assert program == "embedding" or bench.recorder.replays > before


def _optimizer() -> Any:
    return tf.train.MomentumOptimizer(0.05, 0.9)


# On a real GPU --------------------------------------------------------------------------------

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here")


def _keep_all() -> Any:
    return mock.patch.object(cuda_graphs, "WORTH_IT", 1e9)


@needs_gpu
@pytest.mark.parametrize("program", PROGRAMS)
def test_replayed_training_is_that_of_the_host(program: str) -> None:
    steps = UNTIL_KEPT + 5
    with _keep_all():
        ours = learned(PROGRAMS[program], _optimizer, None, steps)
    theirs = learned(PROGRAMS[program], _optimizer, ON_HOST, steps)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)


@needs_gpu
def test_a_replayed_step_with_feeds_and_dropout() -> None:
    with _keep_all(), tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1000, 100])
        scale = tf.placeholder(tf.float32, [])
        dropped = tf.nn.dropout(x * scale, rate=0.5)
        values = np.ones([1000, 100], np.float32)
        seen = []
        for i in range(UNTIL_KEPT + 5):
            found = session.run(dropped, {x: values, scale: float(i + 1)})
            np.testing.assert_array_equal(np.unique(found), [0, 2 * (i + 1)])
            seen.append(found != 0)
        assert "replayed" in str(tf.explain(dropped, [x, scale], session))
        assert 0.45 < np.mean(seen[-1]) < 0.55
        assert np.any(seen[-1] != seen[-2])  # each replay draws anew


@needs_gpu
@pytest.mark.parametrize("rows", [(32,), (32, 8)])
def test_a_fed_network(rows: tuple[int, ...]) -> None:
    def trained(config: Any) -> tuple[list[Any], str]:
        with tf.Graph().as_default(), tf.Session(config=config) as session:
            x, y = tf.placeholder(tf.float32, [None, 20]), tf.placeholder(tf.int64, [None])
            start = tf.random_uniform_initializer(-0.3, 0.3, seed=1)
            hidden = tf.layers.dense(x, 30, tf.nn.relu, kernel_initializer=start)
            logits = tf.layers.dense(hidden, 5, kernel_initializer=start)
            loss = tf.losses.sparse_softmax_cross_entropy(y, logits)
            step = tf.train.get_or_create_global_step()
            rate = tf.train.exponential_decay(0.01, step, 10, 0.9)
            train = tf.train.AdamOptimizer(rate).minimize(loss, global_step=step)
            session.run(tf.global_variables_initializer())
            rng, losses = np.random.default_rng(2), []
            for i in range(len(rows) * (UNTIL_KEPT + 5)):
                count = rows[i % len(rows)]
                feed = {x: rng.standard_normal([count, 20]), y: rng.integers(5, size=count)}
                losses.append(session.run([loss, train], feed)[0])
            told = str(tf.explain([loss, train], [x, y], session))
            return [*losses, session.run(step)], told

    with _keep_all():
        ours, told = trained(None)
    assert "# CUDA graph: replayed" in told, told
    np.testing.assert_allclose(ours, trained(ON_HOST)[0], rtol=1e-3)


@needs_gpu
def test_a_step_that_asks_the_device_is_not_recorded() -> None:
    with _keep_all(), tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [3])
        found = tf.boolean_mask(x, x > 1.0) * 2.0
        for _ in range(UNTIL_KEPT):
            np.testing.assert_array_equal(session.run(found, {x: [1, 2, 3]}), [4, 6])
        np.testing.assert_array_equal(session.run(found, {x: [5, 2, 3]}), [10, 4, 6])
        assert "replayed" not in str(tf.explain(found, [x], session))
        assert session.run(tf.random_uniform([3])).shape == (3,)  # generators go on


@needs_gpu
def test_a_capture_that_breaks_off_is_mended() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        drawn = tf.random_uniform([3])
        session.run(drawn)
        recorder = cuda_recorder.CudaRecorder(session._runtime.devices[-1])
        fresh = cuda_recorder.CudaRecorder(session._runtime.devices[-1])
        number = torch.ones(1, device="cuda")
        stream = torch.cuda.current_stream()
        with pytest.raises(RuntimeError):
            recorder.record(lambda: (torch.cuda.synchronize(), number.item()))
        assert torch.cuda.current_stream() == stream
        assert session.run(drawn).shape == (3,)
        assert torch.rand(3, device="cuda").shape == (3,)
        with pytest.raises(ZeroDivisionError):
            fresh.record(lambda: (number + 1, 1 / 0))
        fresh.record(lambda: (number + 1,)).run()
        with pytest.raises(RuntimeError, match="failed before"):
            recorder.record(lambda: (number + 1,))
        before = torch.cuda.memory_reserved()
        large = torch.ones(64 << 20, device="cuda")
        del large
        torch.cuda.empty_cache()
        assert torch.cuda.memory_reserved() <= before
