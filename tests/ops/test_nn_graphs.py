"""The functions of tf.nn make the nodes that TensorFlow's make, gradients too."""

from __future__ import annotations

import json
from types import ModuleType

import pytest

import penstock as tf
from tests.ops.graphs import convolutions, layers_of_networks, losses, snapshot

SCENARIOS = [
    pytest.param(module, name, id=f"{module.__name__.rpartition('.')[2]}/{name}")
    for module in (convolutions, layers_of_networks, losses)
    for name in snapshot.scenarios_of(module)
]


@pytest.mark.parametrize(("module", "name"), SCENARIOS)
def test_the_graph_is_tensorflows(module: ModuleType, name: str) -> None:
    taken = json.loads(json.dumps(snapshot.take(tf, snapshot.scenarios_of(module)[name])))
    recorded = snapshot.recorded(module)[name]
    assert [node["name"] for node in taken["nodes"]] == [n["name"] for n in recorded["nodes"]]
    for ours, theirs in zip(taken["nodes"], recorded["nodes"], strict=True):
        assert ours == theirs
    assert taken["result"] == recorded["result"]
