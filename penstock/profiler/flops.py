"""How many floating point operations a node takes, by its type and the shapes of its tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor

__all__ = ["OpStats", "RegisterStatistics", "get_stats_for_node_def"]

FLOPS = "flops"


class OpStats:
    """A statistic of a node, such as its "flops"; its value is None if nothing is known."""

    def __init__(self, statistic_type: str, value: Any = None):
        self.statistic_type = statistic_type
        self.value = value

    def __iadd__(self, other: OpStats) -> OpStats:
        if other.statistic_type != self.statistic_type:
            raise ValueError(
                f"Can't add an OpStat of type {self.statistic_type} to one of "
                f"{other.statistic_type}."
            )
        if self.value is None:
            self.value = other.value
        elif other.value is not None:
            self.value += other.value
        return self


_Count = Callable[[Operation], float]

_counts: dict[str, _Count] = {}
_registered: dict[tuple[str, str], Callable[[Graph, Any], OpStats]] = {}


class RegisterStatistics:
    """Registers a function `f(graph, node_def) -> OpStats` for the nodes of a type."""

    def __init__(self, op_type: str, statistic_type: str):
        if not isinstance(op_type, str):
            raise TypeError("op_type must be a string.")
        if "," in op_type:
            raise TypeError("op_type must not contain a comma.")
        if not isinstance(statistic_type, str):
            raise TypeError("statistic_type must be a string.")
        if "," in statistic_type:
            raise TypeError("statistic_type must not contain a comma.")
        self._key = op_type, statistic_type

    def __call__(self, f: Callable[[Graph, Any], OpStats]) -> Callable[[Graph, Any], OpStats]:
        op_type, statistic_type = self._key
        if self._key in _registered or (statistic_type == FLOPS and op_type in _counts):
            raise KeyError(f"Registering two statistics with name '{op_type},{statistic_type}'!")
        _registered[self._key] = f
        return f


def get_stats_for_node_def(graph: Graph, node: Any, statistic_type: str) -> OpStats:
    """A statistic of a node; without a value if none is registered for its type.

    ValueError means that the shapes that it depends on are not known.
    """
    registered = _registered.get((node.op, statistic_type))
    if registered is not None:
        return registered(graph, node)
    count = _counts.get(node.op) if statistic_type == FLOPS else None
    if count is None:
        return OpStats(statistic_type)
    return OpStats(statistic_type, count(graph.get_operation_by_name(node.name)))


def _counted(*types: str) -> Callable[[_Count], _Count]:
    def register(count: _Count) -> _Count:
        _counts.update(dict.fromkeys(types, count))
        return count

    return register


def _shape(tensor: Tensor) -> list[int]:
    shape = tensor.get_shape()
    shape.assert_is_fully_defined()
    return [size for size in shape.as_list() if size is not None]


def _elements(tensor: Tensor) -> int:
    return prod(_shape(tensor))


# Per element of the input or of the output ----------------------------------------------------


def _per_input(op: Operation, factor: int) -> float:
    return _elements(op.inputs[0]) * factor


def _per_output(op: Operation, factor: int) -> float:
    return _elements(op.outputs[0]) * factor


_PER_INPUT = {
    1: "Reciprocal Square Log Neg AssignSub AssignAdd",
    2: "Rsqrt",
    5: "Softmax",
}
_PER_OUTPUT = {
    1: "Add AddV2 Sub Mul RealDiv Maximum Minimum Pow GreaterEqual Greater LessEqual Less Equal "
    "NotEqual",
    2: "SquaredDifference",
    4: "RsqrtGrad",
}
for _factor, _types in _PER_INPUT.items():
    _counted(*_types.split())(partial(_per_input, factor=_factor))
for _factor, _types in _PER_OUTPUT.items():
    _counted(*_types.split())(partial(_per_output, factor=_factor))


@_counted("BiasAdd")
def _bias_add(op: Operation) -> float:
    return _elements(op.inputs[0])


@_counted("L2Loss")
def _l2_loss(op: Operation) -> float:
    return _elements(op.inputs[0]) * 3 - 1


@_counted("AddN")
def _add_n(op: Operation) -> float:
    return _elements(op.inputs[0]) * (len(op.inputs) - 1)


# Reductions -----------------------------------------------------------------------------------


@_counted("Mean")
def _mean(op: Operation) -> float:
    return _elements(op.inputs[0])  # the sums, and a division of each


@_counted("Sum", "ArgMax", "ArgMin", "BiasAddGrad")
def _reduction(op: Operation) -> float:
    return _elements(op.inputs[0]) - _elements(op.outputs[0])


# Products -------------------------------------------------------------------------------------


@_counted("MatMul")
def _matmul(op: Operation) -> float:
    inner = _shape(op.inputs[0])[0 if op.get_attr("transpose_a") else 1]
    return 2 * inner * _elements(op.outputs[0])


@_counted("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
def _batch_matmul(op: Operation) -> float:
    inner = _shape(op.inputs[0])[-2 if op.get_attr("adj_x") else -1]
    return 2 * inner * _elements(op.outputs[0])


# Windows --------------------------------------------------------------------------------------


def _check_data_format(op: Operation) -> None:
    if op.get_attr("data_format") != b"NHWC":
        raise ValueError("Only NHWC format is supported in flops computations")


@_counted("Conv2D", "Conv3D")
def _conv(op: Operation) -> float:
    *window, _ = _shape(op.inputs[1])
    return 2 * prod(window) * _elements(op.outputs[0])


@_counted("DepthwiseConv2dNative")
def _depthwise_conv(op: Operation) -> float:
    height, width, *_ = _shape(op.inputs[1])
    return 2 * height * width * _elements(op.outputs[0])


@_counted("Dilation2D")
def _dilation(op: Operation) -> float:
    height, width, *_ = _shape(op.inputs[1])
    return 2 * height * width * _elements(op.outputs[0])


def _backprop(op: Operation, image: Tensor, kernel: Tensor) -> float:
    _check_data_format(op)
    _, row_stride, column_stride, _ = op.get_attr("strides")
    shape = _shape(image)
    steps = shape[-1] * row_stride * column_stride
    return 2 * prod(shape) * _elements(kernel) / steps


@_counted("Conv2DBackpropInput")
def _conv_backprop_input(op: Operation) -> float:
    return _backprop(op, op.outputs[0], op.inputs[1])


@_counted("Conv2DBackpropFilter")
def _conv_backprop_filter(op: Operation) -> float:
    return _backprop(op, op.inputs[0], op.outputs[0])


@_counted("AvgPool", "MaxPool")
def _pool(op: Operation) -> float:
    _check_data_format(op)
    return prod(op.get_attr("ksize")) * _elements(op.outputs[0])


@_counted("AvgPoolGrad")
def _avg_pool_grad(op: Operation) -> float:
    _check_data_format(op)
    return prod(op.get_attr("ksize")) * _elements(op.inputs[1]) * 2


@_counted("MaxPoolGrad")
def _max_pool_grad(op: Operation) -> float:
    _check_data_format(op)
    return (prod(op.get_attr("ksize")) + 1) * _elements(op.inputs[1])
