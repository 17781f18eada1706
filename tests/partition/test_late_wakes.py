"""Which parts of steps may wake others later."""

import numpy as np
import pytest

import penstock as tf
from penstock.ops.functions import Defun
from penstock.partition.late_wakes import wakes_late
from penstock.passes.pipeline import AS_WRITTEN, compile_step
from penstock.placement.placer import place
from penstock.runtime.binding import evaluator
from penstock.runtime.local import LocalRuntime

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"


def late(*targets):
    step = compile_step([], [], list(targets), evaluator(LocalRuntime().host), AS_WRITTEN)
    place(step, [CPU], soft=False)
    return wakes_late(step, CPU)


def tokens():
    queue = tf.FIFOQueue(10, [tf.int64], shapes=[[]])
    return queue, queue.enqueue([np.int64(3)])


def test_gradients_that_are_summed_up_and_tokens_for_them():
    sums = tf.ConditionalAccumulator(tf.float32, shape=[2])
    variable = tf.Variable([1.0, 2.0])
    update = tf.assign_sub(variable, sums.take_grad(2))
    queue, put = tokens()
    assert late(sums.apply_grad([1.0, 1.0]), update.op, put, queue.dequeue().op)


def test_nobody_is_woken_by_plain_work():
    assert not late(tf.assign(tf.Variable(1.0), 2.0).op)


def test_not_what_computes_for_long():
    large = tf.Variable(tf.zeros([2000, 2000]))
    _, put = tokens()
    assert not late(put, tf.matmul(large, large).op)


def _python():
    return tf.py_func(lambda: np.float32(1), [], tf.float32).op


def _pipeline():
    return tf.data.Dataset.range(3).make_one_shot_iterator().get_next().op


def _function():
    @Defun()
    def two():
        return tf.constant(2.0)

    return two().op


def _staged():
    area = tf.contrib.staging.StagingArea([tf.float32])
    return area.put([tf.constant(1.0)])


@pytest.mark.parametrize("make", [_python, _pipeline, _function, _staged])
def test_not_what_may_wait_for_those_who_are_not_awake(make):
    _, put = tokens()
    assert late(put)
    assert not late(put, make())
