"""How layers hang together: one node per call of a layer on Keras tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import penstock as tf


class KerasHistory(NamedTuple):
    """Which call of which layer made a tensor, and as which of its outputs."""

    layer: Any
    node_index: int
    tensor_index: int


class Node:
    """A call of a layer: from the outputs of other layers to its own.

    Args:
      layer: the layer that was called.
      arguments: its further arguments.
    """

    def __init__(self, layer: Any, inputs: Any, outputs: Any, arguments: dict[str, Any]):
        self.layer = self.outbound_layer = layer
        self.input_tensors = inputs
        self.output_tensors = outputs
        self.arguments = arguments
        self.histories = [tensor._keras_history for tensor in tf.nest.flatten(inputs)]
        if any(history.layer is not layer for history in self.histories):
            for history in self.histories:
                history.layer._outbound_nodes.append(self)
        index = len(layer._inbound_nodes)
        layer._inbound_nodes.append(self)
        for position, tensor in enumerate(tf.nest.flatten(outputs)):
            tensor._keras_history = KerasHistory(layer, index, position)

    @property
    def inbound_layers(self) -> Any:
        return _single([history.layer for history in self.histories])

    @property
    def node_indices(self) -> Any:
        return _single([history.node_index for history in self.histories])

    @property
    def tensor_indices(self) -> Any:
        return _single([history.tensor_index for history in self.histories])

    @property
    def input_shapes(self) -> Any:
        return tf.nest.map_structure(_shape_of, self.input_tensors)

    @property
    def output_shapes(self) -> Any:
        return tf.nest.map_structure(_shape_of, self.output_tensors)

    def parents(self) -> list[Node]:
        """The nodes that made the inputs, and those of layers' outputs among the arguments."""
        others = [
            each._keras_history
            for each in tf.nest.flatten(self.arguments)
            if hasattr(each, "_keras_history")
        ]
        return [
            history.layer._inbound_nodes[history.node_index]
            for history in (*self.histories, *others)
        ]

    def get_config(self) -> dict[str, Any]:
        """The node in the words of JSON."""
        return {
            "outbound_layer": self.layer.name,
            "inbound_layers": [history.layer.name for history in self.histories],
            "node_indices": [history.node_index for history in self.histories],
            "tensor_indices": [history.tensor_index for history in self.histories],
        }


def _single(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else values


def _shape_of(tensor: Any) -> Any:
    try:
        return tuple(tensor.shape.as_list())
    except ValueError:
        return None
