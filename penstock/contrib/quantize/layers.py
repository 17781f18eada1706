"""Which operations of a graph are a layer: weights, what takes them, bias, activation, bypass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from penstock.contrib.quantize.graph_matcher import (
    GraphMatcher,
    MatchResult,
    OneofPattern,
    OpTypePattern,
    Pattern,
)
from penstock.ir.graph import Graph
from penstock.platform import logging

ACTIVATIONS = ("Relu", "Relu6", "Identity")
_LAYERS = "Conv2D|MatMul|DepthwiseConv2dNative"
_ADD = "Add|AddV2"


class Layer(NamedTuple):
    """The parts of one layer; None for those that it lacks."""

    layer_op: Any
    weight_tensor: Any
    activation_op: Any
    bypass_op: Any = None
    post_activation_bypass_op: Any = None
    bias_add_op: Any = None


def _weights() -> tuple[Pattern, list[Pattern]]:
    """Weights: of a variable, of the parts of one, or scaled by a batch normalization."""
    variable = OpTypePattern("Variable|VariableV2")
    part = OpTypePattern("Identity", inputs=[variable])
    parts = OpTypePattern("ConcatV2", inputs=[part, "*", "*"])
    read = OpTypePattern("Identity", inputs=[OneofPattern([part, parts, variable])])
    kinds: list[Pattern] = [read, OpTypePattern("ReadVariableOp"), OpTypePattern("Mul")]
    return OneofPattern(kinds), kinds


class _Patterns:
    """The patterns of layers, from weights to what is added after the activation."""

    def __init__(self) -> None:
        weights, self.weight_kinds = _weights()
        self.layer = OpTypePattern(_LAYERS, inputs=["*", weights], ordered_inputs=False)
        to_space = OpTypePattern("BatchToSpaceND", inputs=[self.layer, "*", "*"])
        output = OneofPattern([to_space, self.layer])
        self.separable = OpTypePattern(_LAYERS, inputs=[output, "*"], ordered_inputs=False)
        corrected = OpTypePattern(
            _ADD,
            inputs=[OpTypePattern("Mul", inputs=["*", output], ordered_inputs=False), "*"],
            ordered_inputs=False,
        )
        self.folded_bias = OpTypePattern(_ADD, inputs=[corrected, "*"], ordered_inputs=False)
        updated = OpTypePattern("Identity", inputs=[self.folded_bias])
        self.bias = OpTypePattern("Add|AddV2|BiasAdd", inputs=[output, "*"], ordered_inputs=False)
        biased = [self.bias, self.folded_bias, updated]
        self.bypass = OpTypePattern(_ADD, inputs=[OneofPattern(biased), "*"], ordered_inputs=False)
        self.activation = OpTypePattern(
            "|".join(ACTIVATIONS), inputs=[OneofPattern([*biased, self.bypass, self.layer])]
        )
        self.post_activation_bypass = OpTypePattern(
            _ADD, inputs=["*", self.activation], ordered_inputs=False
        )

    def weight_of(self, match: MatchResult) -> Any:
        found = (match.get_tensor(kind) for kind in self.weight_kinds)
        return next((tensor for tensor in found if tensor is not None), None)

    def bias_of(self, match: MatchResult) -> Any:
        found = match.get_op(self.bias)
        return match.get_op(self.folded_bias) if found is None else found

    def with_activation(self, match: MatchResult) -> Layer:
        return Layer(
            match.get_op(self.layer),
            self.weight_of(match),
            match.get_op(self.activation),
            match.get_op(self.bypass),
            match.get_op(self.post_activation_bypass),
            self.bias_of(match),
        )


def _feeds_batch_norm(activation_op: Any) -> bool:
    """Whether an Identity only leads on to a batch normalization: its statistics stay exact."""
    if activation_op.type != "Identity":
        return False
    consumers = list(dict.fromkeys(activation_op.outputs[0].consumers()))
    if len(consumers) != 1 or consumers[0].type not in ("FusedBatchNorm", "FusedBatchNormV3"):
        return False
    logging.info("Skipping %s, which feeds a fused batch norm.", activation_op.name)
    return True


def _candidates(graph: Graph) -> Iterator[Layer]:
    """All matches, the longest first; a layer may be in several."""
    patterns = _Patterns()
    for match in GraphMatcher(patterns.post_activation_bypass).match_graph(graph):
        yield patterns.with_activation(match)
    for match in GraphMatcher(patterns.activation).match_graph(graph):
        layer = patterns.with_activation(match)
        if not _feeds_batch_norm(layer.activation_op):
            yield layer
    # The last layer of a network has no activation, the first of a separable one no bias.
    for match in GraphMatcher(OneofPattern([patterns.bias, patterns.folded_bias])).match_graph(
        graph
    ):
        op = match.get_op(patterns.layer)
        yield Layer(op, patterns.weight_of(match), patterns.bias_of(match))
    for match in GraphMatcher(patterns.separable).match_graph(graph):
        op = match.get_op(patterns.layer)
        yield Layer(op, patterns.weight_of(match), op)


def find_layers(graph: Graph) -> list[Layer]:
    """The layers of a graph, each once."""
    found: dict[Any, Layer] = {}
    for layer in _candidates(graph):
        found.setdefault(layer.layer_op, layer)
    return list(found.values())
