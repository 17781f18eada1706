"""Kernels for ops of constants while a graph is built: what shape inference asks for."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from penstock.ir import registry
from penstock.ir.computed_ahead import compute_with
from penstock.ir.operation import Operation
from penstock.ir.step_graph import Edge, Node
from penstock.ir.tensor import Tensor


def compute(op: Operation, inputs: list[np.ndarray]) -> list[np.ndarray] | None:
    """An op's results by its kernel on the CPU; None where it has none, or fails."""
    from penstock.kernels.values import to_array

    node = Node(
        op.spec,
        op._name,
        op.attrs,
        [tensor._dtype for tensor in op._outputs],
        [tensor._shape for tensor in op._outputs],
        op,
    )
    pairs = zip(op._inputs, inputs, strict=True)
    node.inputs = [Edge(_constant(tensor, value), 0) for tensor, value in pairs]
    results = _evaluate()(node, inputs)
    return None if results is None else [to_array(value) for value in results]


def _constant(tensor: Tensor, value: np.ndarray) -> Node:
    spec = registry.find("Const")
    assert spec is not None
    attrs = {"value": value, "dtype": tensor._dtype}
    return Node(spec, tensor._op._name, attrs, [tensor._dtype], [value.shape], tensor._op)


@functools.cache
def _evaluate() -> Any:
    """Building a graph imports torch only where a value is asked for that NumPy has no rule for."""
    from penstock.kernels.values import from_array
    from penstock.runtime.binding import evaluator
    from penstock.runtime.device import Device

    name = "/job:localhost/replica:0/task:0/device:CPU:0"
    memory = from_array(np.zeros(1)).device  # the process's own
    return evaluator(Device(name, "CPU", memory))


compute_with(compute)
