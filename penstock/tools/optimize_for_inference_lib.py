"""Graphs for inference alone: without training nodes, with batch normalizations folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from penstock import dtypes, graph_util
from penstock.ir.tensor_codec import array_to_proto, proto_to_array
from penstock.platform import logging
from penstock.proto import AttrValue, GraphDef, NodeDef
from penstock.tools import strip_unused_lib

__all__ = [
    "ensure_graph_is_valid",
    "fold_batch_norms",
    "fuse_resize_and_conv",
    "node_from_map",
    "node_name_from_input",
    "optimize_for_inference",
    "scale_after_normalization",
    "values_from_const",
]

INPUT_ORDER = {
    "BatchNormWithGlobalNormalization": ["conv_op", "mean_op", "var_op", "beta_op", "gamma_op"],
    "FusedBatchNorm": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
    "FusedBatchNormV2": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
    "FusedBatchNormV3": ["conv_op", "gamma_op", "beta_op", "mean_op", "var_op"],
}
EPSILON_ATTR = {
    "BatchNormWithGlobalNormalization": "variance_epsilon",
    "FusedBatchNorm": "epsilon",
    "FusedBatchNormV2": "epsilon",
    "FusedBatchNormV3": "epsilon",
}
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")


def optimize_for_inference(
    input_graph_def: Any,
    input_node_names: Sequence[str],
    output_node_names: Sequence[str],
    placeholder_type_enum: Any,
    toco_compatible: bool = False,
) -> Any:
    """A GraphDef that computes the outputs from the inputs with as few nodes as it can.

    Args:
      input_graph_def: a frozen graph.
      input_node_names: the nodes that are fed; placeholders take their place.
      output_node_names: the nodes that are fetched.
      placeholder_type_enum: the type of all placeholders, or a list with one for each.
      toco_compatible: whether to leave out the fusing of resizing and convolution.
    """
    ensure_graph_is_valid(input_graph_def)
    graph_def = strip_unused_lib.strip_unused(
        input_graph_def, input_node_names, output_node_names, placeholder_type_enum
    )
    graph_def = graph_util.remove_training_nodes(graph_def, output_node_names)
    graph_def = fold_batch_norms(graph_def)
    if not toco_compatible:
        graph_def = fuse_resize_and_conv(graph_def, output_node_names)
    ensure_graph_is_valid(graph_def)
    return graph_def


def ensure_graph_is_valid(graph_def: Any) -> None:
    """Raises ValueError if two nodes have one name, or an input names no node."""
    nodes = _by_name(graph_def)
    for node in graph_def.node:
        for text in node.input:
            if node_name_from_input(text) not in nodes:
                raise ValueError(f"Input for {node.name} not found: {text}")


def _by_name(graph_def: Any) -> dict[str, Any]:
    nodes: dict[str, Any] = {}
    for node in graph_def.node:
        if node.name in nodes:
            raise ValueError(f"Duplicate node names detected for {node.name}")
        nodes[node.name] = node
    return nodes


def node_name_from_input(node_name: str) -> str:
    """The node that an input of a NodeDef names."""
    name, _, output = node_name.removeprefix("^").rpartition(":")
    return name if name and output.isdigit() else node_name.removeprefix("^")


def node_from_map(node_map: dict[str, Any], name: str) -> Any:
    """The node behind an input's name; ValueError if there is none."""
    stripped = node_name_from_input(name)
    if stripped not in node_map:
        raise ValueError(f"No node named '{name}' found in map.")
    return node_map[stripped]


def values_from_const(node_def: Any) -> np.ndarray:
    """The value of a Const node."""
    if node_def.op != "Const":
        raise ValueError(
            f"Can not extract constant value from a node that is not Const. Got:\n{node_def}"
        )
    return proto_to_array(node_def.attr["value"].tensor)


def scale_after_normalization(node: Any) -> bool:
    """Whether a batch normalization multiplies by gamma."""
    if node.op == "BatchNormWithGlobalNormalization":
        return bool(node.attr["scale_after_normalization"].b)
    return True


# Batch normalization --------------------------------------------------------------------------


class _Normalization(NamedTuple):
    """A batch normalization of a convolution, both with constant parameters."""

    node: Any
    convolution: Any
    constants: dict[str, Any]

    def value(self, role: str) -> np.ndarray:
        return values_from_const(self.constants[role])


def fold_batch_norms(input_graph_def: Any) -> Any:
    """Multiplies the scale of batch normalizations into the weights of their convolutions.

    What is left of the normalization is a BiasAdd. Both must have constant parameters, as in a
    frozen graph; a warning says why one is left as it is.
    """
    nodes = _by_name(input_graph_def)
    replaced: set[str] = set()
    added: list[Any] = []
    for node in input_graph_def.node:
        found = _foldable(node, nodes) if node.op in INPUT_ORDER else None
        if found is not None:
            parts = (found.node, found.convolution, *found.constants.values())
            replaced.update(part.name for part in parts)
            added += _folded(found)
    result = GraphDef()
    result.node.extend(node for node in input_graph_def.node if node.name not in replaced)
    result.node.extend(added)
    return result


def _foldable(node: Any, nodes: dict[str, Any]) -> _Normalization | None:
    roles = dict(zip(INPUT_ORDER[node.op], node.input, strict=False))
    if _normalizes_by_batch(node):
        logging.warning("'%s' normalizes by its batch: it is not folded.", node.name)
        return None
    convolution = node_from_map(nodes, roles.pop("conv_op"))
    if convolution.op not in _CONVOLUTIONS:
        logging.warning(
            "Didn't find expected Conv2D or DepthwiseConv2dNative input to '%s'", node.name
        )
        return None
    constants = {role: node_from_map(nodes, name) for role, name in roles.items()}
    constants["weights"] = node_from_map(nodes, convolution.input[1])
    for role, constant in constants.items():
        if constant.op != "Const":
            logging.warning(
                "Didn't find expected %s Constant input to '%s', found %s instead. Maybe because "
                "freeze_graph wasn't run first?",
                role.removesuffix("_op"),
                node.name,
                constant.op,
            )
            return None
    found = _Normalization(node, convolution, constants)
    channels = (_channels(convolution, found.value("weights")),)
    for role in roles:
        if found.value(role).shape != channels:
            logging.warning(
                "Incorrect shape for %s, found %s, expected %s, for node %s",
                role.removesuffix("_op"),
                found.value(role).shape,
                channels,
                node.name,
            )
            return None
    return found


def _normalizes_by_batch(node: Any) -> bool:
    if node.op == "BatchNormWithGlobalNormalization":
        return False
    return "is_training" not in node.attr or bool(node.attr["is_training"].b)


def _channels(convolution: Any, weights: np.ndarray) -> int:
    if convolution.op == "Conv2D":
        return int(weights.shape[3])
    return int(weights.shape[2] * weights.shape[3])


def _folded(found: _Normalization) -> list[Any]:
    """The constants, the convolution and the BiasAdd that stand for a normalization."""
    node, convolution = found.node, found.convolution
    weights, mean = found.value("weights"), found.value("mean_op")
    scale = 1.0 / np.sqrt(found.value("var_op") + node.attr[EPSILON_ATTR[node.op]].f)
    if scale_after_normalization(node):
        scale = scale * found.value("gamma_op")
    offset = found.value("beta_op") - mean * scale
    per_filter = scale if convolution.op == "Conv2D" else scale.reshape(weights.shape[2:])
    scaled = _constant(
        found.constants["weights"].name, (weights * per_filter).astype(weights.dtype)
    )
    shift = _constant(f"{convolution.name}_bn_offset", offset.astype(mean.dtype))
    bias = NodeDef(name=node.name, op="BiasAdd", input=[convolution.name, shift.name])
    bias.attr["T"].CopyFrom(convolution.attr["T"])
    bias.attr["data_format"].CopyFrom(convolution.attr["data_format"])
    return [scaled, convolution, shift, bias]


def _constant(name: str, value: np.ndarray) -> Any:
    dtype = dtypes.as_dtype(value.dtype)
    node = NodeDef(name=name, op="Const")
    node.attr["dtype"].type = dtype.as_datatype_enum
    node.attr["value"].tensor.CopyFrom(array_to_proto(value, dtype))
    return node


# Resizing -------------------------------------------------------------------------------------


def fuse_resize_and_conv(input_graph_def: Any, output_node_names: Sequence[str]) -> Any:
    """Makes one node of a ResizeBilinear, a MirrorPad and the Conv2D behind them."""
    nodes = _by_name(input_graph_def)
    uses = Counter(node_name_from_input(t) for node in input_graph_def.node for t in node.input)
    uses.update(output_node_names)
    added: list[Any] = []
    for node in input_graph_def.node:
        if node.op != "Conv2D":
            continue
        source = node_from_map(nodes, node.input[0])
        pad = source if source.op == "MirrorPad" else None
        resize = node_from_map(nodes, pad.input[0]) if pad is not None else source
        if resize.op != "ResizeBilinear":
            resize = None
        if pad is None and resize is None:
            continue
        uses[node.name] = 0
        for part in (pad, resize):
            if part is not None:
                uses[part.name] -= 1
        added += _fused(node, pad, resize)
    result = GraphDef()
    result.node.extend(node for node in input_graph_def.node if uses[node.name] > 0)
    result.node.extend(added)
    return result


def _fused(convolution: Any, pad: Any, resize: Any) -> list[Any]:
    made = NodeDef(name=convolution.name)
    added = [made]
    if pad is not None:
        paddings, mode = pad.input[1], pad.attr["mode"]
    else:
        none = _constant(f"{convolution.name}_dummy_paddings", np.zeros([4, 2], np.int32))
        added.insert(0, none)
        paddings, mode = none.name, AttrValue(s=b"REFLECT")
    if resize is not None:
        made.op = "FusedResizeAndPadConv2D"
        made.input.extend([resize.input[0], resize.input[1], paddings, convolution.input[1]])
        made.attr["resize_align_corners"].CopyFrom(resize.attr["align_corners"])
    else:
        made.op = "FusedPadConv2D"
        made.input.extend([pad.input[0], paddings, convolution.input[1]])
    made.attr["mode"].CopyFrom(mode)
    for key in ("T", "strides", "padding"):
        made.attr[key].CopyFrom(convolution.attr[key])
    return added
