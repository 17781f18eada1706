"""Queues and readers that a checkpoint holds: a program goes on exactly where it was saved."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.kernels.datasets.saving import decode_state
from penstock.ops.queue_state import QueueState, SetQueueState
from tests.queues.waiting_steps import WAIT_SECONDS, Background

KINDS: dict[str, Callable[[], Any]] = {
    "fifo": lambda: tf.FIFOQueue(12, [tf.int64, tf.string], [[], []], name="q"),
    "padding": lambda: tf.PaddingFIFOQueue(12, [tf.int64, tf.string], [[], []], name="q"),
    "priority": lambda: tf.PriorityQueue(12, [tf.string], [[]], name="q"),
    "shuffle": lambda: tf.RandomShuffleQueue(
        12, 2, [tf.int64, tf.string], [[], []], seed=5, name="q"
    ),
}
NUMBERS = [5, 1, 4, 1, 5, 9, 2, 6]


def _filled(kind: str) -> tuple[Any, Any, Any]:
    """A queue in the default graph, what fills it, and what takes an element."""
    queue = KINDS[kind]()
    texts = [f"{i}" for i in range(len(NUMBERS))]
    return queue, queue.enqueue_many((np.array(NUMBERS, np.int64), texts)), queue.dequeue()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("taken", [0, 3, 6])
def test_a_queue_goes_on_where_it_was_saved(kind: str, taken: int, tmp_path: Path) -> None:
    left = len(NUMBERS) - taken - (2 if kind == "shuffle" else 0)
    with tf.Graph().as_default(), tf.Session() as sess:
        queue, fill, take = _filled(kind)
        saver = tf.train.Saver([queue])
        sess.run(fill)
        for _ in range(taken):
            sess.run(take)
        path = saver.save(sess, str(tmp_path / "state"))
        expected = [sess.run(take) for _ in range(left)]
        more = [sess.run(fill), *[sess.run(take) for _ in NUMBERS]]
    with tf.Graph().as_default(), tf.Session() as sess:
        queue, fill, take = _filled(kind)
        tf.train.Saver({"q": queue}).restore(sess, path)
        assert [sess.run(take) for _ in range(left)] == expected
        assert [sess.run(fill), *[sess.run(take) for _ in NUMBERS]] == more


def test_what_waits_at_a_queue_is_saved_with_it(tmp_path: Path) -> None:
    """An element that there was no room for, and those that a dequeue of several has already."""
    with tf.Graph().as_default(), tf.Session() as sess:
        full = tf.FIFOQueue(2, tf.int32, [[]], name="full")
        poor = tf.FIFOQueue(9, tf.int32, [[]], name="poor")
        enqueue, take_five = full.enqueue_many(([1, 2, 3, 4],)), poor.dequeue_many(5)
        putting, taking = Background(sess.run, enqueue), Background(sess.run, take_five)
        sess.run(poor.enqueue_many(([10, 20, 30],)))
        putting.assert_waits()
        taking.assert_waits()
        path = tf.train.Saver([full, poor]).save(sess, str(tmp_path / "state"))
        assert sess.run([full.dequeue() for _ in range(4)]) == [1, 2, 3, 4]
        putting.result()
        sess.run(poor.enqueue_many(([40, 50],)))
        assert taking.result().tolist() == [10, 20, 30, 40, 50]
        tf.train.Saver([full, poor]).restore(sess, path)
        assert sess.run([full.size(), poor.size()]) == [4, 3]
        assert sess.run(full.dequeue_many(4)).tolist() == [1, 2, 3, 4]
        assert sess.run(poor.dequeue_many(3)).tolist() == [10, 20, 30]


def test_a_closed_queue_stays_closed_and_others_refuse_its_state() -> None:
    queue, fill, _ = _filled("fifo")
    shuffled = tf.RandomShuffleQueue(12, 2, [tf.int64, tf.string], [[], []])
    state = QueueState(queue.queue_ref, name="state")
    given = tf.placeholder(tf.string, [])
    with tf.Session() as sess:
        sess.run(fill)
        sess.run(queue.close())
        saved = sess.run(state)
        set_state = SetQueueState(queue.queue_ref, given, name="set_state")
        sess.run(set_state, {given: saved})
        assert sess.run([queue.is_closed(), queue.size()]) == [True, len(NUMBERS)]
        for damaged in (b"", saved[: len(saved) // 2], b"\xff" * 9):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(set_state, {given: damaged})
        with pytest.raises(tf.errors.InvalidArgumentError, match="a FIFOQueue of int64, string"):
            sess.run(SetQueueState(shuffled.queue_ref, saved, name="set_other"))


def _write(path: Path, texts: list[bytes]) -> str:
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for text in texts:
            writer.write(text)
    return str(path)


READERS: dict[str, Callable[[], Any]] = {
    "lines": lambda: tf.TextLineReader(name="r"),
    "fixed": lambda: tf.FixedLengthRecordReader(2, name="r"),
    "whole": lambda: tf.WholeFileReader(name="r"),
    "records": lambda: tf.TFRecordReader(name="r"),
}


@pytest.mark.parametrize("kind", READERS)
def test_a_reader_goes_on_where_it_was_saved(kind: str, tmp_path: Path) -> None:
    files = []
    for name in "abc":
        files.append(str(tmp_path / name))
        if kind == "records":
            _write(tmp_path / name, [b"%s%d" % (name.encode(), i) for i in range(4)])
        else:
            (tmp_path / name).write_bytes(b"".join(b"%d\n" % i for i in range(4)))

    def run(sess: tf.Session, saved: list[str], at: int | None) -> list[Any]:
        names = tf.train.string_input_producer(files, 1, shuffle=False, capacity=3)
        read = READERS[kind]().read(names)
        saver = tf.train.Saver(tf.local_variables() + tf.train.input_saveables())
        found: list[Any] = []
        if at is None:
            saver.restore(sess, saved[0])
        else:
            sess.run(tf.local_variables_initializer())
            for thread in tf.train.start_queue_runners(sess):
                thread.join()
        while True:
            if at == len(found):
                saved.append(saver.save(sess, str(tmp_path / "state")))
            try:
                found.append(tuple(sess.run(read)))
            except tf.errors.OutOfRangeError:
                return found

    for at in range(4 if kind == "whole" else 13):
        saved: list[str] = []
        with tf.Graph().as_default(), tf.Session() as sess:
            everything = run(sess, saved, at)
        with tf.Graph().as_default(), tf.Session() as sess:
            assert run(sess, saved, None) == everything[at:]


def _pipeline(path: str) -> tuple[Any, Any]:
    files = tf.train.string_input_producer([path], num_epochs=3, shuffle=True, seed=1)
    value = tf.TFRecordReader().read(files).value
    batch = tf.train.shuffle_batch([value], 4, capacity=12, min_after_dequeue=6, seed=2)
    return batch, tf.train.Saver(tf.local_variables() + tf.train.input_saveables())


def _rest(sess: tf.Session, batch: Any) -> list[list[bytes]]:
    batches = []
    try:
        while True:
            batches.append(sess.run(batch).tolist())
    except tf.errors.OutOfRangeError:
        return batches


def _wait_until_full(sess: tf.Session, state: Any, capacity: int) -> None:
    """Until the runner waits with one more element than there is room for."""
    end = time.monotonic() + WAIT_SECONDS
    while len(decode_state(sess.run(state))["elements"]) <= capacity:
        assert time.monotonic() < end
        time.sleep(0.005)


def test_training_resumes_in_the_middle_of_an_epoch(tmp_path: Path) -> None:
    path = _write(tmp_path / "records", [b"%d" % i for i in range(25)])
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        batch, saver = _pipeline(path)
        queue = graph.get_operation_by_name("shuffle_batch/random_shuffle_queue").outputs[0]
        state = QueueState(queue, name="look")
        sess.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(sess)
        first = []
        for _ in range(5):
            first.append(sess.run(batch).tolist())
            _wait_until_full(sess, state, 12)
        saved = saver.save(sess, str(tmp_path / "state"))
        expected = _rest(sess, batch)
        for thread in threads:
            thread.join()
    with tf.Graph().as_default(), tf.Session() as sess:
        batch, saver = _pipeline(path)
        saver.restore(sess, saved)
        threads = tf.train.start_queue_runners(sess)
        found = _rest(sess, batch)
        for thread in threads:
            thread.join()
    everything = [value for values in first + found for value in values]
    left_over = 75 % 4
    assert len(everything) == 75 - left_over
    assert len(found) == len(expected)
    assert np.unique(everything, return_counts=True)[1].max() <= 3  # none came twice in an epoch
