"""Transforms of constants that make files smaller: rounded, or of eight bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes
from penstock.ir.tensor_codec import array_to_proto, proto_to_array
from penstock.proto import GraphDef, NodeDef
from penstock.tools.graph_transforms.request import Request

_FEWEST_ROUNDED = 16  # below that many entries, a constant is hardly a weight


def constant(name: str, value: Any, dtype: Any) -> Any:
    """A Const node."""
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(array_to_proto(value, dtype))
    return node


def _float_value(node: Any) -> np.ndarray | None:
    if node.op != "Const" or node.attr["dtype"].type != dtypes.float32.as_datatype_enum:
        return None
    return proto_to_array(node.attr["value"].tensor)


def round_weights(graph_def: Any, request: Request) -> Any:
    """Lets weights have few different values, so that files of them can be compressed."""
    steps = request.number("num_steps", 256)
    result = GraphDef()
    for node in graph_def.node:
        value = _float_value(node)
        if value is not None and value.size >= _FEWEST_ROUNDED:
            made = constant(node.name, _rounded(value, steps), dtypes.float32)
            made.device = node.device
            made.input.extend(node.input)
            node = made
        result.node.add().CopyFrom(node)
    return result


def _rounded(value: np.ndarray, steps: int) -> np.ndarray:
    """The middle of the bucket that each entry is in."""
    low, high = value.min(), value.max()
    width = (high - low) / np.float32(steps)
    if width == 0:
        return value
    bucket = np.floor((value - low) / width)
    return (low + width * (bucket + np.float32(0.5))).astype(np.float32)


def quantize_weights(graph_def: Any, request: Request) -> Any:
    """Keeps large constants in eight bits, from which a node gets numbers back."""
    fewest = request.number("minimum_size", 1024)
    result = GraphDef()
    for node in graph_def.node:
        value = _float_value(node)
        is_large = value is not None and value.size >= fewest
        result.node.extend(_quantized(node, value) if is_large else [node])
    return result


def _quantized(node: Any, value: Any) -> list[Any]:
    low = min(np.float32(value.min()), np.float32(0))
    high = max(np.float32(value.max()), np.finfo(np.float32).tiny)
    scale = 255.0 / (float(high) - float(low))
    bytes_ = np.round(value.astype(np.float64) * scale) - np.round(float(low) * scale)
    bytes_ = np.clip(bytes_, 0, 255).astype(np.uint8)
    parts = [
        constant(f"{node.name}_quantized_const", bytes_, dtypes.quint8),
        constant(f"{node.name}_quantized_min", low, dtypes.float32),
        constant(f"{node.name}_quantized_max", high, dtypes.float32),
    ]
    names = [part.name for part in parts]
    back = NodeDef(name=node.name, op="Dequantize", input=[*names, *node.input])
    back.attr["T"].type = dtypes.quint8.as_datatype_enum
    back.attr["mode"].s = b"MIN_FIRST"
    return [*parts, back]
