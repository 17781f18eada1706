"""Accumulators, barriers, staging areas and kept tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops import accumulators, staging_ops
from penstock.ops.barriers import Barrier
from penstock.ops.session_handles import GetSessionHandleV2
from tests.queues.waiting_steps import Background

# Conditional accumulators ---------------------------------------------------------------------


@pytest.mark.parametrize(("reduction", "expected"), [("MEAN", [2.0, 4.0]), ("SUM", [6.0, 12.0])])
def test_dense_gradients(reduction: str, expected: list[float]) -> None:
    """ResourceConditionalAccumulator, ResourceAccumulatorApplyGradient,
    ResourceAccumulatorTakeGradient, ResourceAccumulatorNumAccumulated,
    ResourceAccumulatorSetGlobalStep."""
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2], reduction_type=reduction)
    gradient, step = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int64, [])
    apply, take = accumulator.apply_grad(gradient, step), accumulator.take_grad(3)
    count = accumulator.num_accumulated()
    with tf.Session() as sess:
        call = Background(sess.run, take)
        for factor in (1.0, 2.0, 3.0):
            call.assert_waits()
            sess.run(apply, {gradient: [factor, 2 * factor], step: 0})
        assert call.result().tolist() == expected
        sess.run(apply, {gradient: [1.0, 1.0], step: 0})  # stale: the accumulator is at step 1
        assert sess.run(count) == 0
        sess.run(accumulator.set_global_step(5))
        sess.run(apply, {gradient: [1.0, 1.0], step: 4})
        assert sess.run(count) == 0
        sess.run(apply, {gradient: [1.0, 1.0], step: 5})
        assert sess.run(count) == 1


def test_accumulators_refuse_other_shapes() -> None:
    accumulator = tf.ConditionalAccumulator(tf.float32, shape=[2, None])
    gradient = tf.placeholder(tf.float32)
    apply = accumulator.apply_grad(gradient)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
            sess.run(apply, {gradient: [1.0]})
        sess.run(apply, {gradient: [[1.0], [2.0]]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shape mismatch"):
            sess.run(apply, {gradient: [[1.0, 1.0], [2.0, 2.0]]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
            sess.run(accumulator.take_grad(0))
    with pytest.raises(ValueError, match="reduction_type"):
        tf.ConditionalAccumulator(tf.float32, reduction_type="MAX")


def test_sparse_gradients_have_a_mean_for_each_row() -> None:
    """SparseConditionalAccumulator, SparseAccumulatorApplyGradient,
    SparseAccumulatorTakeGradient, AccumulatorNumAccumulated, AccumulatorSetGlobalStep."""
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[4, 2])
    with tf.Session() as sess:
        sess.run(accumulator.apply_grad([0, 2], [[1.0, 1.0], [2.0, 2.0]], [4, 2]))
        slices = tf.IndexedSlices(tf.constant([[4.0, 6.0]]), tf.constant([2], tf.int64))
        sess.run(accumulator.apply_indexed_slices_grad(slices))
        assert sess.run(accumulator.num_accumulated()) == 2
        taken = sess.run(accumulator.take_indexed_slices_grad(2))
        assert taken.indices.tolist() == [0, 2]
        assert taken.values.tolist() == [[1.0, 1.0], [3.0, 4.0]]
        assert taken.dense_shape.tolist() == [4, 2]
        sess.run(accumulator.set_global_step(7))


@pytest.mark.parametrize(
    ("order", "indices", "values"),
    [  # as TensorFlow 1.15.5 gives them
        ("ab", [0, 2, 0, 4, 2, 2], [1.0, 3.0, 3.0, 5.0, 6.0, 7.0]),
        ("ba", [0, 2, 0, 4, 2, 2], [1.0, 3.0, 3.0, 5.0, 6.0, 7.0]),
        ("aa", [0, 2, 0], [1.0, 2.0, 3.0]),
        ("abc", [0, 2, 0, 4, 2, 2], [1.0, 3.0, 3.0, 3.0, 6.0, 7.0]),
        ("ca", [0, 2, 0, 4], [1.0, 2.0, 3.0, 1.0]),
        ("cec", [4], [1.0]),
    ],
)
def test_rows_that_a_gradient_has_several_times(order: str, indices: Any, values: Any) -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=())
    gradients = {
        "a": ([0, 2, 0], [[1.0], [2.0], [3.0]]),
        "b": ([2, 4, 2, 2], [[4.0], [5.0], [6.0], [7.0]]),
        "c": ([4], [[1.0]]),
        "e": (np.zeros(0, np.int64), np.zeros((0, 1), np.float32)),
    }
    with tf.Session() as sess:
        for name in order:
            sess.run(accumulator.apply_grad(*gradients[name]))
        taken = sess.run(accumulator.take_indexed_slices_grad(len(order)))
    assert taken.indices.tolist() == indices
    assert taken.values.tolist() == [[value] for value in values]


@pytest.mark.parametrize(
    ("indices", "values", "shape", "message"),
    [
        (0, 1.0, [], "Input indices should be vector but received shape:"),
        ([0], 1.0, [], "Values cannot be 0-dimensional."),
        ([0], [[1.0]], [2, 2], "expected shape rank at least 3, got 2"),
        ([0], np.ones((1, 3, 1)), [2, 3, 1], "expected shape dim 1 to be 2, got 3"),
        ([3], np.ones((1, 2, 3)), None, "index of slice 0 exceeded limits of shape; index is 3"),
        ([0], [[1.0]], None, "expected values rank at least 3, got 2"),
        ([0], np.ones((1, 3, 1)), None, "expected values dim 1 to be 2, got 3"),
    ],
)
def test_sparse_gradients_are_checked(indices: Any, values: Any, shape: Any, message: str) -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[2, 2, None])
    rows, numbers = tf.placeholder(tf.float32), tf.placeholder(tf.int64)
    apply = accumulator.apply_grad(numbers, rows, shape)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(apply, {rows: values, numbers: indices})


def test_what_is_too_old_is_not_looked_at() -> None:
    accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[3, 2])
    wrong = [accumulator.apply_grad([0], np.ones(2, np.float32), local_step=n) for n in (4, 5)]
    with tf.Session() as sess:
        sess.run(accumulator.set_global_step(5))
        sess.run(wrong[0])
        with pytest.raises(tf.errors.InvalidArgumentError, match="non-empty input values"):
            sess.run(wrong[1])


def test_old_handle_of_an_accumulator() -> None:
    """ConditionalAccumulator, AccumulatorApplyGradient, AccumulatorTakeGradient."""
    handle = accumulators._ConditionalAccumulator(dtype=tf.int32, shape=[])
    step = tf.constant(0, tf.int64)
    apply = accumulators.AccumulatorApplyGradient(handle, step, tf.constant(5))
    with tf.Session() as sess:
        sess.run(apply)
        sess.run(apply)
        assert sess.run(accumulators.AccumulatorNumAccumulated(handle)) == 2
        take = accumulators.AccumulatorTakeGradient(handle, 2, dtype=tf.int32)
        assert sess.run(take) == 5
        sess.run(accumulators.AccumulatorSetGlobalStep(handle, step))


# Barriers -------------------------------------------------------------------------------------


def test_barrier() -> None:
    """Barrier, BarrierInsertMany, BarrierTakeMany, BarrierClose, BarrierReadySize,
    BarrierIncompleteSize."""
    barrier = Barrier((tf.float32, tf.string), shapes=((), (2,)), name="B")
    first = barrier.insert_many(0, ["a", "b", "c"], [10.0, 20.0, 30.0])
    second = barrier.insert_many(1, ["c", "a"], [["1", "2"], ["3", "4"]])
    last = barrier.insert_many(1, ["b"], [["5", "6"]])
    take = barrier.take_many(3)
    with tf.Session() as sess:
        sess.run(first)
        call = Background(sess.run, take)
        call.assert_waits()
        sess.run(second)
        assert sess.run(barrier.incomplete_size()) == 1
        sess.run(last)
        taken = call.result()
        smallest = np.iinfo(np.int64).min
        # As they became complete; each dequeue of several takes what is ready.
        assert taken.indices.tolist() == [smallest] * 3  # all keys came with one insertion
        sess.run([barrier.insert_many(i, ["d"], [v]) for i, v in enumerate((1.0, ["7", "8"]))])
        assert sess.run(barrier.take_many(1)).indices.tolist() == [smallest + 1]
        by_key = dict(zip(taken.keys, zip(*taken.values, strict=True), strict=True))
        assert by_key[b"a"][0] == 10.0
        assert by_key[b"c"][1].tolist() == [b"1", b"2"]
        sess.run(first)
        with pytest.raises(tf.errors.InvalidArgumentError, match="already has a value for comp"):
            sess.run(first)


def test_closed_barrier() -> None:
    barrier = Barrier((tf.float32, tf.float32), shapes=((), ()))
    with tf.Session() as sess:
        sess.run(barrier.insert_many(0, ["a", "b"], [1.0, 2.0]))
        sess.run(barrier.insert_many(1, ["a"], [3.0]))
        sess.run(barrier.close())
        with pytest.raises(tf.errors.CancelledError, match="is closed"):
            sess.run(barrier.insert_many(0, ["new"], [1.0]))
        with pytest.raises(tf.errors.OutOfRangeError, match=r"\(requested 3, total size 2\)"):
            sess.run(barrier.take_many(3))
        sess.run(barrier.insert_many(1, ["b"], [4.0]))
        assert sess.run([barrier.ready_size(), barrier.incomplete_size()]) == [2, 0]
        taken = sess.run(barrier.take_many(5, allow_small_batch=True))
        assert taken.keys.tolist() == [b"a", b"b"]
        with pytest.raises(tf.errors.CancelledError, match="already closed"):
            sess.run(barrier.close())
        sess.run(barrier.close(cancel_pending_enqueues=True))
    with pytest.raises(ValueError, match="Empty tensors are not supported"):
        Barrier(tf.float32, shapes=((0,),))


# Staging --------------------------------------------------------------------------------------


def test_staging_area() -> None:
    """Stage, Unstage, StagePeek, StageSize, StageClear."""
    area = tf.contrib.staging.StagingArea([tf.float32, tf.int32], shapes=[[], []], names=["x", "y"])
    x = tf.placeholder(tf.float32, [])
    put, get = area.put({"x": x, "y": tf.constant(3)}), area.get()
    peek = area.peek(tf.placeholder_with_default(1, []))
    with tf.Session() as sess:
        sess.run(put, {x: -1.0})
        for i in range(3):
            assert sess.run([put, get["x"]], {x: i}) == [None, i - 1.0]
        sess.run(put, {x: 9.0})
        assert sess.run(peek) == {"x": 9.0, "y": 3}
        assert sess.run(area.size()) == 2
        sess.run(area.clear())
        assert sess.run(area.size()) == 0
    assert {get["x"].op.type, put.type} == {"Stage", "Unstage"}


def test_limits_of_a_staging_area() -> None:
    few = tf.contrib.staging.StagingArea([tf.float32], capacity=2)
    small = tf.contrib.staging.StagingArea([tf.float32], memory_limit=16)
    value = tf.placeholder(tf.float32, [None])
    with tf.Session() as sess:
        for area in (few, small):
            put, get = area.put([value]), area.get()
            sess.run(put, {value: [1.0, 1.0]})
            sess.run(put, {value: [2.0, 2.0]})
            call = Background(sess.run, put, {value: [3.0]})
            call.assert_waits()
            sess.run(get)
            call.result()
        with pytest.raises(tf.errors.ResourceExhaustedError, match="memory limit"):
            sess.run(small.put([value]), {value: [1.0] * 5})


@pytest.mark.parametrize("ordered", [False, True])
def test_map_staging_area(ordered: bool) -> None:
    """MapStage, MapUnstage, MapUnstageNoKey, MapPeek, MapSize, MapIncompleteSize, MapClear;
    OrderedMapStage, OrderedMapUnstage, OrderedMapUnstageNoKey, OrderedMapPeek, OrderedMapSize,
    OrderedMapIncompleteSize, OrderedMapClear."""
    area = tf.contrib.staging.MapStagingArea(
        [tf.float32, tf.int32], names=["x", "y"], ordered=ordered
    )
    key = tf.placeholder(tf.int64, [])
    put_x = area.put(key, {"x": tf.cast(key, tf.float32)})
    put_y = area.put(key, {"y": tf.cast(key, tf.int32)})
    sizes = [area.size(), area.incomplete_size()]
    with tf.Session() as sess:
        call = Background(sess.run, area.get(key), {key: 5})
        call.assert_waits()
        for number in (7, 3, 5):
            sess.run(put_x, {key: number})
        with pytest.raises(tf.errors.InvalidArgumentError, match="already initialized"):
            sess.run(put_x, {key: 7})
        assert sess.run(sizes) == [0, 3]
        for number in (7, 3, 5):
            sess.run(put_y, {key: number})
        assert call.result() == (5, {"x": 5.0, "y": 5})
        assert sess.run(area.peek(key, ["y"]), {key: 3}) == {"y": 3}
        assert sess.run(sizes) == [2, 0]
        first = 3 if ordered else 7
        assert sess.run(area.get(indices=["y"])) == (first, {"y": first})
        with pytest.raises(tf.errors.InvalidArgumentError, match="has already been removed"):
            sess.run(area.get(key, ["y"]), {key: first})
        assert sess.run(area.get(key, [0]), {key: first}) == (first, {"x": float(first)})
        assert sess.run(sizes) == [1, 0]
        sess.run(area.clear())
        assert sess.run(sizes) == [0, 0]
    assert staging_ops.MAP.stage.name == "MapStage"


# Tensors that stay in a session ---------------------------------------------------------------


def test_parts_of_a_staged_element_are_named_in_order() -> None:
    area = tf.contrib.staging.MapStagingArea([tf.int32, tf.int32, tf.int32], shapes=[[], [], []])
    key = tf.constant(1, tf.int64)
    ten, twenty, thirty = (tf.constant(value) for value in (10, 20, 30))
    put = area.put(key, [ten, twenty], [0, 2]), area.put(key, [thirty], [1])
    with tf.Session() as sess:
        sess.run(put)
        for indices in ([2, 0], [1, 1]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="not strictly ordered"):
                sess.run(area.get(key, indices))
        assert sess.run(area.get(key, [0, 2]))[1] == [10, 20]
        assert sess.run(area.get(key, [1]))[1] == [30]


def test_session_handles() -> None:
    """GetSessionHandle, GetSessionHandleV2, GetSessionTensor, DeleteSessionTensor."""
    c = tf.multiply(tf.constant(10), tf.constant(5))
    with tf.Session() as sess:
        handle = sess.run(tf.get_session_handle(c))
        assert handle.eval() == 50
        holder, kept = tf.get_session_tensor(handle.handle, tf.int32)
        assert sess.run(kept * 2, {holder: handle.handle}) == 100
        assert sess.run(kept * 3, {holder: handle}) == 150
        assert sess.run(c + 1, {c: handle}) == 51
        assert sess.run(GetSessionHandleV2(c)).eval() == 50
        raw = sess.run(tf.get_session_handle(c)).get_raw_handle()
        target, delete = tf.delete_session_tensor(raw)
        sess.run(delete, {target: raw})
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
            sess.run(kept, {holder: raw})
        handle.delete()
        with pytest.raises(TypeError, match="already been deleted"):
            handle.eval()


def test_a_handle_is_fed_as_what_it_stands_for() -> None:
    number, real = tf.constant(6), tf.constant(7.0)
    with tf.Session() as sess:
        handle = sess.run(tf.get_session_handle(number))
        assert sess.run(number * 2, {number: handle}) == 12
        with pytest.raises(tf.errors.InvalidArgumentError, match="float32 but int32 is provided"):
            sess.run(real * 2.0, {real: handle})


def test_a_dropped_handle_frees_its_tensor() -> None:
    one = tf.constant(1)
    with tf.Session() as sess:
        handle = sess.run(tf.get_session_handle(one))
        text = handle.handle
        holder, kept = tf.get_session_tensor(text, tf.int32)
        assert sess.run(kept, {holder: text}) == 1
        del handle
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
            sess.run(kept, {holder: text})
