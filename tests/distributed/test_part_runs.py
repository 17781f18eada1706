"""Runs of parts that take no thread while they wait."""

import socket
import sys
import threading

import numpy as np
import pytest

import penstock as tf
from penstock import errors
from penstock.distributed.part_run import ResumedRun
from penstock.distributed.worker_machine import Execute, Message
from penstock.runtime.resumable import resumable, run_through
from penstock.runtime.step import Step
from penstock.state.accumulators import ConditionalAccumulator
from penstock.state.queues import FIFOQueue
from penstock.state.waiting import Cancellation, Parked

LONG = 30.0


class Part:
    wakes_late = False
    seconds = 0.0
    is_brief = True


class Link:
    task = "master"


class Meeting:
    def flush(self, but):
        pass

    def taken_back(self, task):
        return [], []


class Run:
    """A run whose stretches are put into a list, until `work` does them."""

    def __init__(self, stretches_of):
        self.jobs = []
        self.ended = []
        self.cancellation = Cancellation()
        step = Step(None, self.cancellation)
        action = Execute(Message(Link(), {}, ()), Part(), Meeting())
        self.run = ResumedRun(action, step, stretches_of(step), self._take, self.ended.append)
        self.run.go_on()

    def _take(self, job, *, instant):
        self.jobs.append(job)

    def work(self):
        while self.jobs:
            self.jobs.pop(0)()

    @property
    def error(self):
        return self.ended[0].error


def dequeuing(queue, counts):
    def stretches(step):
        take = resumable(lambda step, count: queue.dequeue_many(count, step))
        found = []
        for count in counts:
            found += yield from take(step, count)
        return found

    return stretches


def make_queue(capacity=-1):
    return FIFOQueue("q", [tf.int32], [()], capacity)


def put(queue, *numbers):
    for number in numbers:
        queue.enqueue((number,), Step())


def test_a_run_goes_on_when_what_it_waits_for_has_come():
    queue = make_queue()
    run = Run(dequeuing(queue, [1, 2]))
    assert not run.ended and not run.jobs
    put(queue, 1)
    run.work()
    put(queue, 2)
    assert not run.jobs  # one of two
    put(queue, 3)
    assert not run.ended  # whoever is told to goes on, and nobody else
    run.work()
    assert list(run.ended[0].values) == [(1,), (2,), (3,)]


def test_what_is_there_needs_no_wait():
    queue = make_queue()
    put(queue, 1, 2)
    run = Run(dequeuing(queue, [1, 1]))
    assert list(run.ended[0].values) == [(1,), (2,)] and not run.jobs


def test_runs_are_served_in_their_order():
    queue = make_queue()
    first, second = Run(dequeuing(queue, [1])), Run(dequeuing(queue, [1]))
    put(queue, 1, 2)
    second.work()
    first.work()
    assert [list(run.ended[0].values) for run in (first, second)] == [[(1,)], [(2,)]]


def test_a_run_that_is_cancelled_gives_back_what_it_had():
    queue = make_queue()
    run = Run(dequeuing(queue, [2]))
    put(queue, 1)
    run.cancellation.cancel()
    run.work()
    assert isinstance(run.error, errors.CancelledError)
    assert queue.dequeue(Step()) == (1,)


def test_a_run_that_was_cancelled_before_does_not_wait():
    queue = make_queue()

    def stretches(step):
        run_cancelled(step)
        return dequeuing(queue, [1])(step)

    def run_cancelled(step):
        step.cancellation.cancel()

    run = Run(stretches)
    assert isinstance(run.error, errors.CancelledError) and not run.jobs


def test_a_queue_that_is_closed_ends_the_wait_with_its_error():
    queue = make_queue()
    run = Run(dequeuing(queue, [1]))
    queue.close()
    run.work()
    assert isinstance(run.error, errors.OutOfRangeError)


def test_a_run_that_is_called_for_something_else_waits_on():
    queue = make_queue()
    run = Run(dequeuing(queue, [1]))
    run.run.release()
    run.work()
    assert not run.ended
    put(queue, 7)
    run.work()
    assert list(run.ended[0].values) == [(7,)]


def test_a_wait_that_is_over_before_its_thread_has_left_goes_on_there():
    """Another thread brings what is waited for between the word that is left and the yield."""
    calls = []

    def kernel(step):
        calls.append(1)
        if len(calls) == 1:
            step.resumption.release()
            raise Parked
        return "found"

    def stretches(step):
        return [(yield from resumable(kernel)(step))]

    run = Run(stretches)
    assert list(run.ended[0].values) == ["found"] and not run.jobs


def test_the_sum_of_an_accumulator_is_waited_for_without_a_thread():
    accumulator = ConditionalAccumulator("a", tf.float32, (), "MEAN", sparse=False)

    def stretches(step):
        take = resumable(lambda step: accumulator.take(2, step))
        return [(yield from take(step))]

    run = Run(stretches)
    for value in (3, 4):
        accumulator.apply(0, value, lambda a, b: a + b, lambda a: a)
    run.work()
    assert list(run.ended[0].values) == [(7, 2)]
    assert accumulator.global_step == 1


def test_a_thread_waits_where_there_is_nobody_to_resume_the_run():
    queue = make_queue()
    found = []
    thread = threading.Thread(
        target=lambda: found.extend(run_through(dequeuing(queue, [2])(Step()))), daemon=True
    )
    thread.start()
    put(queue, 1, 2)
    thread.join(LONG)
    assert found == [(1,), (2,)]


# On servers -----------------------------------------------------------------------------------


@pytest.fixture
def cluster():
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    spec = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]}
    servers = [tf.train.Server(spec, job_name=name, task_index=0) for name in ("ps", "worker")]
    yield servers[1].target
    for server in servers:
        server.stop()


def waiting_threads():
    """Threads of this process in a wait at a queue."""
    found = 0
    for frame in sys._current_frames().values():
        while frame is not None:
            if frame.f_code.co_name == "_wait" and frame.f_code.co_filename.endswith("waiting.py"):
                found += 1
                break
            frame = frame.f_back
    return found


def test_parts_that_wait_at_a_server_hold_no_thread_there(cluster):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(100, [tf.int32], [()], shared_name="numbers")
            element = queue.dequeue()
            number = tf.placeholder(tf.int32, [])
            enqueue = queue.enqueue(number)
        with tf.device("/job:worker/task:0"):
            result = element + 1
        with tf.Session(cluster) as session:
            for i in range(40):  # compiled, and warm
                session.run(enqueue, {number: i})
                assert session.run(result) == i + 1
            found = []
            threads = [
                threading.Thread(target=lambda: found.append(session.run(result)), daemon=True)
                for _ in range(12)
            ]
            for thread in threads:
                thread.start()
            for thread in threads[:1]:
                thread.join(0.5)
            assert waiting_threads() == 0 and not found
            for i in range(12):
                session.run(enqueue, {number: 100 + i})
            for thread in threads:
                thread.join(LONG)
            assert sorted(np.array(found).tolist()) == [101 + i for i in range(12)]


def test_a_session_that_closes_ends_the_waits_of_its_parts(cluster):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(100, [tf.int32], [()])
            element = queue.dequeue()
            number = tf.placeholder(tf.int32, [])
            enqueue = queue.enqueue(number)
        session = tf.Session(cluster)
        for i in range(40):
            session.run(enqueue, {number: i})
            assert session.run(element) == i
        refused = []

        def wait():
            try:
                session.run(element)
            except errors.OpError as error:
                refused.append(error)

        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        session.close()
        thread.join(LONG)
        assert len(refused) == 1
        assert isinstance(refused[0], (errors.CancelledError, errors.AbortedError))


def test_an_error_in_a_part_that_has_waited_names_its_node(cluster):
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(100, [tf.float32], [[]])
            row = tf.placeholder(tf.float32, [])
            enqueue = queue.enqueue(row)
            checked = tf.check_numerics(queue.dequeue(), "it is", name="look")
        with tf.device("/job:worker/task:0"):
            result = checked + 1.0
        with tf.Session(cluster) as session:
            for _ in range(40):
                session.run(enqueue, {row: 1.0})
                assert session.run(result) == 2.0
            failed = []

            def run():
                try:
                    session.run(result)
                except errors.OpError as error:
                    failed.append(error)

            thread = threading.Thread(target=run, daemon=True)
            thread.start()
            thread.join(0.2)
            session.run(enqueue, {row: np.inf})
            thread.join(LONG)
            assert isinstance(failed[0], errors.InvalidArgumentError)
            assert failed[0].op.name == "look" and "it is" in str(failed[0])
            session.run(enqueue, {row: 3.0})
            assert session.run(result) == 4.0
