"""Threads within kernels and between parts of a step: what the options of a session say."""

import threading

import numpy as np
import pytest
import torch

import penstock as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def kernel_threads():
    """A tensor that tells how many threads the kernels around it use."""
    return tf.py_func(lambda: np.int64(torch.get_num_threads()), [], tf.int64, stateful=True)


class TestWithinKernels:
    @pytest.mark.parametrize("count", [1, 3])
    def test_of_one_session(self, count):
        before = torch.get_num_threads()
        y = kernel_threads()
        config = tf.ConfigProto(intra_op_parallelism_threads=count)
        with tf.Session(config=config) as sess, tf.Session() as other:
            assert sess.run(y) == count
            assert other.run(y) == before
            assert sess.run(y) == count
        assert torch.get_num_threads() == before

    def test_of_traced_and_limited_runs(self):
        y = kernel_threads()
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=3)) as sess:
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=100000)
            assert sess.run(y, options=options, run_metadata=tf.RunMetadata()) == 3
            assert sess.run(y, options=tf.RunOptions(timeout_in_ms=100000)) == 3
            assert sess.make_callable(y)() == 3

    def test_of_the_parts_on_other_devices(self):
        found = []
        for i in range(2):
            with tf.device(f"/cpu:{i}"):
                found.append(kernel_threads() + 0)
        with tf.device("/cpu:1"):
            total = tf.stack(found)
        config = tf.ConfigProto(device_count={"CPU": 2}, intra_op_parallelism_threads=3)
        with tf.Session(config=config) as sess:
            assert sess.run(total).tolist() == [3, 3]

    def test_the_default_of_new_sessions(self):
        tf.config.threading.set_intra_op_parallelism_threads(3)
        try:
            with tf.Session() as sess:
                assert sess.run(kernel_threads()) == 3
        finally:
            tf.config.threading.set_intra_op_parallelism_threads(0)


class Crowd:
    """Counts how many calls are under way at once."""

    def __init__(self, wanted=None):
        self.now = self.most = 0
        self._lock = threading.Lock()
        self._together = None if wanted is None else threading.Barrier(wanted, timeout=30)

    def __call__(self, x):
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        if self._together is not None:
            self._together.wait()
        x = np.sort(np.tile(x, 20000))[: len(x)]
        with self._lock:
            self.now -= 1
        return x


def ring(crowd, devices=3, rounds=4):
    """Values that go round the devices, all of which have one to work on at any time."""
    values = [tf.constant(np.ones(4, np.float32) * i) for i in range(devices)]
    for turn in range(rounds):
        for i in range(devices):
            with tf.device(f"/cpu:{(i + turn) % devices}"):
                (values[i],) = tf.py_func(crowd, [values[i]], [tf.float32])
    with tf.device("/cpu:0"):
        return tf.add_n(values)


def devices(count=3, **more):
    return tf.ConfigProto(device_count={"CPU": count}, **more)


class TestBetweenParts:
    def test_one_after_the_other(self):
        crowd = Crowd()
        y = ring(crowd)
        with tf.Session(config=devices(inter_op_parallelism_threads=1)) as sess:
            assert sess.run(y).tolist() == [3.0] * 4
        assert crowd.most == 1

    def test_two_at_once(self):
        crowd = Crowd()
        y = ring(crowd)
        with tf.Session(config=devices(inter_op_parallelism_threads=2)) as sess:
            for _ in range(5):
                sess.run(y)
        assert crowd.most <= 2

    def test_all_at_once_where_nothing_is_said(self):
        y = ring(Crowd(wanted=3), rounds=1)  # each waits until all are there
        with tf.Session(config=devices()) as sess:
            assert sess.run(y).tolist() == [3.0] * 4

    def test_a_queue_between_parts_does_not_hold_the_only_turn(self):
        def queue():
            return tf.FIFOQueue(1, [tf.float32], [[]], shared_name="between")

        with tf.device("/cpu:1"):
            taken = queue().dequeue() + 1.0
        with tf.device("/cpu:2"):
            put = queue().enqueue(4.0)
        with tf.Session(config=devices(inter_op_parallelism_threads=1)) as sess:
            for _ in range(5):
                found = sess.run([taken, put], options=tf.RunOptions(timeout_in_ms=60000))
                assert found[0] == 5.0

    def test_a_failure_gives_its_turn_back(self):
        x = tf.placeholder(tf.float32, [2])
        with tf.device("/cpu:1"):
            y = tf.check_numerics(x, "bad")
        with tf.device("/cpu:2"):
            z = y * 2.0
        with tf.Session(config=devices(inter_op_parallelism_threads=1)) as sess:
            with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
                sess.run(z, {x: [np.nan, 1.0]})
            assert sess.run(z, {x: [1.0, 2.0]}).tolist() == [2.0, 4.0]


class TestPools:
    def config(self, *pools):
        made = devices()
        for threads, name in pools:
            made.session_inter_op_thread_pool.add(num_threads=threads, global_name=name)
        return made

    def test_a_run_chooses_one(self):
        crowd = Crowd()
        y = ring(crowd)
        with tf.Session(config=self.config((8, ""), (1, ""))) as sess:
            assert sess.run(y, options=tf.RunOptions(inter_op_thread_pool=1)).tolist() == [3.0] * 4
            assert crowd.most == 1

    def test_the_callers_thread(self):
        crowd = Crowd()
        y = ring(crowd)
        with tf.Session(config=devices()) as sess:
            sess.run(y, options=tf.RunOptions(inter_op_thread_pool=-1))
        assert crowd.most == 1

    @pytest.mark.parametrize("number", [2, -2])
    def test_one_that_is_not_there(self, number):
        y = tf.constant(1.0)
        with (
            tf.Session(config=self.config((1, ""), (1, ""))) as sess,
            pytest.raises(
                tf.errors.InvalidArgumentError, match=f"Invalid inter_op_thread_pool: {number}"
            ),
        ):
            sess.run(y, options=tf.RunOptions(inter_op_thread_pool=number))

    def test_a_name_is_shared_by_sessions(self):
        crowd = Crowd()
        y = ring(crowd)
        config = self.config((1, "shared by two sessions"))
        with tf.Session(config=config) as one, tf.Session(config=config) as other:
            threads = [threading.Thread(target=s.run, args=(y,)) for s in (one, other)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert crowd.most == 1

    def test_a_name_has_one_size(self):
        tf.Session(config=self.config((2, "of one size"))).close()
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot re-configure"):
            tf.Session(config=self.config((3, "of one size")))

    def test_threads_of_a_session_of_its_own(self):
        config = devices(use_per_session_threads=True, inter_op_parallelism_threads=2)
        with tf.Session(config=config) as sess:
            assert sess.run(ring(Crowd())).tolist() == [3.0] * 4
