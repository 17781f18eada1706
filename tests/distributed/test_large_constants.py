"""Constants that travel once in a session, and what steps make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import errors
from penstock.distributed import arena
from penstock.distributed.large_constants import GivenConstants, TakenConstants, large_constants
from penstock.distributed.step_run import Call
from tests.distributed.in_process_cluster import InProcessCluster

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"
TABLE = np.random.default_rng(1).standard_normal([512, 128]).astype(np.float32)  # 256 KiB


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[InProcessCluster]:
    monkeypatch.setenv(arena.VARIABLE, "0")  # all bytes go over the connection, and are counted
    with tf.Graph().as_default(), InProcessCluster(["ps:0", "worker:0"]) as made:
        yield made


def sent(cluster: InProcessCluster, action: Callable[[], Any]) -> int:
    """The bytes that an action has the worker send to the parameter server."""
    ps, worker = cluster.names
    link = cluster.workers[worker].connect(ps)
    before: int = link.sent
    action()
    return int(link.sent) - before


def run(runtime: Any, fetch: tf.Tensor) -> Any:
    return runtime.compile([], [fetch], []).run([])[0]


def test_a_constant_travels_with_the_first_step_alone(cluster: InProcessCluster) -> None:
    with tf.device(WORKER):
        number = tf.constant(3)
    with tf.device(PS):
        row = tf.gather(tf.constant(TABLE), number)
        steps = [row + float(i) for i in range(3)]
    runtime = cluster.runtime()
    found = []
    assert sent(cluster, lambda: found.append(run(runtime, steps[0]))) > TABLE.nbytes
    for step in steps[1:]:
        assert sent(cluster, lambda step=step: found.append(run(runtime, step))) < 10_000
    for i, value in enumerate(found):
        np.testing.assert_array_equal(value, TABLE[3] + np.float32(i))
    runtime.close()


def test_each_session_sends_its_own(cluster: InProcessCluster) -> None:
    values = []
    for factor in (1, 2):
        with tf.Graph().as_default():
            with tf.device(PS):
                row = tf.gather(tf.constant(factor * TABLE, name="table"), 3)
            with tf.device(WORKER):
                found = row + 1.0
            runtime = cluster.runtime()
            values.append(run(runtime, found))
            runtime.close()
    np.testing.assert_array_equal(values[0], TABLE[3] + 1)
    np.testing.assert_array_equal(values[1], 2 * TABLE[3] + 1)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "bool", "complex64", "bfloat16"])
def test_values_of_every_type_arrive(cluster: InProcessCluster, dtype: str) -> None:
    table = (10 * np.abs(TABLE)).astype(tf.as_dtype(dtype).as_numpy_dtype)
    with tf.device(PS):
        row = tf.gather(tf.constant(table), 3)
    with tf.device(WORKER):
        found = tf.identity(row)
    runtime = cluster.runtime()
    np.testing.assert_array_equal(run(runtime, found), table[3])
    runtime.close()


def test_shapes_that_follow_from_a_large_constant(cluster: InProcessCluster) -> None:
    """Tasks find them while they read the nodes."""
    sizes = np.zeros([40_000], np.int32)
    sizes[7:9] = [2, 3]
    with tf.device(PS):
        shape = tf.constant(sizes)[7:9]
        made = tf.fill(shape, 5.0)
    with tf.device(WORKER):
        found = tf.reshape(made, [3, 2]) + 1.0
    runtime = cluster.runtime()
    np.testing.assert_array_equal(run(runtime, found), np.full([3, 2], 6.0))
    runtime.close()


def test_what_is_large() -> None:
    with tf.Graph().as_default():
        table = tf.constant(TABLE).op
        ops = [table, tf.constant(0.0, shape=[512, 128]).op, tf.constant(TABLE[0]).op]
        ops.append(tf.constant(["words"] * 100_000).op)
        assert large_constants(ops).keys() == {table.name}


def test_a_task_has_what_it_has_registered() -> None:
    given, call = GivenConstants(), Call("a", {"do": "register"}, [b"nodes"])
    first = given.with_missing(call, {"table": TABLE})
    assert first.fields["given"] == ["table"]
    assert first.values[1] is TABLE
    assert given.with_missing(call, {"table": TABLE}).values[1] is TABLE  # nobody has answered
    given.took(["a"], {"table": TABLE})
    assert given.with_missing(call, {"table": TABLE}) is call
    other = given.with_missing(call, {"table": TABLE.copy()})  # another node of that name
    assert len(other.values) == 2
    assert len(given.with_missing(call._replace(task="b"), {"table": TABLE}).values) == 2


def test_constants_that_were_forgotten_are_asked_for_by_a_new_session() -> None:
    with pytest.raises(errors.AbortedError, match=r"\['table'\].*make a new session"):
        TakenConstants().of(["table"])
