"""Which state of a server is a session's own, and which all of its sessions share.

What TensorFlow 1.15 shares was seen at its servers: a session wrote, another one read.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.state.queues import FIFOQueue
from tests.cluster.nursery import free_ports


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(5)
        yield graph


@pytest.fixture(params=["one task", "worker", "ps"])
def target(request: Any, start_server: Callable[..., Any]) -> Iterator[str]:
    """A server, or the worker of a cluster; new nodes are on it or on the parameter server."""
    if request.param == "one task":
        yield start_server().target
        return
    ps, worker = (f"localhost:{port}" for port in free_ports(2))
    cluster = {"ps": [ps], "worker": [worker]}
    start_server(cluster, job_name="ps", task_index=0)
    server = start_server(cluster, job_name="worker", task_index=0)
    with tf.device(f"/job:{request.param}/task:0"):
        yield server.target


# Nodes that write, and a tensor that tells of it ------------------------------------------------

Written = tuple[Any, Any]


def fifo_queue(shared_name: str | None = None) -> Written:
    queue = tf.FIFOQueue(5, tf.int32, [()], shared_name=shared_name)
    return queue.enqueue(3), queue.size()


def shuffle_queue() -> Written:
    queue = tf.RandomShuffleQueue(5, 0, tf.int32, [()])
    return queue.enqueue(3), queue.size()


def accumulator() -> Written:
    gathered = tf.ConditionalAccumulator(tf.float32, shape=())
    return gathered.apply_grad(1.0, local_step=0), gathered.num_accumulated()


def reader() -> Written:
    lines, names = tf.IdentityReader(), tf.FIFOQueue(5, tf.string, [()])
    with tf.control_dependencies([names.enqueue("a")]):
        _, value = lines.read(names)
    return value, lines.num_records_produced()


def table() -> Written:
    initial = tf.contrib.lookup.KeyValueTensorInitializer(["a"], [1])
    words = tf.contrib.lookup.HashTable(initial, -1)
    return words.init, words.lookup(tf.constant("a"))


def iterator(shared_name: str | None = None) -> Written:
    data = tf.data.Dataset.range(9)
    elements = tf.data.make_initializable_iterator(data, shared_name=shared_name)
    return elements.initializer, elements.get_next()


def mutable_table() -> Written:
    words = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
    return words.insert(tf.constant(["a"]), tf.constant([5], tf.int64)), words.size()


def staging_area() -> Written:
    area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[]])
    return area.put([tf.constant(1.0)]), area.size()


def variable() -> Written:
    v = tf.Variable(1, name="v")
    return v.initializer, v


OWN = [fifo_queue, shuffle_queue, accumulator, reader, table, iterator]
SHARED: list[Callable[[], Written]] = [
    lambda: fifo_queue("numbers"),
    lambda: iterator("elements"),
    mutable_table,
    staging_area,
    variable,
]
NOTHING = 0, "FailedPreconditionError"


def seen(session: Any, tensor: Any) -> Any:
    try:
        return int(session.run(tensor))
    except tf.errors.FailedPreconditionError as error:
        return type(error).__name__


@pytest.mark.parametrize("build", OWN, ids=lambda each: each.__name__)
def test_what_has_no_shared_name_is_of_a_session(build: Any, target: str) -> None:
    write, read = build()
    writes, reads = tf.Session(target), tf.Session(target)
    writes.run(write)
    found = seen(writes, read)
    assert found != "FailedPreconditionError"
    assert seen(reads, read) in NOTHING
    assert seen(writes, read) in (found, found + 1)  # an iterator goes on
    writes.close()
    with tf.Session(target) as after:
        assert seen(after, read) in NOTHING
    reads.close()


@pytest.mark.parametrize("number", range(len(SHARED)))
def test_what_is_found_by_its_name_is_shared(number: int, target: str) -> None:
    write, read = SHARED[number]()
    with tf.Session(target) as session:
        session.run(write)
    with tf.Session(target) as other:
        assert seen(other, read) in (0, 1)  # an iterator begins with 0
        assert seen(other, read) == 1


def test_random_numbers_begin_anew_in_each_session(target: str) -> None:
    drawn = tf.random_uniform([3], seed=3)
    sampled = tf.random.log_uniform_candidate_sampler([[1]], 1, 3, True, 100, seed=4)[0]
    elements = tf.data.make_one_shot_iterator(tf.data.Dataset.range(9)).get_next()
    with tf.Session(target) as session:
        first = [session.run([drawn, sampled, elements]) for _ in range(3)]
    with tf.Session(target) as other:
        again = [other.run([drawn, sampled, elements]) for _ in range(3)]
    for ours, theirs in zip(first, again, strict=True):
        for mine, other_one in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine, other_one)
    assert not np.array_equal(first[0][0], first[1][0])
    assert [int(run[2]) for run in first] == [0, 1, 2]


def test_programs_may_use_one_name_for_different_queues(target: str) -> None:
    device = tf.constant(0).device
    sessions = []
    for dtype, value in ((tf.int32, 3), (tf.string, "three")):
        with tf.Graph().as_default(), tf.device(device):
            queue = tf.FIFOQueue(5, dtype, [()], name="queue")
            session = tf.Session(target)
            session.run(queue.enqueue(value))
            sessions.append((session, queue.dequeue()))
    assert [session.run(dequeued) for session, dequeued in sessions] == [3, b"three"]
    for session, _ in sessions:
        session.close()


def test_variables_with_and_without_handles_are_two(target: str) -> None:
    device = tf.constant(0).device
    for use_resource, values in ((True, [1.0, 2.0]), (False, [5.0, 6.0, 7.0])):
        with tf.Graph().as_default(), tf.device(device), tf.Session(target) as session:
            v = tf.get_variable("v", initializer=values, use_resource=use_resource)
            with pytest.raises(tf.errors.FailedPreconditionError):
                session.run(v)
            session.run(v.initializer)
            assert session.run(v).tolist() == values


def test_queue_runners_go_on_in_the_next_session(target: str) -> None:
    """The queues of a session that has stopped its runners are not closed for those after it."""
    element = tf.train.range_input_producer(5, num_epochs=1, shuffle=False).dequeue()
    for _ in range(2):
        with tf.Session(target) as session:
            session.run(tf.local_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            assert [int(session.run(element)) for _ in range(5)] == list(range(5))
            coordinator.request_stop()
            coordinator.join(threads)


def test_an_iterator_is_found_by_the_text_of_its_handle(target: str) -> None:
    handle = tf.placeholder(tf.string, [])
    fed = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
    element = fed.get_next()
    once = tf.data.make_one_shot_iterator(tf.data.Dataset.range(10, 20))
    started = tf.data.make_initializable_iterator(tf.data.Dataset.range(30, 40), "elements")
    texts = [once.string_handle(), started.string_handle()]
    with tf.Session(target) as session:
        first, second = session.run(texts)
        session.run(started.initializer)
        found = [session.run(element, {handle: each}) for each in (first, second, first)]
    assert found == [10, 30, 11]


def test_the_state_of_a_session_goes_with_it(target: str) -> None:
    queue = tf.FIFOQueue(5, tf.int32, [()], name="of_a_session")
    with tf.Session(target) as session:
        session.run(queue.enqueue(1))
        assert _queues_of_a_session()
    end = time.monotonic() + 30
    while _queues_of_a_session():  # other tasks are told afterwards
        assert time.monotonic() < end
        time.sleep(0.01)


def _queues_of_a_session() -> list[Any]:
    gc.collect()
    return [each for each in gc.get_objects() if _is_of_a_session(each)]


def _is_of_a_session(each: Any) -> bool:
    return type(each) is FIFOQueue and each.name == "of_a_session"
