"""Models give what TensorFlow's Keras recorded: shapes, names, losses and weights of training."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from tests.keras import cases

FOLDER = Path(__file__).parent / "recorded"
FACTS = json.loads((FOLDER / "facts.json").read_text())


@pytest.fixture(scope="module")
def recorded():
    with np.load(FOLDER / "trained.npz") as file:
        return dict(file)


@pytest.fixture(autouse=True)
def _new_graph():
    tf.keras.backend.clear_session()


@pytest.mark.parametrize("name", cases.CASES)
def test_training(name, recorded):
    model, x, y = cases.CASES[name](tf)
    results = cases.flat(cases.trained(model, x, y))
    expected = {
        key.removeprefix(f"{name}/"): value
        for key, value in recorded.items()
        if key.startswith(f"{name}/")
    }
    assert list(results) == list(expected)
    for key, value in results.items():
        np.testing.assert_allclose(value, expected[key], rtol=2e-4, atol=2e-5, err_msg=key)


@pytest.mark.parametrize("name", cases.MODELS)
def test_names_and_shapes(name):
    model, _, _ = cases.CASES[name](tf)
    facts = FACTS[name]
    assert [layer.name for layer in model.layers] == facts["layers"]
    assert [output.shape.as_list() for output in model.outputs] == facts["outputs"]
    assert model.metrics_names == facts["metrics"]
    # TensorFlow 1.15 has the variables of a cell in the layer's scope, later ones in the cell's.
    inner = re.compile(r"(/stacked_rnn_cells)?/(lstm|gru|simple_rnn)_cell(_\d+)?/")
    expected = [[inner.sub("/", name), shape] for name, shape in facts["weights"]]
    found = [[weight.name, weight.shape.as_list()] for weight in model.weights]
    if name == "stacked_cells":  # the second cell's are numbered there
        numbered = [weight for weight, _ in found if re.search(r"_1:0$", weight)]
        assert len(numbered) == len(found[3:6])
        found = [[re.sub(r"_1:0$", ":0", weight), shape] for weight, shape in found]
    assert found == expected
