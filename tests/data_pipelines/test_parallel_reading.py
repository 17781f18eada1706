"""Parallel parts of pipelines: their threads, their order, and what is left of them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import penstock as tf
from penstock.ops.datasets.iterators import DeserializeIterator, SerializeIterator
from tests.data_pipelines.threads import threads_end


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    before = threading.active_count()
    yield
    assert threads_end(before)


class _Gates:
    """Python functions that wait until they are let go on."""

    def __init__(self, count):
        self._gates = [threading.Semaphore(0) for _ in range(count)]

    def open(self, *numbers):
        for number in numbers:
            self._gates[number].release()

    def passed(self, number):
        self._gates[int(number)].acquire()
        return number

    def map(self, dataset, **settings):
        return dataset.map(lambda n: tf.py_func(self.passed, [n], tf.int64), **settings)


def _copies(gates):
    return lambda n: gates.map(tf.data.Dataset.from_tensors(n).repeat(2))


def _run(dataset, steps):
    """What a dataset gives, where before each element gates are opened."""
    element = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as sess:
        for open_gates in steps:
            open_gates()
            found.append(int(sess.run(element)))
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(element)
    return found


@pytest.mark.parametrize("sloppy", [False, True])
def test_interleaved_in_the_order_of_turns_or_of_arrival(sloppy):
    gates = _Gates(3)
    interleave = tf.data.experimental.parallel_interleave(
        _copies(gates), 2, sloppy=sloppy, buffer_output_elements=1, prefetch_input_elements=0
    )
    order = [1, 1, 0, 0, 2, 2] if sloppy else [0, 1, 0, 1, 2, 2]
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(3).apply(interleave)
        found = _run(dataset, [lambda n=n: gates.open(n) for n in order])
    assert found == order


def test_interleaved_datasets_are_read_at_the_same_time():
    together = threading.Barrier(3, timeout=30)

    def meet(number):
        together.wait()
        return number

    def one(n):
        return tf.data.Dataset.from_tensors(n).map(lambda m: tf.py_func(meet, [m], tf.int64))

    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(3).interleave(one, cycle_length=3, num_parallel_calls=3)
        assert _run(dataset, [lambda: None] * 3) == [0, 1, 2]


def test_abandoned_readers_end():
    gates = _Gates(4)
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(4).interleave(_copies(gates), 2, num_parallel_calls=2)
        element = dataset.make_one_shot_iterator().get_next()
        with tf.Session() as sess:
            gates.open(0)
            assert sess.run(element) == 0
    gates.open(0, 0, 1, 1)


@pytest.mark.parametrize("taken", range(7))
def test_the_place_in_parallel_readers_is_saved(taken):
    def checked(n):
        if n == 12:
            raise ValueError("no twelve")
        return n

    def some(n):
        numbers = tf.data.Dataset.range(3).map(lambda m: m + 10 * n)
        return numbers.map(lambda m: tf.py_func(checked, [m], tf.int64, stateful=False))

    def rest(sess, element):
        found = []
        while True:
            try:
                found.append(int(sess.run(element)))
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.OpError as error:
                found.append(type(error).__name__)

    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(3).interleave(some, 2, num_parallel_calls=2)
        iterator = dataset.make_initializable_iterator()
        element = iterator.get_next()
        state = SerializeIterator(iterator._iterator_resource)
        fed = tf.placeholder(tf.variant)
        restore = DeserializeIterator(iterator._iterator_resource, fed)
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            for _ in range(taken):
                try:
                    sess.run(element)
                except tf.errors.OpError:
                    continue
            saved = sess.run(state)
            expected = rest(sess, element)
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            sess.run(restore, {fed: saved})
            assert rest(sess, element) == expected


def test_mapped_in_the_order_of_arrival_if_order_does_not_matter():
    gates = _Gates(6)
    options = tf.data.Options()
    options.experimental_deterministic = False
    order = [0, 2, 1, 4, 3, 5]
    with tf.Graph().as_default():
        dataset = gates.map(tf.data.Dataset.range(6), num_parallel_calls=6).with_options(options)
        found = _run(dataset, [lambda n=n: gates.open(n) for n in order])
    assert found == order


def test_long_calls_of_a_plain_map_get_threads(monkeypatch):
    from penstock.kernels.datasets import mapping

    monkeypatch.setattr(mapping, "_SHORT_CALL", 0.0)
    monkeypatch.setattr(mapping, "processors", lambda: 2)
    names = set()
    used = mapping.share_processors
    monkeypatch.setattr(
        mapping,
        "share_processors",
        lambda count: (names.add(threading.current_thread().name), used(count)),
    )
    with tf.Graph().as_default():
        dataset = tf.data.Dataset.range(40).map(lambda n: n * 2)
        assert _run(dataset, [lambda: None] * 40) == [2 * n for n in range(40)]
    assert names and all(name.startswith("penstock-map") for name in names)


def test_large_elements_are_stacked_alike():
    from penstock.kernels.datasets.stacking import batch_of
    from penstock.kernels.values import from_array

    for dtype in (np.float32, np.uint8, np.bool_, np.int64):
        parts = [np.arange(40_000).reshape(200, 200).astype(dtype) + dtype(n) for n in range(3)]
        (batch,) = batch_of([(from_array(part),) for part in parts])
        np.testing.assert_array_equal(batch.numpy(), np.stack(parts))
