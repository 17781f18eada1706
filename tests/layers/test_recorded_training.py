"""Layers that train, losses and metrics beside what TensorFlow 1.15 gave (record_training.py)."""

from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from tests.layers import training_scenarios as scenarios


@pytest.fixture(scope="module")
def recorded():
    with np.load(Path(__file__).with_name("training.npz")) as file:
        return dict(file)


def compare(found, recorded, prefix):
    expected = {k[len(prefix) :]: v for k, v in recorded.items() if k.startswith(prefix)}
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        assert np.shape(found[key]) == value.shape, key
        np.testing.assert_allclose(found[key], value, rtol=2e-4, atol=2e-5, err_msg=key)


@pytest.mark.parametrize("name", scenarios.NETWORKS)
def test_networks(name, recorded):
    """Names, shapes and values of all variables behind some steps, and the losses."""
    with tf.Graph().as_default():
        found = scenarios.trained(tf, scenarios.NETWORKS[name])
    compare(found, recorded, f"network/{name}/")
    assert found["losses"][-1] < found["losses"][0]


def test_losses(recorded):
    with tf.Graph().as_default():
        compare(scenarios.losses(tf), recorded, "losses/")


def test_metrics(recorded):
    with tf.Graph().as_default():
        compare(scenarios.metrics(tf), recorded, "metrics/")
