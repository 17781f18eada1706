"""A model that is split over two devices: the same values, and its stages work at the same time."""

import itertools
import threading

import numpy as np

import penstock as tf

SIZES = (12, 32, 32, 5)
BATCHES = 4


def stages(devices):
    """The mean loss over micro-batches, each of which goes through the devices one after the other,
    and the step that trains both stages."""
    rng = np.random.default_rng(0)
    data = rng.standard_normal([BATCHES, 8, SIZES[0]]).astype(np.float32)
    weights = []
    for layer, (rows, columns) in enumerate(itertools.pairwise(SIZES)):
        with tf.device(devices[min(layer, 1)]):
            start = rng.standard_normal([rows, columns]).astype(np.float32) / 4
            weights.append(tf.Variable(start, name=f"weights_{layer}"))
    losses = []
    for batch in data:
        with tf.device(devices[0]):
            hidden = tf.nn.relu(tf.matmul(tf.constant(batch), weights[0]))
        with tf.device(devices[1]):
            for matrix in weights[1:]:
                hidden = tf.tanh(tf.matmul(hidden, matrix))
            losses.append(tf.reduce_mean(tf.square(hidden - 1.0)))
    loss = tf.add_n(losses) / BATCHES
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, colocate_gradients_with_ops=True)
    return loss, train


def losses_on(devices):
    with tf.Graph().as_default():
        loss, train = stages(devices)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            session.run(tf.global_variables_initializer())
            return [session.run([loss, train])[0] for _ in range(5)]


def test_the_values_are_those_of_one_device():
    split, whole = losses_on(["/cpu:0", "/cpu:1"]), losses_on(["/cpu:0", "/cpu:0"])
    np.testing.assert_array_equal(split, whole)
    assert split[-1] < split[0]


def test_stages_overlap_in_the_trace():
    """The second micro-batch is in the first stage while the first one is in the second stage."""
    meeting = threading.Barrier(2, timeout=30)

    def meet(value):
        meeting.wait()  # both are under way, or neither gets any further
        return value

    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 8])
        with tf.device("/cpu:0"):
            first = tf.tanh(x[0])
            second = tf.tanh(tf.py_func(meet, [x[1]], tf.float32, name="first_stage"))
        with tf.device("/cpu:1"):
            done = [tf.py_func(meet, [first], tf.float32, name="second_stage"), second * 2.0]
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        data = np.linspace(-1, 1, 16, dtype=np.float32).reshape(2, 8)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
            found = session.run(done, {x: data}, options, metadata)
    np.testing.assert_allclose(found, [np.tanh(data[0]), 2 * np.tanh(data[1])], rtol=1e-6)
    spans = {}
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            begin = node.all_start_nanos
            spans[node.node_name] = device.device, begin, begin + node.all_end_rel_nanos
    one, other = spans["first_stage"], spans["second_stage"]
    assert one[0].endswith("CPU:0") and other[0].endswith("CPU:1")
    assert max(one[1], other[1]) < min(one[2], other[2])
