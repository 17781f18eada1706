"""The graphs that the functions of the math family and their gradients make are TensorFlow's."""

from __future__ import annotations

import json
from types import ModuleType

import pytest

import penstock as tf
from tests.ops.graphs import math_functions, math_gradients, snapshot

SCENARIOS = [
    pytest.param(module, name, id=f"{module.__name__.rpartition('.')[2]}-{name}")
    for module in (math_functions, math_gradients)
    for name in snapshot.scenarios_of(module)
]


@pytest.mark.parametrize(("module", "name"), SCENARIOS)
def test_the_graph_is_tensorflows(module: ModuleType, name: str) -> None:
    taken = snapshot.take(tf, snapshot.scenarios_of(module)[name])
    assert json.loads(json.dumps(taken)) == snapshot.recorded(module)[name]
