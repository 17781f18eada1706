"""Tensors and variables as the data of Keras' functions and models; products of batches."""

from typing import Any

import numpy as np
import pytest

import penstock as tf

K = tf.keras.backend


@pytest.fixture(autouse=True)
def _session() -> Any:
    K.clear_session()
    yield
    K.clear_session()


def test_a_function_of_tensors_and_variables() -> None:
    x, y = K.placeholder((None, 2)), K.placeholder((None, 2))
    add = K.function([x, y], [x + y])
    assert add([K.constant([[1.0, 2.0]]), np.ones((1, 2))])[0].tolist() == [[2, 3]]
    assert add([K.variable([[3.0, 4.0]]), K.ones((1, 2))])[0].tolist() == [[4, 5]]


def test_a_model_trained_on_variables() -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    zeros, labels = K.zeros((10, 2)), K.zeros((10, 1))
    history = model.fit(zeros, labels, epochs=2, steps_per_epoch=2, verbose=0).history
    assert history["loss"] == [0, 0] and model.train_on_batch(zeros, labels) == 0
    assert model.evaluate(K.ones((4, 2)), K.zeros((4, 1)), steps=1, verbose=0) == 4
    assert model.predict(K.ones((4, 2)), steps=1).tolist() == [[2]] * 4


@pytest.mark.parametrize(
    ("x", "y", "axes", "subscripts"),
    [
        ((2, 3), (2, 3), 1, "bi,bi->b"),
        ((2, 3, 4), (2, 4, 5), None, "bij,bjk->bik"),
        ((2, 3, 4), (2, 5, 4), 2, "bij,bkj->bik"),
        ((2, 3, 4), (2, 3, 5), 1, "bji,bjk->bik"),
        ((2, 3), (2, 3, 5), 1, "bj,bjk->bk"),
        ((2, 3, 4), (2, 4), (2, 1), "bij,bj->bi"),
        ((2, 3, 4, 5), (2, 3, 5, 6), None, "bhij,bhjk->bhik"),
        ((2, 3, 4, 5), (2, 3, 6, 5), 3, "bhij,bhkj->bhik"),
        ((2, 3, 4), (2, 3, 4, 6), (2, 2), "bhj,bhjk->bhk"),
        ((2, 3, 6), (2, 3, 4, 6), (2, 3), "bhj,bhkj->bhk"),
    ],
)
def test_products_of_batches(x: Any, y: Any, axes: Any, subscripts: str) -> None:
    random = np.random.RandomState(0)
    left, right = random.rand(*x).astype("f"), random.rand(*y).astype("f")
    product = K.batch_dot(K.constant(left), K.constant(right), axes)
    expected = np.einsum(subscripts, left, right)
    expected = expected[:, None] if expected.ndim == 1 else expected
    assert product.shape.as_list() == list(expected.shape)
    np.testing.assert_allclose(K.eval(product), expected, rtol=1e-5)
