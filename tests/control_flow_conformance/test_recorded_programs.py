"""Values and gradients of loops and branches against TensorFlow's, in plans and in the executor."""

import json
import pathlib

import numpy as np
import pytest

import penstock as tf
from tests.control_flow_conformance.cell_scenarios import CELLS, cell_results
from tests.control_flow_conformance.executor_session import as_written
from tests.control_flow_conformance.loop_programs import PROGRAMS
from tests.control_flow_conformance.program_results import results

FOLDER = pathlib.Path(__file__).resolve().parent
RECORDED = {
    name: json.loads((FOLDER / "recorded" / f"{name}.json").read_text())
    for name in ("programs", "cells")
}


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@pytest.mark.parametrize("executor", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, executor):
    options = {"config": as_written()} if executor else {}
    found = results(tf, PROGRAMS[name], **options)
    for ours, theirs in zip(found, RECORDED["programs"][name], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", CELLS)
def test_cells(name):
    found, recorded = cell_results(tf, tf.contrib.rnn, name), RECORDED["cells"][name]
    assert [list(each) for each in found["variables"]] == recorded["variables"]
    assert found["state"] == recorded["state"]
    for part in ("output", "gradients"):
        np.testing.assert_allclose(found[part], recorded[part], rtol=1e-4, atol=1e-5)
    for ours, theirs in zip(found["states"], recorded["states"], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
