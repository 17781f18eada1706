"""Canned estimators against what TensorFlow's learned from the same data."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import penstock as tf
from tests.estimator.models import models, results

RECORDED = json.loads((pathlib.Path(__file__).parent / "recorded.json").read_text())

pytestmark = [
    pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices"),
]


def test_every_model_is_recorded() -> None:
    assert set(RECORDED) == set(models(tf, tf.estimator))


@pytest.mark.parametrize("name", RECORDED)
def test_learns_what_tensorflow_learns(name: str) -> None:
    found, expected = results(tf, tf.estimator, name), RECORDED[name]
    assert found["variables"] == expected["variables"]
    assert list(found["metrics"]) == list(expected["metrics"])
    for key, value in expected["metrics"].items():
        assert found["metrics"][key] == pytest.approx(value, rel=1e-4, abs=1e-5), key
    assert list(found["prediction"]) == list(expected["prediction"])
    for key, value in expected["prediction"].items():
        if isinstance(value[0], str):
            assert found["prediction"][key] == value
        else:
            np.testing.assert_allclose(found["prediction"][key], value, rtol=1e-4, atol=1e-5)


def test_parse_example_specs() -> None:
    columns = [tf.feature_column.numeric_column("a")]
    assert tf.estimator.classifier_parse_example_spec(columns, "b", weight_column="c") == {
        "a": tf.FixedLenFeature((1,), tf.float32),
        "b": tf.FixedLenFeature((1,), tf.int64),
        "c": tf.FixedLenFeature((1,), tf.float32),
    }
    with pytest.raises(ValueError, match="label should not be used as feature"):
        tf.estimator.regressor_parse_example_spec(columns, "a")


def test_a_misspelt_optimizer() -> None:
    column = tf.feature_column.numeric_column("x", shape=(2,))
    classifier = tf.estimator.DNNClassifier([2], [column], optimizer="Adan")
    features = {"x": np.zeros((4, 2), np.float32)}
    feed = tf.estimator.inputs.numpy_input_fn(features, np.zeros(4, int), shuffle=False)
    with pytest.raises(ValueError, match="Unsupported optimizer name: Adan"):
        classifier.train(feed)
