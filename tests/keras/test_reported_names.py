"""Under which names `compile` reports metrics: those of TensorFlow 1.15."""

import pytest

from penstock import keras

M = keras.metrics


@pytest.fixture(autouse=True)
def _new_graph():
    keras.backend.clear_session()


def test_metrics_of_weighted_samples_are_called_so():
    x = keras.layers.Input((2,))
    model = keras.Model(x, keras.layers.Dense(1)(x))
    given = ["mae", "acc"]
    model.compile(
        "sgd",
        "mse",
        metrics=[*given, M.MeanAbsoluteError(name="own")],
        weighted_metrics=[*given, M.MeanAbsoluteError(name="own")],
    )
    plain = ["mean_absolute_error", "acc", "own"]
    assert model.metrics_names == ["loss", *plain, *(f"weighted_{name}" for name in plain)]


def test_outputs_come_first_in_names():
    x = keras.layers.Input((2,))
    outputs = [keras.layers.Dense(1, name=name)(x) for name in "ab"]
    model = keras.Model(x, outputs)
    model.compile(
        "sgd",
        "mse",
        metrics=[[M.MeanAbsoluteError()], ["mse"]],
        weighted_metrics=[[M.MeanAbsoluteError()], [M.MeanAbsoluteError(), "ce"]],
    )
    assert model.metrics_names[3:] == [
        "a_mean_absolute_error",
        "a_weighted_mean_absolute_error",
        "b_mean_squared_error",
        "b_weighted_mean_absolute_error",
        "b_weighted_ce",
    ]
