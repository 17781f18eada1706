"""Programs from the same seeds and data as in real TensorFlow end up with the same numbers."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests.programs import plain, programs

RECORDED = Path(__file__).parent / "recorded"


def same(mine: Any, theirs: Any) -> bool:
    if isinstance(theirs, list):
        return len(mine) == len(theirs) and all(map(same, mine, theirs))
    if isinstance(theirs, float):
        return mine == pytest.approx(theirs, rel=2e-4, abs=2e-5, nan_ok=True)
    return mine == theirs


@pytest.mark.parametrize("name", programs())
def test_the_program_gives_tensorflows_numbers(name: str) -> None:
    with tf.Graph().as_default():
        results = plain(importlib.import_module(f"tests.programs.{name}").main(tf))
    recorded = json.loads((RECORDED / f"{name}.json").read_text())
    for mine, theirs in zip(results, recorded, strict=True):
        assert same(mine, theirs), f"{mine} where TensorFlow has {theirs}"
