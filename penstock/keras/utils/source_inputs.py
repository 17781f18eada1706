"""Where the tensors of a model come from."""

from __future__ import annotations

from typing import Any

import penstock as tf

__all__ = ["get_source_inputs"]


def get_source_inputs(tensor: Any, layer: Any = None, node_index: int | None = None) -> Any:
    """The inputs that a tensor is computed from; a tensor that no layer made is its own.

    Args:
      layer: the layer that made it, if it is not what the tensor says.
      node_index: the number of the layer's call.
    """
    if not hasattr(tensor, "_keras_history"):
        return tensor
    if layer is None or node_index:
        layer, node_index, _ = tensor._keras_history
    if not layer._inbound_nodes:
        return [tensor]
    node = layer._inbound_nodes[node_index or 0]
    if not node.histories:
        return tf.nest.flatten(node.input_tensors)
    found: list[Any] = []
    for each in tf.nest.flatten(node.input_tensors):
        for source in get_source_inputs(each):
            if not any(source is known for known in found):
                found.append(source)
    return found
