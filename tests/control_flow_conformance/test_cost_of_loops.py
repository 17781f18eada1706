"""The cost of a loop: linear in its iterations, and flat memory where no gradient is asked for."""

import gc

import numpy as np
import pytest

import penstock as tf
from tests.control_flow_conformance.executor_session import as_written


def executed(session, fetch, feeds):
    """How many nodes ran, by what a trace of the step says."""
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    session.run(fetch, feeds, options=options, run_metadata=metadata)
    return sum(len(device.node_stats) for device in metadata.step_stats.dev_stats)


@pytest.mark.parametrize("executor", [False, True])
@pytest.mark.parametrize("gradient", [False, True])
def test_nodes_are_run_in_proportion_to_the_iterations(executor, gradient):
    with tf.Graph().as_default():
        limit, x = tf.placeholder(tf.int32, []), tf.constant([0.5, 0.7])
        loop = tf.while_loop(lambda i, s: i < limit, lambda i, s: (i + 1, tf.sin(s * x)), [0, x])
        fetch = tf.gradients(loop[1], x)[0] if gradient else loop[1]
        with tf.Session(config=as_written() if executor else None) as session:
            counts = [executed(session, fetch, {limit: n}) for n in (10, 20, 40)]
    assert counts[1] > counts[0]
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])


@pytest.mark.parametrize("executor", [False, True])
def test_memory_is_flat_without_a_gradient(executor):
    import torch

    living = []

    def count(value):
        living.append(sum(type(each) is torch.Tensor for each in gc.get_objects()))
        return value

    def body(i, s):
        counted = tf.py_func(count, [s], tf.float32)
        counted.set_shape(s.shape)
        return i + 1, tf.sin(counted) * 1.5

    with tf.Graph().as_default():
        start = tf.constant(np.ones([3], np.float32))
        loop = tf.while_loop(lambda i, s: i < 24, body, [0, start], parallel_iterations=1)
        with tf.Session(config=as_written() if executor else None) as session:
            session.run(tf.constant(0))
            gc.freeze()  # what is there already need not be counted
            try:
                session.run(loop)
            finally:
                gc.unfreeze()
    assert len(living) == 24
    assert max(living[10:]) <= max(living[:10])
