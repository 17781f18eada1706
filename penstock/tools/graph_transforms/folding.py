"""Transforms that compute what is constant, and multiply scales into weights."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.ir import registry
from penstock.ir.tensor_codec import proto_to_array
from penstock.proto import GraphDef
from penstock.tools import optimize_for_inference_lib
from penstock.tools.graph_transforms.cleaning import needed
from penstock.tools.graph_transforms.edges import consumers, only, place, redirect, source
from penstock.tools.graph_transforms.request import Request
from penstock.tools.graph_transforms.weights import constant

_SHAPE_READERS = ("Shape", "ShapeN", "Size", "Rank")
_CONTROL_FLOW = ("Enter", "Exit", "Merge", "NextIteration", "Switch", "LoopCond")
_SCALED = ("Conv2D", "DepthwiseConv2dNative", "MatMul")


def fold_constants(graph_def: Any, request: Request) -> Any:
    """Puts constants in the place of what can be computed without the inputs."""
    clears = request.flag("clear_output_shapes", True)
    pruned = only(graph_def, needed(graph_def, request))
    pruned.library.CopyFrom(graph_def.library)
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(_without_shapes(pruned) if clears else pruned, name="")
    known = _known_nodes(pruned, graph, request)
    wanted = _tensors_at_the_border(pruned, known)
    with tf.Session(graph=graph) as session:
        values = session.run(wanted)
    folded = {text: f"{source(text)}__cf__{i}" for i, text in enumerate(wanted)}
    result = only(pruned, {node.name for node in pruned.node})

    def constant_for(text: str) -> str:
        return folded.get(f"{source(text)}:{place(text)}", text)

    redirect(result, constant_for)
    for text, value in zip(wanted, values, strict=True):
        dtype = graph.get_tensor_by_name(text).dtype.base_dtype
        result.node.add().CopyFrom(constant(folded[text], np.asarray(value), dtype))
    result = only(result, needed(result, request))
    return _without_shapes(result) if clears else result


def _without_shapes(graph_def: Any) -> Any:
    result = GraphDef()
    result.CopyFrom(graph_def)
    for node in result.node:
        node.attr.pop("_output_shapes", None)
    return result


def _known_nodes(graph_def: Any, graph: Any, request: Request) -> set[str]:
    """The nodes that depend on constants alone, or on shapes that are known."""
    nodes = {node.name: node for node in graph_def.node}
    fixed = {source(name) for name in (*request.inputs, *request.outputs)}
    known: set[str] = set()
    for op in graph.get_operations():  # in an order in which inputs come first
        node = nodes[op.name]
        spec = registry.find(node.op)
        is_pure = spec is not None and not spec.is_stateful and node.op not in _CONTROL_FLOW
        if not is_pure or not op.outputs or op.name in fixed or node.op.startswith("Placeholder"):
            continue
        reads_shape = node.op in _SHAPE_READERS and all(
            tensor.shape.is_fully_defined() for tensor in op.inputs
        )
        has_control = any(text.startswith("^") for text in node.input)
        if not has_control and (reads_shape or all(t.op.name in known for t in op.inputs)):
            known.add(op.name)
    return known


def _tensors_at_the_border(graph_def: Any, known: set[str]) -> list[str]:
    """The tensors that are known, computed, and used by what is not known."""
    nodes = {node.name: node for node in graph_def.node}
    found: dict[str, None] = {}
    for node in graph_def.node:
        if node.name in known:
            continue
        for text in node.input:
            name = source(text)
            if name in known and place(text) >= 0 and nodes[name].op != "Const":
                found[f"{name}:{place(text)}"] = None
    return list(found)


def fold_batch_norms(graph_def: Any, request: Request) -> Any:
    """Multiplies constants behind convolutions and products into their weights."""
    result = only(graph_def, {node.name for node in graph_def.node})
    while (found := _scaled_product(result, request)) is not None:
        product, multiplication, weights, scaled = found
        gone = {product.name, multiplication.name, weights.name, multiplication.input[1]}
        renamed = type(product)()
        renamed.CopyFrom(product)
        renamed.name = multiplication.name
        dtype = tf.as_dtype(weights.attr["dtype"].type)
        made = {
            weights.name: constant(weights.name, scaled, dtype),
            multiplication.name: renamed,
        }
        parts = GraphDef()
        for node in result.node:
            if node.name in made:
                parts.node.add().CopyFrom(made[node.name])
            elif node.name not in gone:
                parts.node.add().CopyFrom(node)
        result = parts
    return result


def _scaled_product(graph_def: Any, request: Request) -> tuple[Any, Any, Any, np.ndarray] | None:
    """A product of constant weights times a constant vector, and the weights for both."""
    nodes = {node.name: node for node in graph_def.node}
    users = consumers(graph_def)
    outputs = {source(name) for name in request.outputs}
    for node in graph_def.node:
        if node.op != "Mul" or any(text not in nodes for text in node.input):
            continue
        product, factor = (nodes[text] for text in node.input)
        if product.op not in _SCALED or factor.op != "Const" or product.input[1] not in nodes:
            continue
        weights = nodes[product.input[1]]
        inner = (product, factor, weights)
        is_shared = any(len(users[each.name]) > 1 or each.name in outputs for each in inner)
        is_turned = "transpose_b" in product.attr and product.attr["transpose_b"].b
        if weights.op != "Const" or is_shared or is_turned:
            continue
        value, scale = (proto_to_array(n.attr["value"].tensor) for n in (weights, factor))
        channels = value.shape[2:] if product.op == "DepthwiseConv2dNative" else value.shape[-1:]
        if scale.shape == (int(np.prod(channels)),):
            return product, node, weights, (value * scale.reshape(channels)).astype(value.dtype)
    return None


def fold_old_batch_norms(graph_def: Any, request: Request) -> Any:
    """Multiplies batch normalizations that are single nodes into the weights before them."""
    return optimize_for_inference_lib.fold_batch_norms(graph_def)


def fuse_resize_and_conv(graph_def: Any, request: Request) -> Any:
    """Makes one node of a resizing, a mirrored border and the convolution behind them."""
    return optimize_for_inference_lib.fuse_resize_and_conv(graph_def, request.outputs)
