"""Losses, metrics, backend functions, constraints and initializers give TensorFlow's values."""

from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from tests.keras import function_cases

with np.load(Path(__file__).parent / "recorded" / "functions.npz") as _file:
    RECORDED = dict(_file)


@pytest.fixture(scope="module")
def found():
    return function_cases.values(tf)


def test_all_cases_are_recorded(found):
    assert list(found) == list(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_value(name, found):
    np.testing.assert_allclose(found[name], RECORDED[name], rtol=1e-4, atol=1e-6)


def test_adagrad_by_name_begins_at_zero():
    by_name = tf.keras.optimizers.get("adagrad")
    assert by_name.get_config()["initial_accumulator_value"] == 0.0
    assert tf.keras.optimizers.Adagrad().get_config()["initial_accumulator_value"] == 0.1
