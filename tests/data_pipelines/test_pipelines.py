"""Pipelines give what real TensorFlow gave: elements, their order, types and shapes, errors."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

import penstock as tf
from tests.data_pipelines.graphs import GRAPHS, nodes
from tests.data_pipelines.pipelines import PIPELINES, write_files
from tests.data_pipelines.running import run
from tests.data_pipelines.threads import threads_end

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text())


def test_all_pipelines_are_recorded():
    assert set(RECORDED) == set(PIPELINES)


@pytest.mark.parametrize("name", PIPELINES)
def test_pipeline(name, tmp_path):
    before = threading.active_count()
    write_files(tf, tmp_path)
    assert run(tf, PIPELINES[name], tmp_path) == RECORDED[name]
    assert threads_end(before)


@pytest.mark.parametrize("name", GRAPHS)
def test_nodes(name):
    recorded = json.loads((Path(__file__).parent / "recorded_graphs.json").read_text())
    assert nodes(tf, GRAPHS[name]) == recorded[name]
