"""Losses that programs add to models; numbers are those of TensorFlow 1.15."""

import numpy as np
import pytest

import penstock as tf
from penstock import keras
from penstock.eager import context

L = keras.layers
X = np.arange(6, dtype=np.float32).reshape(6, 1)


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()


def _model_with_a_loss_per_sample():
    x = L.Input((1,))
    y = L.Dense(1, kernel_initializer="ones")(x)
    model = keras.Model([x], y)
    model.add_loss(tf.reduce_sum(tf.square(y - 2 * x), axis=1))
    model.compile(keras.optimizers.SGD(0.1))
    return model


@pytest.mark.parametrize("mode", [context.graph_mode, context.eager_mode])
def test_a_loss_may_have_a_value_for_each_sample(mode, capsys):
    with mode():
        model = _model_with_a_loss_per_sample()
        history = model.fit(X, batch_size=3, epochs=2, verbose=2, shuffle=False).history
        np.testing.assert_allclose(
            history["loss"], [[0.18, 0.68, 2.18], [0.1681924, 0.7937292, 3.513604]], rtol=1e-4
        )
        assert "loss: 1.0133" in capsys.readouterr().out
        found = model.evaluate(X, batch_size=3, verbose=0)
        np.testing.assert_allclose(found, [2.8983061, 5.491701, 10.11723], rtol=1e-4)


def test_values_of_eager_mode_are_no_losses_outside_of_calls():
    with context.eager_mode():
        x = L.Input((1,))
        model = keras.Model(x, L.Dense(1)(x))
        for loss in (1.0, tf.constant(1.0), model.weights[0]):
            with pytest.raises(ValueError, match="Expected a symbolic Tensors or a callable"):
                model.add_loss(loss)
        model.add_loss(lambda: tf.constant(2.0))
        assert float(model.losses[0]) == 2.0


@pytest.mark.parametrize(
    ("options", "is_eager", "drawn"),
    [
        ({}, False, 0.68521950),
        ({}, True, 0.39658073),
        ({"run_eagerly": True}, True, 0.39658073),
        ({"experimental_run_tf_function": False}, True, 0.68521950),
    ],
)
def test_which_loops_mix_the_validation_data(options, is_eager, drawn):
    with context.eager_mode() if is_eager else context.graph_mode():
        model = keras.Sequential([L.Dense(1, input_shape=(1,))])
        model.compile("sgd", "mse", **options)
        np.random.seed(1)  # noqa: NPY002 what a program does
        model.fit(X, X, batch_size=3, epochs=2, verbose=0, validation_data=(X + 10, X))
        assert np.random.rand() == pytest.approx(drawn)  # noqa: NPY002
