"""What a node of a convolutional network does along each axis of an image."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import penstock as tf
from penstock import logging

#: Ops whose results depend, pixel by pixel, on the same pixel of their inputs.
POINTWISE = frozenset(
    "Add AddV2 BiasAdd Cast Ceil ConcatV2 Const Floor FusedBatchNorm FusedBatchNormV2 "
    "FusedBatchNormV3 GreaterEqual Identity LRN Log Mul Pow RealDiv Relu Relu6 Round Rsqrt "
    "Softplus Sub VariableV2".split()
)
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_POOLINGS = ("MaxPool", "MaxPoolV2", "AvgPool")
_ROWS, _COLUMNS = 1, 2

Nodes = Mapping[str, Any]


@dataclass(frozen=True)
class Window:
    """The window of a node along one axis; what is None depends on the size of the image."""

    size: int | None
    stride: int | None
    padding: int | None
    total_padding: int | None


_PIXEL = Window(1, 1, 0, 0)
_UNKNOWN = Window(None, None, None, None)


def _constant_input(node: Any, index: int, ending: str, complaint: str, nodes: Nodes) -> Any:
    name = node.input[index]
    if not name.endswith(ending):
        raise ValueError(f"{complaint} does not end with '{ending}'")
    return nodes[name]


def _array(constant: Any) -> Any:
    return tf.make_ndarray(constant.attr["value"].tensor)


def _strides(node: Any, nodes: Nodes) -> Sequence[int]:
    if node.op == "MaxPoolV2":
        return list(_array(_constant_input(node, 2, "/strides", "Strides name", nodes)))
    return node.attr["strides"].list.i


def _convolution_sizes(node: Any, nodes: Nodes) -> Sequence[int]:
    """Sizes in the order of an image's dimensions."""
    name = node.input[1]
    if not name.endswith("/read"):
        raise ValueError("Weight layer's name input to conv layer does not end with '/read'")
    name = name.removesuffix("/read")
    weights = nodes[name]
    if weights.op == "VariableV2":
        dims = weights.attr["shape"].shape.dim
    elif weights.op == "Const":
        dims = weights.attr["value"].tensor.tensor_shape.dim
    else:
        raise ValueError(f"Weight layer {name} is not of type VariableV2 or Const: {weights.op}")
    if len(dims) != 4:
        raise ValueError(f"Weight layer {name} does not have rank 4. Instead, it has: {len(dims)}")
    return [1, dims[0].size, dims[1].size, 1]


def _pooling_sizes(node: Any, nodes: Nodes) -> Sequence[int]:
    if node.op == "MaxPoolV2":
        sizes = list(_array(_constant_input(node, 1, "/ksize", "Kernel size name", nodes)))
    else:
        sizes = list(node.attr["ksize"].list.i)
    for place, index in (("first", 0), ("last", 3)):
        if sizes[index] != 1:
            raise ValueError(f"pool ksize for {place} dim is not 1")
    return sizes


def _window_padding(
    node: Any, size: int, stride: int, resolution: int | None
) -> tuple[int | None, int | None]:
    """The padding before the first pixel, and that of both ends together."""
    mode = node.attr["padding"].s
    if mode == b"VALID":
        return 0, 0
    if mode != b"SAME":
        raise ValueError(f"Invalid padding operation {mode!r}")
    if resolution is not None:
        total = max(size - (resolution % stride or stride), 0)
        return total // 2, total
    if size == 1:
        return 0, 0
    if stride == 1:
        return (size - 1) // 2, size - 1
    if stride == 2 and size % 2 == 0:
        return math.floor((size - 1) / 2), None
    logging.warning(
        "The padding of %s depends on the size of the input: give input_resolution, else it "
        "isn't checked whether paths are aligned.",
        node.name,
    )
    return None, None


def _pad_windows(node: Any, nodes: Nodes) -> dict[int, Window]:
    constant = _constant_input(node, 1, "/paddings", "Padding layer name", nodes)
    if constant.op != "Const":
        raise ValueError("Padding op is not Const")
    pads = _array(constant)
    for place, index in (("first", 0), ("last", 3)):
        if pads[index].any():
            raise ValueError(f"padding is not zero for {place} tensor dim")
    return {
        axis: Window(1, 1, int(pads[axis][0]), int(pads[axis].sum())) for axis in (_ROWS, _COLUMNS)
    }


def windows(
    node: Any, nodes: Nodes, input_resolution: Sequence[Any] | None, force: bool = False
) -> tuple[Window, Window]:
    """What a node does along rows (x) and columns (y).

    Args:
      nodes: all nodes of the graph, by their names.
      input_resolution: height and width of the node's input, if they are known.
      force: whether an op of another kind has windows of which nothing is known, not an error.
    """
    if node.op in POINTWISE:
        return _PIXEL, _PIXEL
    if node.op == "Pad":
        found = _pad_windows(node, nodes)
        return found[_COLUMNS], found[_ROWS]
    if node.op not in _CONVOLUTIONS + _POOLINGS:
        if force:
            return _UNKNOWN, _UNKNOWN
        raise ValueError(f"Unknown layer for operation '{node.name}': {node.op}")
    strides = _strides(node, nodes)
    read = _convolution_sizes if node.op in _CONVOLUTIONS else _pooling_sizes
    sizes = read(node, nodes)
    height, width = input_resolution or (None, None)

    def along(axis: int, resolution: int | None) -> Window:
        size, stride = int(sizes[axis]), int(strides[axis])
        return Window(size, stride, *_window_padding(node, size, stride, resolution))

    return along(_COLUMNS, width), along(_ROWS, height)


def get_layer_params(
    node: Any, name_to_node: Nodes, input_resolution: Any = None, force: bool = False
) -> tuple[int | None, ...]:
    """Kernel sizes, strides, paddings and total paddings of a node, x before y."""
    x, y = windows(node, name_to_node, input_resolution, force)
    return (
        x.size,
        y.size,
        x.stride,
        y.stride,
        x.padding,
        y.padding,
        x.total_padding,
        y.total_padding,
    )
