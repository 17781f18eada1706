"""A device type that a user adds: a toy accelerator whose values only its kernels understand."""

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.kernels.registry import kernel


class Chip:
    """A value in the toy's memory: anything that takes it for a tensor fails."""

    def __init__(self, tensor, index):
        self._tensor = tensor
        self.index = index


copies = []


def to_chip(tensor, index):
    assert type(tensor) is torch.Tensor
    copies.append("in")
    return Chip(tensor.clone(), index)


def from_chip(value):
    copies.append("out")
    return value._tensor.clone()


def _toy(op_type, function):
    @kernel(op_type, devices=("TOY",), fresh=True)
    def _(node):
        def run(*values):
            assert all(isinstance(value, Chip) for value in values), op_type
            assert len({value.index for value in values}) == 1, "values of two chips"
            return Chip(function(*[value._tensor for value in values]), values[0].index)

        return run


_toy("MatMul", torch.mm)
_toy("Add", torch.add)
_toy("AddV2", torch.add)
_toy("Mul", torch.mul)
_toy("Relu", torch.relu)


@kernel("Sum", devices=("TOY",), fresh=True)
def _(node):
    def run(value, axes):
        return Chip(value._tensor.sum(dim=axes.tolist()), value.index)

    return run


@pytest.fixture(autouse=True)
def toy():
    copies.clear()
    tf.config.register_device_type("TOY", Chip, to_chip, from_chip, count=2, memory_limit=1 << 20)
    with tf.Graph().as_default():
        yield
    tf.config.unregister_device_type("TOY")


def run(fetches, feed_dict=None, **config):
    with tf.Session(config=tf.ConfigProto(**config)) as sess:
        sess.run(tf.global_variables_initializer())
        copies.clear()
        return sess.run(fetches, feed_dict)


def test_devices_of_a_session():
    with tf.Session() as sess:
        named = {device.name: device for device in sess.list_devices()}
    toys = [device for device in named.values() if device.device_type == "TOY"]
    assert [device.name[-5:] for device in toys] == ["TOY:0", "TOY:1"]
    assert toys[0].memory_limit_bytes == 1 << 20
    with tf.Session(config=tf.ConfigProto(device_count={"TOY": 1})) as sess:
        assert [d.device_type for d in sess.list_devices()].count("TOY") == 1


def test_values_are_copied_there_and_back():
    x = tf.placeholder(tf.float32, [2, 2])
    with tf.device("/device:TOY:0"):
        y = tf.nn.relu(tf.matmul(x, x) + 1.0)
    z = tf.exp(y)
    value = np.array([[1.0, -2.0], [0.5, 1.0]], np.float32)
    found, after = run([y, z], {x: value})
    np.testing.assert_allclose(found, np.maximum(value @ value + 1.0, 0.0))
    np.testing.assert_allclose(after, np.exp(found), rtol=1e-6)
    assert copies.count("in") == 2  # what is fed, and the constant when the step is compiled


def test_between_two_of_them():
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/device:TOY:0"):
        y = x * x
    with tf.device("/device:TOY:1"):
        z = y + y
    assert run(z, {x: [1.0, 3.0]}).tolist() == [2.0, 18.0]


def test_variables_stay_on_the_host():
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    with tf.device("/device:TOY:0"):
        y = v * 3.0
    train = v.assign_add(y)
    assert run(train).tolist() == [4.0, 8.0]


def test_sizes_are_the_hosts():
    x = tf.placeholder(tf.float32, [2, 3])
    with tf.device("/device:TOY:0"):
        y = tf.reduce_sum(x, axis=[1])
    assert run(y, {x: np.ones((2, 3))}).tolist() == [3.0, 3.0]


def test_gradients_run_there_and_here():
    x = tf.placeholder(tf.float32, [2, 2])
    with tf.device("/device:TOY:0"):
        y = tf.matmul(x, x)
    (grad,) = tf.gradients(tf.reduce_sum(y), x, colocate_gradients_with_ops=False)
    value = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    ones = np.ones((2, 2), np.float32)
    np.testing.assert_allclose(run(grad, {x: value}), ones @ value.T + value.T @ ones)


def test_in_loops_and_branches():
    x = tf.placeholder(tf.float32, [2])

    def body(i, v):
        with tf.device("/device:TOY:0"):
            return i + 1, v * 2.0

    _, y = tf.while_loop(lambda i, _: i < 3, body, [0, x])
    with tf.device("/device:TOY:0"):
        z = tf.cond(tf.reduce_sum(x) > 0.0, lambda: y + y, lambda: y * y)
    config = {"allow_soft_placement": True}
    assert run([y, z], {x: [1.0, 2.0]}, **config)[1].tolist() == [16.0, 32.0]
    assert run(z, {x: [-1.0, -2.0]}, **config).tolist() == [64.0, 256.0]


def test_nothing_goes_there_unasked():
    x = tf.placeholder(tf.float32, [2])
    assert run(x * x, {x: [1.0, 2.0]}).tolist() == [1.0, 4.0]
    assert copies == []


def test_no_kernel_there():
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/device:TOY:0"):
        y = tf.exp(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no supported kernel for TOY"):
        run(y, {x: [0.0, 0.0]})
    assert run(y, {x: [0.0, 0.0]}, allow_soft_placement=True).tolist() == [1.0, 1.0]


def test_a_device_that_is_not_there():
    with tf.device("/device:TOY:7"):
        y = tf.placeholder(tf.float32, [2]) * 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="TOY:1"):
        run(y, {})


def test_log_of_the_placement(capfd):
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/device:TOY:1"):
        y = tf.multiply(x, x, name="product")
    run(y, {x: [1.0, 2.0]}, log_device_placement=True)
    line = "product: (Mul): /job:localhost/replica:0/task:0/device:TOY:1"
    assert line in capfd.readouterr().err


def test_traces_name_the_device():
    x = tf.placeholder(tf.float32, [2])
    with tf.device("/device:TOY:0"):
        y = x * x
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(y, {x: [1.0, 2.0]}, options=options, run_metadata=metadata)
    devices = [row.device for row in metadata.step_stats.dev_stats]
    assert any(name.endswith("/device:TOY:0") for name in devices)


def test_preferred():
    tf.config.unregister_device_type("TOY")
    tf.config.register_device_type("TOY", Chip, to_chip, from_chip, preferred=True)
    x = tf.placeholder(tf.float32, [2])
    assert run(tf.exp(x * x), {x: [0.0, 0.0]}).tolist() == [1.0, 1.0]
    assert copies == ["in", "out"]


@pytest.mark.parametrize("name", ["CPU", "GPU", "TOY", "toy", "A-B"])
def test_names_that_are_refused(name):
    with pytest.raises(ValueError, match="device type"):
        tf.config.register_device_type(name, Chip, to_chip, from_chip)


def test_unknown_types_cannot_be_taken_away():
    with pytest.raises(ValueError, match="added: TOY"):
        tf.config.unregister_device_type("OTHER")
