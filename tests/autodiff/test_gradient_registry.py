"""`ops._gradient_registry`, which programs read and change."""

import copy
import importlib
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ir import registry

ops: Any = importlib.import_module("penstock.python.framework.ops")


@pytest.fixture(autouse=True)
def _gradients_as_they_were(monkeypatch):
    monkeypatch.setattr(registry, "_gradients", dict(registry.gradients()))
    with tf.Graph().as_default():
        yield


def _gradient_of_relu() -> list[float]:
    x = tf.constant([-1.0, 2.0])
    with tf.Session() as session:
        return session.run(tf.gradients(tf.nn.relu(x), x)[0]).tolist()


def test_asking_before_registering():
    name = "GuidedReluOfTheTest"
    assert name not in ops._gradient_registry._registry and "Relu" in ops._gradient_registry.list()
    tf.RegisterGradient(name)(lambda op, grad: 3.0 * grad)
    assert name in ops._gradient_registry._registry
    assert ops._gradient_registry.lookup(name)(None, 1.0) == 3.0
    with pytest.raises(LookupError, match="no entry for: None of that name"):
        ops._gradient_registry.lookup("None of that name")


def test_replacing_a_gradient_and_putting_it_back():
    table = ops._gradient_registry._registry
    saved = copy.copy(table)
    original = table["Relu"]["type"]
    table["Relu"]["type"] = lambda op, grad: 5.0 * grad
    assert _gradient_of_relu() == [5, 5]
    table["Relu"] = {"type": lambda op, grad: 7.0 * grad, "location": None}
    assert _gradient_of_relu() == [7, 7]
    table["Relu"]["type"] = original
    assert _gradient_of_relu() == [0, 1]
    del table["Relu"]
    with pytest.raises(LookupError):
        _gradient_of_relu()
    ops._gradient_registry._registry = saved
    assert _gradient_of_relu() == [0, 1] and len(table) == len(saved)


def test_a_gradient_that_assignments_get():
    ops._gradient_registry._registry["AssignAdd"] = {"type": lambda op, grad: (grad, 2.0 * grad)}
    variable = tf.Variable([1.0], use_resource=False)
    x = tf.constant([3.0])
    gradient = tf.gradients(tf.assign_add(variable, x), x)[0]
    with tf.Session() as session:
        session.run(variable.initializer)
        np.testing.assert_array_equal(session.run(gradient), [2.0])


def test_a_gradient_that_goes_through_integers(monkeypatch):
    util: Any = importlib.import_module("penstock.python.ops.gradients_util")
    table = ops._gradient_registry._registry
    table["Cast"]["type"] = lambda op, grad: tf.saturate_cast(grad, op.inputs[0].dtype)
    table["Relu"]["type"] = lambda op, grad: tf.cast(grad * 3, tf.int32)
    x = tf.constant([2.0])
    y = tf.cast(tf.nn.relu(tf.cast(x, tf.int32)), tf.float32)
    assert tf.gradients(y, x) == [None]
    monkeypatch.setattr(util, "_IsBackpropagatable", lambda tensor: True)
    with tf.Session() as session:
        assert session.run(tf.gradients(y, x)[0]).tolist() == [3.0]
    monkeypatch.undo()
    assert tf.gradients(y, x) == [None]
