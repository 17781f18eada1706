"""Every scenario builds the graph that real TensorFlow builds: nodes, collections, results."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import penstock as tf
from tests.ops.graphs import snapshot

MODULES = sorted(
    {path.stem for path in Path(snapshot.__file__).parent.glob("*.py")} - {"record", "snapshot"}
)
SCENARIOS = [
    (module, name)
    for module in MODULES
    for name in snapshot.scenarios_of(importlib.import_module(f"tests.ops.graphs.{module}"))
]


@pytest.mark.parametrize(("module", "name"), SCENARIOS)
def test_the_graph_is_tensorflows(module: str, name: str) -> None:
    scenarios = importlib.import_module(f"tests.ops.graphs.{module}")
    taken = snapshot.take(tf, snapshot.scenarios_of(scenarios)[name])
    ours, theirs = json.loads(json.dumps(taken)), snapshot.recorded(scenarios)[name]
    for mine, other in zip(ours["nodes"], theirs["nodes"], strict=False):
        assert mine == other  # the first node that differs says most
    assert ours == theirs
