"""Queues in sessions: elements, waiting, closing, sharing, errors."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops import queue_ops
from tests.queues.waiting_steps import Background

INSUFFICIENT = r"is closed and has insufficient elements \(requested {}, current size {}\)"
SHUFFLED_BY_TENSORFLOW = [7, 4, 19, 15, 0, 8, 10, 11, 14, 6]


def test_components_keep_types_and_values() -> None:
    types = [tf.float16, tf.float64, tf.int8, tf.uint16, tf.bool, tf.complex64, tf.string]
    values: list[Any] = [
        np.arange(6).reshape(2, 3).astype(dtype.as_numpy_dtype)
        if dtype is not tf.string
        else np.array([[b"a", b"bc", b""], [b"\0", b"d", b"e"]], dtype=object)
        for dtype in types
    ]
    queue = tf.FIFOQueue(10, types, shapes=[[3]] * len(types))
    with tf.Session() as sess:
        sess.run(queue.enqueue_many(values))
        for got, value in zip(sess.run(queue.dequeue_many(2)), values, strict=True):
            np.testing.assert_array_equal(got, value)
            assert got.dtype == value.dtype


def test_elements_share_no_memory_with_feeds_or_variables() -> None:
    fed = np.array([1.0, 2.0], np.float32)
    feed = tf.placeholder(tf.float32, [2])
    variable = tf.Variable([5.0, 6.0])
    queue = tf.FIFOQueue(10, tf.float32, shapes=[2])
    enqueue, put, take = queue.enqueue(feed), queue.enqueue(variable), queue.dequeue()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(enqueue, {feed: fed})
        fed[:] = 9
        sess.run(put)
        sess.run(variable.assign([0.0, 0.0]))
        assert sess.run(take).tolist() == [1.0, 2.0]
        assert sess.run(take).tolist() == [5.0, 6.0]


def test_waits_are_served_in_order() -> None:
    queue = tf.FIFOQueue(10, tf.int32, shapes=[()])
    take, value = queue.dequeue(), tf.placeholder(tf.int32, [])
    enqueue = queue.enqueue(value)
    with tf.Session() as sess:
        calls = []
        for _ in range(4):
            calls.append(Background(sess.run, take))
            calls[-1].assert_waits()
        for i in range(4):
            sess.run(enqueue, {value: i})
        assert [call.result() for call in calls] == [0, 1, 2, 3]


def test_enqueue_many_waits_for_room_element_by_element() -> None:
    queue = tf.FIFOQueue(5, tf.int32, shapes=[()])
    enqueue, take, size = queue.enqueue_many([list(range(10))]), queue.dequeue(), queue.size()
    with tf.Session() as sess:
        call = Background(sess.run, enqueue)
        call.assert_waits()
        assert [sess.run(take) for _ in range(4)] == [0, 1, 2, 3]
        assert sess.run(size) == 5
        call.assert_waits()
        sess.run(take)
        call.result()
        assert [sess.run(take) for _ in range(5)] == [5, 6, 7, 8, 9]


def test_dequeue_many_collects_more_than_the_capacity() -> None:
    queue = tf.FIFOQueue(2, tf.int32, shapes=[()])
    value = tf.placeholder(tf.int32, [])
    enqueue, take = queue.enqueue(value), queue.dequeue_many(4)
    with tf.Session() as sess:
        call = Background(sess.run, take)
        call.assert_waits()
        for i in range(4):
            sess.run(enqueue, {value: i})
        assert call.result().tolist() == [0, 1, 2, 3]


def test_closing_waits_for_enqueues_that_wait() -> None:
    queue = tf.FIFOQueue(1, tf.float32)
    enqueue, take, close = queue.enqueue(1.0), queue.dequeue(), queue.close()
    with tf.Session() as sess:
        sess.run(enqueue)
        waiting = Background(sess.run, enqueue)
        waiting.assert_waits()
        closing = Background(sess.run, close)
        closing.assert_waits()
        assert not sess.run(queue.is_closed())
        sess.run(take)
        waiting.result()
        closing.result()
        assert sess.run(queue.is_closed())
        with pytest.raises(tf.errors.CancelledError, match="is closed"):
            sess.run(enqueue)
        assert sess.run(take) == 1.0
        with pytest.raises(tf.errors.OutOfRangeError, match=INSUFFICIENT.format(1, 0)):
            sess.run(take)


def test_closing_can_cancel_enqueues_and_ends_dequeues() -> None:
    full, empty = tf.FIFOQueue(1, tf.float32), tf.FIFOQueue(1, tf.float32, shapes=[()])
    enqueue, take = full.enqueue_many([[1.0, 2.0]]), empty.dequeue_many(3)
    with tf.Session() as sess:
        sess.run(empty.enqueue(7.0))
        putting, taking = Background(sess.run, enqueue), Background(sess.run, take)
        putting.assert_waits()
        taking.assert_waits()
        sess.run([full.close(cancel_pending_enqueues=True), empty.close()])
        with pytest.raises(tf.errors.CancelledError, match="Enqueue operation was cancelled"):
            putting.result()
        with pytest.raises(tf.errors.OutOfRangeError, match=INSUFFICIENT.format(3, 1)):
            taking.result()
        assert sess.run(empty.dequeue_up_to(3)).tolist() == [7.0]


@pytest.mark.parametrize("form", ["dequeue", "dequeue_many", "enqueue", "enqueue_many"])
def test_a_closed_session_cancels_waits(form: str) -> None:
    queue = tf.FIFOQueue(1, tf.float32, shapes=[()])
    forms = {
        "dequeue": queue.dequeue(),
        "dequeue_many": queue.dequeue_many(2),
        "enqueue": queue.enqueue(1.0),
        "enqueue_many": queue.enqueue_many([[1.0, 2.0]]),
    }
    sess = tf.Session()
    if form == "enqueue":
        sess.run(forms[form])
    call = Background(sess.run, forms[form])
    call.assert_waits()
    sess.close()
    what = "Dequeue" if "dequeue" in form else "Enqueue"
    with pytest.raises(tf.errors.CancelledError, match=f"{what} operation was cancelled"):
        call.result()


def test_a_wait_in_a_loop_or_branch_is_cancelled_too() -> None:
    queue = tf.FIFOQueue(1, tf.float32, shapes=[()])
    total = tf.while_loop(lambda i: i < 3.0, lambda i: i + queue.dequeue(), [0.0])
    chosen = tf.cond(tf.placeholder_with_default(True, []), queue.dequeue, lambda: 0.0)
    sess = tf.Session()
    calls = [Background(sess.run, total), Background(sess.run, chosen)]
    for call in calls:
        call.assert_waits()
    sess.close()
    for call in calls:
        with pytest.raises(tf.errors.CancelledError):
            call.result()


def test_timeouts() -> None:
    queue = tf.FIFOQueue(1, tf.float32, shapes=[()])
    take = queue.dequeue_many(2)
    config = tf.ConfigProto(operation_timeout_in_ms=30)
    with tf.Session(config=config) as sess:
        sess.run(queue.enqueue(1.0))
        with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out waiting"):
            sess.run(take)
        assert sess.run(queue.size()) == 1  # what it had taken already is back
    with tf.Session() as sess:
        began = time.monotonic()
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=30))
        assert time.monotonic() - began < 5


def test_ctrl_c_ends_a_wait() -> None:
    queue = tf.FIFOQueue(1, tf.float32)
    take = queue.dequeue()
    main = threading.main_thread().ident
    assert main is not None
    with tf.Session() as sess:
        sess.run(queue.size())
        timer = threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT))
        began = time.monotonic()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            sess.run(take)
        assert time.monotonic() - began < 2
        timer.join()
        sess.run(queue.enqueue(3.0))  # nobody waits any more
        assert sess.run(take) == 3.0


def test_shuffled_elements_come_in_tensorflows_order() -> None:
    queue = tf.RandomShuffleQueue(100, 0, tf.int32, shapes=[()], seed=7)
    with tf.Session() as sess:
        sess.run(queue.enqueue_many([list(range(20))]))
        first = sess.run(queue.dequeue_many(10)).tolist()
        rest = [int(sess.run(queue.dequeue())) for _ in range(10)]
    # Printed by TensorFlow 2.21 for the same program.
    assert first == SHUFFLED_BY_TENSORFLOW
    assert sorted(first + rest) == list(range(20))


def test_a_shuffling_queue_keeps_some_back_until_it_is_closed() -> None:
    queue = tf.RandomShuffleQueue(10, 3, tf.int32, shapes=[()])
    take = queue.dequeue()
    with tf.Session() as sess:
        sess.run(queue.enqueue_many([list(range(4))]))
        got = [sess.run(take)]
        call = Background(sess.run, take)
        call.assert_waits()
        sess.run(queue.close())
        got += [call.result(), sess.run(take), sess.run(take)]
        assert sorted(got) == [0, 1, 2, 3]


def test_padding() -> None:
    queue = tf.PaddingFIFOQueue(10, [tf.int64, tf.string], [[None], [2, None]])
    with tf.Session() as sess:
        sess.run(queue.enqueue(([1, 2], [["a"], ["b"]])))
        sess.run(queue.enqueue(([3], [["c", "d"], ["e", "f"]])))
        numbers, strings = sess.run(queue.dequeue_many(2))
        assert numbers.tolist() == [[1, 2], [3, 0]]
        assert strings.tolist() == [[[b"a", b""], [b"b", b""]], [[b"c", b"d"], [b"e", b"f"]]]
        empty = sess.run(queue.dequeue_many(0))
        assert [part.shape for part in empty] == [(0, 0), (0, 2, 0)]


def test_priorities() -> None:
    queue = tf.PriorityQueue(10, [tf.string], [()])
    with tf.Session() as sess:
        sess.run(queue.enqueue_many(([5, 1, 3, 1], ["five", "one", "three", "uno"])))
        assert sess.run(queue.dequeue()) == [1, b"one"]
        priorities, names = sess.run(queue.dequeue_many(3))
        assert priorities.tolist() == [1, 3, 5]
        assert names.tolist() == [b"uno", b"three", b"five"]


def test_shapes_and_types_are_checked() -> None:
    queue = tf.FIFOQueue(3, [tf.float32, tf.int32], shapes=[[2], []])
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    enqueue, many = queue.enqueue((x, y)), queue.enqueue_many((x, y))
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[2\], got \[1\]"):
            sess.run(enqueue, {x: [1.0], y: 3})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[1\], got \[2\]"):
            sess.run(many, {x: [[1.0, 2.0]], y: [3, 4]})
        loose = tf.FIFOQueue(3, [tf.float32, tf.int32])
        with pytest.raises(tf.errors.InvalidArgumentError, match="same size in the 0th dimension"):
            sess.run(loose.enqueue_many((x, y)), {x: [1.0], y: [3, 4]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="specified shapes"):
            sess.run(loose.dequeue_many(2))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Signature mismatch"):
            sess.run(queue_ops.QueueDequeueV2(queue.queue_ref, component_types=[tf.float32]))
    with pytest.raises(ValueError, match="not compatible|incompatible"):
        queue.enqueue(([1.0], 2))
    with pytest.raises(ValueError, match="fully defined"):
        tf.FIFOQueue(3, tf.float32, shapes=[[None]])


def test_sharing_by_name() -> None:
    def make(**changed: Any) -> Any:
        settings: dict[str, Any] = {"capacity": 10, "dtypes": tf.float32, "shapes": [[2]]}
        return tf.FIFOQueue(**{**settings, **changed}, shared_name="q")

    first, second = make(), make()
    with tf.Session() as sess:
        sess.run(first.enqueue([[1.0, 2.0]]))
        assert sess.run(second.dequeue()).tolist() == [1.0, 2.0]
        for what, changed in {
            "capacity": {"capacity": 5},
            "component types": {"dtypes": tf.int32},
            "component shapes": {"shapes": [[3]]},
        }.items():
            with pytest.raises(tf.errors.InvalidArgumentError, match=what):
                sess.run(make(**changed).queue_ref.op)
        other = tf.RandomShuffleQueue(10, 0, tf.float32, shapes=[[2]], shared_name="q")
        with pytest.raises(tf.errors.InvalidArgumentError, match="has type"):
            sess.run(other.size())


def test_choosing_one_of_several() -> None:
    queues = [tf.FIFOQueue(3, tf.float32) for _ in range(3)]
    index = tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(index, queues)
    enqueue, take = chosen.enqueue(5.0), chosen.dequeue()
    with tf.Session() as sess:
        sess.run(enqueue, {index: 1})
        assert sess.run([queue.size() for queue in queues]) == [0, 1, 0]
        assert sess.run(take, {index: 1}) == 5.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in"):
            sess.run(take, {index: 3})


def test_named_components() -> None:
    queue = tf.FIFOQueue(10, [tf.float32, tf.string], shapes=[(), ()], names=["f", "s"])
    with pytest.raises(ValueError, match="enqueue a dictionary"):
        queue.enqueue((1.0, "a"))
    with pytest.raises(ValueError, match="match names of Queue"):
        queue.enqueue({"f": 1.0})
    with tf.Session() as sess:
        sess.run(queue.enqueue_many({"s": ["a", "b"], "f": [1.0, 2.0]}))
        taken = sess.run(queue.dequeue_many(2))
        assert taken["f"].tolist() == [1.0, 2.0]
        assert taken["s"].tolist() == [b"a", b"b"]


_OLD = {
    "FIFOQueue": queue_ops.FIFOQueue,
    "PaddingFIFOQueue": queue_ops.PaddingFIFOQueue,
    "PriorityQueue": queue_ops.PriorityQueue,
    "RandomShuffleQueue": queue_ops.RandomShuffleQueue,
}


@pytest.mark.parametrize("kind", _OLD)
def test_old_handles(kind: str) -> None:
    """The reference forms: QueueEnqueue, QueueEnqueueMany, QueueDequeue, QueueDequeueMany,
    QueueDequeueUpTo, QueueClose, QueueIsClosed and QueueSize."""
    types = [tf.int64] if kind != "PriorityQueue" else []
    handle = _OLD[kind](component_types=types, shapes=[()] * len(types), capacity=5, name="old")
    assert handle.dtype.name == "string_ref"
    queue = tf.QueueBase([tf.int64], [()], None, handle)
    operations = [
        queue.enqueue(tf.constant(1, tf.int64)),
        queue.enqueue_many(tf.constant([2, 3, 4], tf.int64)),
        queue.size(),
        queue.dequeue(),
        queue.dequeue_many(2),
        queue.close(),
        queue.is_closed(),
        queue.dequeue_up_to(5),
    ]
    nodes = [getattr(operation, "op", operation) for operation in operations]
    assert [node.type for node in nodes] == [
        *("QueueEnqueue", "QueueEnqueueMany", "QueueSize", "QueueDequeue"),
        *("QueueDequeueMany", "QueueClose", "QueueIsClosed", "QueueDequeueUpTo"),
    ]
    with tf.Session() as sess:
        results = [sess.run(operation) for operation in operations]
        assert sess.run(handle).tolist() == [b"", b"old"]
    assert results[2] == 4
    assert results[6]
    taken = [results[3], *results[4], *results[7]]
    assert (sorted(taken) if kind == "RandomShuffleQueue" else taken) == [1, 2, 3, 4]


def test_the_new_forms_are_those_of_the_classes() -> None:
    """QueueEnqueueV2, QueueEnqueueManyV2, QueueDequeueV2, QueueDequeueManyV2, QueueDequeueUpToV2,
    QueueCloseV2, QueueIsClosedV2 and QueueSizeV2 of FIFOQueueV2, PaddingFIFOQueueV2,
    PriorityQueueV2 and RandomShuffleQueueV2; FakeQueue makes an old handle of a new one."""
    queue = tf.FIFOQueue(5, tf.string, shapes=[()])
    old = queue_ops.FakeQueue(queue.queue_ref)
    taken = queue_ops.QueueDequeue(old, component_types=[tf.string])
    with tf.Session() as sess:
        sess.run(queue.enqueue("a"))
        assert sess.run(taken) == [b"a"]


def test_order_within_a_step() -> None:
    """What no edge orders happens in the order of creation."""
    queue = tf.FIFOQueue(5, tf.int32)
    enqueue, take = queue.enqueue(1), queue.dequeue()
    again = queue.dequeue()
    with tf.Session() as sess:
        sess.run(queue.enqueue(0))
        assert sess.run([take, enqueue]) == [0, None]
        sess.run(enqueue)
        assert sess.run([again, take]) == [1, 1]
        assert sess.run(queue.size()) == 0
