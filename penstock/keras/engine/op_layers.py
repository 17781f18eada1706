"""Plain operations between Keras tensors, as layers."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.keras.engine.layer import Layer
from penstock.keras.engine.node import Node
from penstock.layers.call_context import call_context
from penstock.proto import NodeDef


class TensorFlowOpLayer(Layer):
    """An operation that was applied to the output of a layer.

    Args:
      node_def: the operation.
      constants: values of those inputs that come from no layer, by their position.
    """

    def __init__(
        self,
        node_def: Any,
        name: str,
        constants: dict[int, Any] | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ):
        name = name.removeprefix("tf_op_layer_")
        super().__init__(name=f"tf_op_layer_{name}", trainable=trainable, dtype=dtype)
        if isinstance(node_def, bytes):
            node_def = NodeDef.FromString(node_def)
        elif isinstance(node_def, str):
            node_def = NodeDef.FromString(node_def.encode("latin-1"))
        self.node_def = node_def
        self.constants = {int(index): value for index, value in (constants or {}).items()}
        self.built = True

    def call(self, inputs: Any) -> Any:
        tensors = list(tf.nest.flatten(inputs))
        for index, value in sorted(self.constants.items()):
            tensors.insert(index, tf.constant(value))
        return _applied(self.node_def, tensors)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "node_def": self.node_def.SerializeToString().decode("latin-1"),
            "constants": {
                index: np.asarray(value).tolist() for index, value in self.constants.items()
            },
        }


def _applied(node_def: Any, inputs: list[Any]) -> Any:
    """The operation applied to other inputs, in the current graph and scope."""
    if tf.executing_eagerly():
        made = tf.get_default_graph().create_op(node_def.op, inputs, attrs=dict(node_def.attr))
        return made.outputs[0] if len(made.outputs) == 1 else list(made.outputs)
    graph_def = tf.GraphDef()
    node = graph_def.node.add()
    node.CopyFrom(node_def)
    node.name = node_def.name.rpartition("/")[2]
    fed = {}
    del node.input[:]
    for index, tensor in enumerate(inputs):
        source = graph_def.node.add(name=f"input_{index}", op="Placeholder")
        source.attr["dtype"].type = tensor.dtype.base_dtype.as_datatype_enum
        node.input.append(source.name)
        fed[f"{source.name}:0"] = tensor
    if "_class" in node.attr:
        del node.attr["_class"]
    found: Any = tf.import_graph_def(graph_def, fed, return_elements=[node.name], name="op")
    made = found[0]
    return made.outputs[0] if len(made.outputs) == 1 else list(made.outputs)


def needs_history(tensors: Any) -> bool:
    """Whether some tensors come from layers by way of plain operations."""
    flat = tf.nest.flatten(tensors)
    if not all(isinstance(tensor, tf.Tensor) for tensor in flat):
        return False
    if any(tensor._op.graph.is_eager for tensor in flat):
        return False
    if call_context.in_call:
        return False
    missing = [tensor for tensor in flat if not hasattr(tensor, "_keras_history")]
    if any(_comes_from_layer(tensor) for tensor in missing):
        return True
    for tensor in missing:
        tensor._keras_history_checked = True  # what is computed from it needs no longer walk
    return False


def _comes_from_layer(tensor: Any) -> bool:
    seen: set[Any] = set()
    pending = [tensor.op]
    while pending:
        op = pending.pop()
        if op in seen:
            continue
        seen.add(op)
        for source in op.inputs:
            if hasattr(source, "_keras_history"):
                return True
            if not hasattr(source, "_keras_history_checked"):
                pending.append(source.op)
    return False


def add_history(tensors: Any) -> list[TensorFlowOpLayer]:
    """Makes layers of the plain operations between layers' outputs and `tensors`."""
    made: list[TensorFlowOpLayer] = []
    for tensor in tf.nest.flatten(tensors):
        if not hasattr(tensor, "_keras_history"):
            made += _make_layers(tensor.op)
    return made


def add_history_of_arguments(inputs: Any, arguments: dict[str, Any]) -> None:
    """Does so for what a layer is given beside inputs that are layers' outputs."""
    if not all(hasattr(each, "_keras_history") for each in tf.nest.flatten(inputs)):
        return
    for name, value in arguments.items():
        for each in () if name == "mask" else tf.nest.flatten(value):
            if isinstance(each, tf.Tensor) and needs_history(each):
                add_history(each)


def _make_layers(last: Any) -> list[TensorFlowOpLayer]:
    made = []
    # Depth first without recursion: a chain of operations may be longer than Python's stack.
    pending = [last]
    while pending:
        op = pending[-1]
        if all(hasattr(output, "_keras_history") for output in op.outputs):
            pending.pop()
            continue
        sources = [
            source.op
            for source in op.inputs
            if not hasattr(source, "_keras_history") and _comes_from_layer(source)
        ]
        if sources:
            pending += sources
            continue
        pending.pop()
        made.append(_make_layer(op))
    return made


def _make_layer(op: Any) -> TensorFlowOpLayer:
    from penstock.keras import backend as K

    layer_inputs, constants = [], {}
    for index, source in enumerate(op.inputs):
        if hasattr(source, "_keras_history"):
            layer_inputs.append(source)
        else:
            constants[index] = K.get_session(source).run(source)
    layer = TensorFlowOpLayer(op.node_def, op.name, constants)
    single_input = layer_inputs[0] if len(layer_inputs) == 1 else layer_inputs
    Node(layer, single_input, list(op.outputs), {})
    return layer
