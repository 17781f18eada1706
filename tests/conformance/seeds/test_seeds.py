"""Nodes without a seed of their own get TensorFlow 1.15's: the number of nodes before them.

So this tells, too, that graphs have as many nodes as TensorFlow's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests.conformance.seeds.builders import seeds

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "recorded.json").read_text())


@pytest.mark.parametrize("name", RECORDED)
def test_seeds_are_tensorflows(name: str) -> None:
    assert seeds(tf, name) == RECORDED[name]
