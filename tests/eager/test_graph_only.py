"""What needs a graph is refused in eager mode, with advice."""

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.metrics.accuracy([1], [1]),
        lambda: tf.metrics.mean_iou([1], [1], 2),
        lambda: tf.metrics.recall_at_k([[1]], [[1.0]], 1),
        lambda: tf.TFRecordReader(),
        lambda: tf.train.string_input_producer(["a"]),
        lambda: tf.train.start_queue_runners(),
        lambda: tf.train.QueueRunner(tf.FIFOQueue(1, tf.float32), [None]),
    ],
)
def test_runtime_errors(call):
    with pytest.raises(RuntimeError, match="not supported when eager|not compatible with eager"):
        call()


@pytest.mark.parametrize("function", [tf.train.batch, tf.train.batch_join])
def test_queues_of_batches(function):
    given = [tf.constant(1)] if function is tf.train.batch else [[tf.constant(1)]]
    with pytest.raises(ValueError, match="Queues are not supported when eager"):
        function(given, 2)


def test_the_error_names_the_metric():
    with pytest.raises(RuntimeError, match=r"tf.metrics.mean_cosine_distance is not supported"):
        tf.metrics.mean_cosine_distance([1.0], [1.0], 0)


def test_a_tensor_is_formatted_as_its_value():
    assert f"{tf.constant(3)} {tf.constant(2.5):.2f}" == "3 2.50"


def test_what_needs_a_graph_says_so():
    for refused, what in (
        (lambda: tf.summary.merge_all(), "Merging"),
        (lambda: tf.summary.merge([]), "Merging"),
        (lambda: tf.train.Supervisor(), "Supervisors"),
    ):
        with pytest.raises(RuntimeError, match=f"{what}.* eager execution"):
            refused()


def test_queues_and_recurrent_networks_run_at_once():
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    queue.enqueue_many([[1.0, 2.0]])
    np.testing.assert_array_equal(queue.dequeue_many(2).numpy(), [1.0, 2.0])
    outputs, _ = tf.nn.dynamic_rnn(
        tf.nn.rnn_cell.BasicRNNCell(2),
        tf.ones([2, 3, 4]),
        sequence_length=[1, 9],
        dtype=tf.float32,
    )
    assert not outputs.numpy()[0, 1:].any()
    assert outputs.numpy()[1].all()
