"""The lesser packages of tf.contrib against what TensorFlow 1.15 made of the same programs."""

import json
import pathlib

import numpy as np
import pytest

import penstock as tf
from tests.contrib.outlying_results import results
from tests.contrib.outlying_scenarios import SCENARIOS

RECORDED = json.loads((pathlib.Path(__file__).parent / "recorded" / "outlying.json").read_text())


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name):
    found, expected = results(tf, SCENARIOS[name]), RECORDED[name]
    assert found["variables"] == expected["variables"]
    assert found["shapes"] == expected["shapes"]
    assert found["values"].keys() == expected["values"].keys()
    for key, (dtype, value) in expected["values"].items():
        assert found["values"][key][0] == dtype, key
        if dtype == "object":
            assert found["values"][key][1] == value
        else:
            np.testing.assert_allclose(
                found["values"][key][1], value, rtol=2e-4, atol=1e-5, err_msg=key
            )
