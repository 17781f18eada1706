"""Sparse and ragged tensors as the inputs and outputs of models."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context
from penstock.keras.engine.composite_data import CompositeArray

SPARSE = tf.SparseTensorValue(
    np.array([[0, 1], [2, 0], [2, 2], [3, 1]]), np.array([1.0, 2.0, 3.0, 4.0], "f"), [4, 3]
)
DENSE = np.array([[0, 1, 0], [0, 0, 0], [2, 0, 3], [0, 4, 0]], "f")
ROWS = [[1.0], [2.0, 3.0], [], [4.0, 5.0, 6.0]]
PADDED = np.array([[1, 0, 0], [2, 3, 0], [0, 0, 0], [4, 5, 6]], "f")


class Dense(keras.layers.Layer):
    """A sparse or ragged tensor with zeros where it has nothing."""

    def call(self, inputs):
        if isinstance(inputs, tf.SparseTensor):
            return tf.sparse.to_dense(inputs)
        return inputs.to_tensor()


class Sparse(keras.layers.Layer):
    def call(self, inputs):
        return tf.sparse.from_dense(inputs)


class Ragged(keras.layers.Layer):
    def call(self, inputs):
        return tf.RaggedTensor.from_tensor(inputs, padding=0)


def model_of(**kind):
    given = keras.Input((None,), name="given", **kind)
    return keras.Model(given, Dense()(given))


def dense(value):
    filled = np.zeros(value.dense_shape, "f")
    filled[tuple(value.indices.T)] = value.values
    return filled


@pytest.mark.parametrize("index", [slice(1, 3), [3, 0], [2]])
def test_rows_of_a_sparse_value(index):
    found = CompositeArray(SPARSE)[index]
    np.testing.assert_array_equal(dense(found.value), DENSE[index])
    assert found.shape == DENSE[index].shape


def test_rows_of_a_ragged_value():
    nested = tf.ragged.constant_value([[[1], [2, 3]], [], [[4, 5, 6]]])
    assert CompositeArray(nested)[[2, 0]].value.to_list() == [[[4, 5, 6]], [[1], [2, 3]]]
    assert CompositeArray(nested)[1:].value.to_list() == [[], [[4, 5, 6]]]


def test_tensors_of_a_graph():
    tensor = tf.SparseTensor(*SPARSE)
    np.testing.assert_array_equal(model_of(sparse=True).predict(tensor, steps=1), DENSE)
    ragged = tf.ragged.constant(ROWS)
    model = model_of(ragged=True)
    model.compile("sgd", "mse")
    np.testing.assert_array_equal(model.predict({"given": ragged}, steps=1), PADDED)
    assert model.evaluate(ragged, tf.constant(PADDED), steps=1, verbose=0) == 0


def test_values_are_cut_into_batches():
    np.testing.assert_array_equal(model_of(sparse=True).predict(SPARSE, batch_size=3), DENSE)
    model = model_of(sparse=True)
    model.compile("sgd", "mse")
    assert model.evaluate(SPARSE, DENSE, batch_size=3, verbose=0) == 0


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_tensors_and_datasets_of_eager_mode(run_eagerly):
    with context.eager_mode():
        model = model_of(sparse=True)
        model.compile("sgd", "mse", run_eagerly=run_eagerly)
        tensor = tf.SparseTensor(*SPARSE)
        np.testing.assert_array_equal(model.predict(tensor, batch_size=3), DENSE)
        data = tf.data.Dataset.from_tensor_slices((tensor, DENSE)).batch(3)
        assert model.evaluate(data, verbose=0) == 0
        ragged = model_of(ragged=True)
        ragged.run_eagerly = run_eagerly
        np.testing.assert_array_equal(ragged.predict(tf.ragged.constant(ROWS)), PADDED)


@pytest.mark.parametrize("is_eager", [False, True])
def test_outputs_of_batches_are_put_together(is_eager):
    with context.eager_mode() if is_eager else tf.Graph().as_default():
        sparse, ragged = (keras.Sequential([layer()]) for layer in (Sparse, Ragged))
        sparse.run_eagerly = ragged.run_eagerly = is_eager
        np.testing.assert_array_equal(dense(sparse.predict(DENSE, batch_size=3)), DENSE)
        assert ragged.predict(PADDED, batch_size=3).to_list() == ROWS


def test_a_rank_that_the_model_does_not_expect():
    given = keras.Input((2, 3), sparse=True)
    with pytest.raises(ValueError, match="but got array with shape"):
        keras.Model(given, Dense()(given)).predict(SPARSE)
    with pytest.raises(ValueError, match="both sparse and ragged"):
        keras.backend.placeholder((None, 2), sparse=True, ragged=True)
