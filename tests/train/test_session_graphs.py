"""The nodes that training sessions add to a graph are TensorFlow's."""

from __future__ import annotations

import pytest

import penstock as tf
from tests.train import records, session_programs


@pytest.mark.parametrize("name", session_programs.PROGRAMS)
def test_nodes_are_tensorflows(name: str) -> None:
    expected = records.read("sessions")[name]["nodes"]
    assert records.nodes(session_programs.built(tf, name).get_operations()) == expected
