"""Networks to and from configurations: layers, and the calls that join them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import backend as K
from penstock.version import VERSION

#: The version of Keras that TensorFlow 1.15 has in it.
KERAS_VERSION = "2.2.4-tf"


def config_of(network: Any) -> dict[str, Any]:
    """Name, layers with their calls, inputs and outputs of a graph network."""
    members = set(network._graph_of_layers.nodes)
    # Calls are numbered among those of this network alone.
    number = {}
    for layer in network.layers:
        kept = [node for node in layer._inbound_nodes if node in members]
        number.update({id(node): index for index, node in enumerate(kept)})

    def reference(history: Any) -> list[Any]:
        node = history.layer._inbound_nodes[history.node_index]
        return [history.layer.name, number.get(id(node), 0), history.tensor_index]

    layers = []
    for layer in network.layers:
        calls = [
            _call(node, reference)
            for node in layer._inbound_nodes
            if node in members and node.histories
        ]
        layers.append(
            {
                "name": layer.name,
                "class_name": type(layer).__name__,
                "config": layer.get_config(),
                "inbound_nodes": calls,
            }
        )

    def referred(nested: Any, tensors: list[Any]) -> Any:
        """References to tensors: by names where the network takes or gives them so."""
        found = [reference(tensor._keras_history) for tensor in tensors]
        return dict(zip(sorted(nested), found, strict=True)) if isinstance(nested, dict) else found

    return copy.deepcopy(
        {
            "name": network.name,
            "layers": layers,
            "input_layers": referred(network._nested_inputs, network.inputs),
            "output_layers": referred(network._nested_outputs, network.outputs),
        }
    )


def _call(node: Any, reference: Any) -> Any:
    arguments = {key: _argument(value, reference) for key, value in node.arguments.items()}
    inputs = [
        [*reference(history), arguments if i == 0 else {}]
        for i, history in enumerate(node.histories)
    ]
    nested = node.input_tensors
    return dict(zip(sorted(nested), inputs, strict=True)) if isinstance(nested, dict) else inputs


def _argument(value: Any, reference: Any) -> Any:
    if hasattr(value, "_keras_history"):
        return ["_KERAS_TENSOR", *reference(value._keras_history)]
    if isinstance(value, (list, tuple)):
        return [_argument(each, reference) for each in value]
    if isinstance(value, dict):
        return {key: _argument(each, reference) for key, each in value.items()}
    if isinstance(value, tf.Tensor):
        value = K.get_value(value)
    return value.tolist() if isinstance(value, np.ndarray) else value


def described(network: Any) -> dict[str, Any]:
    """What `to_json` and HDF5 files say of a model."""
    return {
        "class_name": type(network).__name__,
        "config": network.get_config(),
        "keras_version": KERAS_VERSION,
        "backend": "tensorflow",
        "penstock_version": VERSION,
    }


def tensors_from(config: dict[str, Any], custom_objects: Any = None) -> tuple[Any, Any, list[Any]]:
    """Input tensors, output tensors, and the calls of layers, made from a configuration."""
    from penstock.keras.layers import deserialize

    layers = {
        each["name"]: deserialize(
            {"class_name": each["class_name"], "config": each["config"]}, custom_objects
        )
        for each in config["layers"]
    }
    # A layer may have been called before it belonged to this network, as a nested model was.
    offsets = {name: len(layer._inbound_nodes) for name, layer in layers.items()}
    for each in config["layers"]:
        if each["class_name"] == "InputLayer" or not each["inbound_nodes"]:
            offsets[each["name"]] = 0

    def tensor(reference: Any) -> Any:
        name, node_index, tensor_index = reference[:3]
        layer = layers[name]
        nodes = layer._inbound_nodes
        index = node_index + offsets[name]
        if index >= len(nodes):
            return None
        return tf.nest.flatten(nodes[index].output_tensors)[tensor_index]

    pending = [(each["name"], call) for each in config["layers"] for call in each["inbound_nodes"]]
    calls = []
    while pending:
        later: list[Any] = []
        for name, call in pending:
            is_next = not any(name == other for other, _ in later)
            if not is_next or not _made(layers[name], call, tensor):
                later.append((name, call))
            else:
                calls.append(layers[name]._inbound_nodes[-1])
        if len(later) == len(pending):
            raise ValueError(f"The calls of these layers have no inputs: {[n for n, _ in later]}")
        pending = later

    def found(references: Any) -> Any:
        if isinstance(references, dict):
            return {key: tensor(reference) for key, reference in references.items()}
        tensors = [tensor(reference) for reference in _references(references)]
        return tensors[0] if len(tensors) == 1 else tensors

    return found(config["input_layers"]), found(config["output_layers"]), calls


def _references(given: Any) -> list[Any]:
    """A list of references, of which TensorFlow writes a single one without the list."""
    return [given] if given and isinstance(given[0], str) else list(given)


def _made(layer: Any, call: Any, tensor: Any) -> bool:
    """Calls a layer as a configuration says, if its inputs are there already."""
    by_name = isinstance(call, dict)
    references = list(call.values()) if by_name else _references(call)
    inputs = [tensor(reference) for reference in references]
    if any(each is None for each in inputs):
        return False
    given: Any = inputs[0] if len(inputs) == 1 else inputs
    if by_name:
        given = dict(zip(call, inputs, strict=True))
    arguments: dict[str, Any] = {}
    for reference in references:
        if len(reference) > 3:
            arguments.update(reference[3])
    resolved = {key: _resolved(value, tensor) for key, value in arguments.items()}
    layer(given, **resolved)
    return True


def _resolved(value: Any, tensor: Any) -> Any:
    if isinstance(value, list):
        if value and value[0] == "_KERAS_TENSOR":
            return tensor(value[1:])
        return [_resolved(each, tensor) for each in value]
    if isinstance(value, dict):
        return {key: _resolved(each, tensor) for key, each in value.items()}
    return value
