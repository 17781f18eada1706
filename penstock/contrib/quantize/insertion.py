"""Simulated quantization put into a graph: of weights, of activations, of sums and products."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.quantize.layers import ACTIVATIONS, Layer, find_layers
from penstock.contrib.quantize.ranges import LastValueQuantize, MovingAvgQuantize
from penstock.contrib.quantize.rewiring import context_of, quantization_step, reroute_tensor
from penstock.ir.graph import Graph

_FAKE_QUANT = {
    "FakeQuantWithMinMaxVars",
    "FakeQuantWithMinMaxArgs",
    "FakeQuantWithMinMaxVarsPerChannel",
}
_SUMS = {"Add", "AddV2", "Mul"}
_PASSING = {"Reshape", "Identity", "BatchToSpaceND", "SpaceToBatchND", "MaxPool", "Max"}
_RELUS = {"Relu", "Relu6"}


def _is_quantized(tensor: Any) -> bool:
    waiting = list(dict.fromkeys(tensor.consumers()))
    while waiting:
        op = waiting.pop()
        if op.type in _FAKE_QUANT:
            return True
        if op.type in ("Reshape", "Identity"):
            waiting += [each for output in op.outputs for each in output.consumers()]
    return False


class Quantizer:
    """Puts quantization after operations of a graph, each once.

    Args:
      graph: the graph, which is changed.
      is_training: whether ranges follow what they see.
      weight_bits: of weights.
      activation_bits: of all else.
      symmetric: whether ranges have zero in their middle.
      ema_decay: of the moving averages of activations' ranges.
      quant_delay: the step before which nothing is rounded.
      vars_collection: to which variables of ranges are added.
      scope: outside of which nothing is changed.
    """

    def __init__(
        self,
        graph: Graph,
        is_training: bool,
        weight_bits: int = 8,
        activation_bits: int = 8,
        symmetric: bool = False,
        ema_decay: float = 0.999,
        quant_delay: int | None = None,
        vars_collection: str = tf.GraphKeys.GLOBAL_VARIABLES,
        scope: str | None = None,
    ):
        self._graph = graph
        self._weight_bits, self._activation_bits = weight_bits, activation_bits
        self._ema_decay, self._quant_delay = ema_decay, quant_delay
        self._scope = f"{scope.removesuffix('/')}/" if scope else ""
        self._options: dict[str, Any] = {
            "is_training": is_training,
            "symmetric": symmetric,
            "vars_collection": vars_collection,
        }
        self._done: set[Any] = set()

    def run(self) -> None:
        """Quantizes all layers, then the sums and products of what was quantized."""
        for layer in find_layers(self._graph):
            self._layer(layer)
        for op in self._graph.get_operations():
            if self._combines_quantized(op):
                name = f"activation_{op.type}_quant"
                self._insert(op.name, name, op, symmetric=False, inside=(op,))

    def _layer(self, layer: Layer) -> None:
        context = context_of(layer.layer_op.name)
        if layer.weight_tensor is not None:
            self._weights(context, layer.weight_tensor.op)
        around = context_of(context) if layer.bypass_op is not None else context
        if layer.activation_op is not None:
            op = layer.activation_op
            self._insert(around, "act_quant", op, init_min=0.0, inside=(op,))
            self._done.add(op)
        if layer.bypass_op is not None:
            bias, bypass = layer.bias_add_op, layer.bypass_op
            self._insert(context, "conv_quant", bias, inside=(bias, *_takers(bias)))
            self._done.add(bias)
            # An activation after a sum is computed with it, and was quantized above.
            if not any(op.type in ACTIVATIONS for op in _takers(bypass)):
                self._insert(around, "add_quant", bypass, inside=(bypass, *_takers(bypass)))
                self._done.add(bypass)
        if layer.post_activation_bypass_op is not None:
            op = layer.post_activation_bypass_op
            if not any(taker.type in _RELUS for taker in _takers(op)):
                name = "post_activation_bypass_quant"
                self._insert(context_of(op.name), name, op, inside=(op,))
                self._done.add(op)

    def _weights(self, context: str, producer: Any) -> None:
        self._insert(
            context,
            "weights_quant",
            producer,
            moving=False,
            inside=_takers(producer),
            num_bits=self._weight_bits,
            narrow_range=True,
        )

    def _combines_quantized(self, op: Any) -> bool:
        """Whether an operation adds or multiplies something that is quantized."""
        if op in self._done or op.type not in _SUMS:
            return False
        takers = list(dict.fromkeys(op.outputs[0].consumers()))
        if len(takers) == 1 and takers[0].type in _RELUS:
            return False
        for tensor in op.inputs:
            source = tensor.op
            while source.type in _PASSING:
                source = source.inputs[0].op
            if source.type == "FakeQuantWithMinMaxVars" or "/delayed_quant/Merge" in source.name:
                return True
            if source.type in _SUMS and any(
                self._combines_quantized(each.op) for each in source.inputs
            ):
                return True
        return False

    def _insert(
        self,
        context: str,
        name: str,
        producer: Any,
        *,
        inside: Any,
        moving: bool = True,
        **options: Any,
    ) -> None:
        """Puts quantization after an operation, unless what must be in the scope is not."""
        if not all(op.name.startswith(self._scope) for op in inside):
            return
        prefix = f"{context}/{name}" if context else name
        scope = self._graph.get_name_scope()
        prefix = prefix.removeprefix(f"{scope}/") if scope else prefix
        inputs, takers = producer.outputs[0], _takers(producer)
        if _is_quantized(inputs):
            return
        options = {"num_bits": self._activation_bits, **self._options, **options}
        if moving:
            quantized = MovingAvgQuantize(
                inputs, ema_decay=self._ema_decay, name_prefix=prefix, **options
            )
        else:
            quantized = LastValueQuantize(inputs, name_prefix=prefix, **options)
        if self._quant_delay and self._quant_delay > 0:
            active = tf.greater_equal(
                quantization_step(), self._quant_delay, name=f"{prefix}/activate_quant"
            )
            quantized = tf.cond(
                active, lambda: quantized, lambda: inputs, name=f"{prefix}/delayed_quant"
            )
        if takers and reroute_tensor(quantized, inputs, takers) < len(takers):
            names = ", ".join(op.name for op in takers)
            raise ValueError(f"No inputs quantized for ops: [{names}]")


def _takers(op: Any) -> list[Any]:
    return list(dict.fromkeys(taker for tensor in op.outputs for taker in tensor.consumers()))
