"""Every optimizer against TensorFlow: the graph it builds, and the values after several steps."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.train import optimizer_programs, records
from tests.train.optimizer_programs import OPTIMIZERS, Program

PROGRAMS = [
    program for optimizer in OPTIMIZERS for program in optimizer_programs.programs(optimizer)
]
TOLERANCE = {"float32": 2e-6, "float64": 1e-12, "int64": 0}


def _id(program: Program) -> str:
    return f"{program.optimizer}-{program.name}"


def _record(program: Program) -> dict[str, Any]:
    recorded = records.read(program.optimizer)
    assert program.name in recorded, "run tests/train/record_optimizers.py for this program"
    return recorded[program.name]


def _whatever_gradients(nodes: list[str]) -> list[str]:
    """The nodes without the names of those of `tf.gradients`, which differ between releases."""
    return [re.sub(r"gradients/[^,) ]*", "gradients", node) for node in nodes]


@pytest.mark.parametrize("program", PROGRAMS, ids=_id)
def test_builds_the_same_graph(program: Program) -> None:
    record = _record(program)
    built = optimizer_programs.build(tf, program)
    operations = built.graph.get_operations()[built.forward_nodes :]
    own = [op for op in operations if not op.name.startswith("gradients/")]
    assert _whatever_gradients(records.nodes(own)) == _whatever_gradients(record["nodes"])
    assert built.optimizer.get_slot_names() == record["slots"]
    with built.graph.as_default():
        assert [v.op.name for v in built.optimizer.variables()] == record["variables"]


@pytest.mark.parametrize("program", PROGRAMS, ids=_id)
def test_takes_the_same_steps(program: Program) -> None:
    record = _record(program)
    built = optimizer_programs.build(tf, program)
    values = optimizer_programs.run(tf, program, built)
    assert list(values) == list(record["values"])
    for step, wanted in record["values"].items():
        assert sorted(values[step]) == sorted(wanted)
        for name, value in wanted.items():
            given = np.asarray(values[step][name])
            tolerance = TOLERANCE[given.dtype.name]
            np.testing.assert_allclose(
                given, value, rtol=tolerance, atol=tolerance, err_msg=f"{name} after step {step}"
            )


def test_every_record_has_a_program() -> None:
    for optimizer in OPTIMIZERS:
        names = {program.name for program in optimizer_programs.programs(optimizer)}
        assert set(records.read(optimizer)) == names
