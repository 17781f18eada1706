"""Queue runners: threads that fill queues, and what is told where nobody starts them."""

from __future__ import annotations

import collections
import threading
from typing import Any

import pytest

import penstock as tf
from penstock.kernels import queues as queue_kernels
from tests.queues.waiting_steps import Background


def _counter(limit: int) -> Any:
    return tf.Variable(0).count_up_to(limit)


def _run_all(sess: Any, runner: Any, coord: Any = None) -> list[threading.Thread]:
    threads: list[threading.Thread] = runner.create_threads(sess, coord)
    for thread in threads:
        thread.start()
    for thread in threads if coord is None else []:
        thread.join()
    return threads


def test_operations_run_to_the_end_of_their_input() -> None:
    first, second = tf.Variable(0), tf.Variable(0)
    queue = tf.FIFOQueue(10, tf.float32)
    runner = tf.train.QueueRunner(queue, [first.count_up_to(3), second.count_up_to(30)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        threads = _run_all(sess, runner)
        assert sorted(thread.name for thread in threads) == [
            "QueueRunnerThread-fifo_queue-CountUpTo:0",
            "QueueRunnerThread-fifo_queue-CountUpTo_1:0",
        ]
        assert runner.exceptions_raised == []
        assert sess.run([first, second]) == [3, 30]
        assert sess.run(queue.is_closed())
        assert len(runner.create_threads(sess)) == 2  # they had ended


def test_the_queue_is_closed_at_the_end_of_the_input() -> None:
    queue = tf.FIFOQueue(10, tf.int32)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(_counter(3))])
    take = queue.dequeue()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        _run_all(sess, runner)
        assert [sess.run(take) for _ in range(3)] == [0, 1, 2]
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed"):
            sess.run(take)


def test_a_stop_cancels_enqueues_that_wait() -> None:
    queue = tf.FIFOQueue(2, tf.int32)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1)] * 2))
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        threads = tf.train.start_queue_runners(sess, coord)
        assert len(threads) == 3
        assert all(thread.daemon for thread in threads)
        assert tf.train.start_queue_runners(sess, coord) == []  # they still run
        assert [sess.run(queue.dequeue()) for _ in range(5)] == [1] * 5
        coord.request_stop()
        coord.join(threads)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_errors_are_kept_or_given_to_the_coordinator() -> None:
    missing = collections.namedtuple("missing", ["name"])
    queue = tf.FIFOQueue(10, tf.float32)
    runner = tf.train.QueueRunner(queue, [missing("i fail"), missing("so fail")])
    with tf.Session() as sess:
        _run_all(sess, runner)
        assert len(runner.exceptions_raised) == 2
        assert "Operation not in the graph" in str(runner.exceptions_raised[0])
        coord = tf.train.Coordinator()
        threads = _run_all(sess, runner, coord)
        with pytest.raises(ValueError, match="Operation not in the graph"):
            coord.join(threads)
        assert runner.exceptions_raised == []


def test_other_errors_can_mean_the_end() -> None:
    queue = tf.FIFOQueue(2, tf.float32)
    ends = (tf.errors.OutOfRangeError, tf.errors.CancelledError)
    runner = tf.train.QueueRunner(queue, [queue.enqueue(1.0)], queue_closed_exception_types=ends)
    with tf.Session() as sess:
        sess.run(runner.cancel_op)
        _run_all(sess, runner)
        assert runner.exceptions_raised == []
    for wrong in (tf.errors.OutOfRangeError, (), (ValueError,)):
        with pytest.raises(TypeError, match="tuple of tf.error types"):
            tf.train.QueueRunner(queue, [tf.no_op()], queue_closed_exception_types=wrong)
    with pytest.raises(ValueError, match="Must provide queue"):
        tf.train.QueueRunner(queue, [])


def test_messages() -> None:
    with tf.Graph().as_default() as graph, tf.name_scope("in"):
        queue = tf.FIFOQueue(10, tf.int32, name="q")
        runner = tf.train.QueueRunner(queue, [queue.enqueue(1)])
        message = runner.to_proto()
        assert message.queue_name == "in/q"
        assert list(message.enqueue_op_name) == ["in/q_enqueue"]
        assert message.close_op_name == "in/q_Close"
        assert message.cancel_op_name == "in/q_Close_1"
        assert list(message.queue_closed_exception_types) == [tf.errors.OUT_OF_RANGE]
        assert runner.to_proto(export_scope="in").queue_name == "q"
        assert runner.to_proto(export_scope="other") is None
    with graph.as_default():
        again = tf.train.QueueRunner.from_proto(message)
        assert again.name == "in/q"
        assert again.to_proto() == message
        scoped = tf.train.QueueRunner.from_proto(runner.to_proto("in"), import_scope="in")
        assert scoped.enqueue_ops[0] is runner.enqueue_ops[0]


def test_a_meta_graph_brings_its_runners() -> None:
    with tf.Graph().as_default():
        batch = tf.train.batch([_counter(10)], 5, name="batch")
        message = tf.train.export_meta_graph()
    tf.train.import_meta_graph(message)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        assert sess.run(batch.name).tolist() == [0, 1, 2, 3, 4]
        coord.request_stop()
        coord.join(threads)


def test_runners_need_a_session() -> None:
    with pytest.raises(ValueError, match="No default session is registered"):
        tf.train.start_queue_runners()
    with pytest.raises(TypeError, match=r"must be a `tf.Session` object"):
        tf.train.start_queue_runners(sess=object())


def test_a_program_that_waits_for_runners_which_nobody_started_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(queue_kernels, "_PATIENCE_SECONDS", 0.05)
    said: list[str] = []
    monkeypatch.setattr(
        queue_kernels.logging, "warning", lambda text, *args: said.append(text % args)
    )
    queue = tf.train.string_input_producer(["a"])
    key, _ = tf.IdentityReader().read(queue)
    other = tf.FIFOQueue(1, tf.float32)
    sess = tf.Session()
    calls = [Background(sess.run, value) for value in (key, other.dequeue())]
    for call in calls:
        call.join(0.5)
    sess.close()
    for call in calls:
        with pytest.raises(tf.errors.CancelledError):
            call.result()
    assert len(said) == 1
    assert "'input_producer'" in said[0]
    assert "tf.train.start_queue_runners" in said[0]
