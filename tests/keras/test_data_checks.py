"""What models refuse of labels, weights and validation data, and say of layers and metrics."""

import numpy as np
import pytest

import penstock as tf

keras = tf.keras


def model_of(loss, **kwargs):
    inputs = keras.layers.Input((4,))
    model = keras.Model(inputs, keras.layers.Dense(3, name="d")(inputs))
    model.compile("sgd", loss, **kwargs)
    return model


X = np.ones((2, 4))


@pytest.mark.parametrize(
    ("loss", "labels", "message"),
    [
        ("mse", np.ones((2, 2)), r"target array with shape \(2, 2\) was passed for an output of"),
        (keras.losses.MeanSquaredError(), np.ones((2, 1)), "`mean_squared_error`. This loss"),
        ("categorical_crossentropy", np.ones((2, 1)), "sparse_categorical_crossentropy"),
    ],
)
def test_labels_that_a_loss_would_broadcast(loss, labels, message):
    with pytest.raises(ValueError, match=message):
        model_of(loss).fit(X, labels, verbose=0)


def test_other_losses_take_what_they_can_broadcast():
    model = model_of("mae")
    model.get_layer("d").set_weights([np.zeros((4, 3)), np.array([1.0, 2.0, 3.0])])
    assert model.evaluate(X, np.ones((2, 1)), verbose=0) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("mode", "shape", "message"),
    [
        (None, (2, 2), "make sure your sample_weight array is 1D"),
        ("temporal", (2, 2), "at least 3D"),
        (None, (), "sample_weight array with shape"),
    ],
)
def test_weights_of_wrong_shapes(mode, shape, message):
    with pytest.raises(ValueError, match=message):
        model_of("mse", sample_weight_mode=mode).fit(
            X, np.ones((2, 3)), sample_weight=np.ones(shape), verbose=0
        )


def test_validation_data_are_two_or_three():
    with pytest.raises(ValueError, match="either 2 items"):
        model_of("mse").fit(X, np.ones((2, 3)), validation_data=(X,), verbose=0)


def test_the_output_of_a_layer_is_that_of_its_first_call():
    layer = keras.layers.Dense(2)
    with pytest.raises(AttributeError, match="has no inbound nodes"):
        _ = layer.output
    inputs = keras.layers.Input((4,))
    first = layer(inputs)
    layer(keras.layers.Input((4,)))
    assert layer.output is first and layer.input is inputs


def test_wrong_arguments_of_metrics():
    with pytest.raises(ValueError, match=r"`specificity` must be in the range \[0, 1\]"):
        keras.metrics.SensitivityAtSpecificity(-1)
    with pytest.raises(ValueError, match=r"`sensitivity` must be in the range \[0, 1\]"):
        keras.metrics.SpecificityAtSensitivity(2)
    with pytest.raises(ValueError, match='Invalid AUC curve value "x"'):
        keras.metrics.AUC(curve="x")
    with pytest.raises(ValueError, match='Invalid AUC summation method value "x"'):
        keras.metrics.AUC(summation_method="x")
