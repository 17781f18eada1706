"""Catching numbers that are not finite, wherever in a graph they arise."""

from __future__ import annotations

from penstock import dtypes
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.control import group
from penstock.ops.identity import check_numerics

__all__ = ["add_check_numerics_ops"]


def add_check_numerics_ops() -> Operation:
    """An operation that fails where any floating-point tensor of the graph is not finite.

    Tensors are checked in the order of the graph, so the first bad one is named. A graph with
    conditionals or loops is refused.
    """
    checked = (dtypes.float16, dtypes.float32, dtypes.float64)
    graph = get_default_graph()
    last: list[Tensor] = []
    for op in graph.get_operations():
        for output in op.outputs:
            if output.dtype not in checked:
                continue
            if op._get_control_flow_context() is not None:
                raise ValueError(
                    "`tf.add_check_numerics_ops() is not compatible with TensorFlow control flow "
                    "operations such as `tf.cond()` or `tf.while_loop()`."
                )
            with graph.control_dependencies(last):
                last = [check_numerics(output, message=output.name)]
    return group(*last)
