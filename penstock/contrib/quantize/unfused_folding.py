"""Batch normalization of several nodes folded into the layer before it.

`folding` does so for fused nodes, by the same equations; here the parts are found by their names.
"""

from __future__ import annotations

import re
from typing import Any

import penstock as tf
from penstock.contrib.quantize.folding import layer_with_inputs, moving_to_batch_corrections
from penstock.contrib.quantize.rewiring import (
    BatchNormGroups,
    GetEndpointActivationOp,
    InputToOps,
    reroute_tensor,
)
from penstock.ir.graph import Graph


class _Parts:
    """The nodes of a normalization, whose names begin with a context."""

    def __init__(self, graph: Graph, context: str):
        self._graph = graph
        self.context = context
        self.has_scaling = self._has_scaling()
        self.scaled = self.operation("mul_1" if self.has_scaling else "mul")
        self.shifted = self.operation("add_1")
        layer = self.scaled.inputs[0].op
        self.to_space = layer if layer.type == "BatchToSpaceND" else None
        self.layer = layer if self.to_space is None else layer.inputs[0].op

    def operation(self, name: str) -> Any:
        return self._graph.get_operation_by_name(f"{self.context}BatchNorm/batchnorm_1/{name}")

    def _has_scaling(self) -> bool:
        takers = InputToOps(self._graph).ConsumerOperations(self.operation("Rsqrt"))
        return sum(op.type == "Mul" for op in takers) == 1

    def tensor(self, ending: str) -> Any:
        """The tensor of a name that ends so, of the one with most scopes of the context."""
        scopes = set(self.context.split("/"))
        shared = {
            op.name: len(set(op.name.split("/")) & scopes)
            for op in self._graph.get_operations()
            if op.name.endswith(ending)
        }
        shared = {name: count for name, count in shared.items() if count or not self.context}
        if not shared:
            return None
        return self._graph.get_tensor_by_name(f"{max(shared, key=lambda name: shared[name])}:0")

    def variable(self, name: str) -> Any:
        if tf.get_variable_scope().use_resource:
            return self.tensor(f"BatchNorm/{name}/Read/ReadVariableOp")
        return self.tensor(f"BatchNorm/{name}/read")

    def gamma(self) -> Any:
        if not self.has_scaling:
            return tf.ones(self.variable("moving_mean").shape)
        if tf.get_variable_scope().use_resource:
            return self.variable("gamma")
        return self.tensor("BatchNorm/gamma")


def _corrections(parts: _Parts, gamma: Any, freeze_delay: int | None) -> tuple[Any, Any, Any]:
    with tf.name_scope(f"{parts.context}batch_norm_correction"):
        return moving_to_batch_corrections(
            (parts.variable("moving_mean"), parts.variable("moving_variance")),
            (
                parts.tensor("BatchNorm/moments/Squeeze"),
                parts.tensor("BatchNorm/moments/Squeeze_1"),
            ),
            (
                parts.tensor("BatchNorm/AssignMovingAvg/decay"),
                parts.tensor("BatchNorm/AssignMovingAvg_1/decay"),
            ),
            parts.tensor("BatchNorm/batchnorm_1/add/y"),
            gamma,
            freeze_delay,
        )


def _folded(parts: _Parts, is_training: bool, freeze_delay: int | None) -> Any:
    """The normalized output, by scaled weights."""
    context, layer = parts.context, parts.layer
    if layer.type not in ("Conv2D", "DepthwiseConv2dNative", "MatMul"):
        raise ValueError(f"Cannot handle operation of type: {layer.type}")
    weights, scale = layer.inputs[1], parts.scaled.inputs[1]
    gamma = parts.gamma()
    correction = reciprocal = offset = None
    if is_training:
        correction, reciprocal, offset = _corrections(parts, gamma, freeze_delay)
    if layer.type == "DepthwiseConv2dNative":
        shape = weights.get_shape().as_list()[2:]
        factor = parts.operation("mul" if parts.has_scaling else "Rsqrt").outputs[0]
        scale = tf.reshape(factor, shape, f"{context}scale_reshape")
        if correction is not None:
            correction = tf.reshape(correction, shape, f"{context}correction_reshape")
    if correction is not None:
        weights = tf.multiply(correction, weights, f"{context}correction_mult")
    weights = tf.multiply(weights, scale, name=f"{context}mul_fold")
    output = layer_with_inputs(layer, layer.inputs[0], weights, f"{layer.name}_Fold")
    if parts.to_space is not None:
        _, block, crops = parts.to_space.inputs
        output = tf.batch_to_space_nd(output, block, crops, name=f"{parts.to_space.name}_Fold")
    if offset is not None:
        output = tf.multiply(reciprocal, output, f"{context}post_conv_mul")
        output = tf.add(output, offset, f"{context}correction_add")
    return tf.add(output, parts.shifted.inputs[1], name=f"{context}add_fold")


def _user_of(graph: Graph, context: str) -> Any:
    """The operation after a normalization: an activation, or the sum with a bypass."""
    activation = GetEndpointActivationOp(graph, context)
    if activation is not None:
        return activation
    found = re.search(r"^(.*)/([^/]+)", context)
    scope = f"{found.group(1)}/" if found and found.group(1) else ""
    return graph.get_operation_by_name(f"{scope}AddV2")


def fold_unfused_batch_norms(
    graph: Graph, is_training: bool, freeze_batch_norm_delay: int | None = None
) -> None:
    """Folds all normalizations of `tf.nn.batch_normalization` that follow layers."""
    for context in BatchNormGroups(graph):
        parts = _Parts(graph, context)
        normalized = parts.shifted.outputs[0]
        if not normalized.consumers():
            continue
        output = _folded(parts, is_training, freeze_batch_norm_delay)
        user = _user_of(graph, context)
        if reroute_tensor(output, normalized, [user]) != 1:
            raise ValueError(f"Unexpected inputs to op: {user.name}")
