"""Feature columns against what TensorFlow made of the same programs."""

from __future__ import annotations

import json
import pathlib
import re
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.feature_columns.scenarios import SCENARIOS, results

# Where rows are looked up in looked up rows, TensorFlow 1.x warns too.
pytestmark = pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")

RECORDED = json.loads((pathlib.Path(__file__).parent / "recorded.json").read_text())


@pytest.fixture(scope="module", params=SCENARIOS)
def pair(request: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return results(tf, SCENARIOS[request.param]), RECORDED[request.param]


@pytest.mark.parametrize("part", ["variables", "model"])
def test_variables(pair: Any, part: str) -> None:
    found, expected = pair
    assert found[part] == expected[part]


def test_nodes(pair: Any) -> None:
    found, expected = pair
    assert comparable(found["nodes"]) == comparable(expected["nodes"])


def comparable(nodes: list[list[str]]) -> set[tuple[str, str]]:
    """Nodes but for what differs between TensorFlow's versions: gradients, inferred sizes.

    TensorFlow 2 no longer makes the constant with which sparse_reshape infers a size, and knows
    more static shapes, which are constants then; `tf.add` is AddV2 there. What functions of other
    modules build inside (a sparse lookup, an assertion) is that of 1.15 here, and compared where
    those are tested.
    """
    same = {"Shape": "Const", "Add": "AddV2"}
    return {
        (same.get(kind, kind), name)
        for kind, name in nodes
        if not re.search(
            r"SparseReshape(_\d+)?/Const|/embedding_lookup_sparse|/ones_like/|/assert_less/", name
        )
        and not name.startswith("gradients/")
        and not name.startswith("GradientDescent")
    }


def test_values(pair: Any) -> None:
    found, expected = pair
    assert len(found["values"]) == len(expected["values"])
    for value, wanted in zip(found["values"], expected["values"], strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)
