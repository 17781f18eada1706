"""Collective ops over tasks: servers in one process, each with a session of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops import collectives
from tests.cluster.nursery import free_ports

GROUP = 1


@pytest.fixture
def workers(start_server: Callable[..., Any]) -> list[Any]:
    cluster = {"worker": [f"localhost:{port}" for port in free_ports(2)]}
    config = tf.ConfigProto(device_count={"CPU": 2})
    return [start_server(cluster, job_name="worker", task_index=i, config=config) for i in range(2)]


def at_once(*programs: Callable[[], Any]) -> list[Any]:
    """Runs programs in threads; what each has given or raised."""
    results: list[Any] = [None] * len(programs)

    def run(number: int) -> None:
        try:
            with tf.Graph().as_default():
                results[number] = programs[number]()
        except tf.errors.OpError as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(programs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return results


def session_on(workers: list[Any], task: int) -> tf.Session:
    config = tf.ConfigProto(device_count={"CPU": 2}, device_filters=[f"/job:worker/task:{task}"])
    return tf.Session(workers[task].target, config=config)


def on(task: int, device: int = 0) -> Any:
    return tf.device(f"/job:worker/task:{task}/cpu:{device}")


def summed(task: int, value: Any, key: int = 1, device: int = 0, size: int = 2) -> Any:
    with on(task, device):
        tensor = tf.constant(value, tf.float32)
        return collectives.all_reduce(tensor, size, GROUP, key, "Add", "Id")


def test_tasks_reduce_gather_and_broadcast_with_two_devices_each(workers: list[Any]) -> None:
    def program(task: int) -> Any:
        made = []
        for device in range(2):
            with on(task, device):
                x = tf.constant([10.0 * task, device], tf.float32)
                group: Any = (4, GROUP)
                made.append(
                    [
                        collectives.all_reduce(x, *group, 1, "Add", "Div"),
                        collectives.all_reduce(x, *group, 2, "Max", "Id"),
                        collectives.all_gather(x, *group, 3),
                        collectives.broadcast_send(x > 5, x.shape, tf.bool, *group, 4)
                        if (task, device) == (1, 1)
                        else collectives.broadcast_recv([2], tf.bool, *group, 4),
                    ]
                )
        with session_on(workers, task) as sess:
            sess.run(made)
            return sess.run(made)

    for of_task in at_once(lambda: program(0), lambda: program(1)):
        for mean, largest, rows, sent in of_task:
            np.testing.assert_array_equal(mean, [5.0, 0.5])
            np.testing.assert_array_equal(largest, [10.0, 1.0])
            np.testing.assert_array_equal(rows, [0, 0, 0, 1, 10, 0, 10, 1])
            np.testing.assert_array_equal(sent, [True, False])


def test_tasks_may_come_to_instances_in_different_orders(workers: list[Any]) -> None:
    def program(task: int) -> Any:
        keys = [3, 1, 2] if task else [1, 2, 3]
        made = {key: summed(task, float(key), key) for key in keys}
        queue = tf.FIFOQueue(9, tf.float32, [()])  # two waits: the step is cut into regions
        with session_on(workers, task) as sess:
            sess.run(queue.enqueue_many([[1.0, 2.0]]))
            return sess.run([made, queue.dequeue(), queue.dequeue()])[0]

    assert at_once(lambda: program(0), lambda: program(1)) == [{1: 2.0, 2: 4.0, 3: 6.0}] * 2


def test_one_client_may_run_the_ops_of_all_tasks(workers: list[Any]) -> None:
    with tf.Graph().as_default(), tf.Session(workers[0].target) as sess:
        made = [summed(task, [1.0, task]) for task in range(2)]
        np.testing.assert_array_equal(sess.run(made), [[2.0, 1.0]] * 2)


def test_tasks_that_disagree_are_told_and_can_go_on(workers: list[Any]) -> None:
    def program(task: int) -> Any:
        wrong = summed(task, [1.0] * (task + 1), key=1)
        right = summed(task, [1.0], key=2)
        with session_on(workers, task) as sess:
            with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
                sess.run(wrong)
            return sess.run(right).tolist()

    assert at_once(lambda: program(0), lambda: program(1)) == [[2.0]] * 2


def test_a_task_whose_step_ends_does_not_leave_the_others_waiting(workers: list[Any]) -> None:
    def waits() -> Any:
        both = summed(0, 1.0)
        with session_on(workers, 0) as sess:
            return sess.run(both)

    def gives_up() -> Any:
        both = summed(1, 1.0)
        other = summed(1, 1.0, key=2)  # which the first task does not come to
        with session_on(workers, 1) as sess:
            assert sess.run(both) == 2.0
            return sess.run(other, options=tf.RunOptions(timeout_in_ms=100))

    first, second = at_once(waits, gives_up)
    assert first == 2.0
    assert isinstance(second, tf.errors.DeadlineExceededError)
    assert at_once(waits, lambda: program_of(workers, 1)) == [2.0, 2.0]


def program_of(workers: list[Any], task: int) -> Any:
    both = summed(task, 1.0)
    with session_on(workers, task) as sess:
        return sess.run(both)


def test_a_task_that_stops_while_another_waits_is_named(workers: list[Any]) -> None:
    leading = workers[0].cluster._collectives._lead
    both_ran = threading.Barrier(2)

    def stays() -> Any:
        both = summed(0, 1.0)
        with session_on(workers, 0) as sess:
            assert sess.run(both) == 2.0
            both_ran.wait()
            return sess.run(both)

    def leaves() -> Any:
        both = summed(1, 1.0)
        with session_on(workers, 1) as sess:
            assert sess.run(both) == 2.0
            both_ran.wait()
            while not leading._groups[GROUP].ready:
                time.sleep(0.01)
        workers[1].stop()

    error, _ = at_once(stays, leaves)
    assert isinstance(error, tf.errors.UnavailableError)
    assert "/job:worker/replica:0/task:1" in error.message


def test_a_task_that_has_stopped_before_is_named(workers: list[Any]) -> None:
    leading = workers[0].cluster._collectives
    both_run = [lambda: program_of(workers, 0), lambda: program_of(workers, 1)]
    assert at_once(*both_run) == [2.0, 2.0]
    workers[1].stop()
    while leading._groups:  # until the connection is lost
        time.sleep(0.01)
    named = threading.Event()

    def waits() -> Any:
        try:
            return program_of(workers, 0)
        finally:
            named.set()

    def looks() -> None:
        """As health checks do, but does not take minutes for it."""
        now = 0.0
        while not named.wait(0.01):
            leading.look_for_missing(now)
            now += 60.0

    error, _ = at_once(waits, looks)
    assert isinstance(error, tf.errors.UnavailableError)
    assert "lacks 1 of its 2 members" in error.message
    assert "/job:worker/replica:0/task:1 can't be reached" in error.message


def test_values_do_not_leave_the_machine_unasked(
    workers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for worker in workers:
        hosts = worker.cluster._collectives._hosts
        monkeypatch.setitem(hosts, "/job:worker/replica:0/task:1", "10.0.0.7")

    def program(task: int) -> Any:
        both = summed(task, 1.0)
        with session_on(workers, task) as sess:
            return sess.run(both)

    for error in at_once(lambda: program(0), lambda: program(1)):
        assert isinstance(error, tf.errors.FailedPreconditionError)
        assert "PENSTOCK_PLAIN_COLLECTIVES=1" in error.message


def test_a_group_forms_though_the_leader_finds_no_front_door(
    workers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task that is busy, with imports for example, answers calls at its front door late."""

    def finds_nobody(address: str, timeout: float) -> int:
        raise tf.errors.UnavailableError(None, None, "Deadline Exceeded")

    monkeypatch.setattr(workers[0].cluster._peers, "_find_road", finds_nobody)

    def program(task: int) -> Any:
        both = summed(task, 1.0)
        with session_on(workers, task) as sess:
            return sess.run(both, options=tf.RunOptions(timeout_in_ms=20_000))

    assert at_once(lambda: program(0), lambda: program(1)) == [2.0, 2.0]


def test_tasks_hear_of_decisions_in_their_order(
    workers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when the thread that makes the first is held up before it has told of it."""
    leading = workers[0].cluster._collectives
    tell, deliver = leading._lead.tell, leading._deliver
    decided: list[int] = []
    heard: list[int] = []
    second = threading.Event()

    def told(task: str, message: dict[str, Any]) -> Any:
        outgoing = tell(task, message)
        decided.extend(m["instance"] for to, m in outgoing if m["hear"] == "go" and to == task)
        return outgoing

    def delivered() -> None:
        if len(decided) == 1:
            second.wait(1.0)
        else:
            second.set()
        deliver()

    def hear(message: dict[str, Any], hear: Any = leading._hear) -> None:
        if message["hear"] == "go":
            heard.append(message["instance"])
        hear(message)

    def program(task: int) -> Any:
        made = [summed(task, float(key), key) for key in (1, 2)]
        with session_on(workers, task) as sess:
            runs = [threading.Thread(target=sess.run, args=(each,)) for each in made]
            for run in runs:
                run.start()
            for run in runs:
                run.join(30)
            return [run.is_alive() for run in runs]

    monkeypatch.setattr(leading._lead, "tell", told)
    monkeypatch.setattr(leading, "_deliver", delivered)
    monkeypatch.setattr(leading, "_hear", hear)
    assert at_once(lambda: program(0), lambda: program(1)) == [[False, False]] * 2
    assert sorted(heard) == [1, 2]
    assert heard == decided
