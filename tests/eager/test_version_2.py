"""`tf.enable_v2_behavior` and its parts: shapes of numbers, equality by value."""

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode
from penstock.platform import tf2


@pytest.fixture
def version_2():
    tf.enable_v2_behavior()
    try:
        yield
    finally:
        tf.disable_v2_behavior()


@pytest.fixture
def equality():
    tf.enable_tensor_equality()
    try:
        with eager_mode():
            yield
    finally:
        tf.disable_tensor_equality()


def test_entries_of_shapes_are_numbers(version_2):
    shape = tf.TensorShape([3, None])
    assert list(shape) == [3, None]
    assert type(shape[0]) is int
    assert tf.TensorShape(None)[0] is None
    assert (str(shape), repr(shape)) == ("(3, None)", "TensorShape([3, None])")
    assert repr(tf.TensorShape(None)) == "TensorShape(None)"
    assert shape.dims[0].value == 3
    tf.disable_v2_tensorshape()
    assert isinstance(shape[0], tf.Dimension)
    assert str(shape) == "(3, ?)"


def test_the_parts_are_switched_together(version_2):
    assert tf.executing_eagerly()
    assert tf2.enabled()
    assert tf.resource_variables_enabled()
    assert tf.control_flow_v2_enabled()
    tf.disable_v2_behavior()
    assert not tf.executing_eagerly()
    assert not tf2.enabled()
    assert not tf.control_flow_v2_enabled()


def test_a_model_learns(version_2):
    layers = [tf.keras.layers.LSTM(2), tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential(layers)
    model.compile("sgd", "mse", metrics=["accuracy", "mse"])
    history = model.fit(np.ones([4, 3, 2], np.float32), np.zeros([4, 1]), verbose=0).history
    assert list(history) == ["loss", "accuracy", "mse"]


def test_shapes_of_numbers_suffice_for_transforms_and_operators(version_2):
    assert tf.signal.stft(tf.ones([16]), 8, 4).shape == [3, 5]
    assert tf.signal.dct(tf.ones([16])).shape == [16]
    operator = tf.linalg.LinearOperatorDiag(tf.ones([3]))
    assert operator.matmul(tf.ones([3, 2])).shape == [3, 2]
    assert tf.linalg.tridiagonal_solve(tf.ones([3, 4]), tf.ones([4])).shape == [4]


def test_equality_by_value(equality):
    one, other = tf.constant([1, 2]), tf.constant([1, 3])
    assert (one == other).numpy().tolist() == [True, False]
    assert (one != other).numpy().tolist() == [False, True]
    assert (one == [1, 2]).numpy().all()
    assert tf.constant(1.0) in [tf.constant(1.0)]
    variable = tf.contrib.eager.Variable(2.0)
    assert (variable == 2.0).numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        one == tf.constant([1, 2, 3])  # noqa: B015


def test_what_is_equal_by_value_is_no_key(equality):
    for value in (tf.constant(1), tf.contrib.eager.Variable(2.0)):
        with pytest.raises(TypeError, match="unhashable if Tensor equality is enabled"):
            hash(value)
        assert {value.experimental_ref(): 1}


def test_equality_in_functions_and_gradients(equality):
    @tf.function
    def same(a, b):
        with pytest.raises(TypeError, match="unhashable"):
            hash(a)
        return a == b

    assert same(tf.constant(1), tf.constant(1)).numpy()
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x).numpy() == 6.0


def test_tensors_of_a_plain_graph_are_compared_as_ever(equality):
    with tf.Graph().as_default():
        one, other = tf.constant(1), tf.constant(1)
        assert one == one
        assert (one == other) is False
        assert {one: 1}[one] == 1
