"""Collective ops of the devices of one process, and the NCCL ops.

CollectiveReduce CollectiveGather CollectiveBcastSend CollectiveBcastRecv CollectiveReduceV2
CollectiveGatherV2 CollectiveBcastSendV2 CollectiveBcastRecvV2 NcclAllReduce NcclReduce
NcclBroadcast
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import raw_ops
from penstock.ops import collectives, nccl

CPUS = 3


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture
def session(graph: tf.Graph) -> Iterator[tf.Session]:
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": CPUS})) as made:
        yield made


def on_each(build: Callable[[int], Any], count: int = CPUS) -> list[Any]:
    made = []
    for i in range(count):
        with tf.device(f"/cpu:{i}"):
            made.append(build(i))
    return made


def reduced(value: Any, merge: str = "Add", final: str = "Id", key: int = 1, **kw: Any) -> Any:
    return collectives.all_reduce(value, CPUS, 1, key, merge, final, **kw)


VALUES = np.array([[1.0, -8.0], [2.0, 4.0], [5.0, 0.5]], np.float32)


@pytest.mark.parametrize(
    ("merge", "final", "expected"),
    [
        ("Add", "Id", VALUES.sum(0)),
        ("Add", "Div", VALUES.sum(0) / 3),
        ("Mul", "Id", VALUES.prod(0)),
        ("Max", "Id", VALUES.max(0)),
        ("Min", "Id", VALUES.min(0)),
    ],
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "bfloat16"])
def test_a_reduction_gives_all_devices_the_same(
    session: tf.Session, merge: str, final: str, expected: Any, dtype: str
) -> None:
    made = on_each(lambda i: reduced(tf.cast(VALUES[i], dtype), merge, final))
    assert [tensor.shape.as_list() for tensor in made] == [[2]] * 3
    results = session.run([tf.cast(tensor, tf.float64) for tensor in made])
    rough = {"float16": 1e-3, "bfloat16": 1e-2}.get(dtype, 1e-6)
    for result in results:
        np.testing.assert_allclose(result, expected, rough)
    np.testing.assert_array_equal(results[0], results[1])


def test_integers_are_divided_as_tensorflow_does(session: tf.Session) -> None:
    made = on_each(lambda i: reduced(tf.constant([7 * i, -i]), "Add", "Div"))
    np.testing.assert_array_equal(session.run(made)[2], [7, -1])


def test_a_sum_is_taken_in_the_order_of_devices(session: tf.Session) -> None:
    large, small = np.float32(1e8), np.float32(1.0)
    values = [large, small, -large]
    made = on_each(lambda i: reduced(tf.constant(values[i])))
    assert session.run(made) == [(large + small) - large] * 3


def test_gathered_rows_are_in_the_order_of_devices(session: tf.Session) -> None:
    fed = on_each(lambda i: tf.placeholder(tf.int32, [None, 2]))
    made = on_each(lambda i: collectives.all_gather(fed[i], CPUS, 1, 1))
    assert made[0].shape.as_list() == [None, 2]
    for rows in (1, 2):
        feed = {fed[i]: np.full([rows, 2], i) for i in range(CPUS)}
        expected = np.repeat(np.arange(CPUS), rows * 2).reshape(-1, 2)
        for result in session.run(made, feed):
            np.testing.assert_array_equal(result, expected)
    known = on_each(lambda i: collectives.all_gather(tf.zeros([2, 4]), CPUS, 1, 2))
    assert known[0].shape.as_list() == [6, 4]


def test_a_broadcast_comes_from_one_device(session: tf.Session) -> None:
    def build(i: int) -> Any:
        if i == 1:
            sent = tf.constant([True, False])
            return collectives.broadcast_send(sent, sent.shape, sent.dtype, CPUS, 1, 1)
        return collectives.broadcast_recv([2], tf.bool, CPUS, 1, 1)

    made = on_each(build)
    assert made[0].shape.as_list() == [2]
    np.testing.assert_array_equal(session.run(made), [[True, False]] * 3)


def test_keys_may_be_tensors(session: tf.Session) -> None:
    keys = {"group_size": 2, "group_key": 7}

    def build(i: int) -> Any:
        value = tf.constant([1.0 + i])
        out = [
            raw_ops.CollectiveReduceV2(
                input=value,
                instance_key=1,
                ordering_token=[],
                merge_op="Add",
                final_op="Div",
                **keys,
            ),
            raw_ops.CollectiveGatherV2(input=value, instance_key=2, ordering_token=[], **keys),
        ]
        if i == 0:
            out.append(raw_ops.CollectiveBcastSendV2(input=value, instance_key=3, **keys))
        else:
            out.append(
                raw_ops.CollectiveBcastRecvV2(shape=[1], T=tf.float32, instance_key=3, **keys)
            )
        return out

    for mean, rows, sent in session.run(on_each(build, 2)):
        assert (mean, rows.tolist(), sent) == (1.5, [1.0, 2.0], 1.0)


def test_devices_may_name_their_instances_in_any_order(session: tf.Session) -> None:
    def build(i: int) -> Any:
        numbers = range(5) if i else reversed(range(5))
        return {key: reduced(tf.constant(float(key)), key=key) for key in numbers}

    for result in session.run(on_each(build)):
        assert result == {key: 3.0 * key for key in range(5)}


def test_devices_wait_for_values_and_instances_of_each_other(session: tf.Session) -> None:
    """What one device computes after an instance goes into another's next instance."""
    first = on_each(lambda i: reduced(tf.constant(1.0 + i), key=1))
    second = on_each(lambda i: reduced(first[(i + 1) % CPUS] * (i + 1), key=2))
    third = on_each(lambda i: reduced(second[(i + 2) % CPUS] + first[i], key=3))
    assert session.run(third) == [3 * (36.0 + 6.0)] * 3


def test_collectives_run_in_loops(session: tf.Session) -> None:
    def body(i: Any, *values: Any) -> Any:
        return (i + 1, *on_each(lambda n: reduced(tf.identity(values[n]))))

    start = [0, *on_each(lambda i: tf.constant(float(i)))]
    results = session.run(tf.while_loop(lambda i, *_: i < 4, body, start))
    assert list(results[1:]) == [81.0] * 3


def test_steps_at_once_do_not_mix(session: tf.Session) -> None:
    fed = tf.placeholder(tf.float32, [])
    made = on_each(lambda i: reduced(fed * (i + 1)))
    found: dict[int, Any] = {}

    def run(number: int) -> None:
        found[number] = [session.run(made, {fed: float(number)}) for _ in range(10)]

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [[6.0 * number] * 3] * 10 for number in range(4)}


# Errors ---------------------------------------------------------------------------------------


def test_members_that_disagree_fail_together_and_can_go_on(session: tf.Session) -> None:
    good = on_each(lambda i: collectives.all_gather(tf.ones([2]), 2, 1, 1), 2)
    with tf.device("/cpu:1"):
        other_shape = collectives.all_gather(tf.ones([3]), 2, 1, 1)
        other_size = collectives.all_gather(tf.ones([2]), 3, 1, 1)
        other_type = collectives.all_gather(tf.ones([2], tf.int32), 2, 1, 1)
        other_kind = collectives.all_reduce(tf.ones([2]), 2, 1, 1, "Add", "Id")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
        session.run([good[0], other_shape])
    with pytest.raises(tf.errors.InternalError, match="but that group has size"):
        session.run([good[0], other_size])
    with pytest.raises(tf.errors.InternalError, match="type mismatch"):
        session.run([good[0], other_type])
    with pytest.raises(tf.errors.InternalError, match="different things"):
        session.run([good[0], other_kind])
    assert session.run(good)[1].tolist() == [1.0] * 4


def test_a_member_that_never_comes_is_not_waited_for_without_end(session: tf.Session) -> None:
    alone, _ = on_each(lambda i: reduced(tf.ones([])), 2)
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(alone, options=tf.RunOptions(timeout_in_ms=50))
    with tf.device("/cpu:0"):
        limited = raw_ops.CollectiveGather(
            input=tf.ones([1]),
            group_size=2,
            group_key=1,
            instance_key=1,
            shape=[2],
            timeout_seconds=0.05,
        )
    with pytest.raises(tf.errors.DeadlineExceededError, match="not all of the 2 members"):
        session.run(limited)


def test_the_error_of_another_device_is_the_step_s(session: tf.Session) -> None:
    fed = tf.placeholder(tf.float32, [None])
    with tf.device("/cpu:0"):
        one = reduced(tf.ones([2]))
    with tf.device("/cpu:1"), tf.control_dependencies([tf.Assert(fed[0] > 0, ["too small"])]):
        two = reduced(tf.identity(fed))
    with tf.device("/cpu:2"):
        three = reduced(tf.ones([2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"):
        session.run([one, two, three], {fed: [-1.0, 1.0]})
    assert session.run([one, two, three], {fed: [1.0, 1.0]})[0].tolist() == [3.0, 3.0]


def test_a_closed_session_ends_the_wait() -> None:
    session = tf.Session(config=tf.ConfigProto(device_count={"CPU": 2}))
    alone = on_each(lambda i: collectives.all_reduce(tf.ones([]), 2, 1, 1, "Add", "Id"), 2)[0]
    errors = []

    def run() -> None:
        try:
            session.run(alone)
        except tf.errors.CancelledError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while not session._runtime.host.resources.collectives._lines:
        thread.join(0.01)
    session.close()
    thread.join()
    assert len(errors) == 1


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="Device assignment required"):
        reduced(tf.ones([]))
    with tf.device("/cpu:0"):
        value = tf.ones([2])
        with pytest.raises(ValueError, match="at least 2"):
            collectives.all_reduce(value, 1, 1, 1, "Add", "Id")
        with pytest.raises(ValueError, match="at least 2"):
            collectives.broadcast_recv([2], tf.float32, 1, 1, 1)
        with pytest.raises(ValueError, match="Shape of broadcast_send"):
            collectives.broadcast_send(value, [3], tf.float32, 2, 1, 1)
        with pytest.raises(ValueError, match="Type of broadcast_send"):
            collectives.broadcast_send(value, [2], tf.int32, 2, 1, 1)


# NCCL -----------------------------------------------------------------------------------------


def test_nccl_reductions(session: tf.Session) -> None:
    values = on_each(lambda i: tf.constant(VALUES[i]))
    functions = {
        nccl.all_sum: VALUES.sum(0),
        nccl.all_prod: VALUES.prod(0),
        nccl.all_min: VALUES.min(0),
        nccl.all_max: VALUES.max(0),
    }
    for function, expected in functions.items():
        made = function(values)
        assert [tensor.device for tensor in made] == [value.device for value in values]
        np.testing.assert_array_equal(session.run(made), [expected] * 3)
    with tf.device("/device:CPU:1"):
        total = tf.contrib.nccl.reduce_sum(values)
    np.testing.assert_array_equal(session.run(total), VALUES.sum(0))
    with pytest.raises(ValueError, match="Must pass >0"):
        nccl.all_sum([])
    with pytest.raises(ValueError, match="Device assignment"):
        nccl.broadcast(tf.ones([]))


def test_gradients_of_nccl_ops(session: tf.Session) -> None:
    values = on_each(lambda i: tf.constant(VALUES[i]))
    sums = nccl.all_sum(values)
    scaled = on_each(lambda i: sums[i] * (i + 1))
    grads = tf.gradients(scaled, values, colocate_gradients_with_ops=True)
    np.testing.assert_array_equal(session.run(grads), [[6.0, 6.0]] * 3)
    with tf.device("/device:CPU:0"):
        total = nccl.reduce_sum(values) * 2
    grads = tf.gradients(total, values, colocate_gradients_with_ops=True)
    np.testing.assert_array_equal(session.run(grads), [[2.0, 2.0]] * 3)
    shared = nccl.broadcast(values[0])
    used = on_each(lambda i: shared * (i + 1))
    (grad,) = tf.gradients(used, values[:1], colocate_gradients_with_ops=True)
    np.testing.assert_array_equal(session.run(grad), [6.0, 6.0])
