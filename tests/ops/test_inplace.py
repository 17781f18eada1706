"""Kernels that overwrite an input compute what the plain kernel does, in that input's memory."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

import penstock as tf
from penstock.ir import registry
from penstock.ir.operation import Operation
from penstock.ir.step_graph import Edge, Node
from penstock.kernels import registry as kernels
from penstock.kernels.values import from_array, to_array
from penstock.runtime.binding import bind
from penstock.runtime.device import Device
from tests.ops import drive
from tests.ops.case import Case
from tests.ops.cases import cases_of, families
from tests.ops.drive import Library, Mode

PENSTOCK = Library(tf, lambda op, inputs, attrs, name: _spec(op)(*inputs, name=name, **attrs))
CPU = Device("/device:CPU:0", "CPU", torch.device("cpu"))


def _spec(op: str) -> Any:
    spec = registry.find(op)
    assert spec is not None
    return spec


def _arrays(case: Case) -> list[Any]:
    flat: list[Any] = []
    for value in case.inputs:
        flat += value if isinstance(value, list) else [value]
    return flat


def _is_plain(case: Case) -> bool:
    arrays = _arrays(case)
    plain = all(isinstance(v, np.ndarray) and v.dtype != object for v in arrays)
    return plain and not case.fails and not case.shape_only and case.expected is None


CASES = [
    pytest.param(case, id=f"{family}/{case.id}")
    for family in families()
    for case in cases_of(family)
    if case.op in kernels._inplace and _is_plain(case)
]


def _node(op: Operation) -> Node:
    """A node of a step for an operation; its inputs are feeds, of which nothing is known."""
    shapes = [tensor._shape for tensor in op.outputs]
    node = Node(op.spec, op.name, op.attrs, [t.dtype for t in op.outputs], shapes, op)
    feed = registry.find("_Feed")
    assert feed is not None
    for tensor in op.inputs:
        attrs = {"dtype": tensor.dtype}
        node.inputs.append(Edge(Node(feed, tensor.name, attrs, [tensor.dtype], [tensor._shape]), 0))
    return node


def _check_equal(ours: np.ndarray, expected: np.ndarray) -> None:
    """The same but for rounding: a sum may be taken in another order."""
    assert ours.dtype == expected.dtype
    wide = np.complex128 if ours.dtype.kind == "c" else np.float64
    rtol = 0.0 if ours.dtype.kind in "biu" else 4 * float(ml_dtypes.finfo(ours.dtype).eps)
    np.testing.assert_allclose(ours.astype(wide), expected.astype(wide), rtol=rtol)


@pytest.mark.parametrize("case", CASES)
def test_in_place(case: Case) -> None:
    node = _node(drive.build(PENSTOCK, case, Mode.CONSTANTS).op)
    function = bind(node, CPU).function
    assert function is not None
    expected = function(*[from_array(value.copy()) for value in _arrays(case)])
    for index, variant in kernels.inplace_variants(node).items():
        edge = node.inputs[index]
        if edge.dtype is not node.dtypes[0] or edge.shape != node.shapes[0]:
            continue  # no plan would call it
        values = [from_array(value.copy()) for value in _arrays(case)]
        result = variant(*values)
        _check_equal(to_array(result), to_array(expected))
        assert result.data_ptr() == values[index].data_ptr(), f"input {index} is not overwritten"
        others = zip(values, _arrays(case), strict=True)
        for i, (value, given) in enumerate(others):
            if i != index:
                np.testing.assert_array_equal(to_array(value), given)
