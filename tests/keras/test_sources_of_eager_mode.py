"""What `fit` and its like take in eager mode beside arrays."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context

X = np.float32([[0], [1], [2], [3]])


@pytest.fixture(autouse=True)
def _eagerly():
    keras.backend.clear_session()
    with context.eager_mode():
        yield


def _model(**options):
    dense = keras.layers.Dense(1, kernel_initializer="ones", use_bias=False, input_shape=(1,))
    model = keras.Sequential([dense])
    model.compile("sgd", "mse", **options)
    return model


@pytest.mark.parametrize("run_eagerly", [False, True])
def test_datasets_may_have_columns_of_weights(run_eagerly):
    weights = np.float32([[0], [1], [1], [0]])
    data = tf.data.Dataset.from_tensor_slices((X, X * 0, weights)).batch(2)
    assert _model(run_eagerly=run_eagerly).evaluate(data, steps=2, verbose=0) == 1.25
    with pytest.raises(ValueError, match="Found a sample_weight array with shape"):
        _model(experimental_run_tf_function=False).evaluate(data, steps=2, verbose=0)


def test_iterators_of_one_shot_are_sources():
    data = tf.data.Dataset.from_tensor_slices((X, X * 0)).repeat(2).batch(4)
    model = _model()
    iterator = tf.data.make_one_shot_iterator(data)
    assert model.evaluate(iterator, steps=1, verbose=0) == 3.5
    with keras.backend.get_graph().as_default():
        in_graph = tf.data.Iterator.from_structure(data.output_types, data.output_shapes)
    assert keras.engine.batch_sources.is_dataset(in_graph)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_sparse_matrices_are_inputs(is_sparse):
    scipy_sparse = pytest.importorskip("scipy.sparse")
    matrix = scipy_sparse.coo_matrix(([1.0, 2.0], ([0, 1], [2, 0])), shape=(2, 3))
    inputs = keras.Input((3,), sparse=is_sparse)
    to_dense = keras.layers.Lambda(
        lambda x: tf.sparse.to_dense(x) if isinstance(x, tf.SparseTensor) else x
    )
    model = keras.Model(inputs, to_dense(inputs))
    model.compile("sgd", "mse", run_eagerly=True)
    np.testing.assert_array_equal(model.predict(matrix), [[0, 0, 1], [2, 0, 0]])
