"""`tf.keras.models`."""

from __future__ import annotations

import json
from typing import Any

from penstock.keras.engine.input_layer import Input, InputLayer
from penstock.keras.engine.model import Model
from penstock.keras.engine.network import yaml_module
from penstock.keras.engine.sequential import Sequential
from penstock.keras.metrics import clone_metrics
from penstock.keras.optimizers.tf_optimizer import TFOptimizer
from penstock.keras.utils.serialization import scope_of

__all__ = [
    "Model",
    "Sequential",
    "clone_model",
    "load_model",
    "model_from_config",
    "model_from_json",
    "model_from_yaml",
    "save_model",
]


def save_model(
    model: Any,
    filepath: str,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Any = None,
    options: Any = None,
) -> None:
    """Writes architecture, weights and the optimizer's state into an HDF5 file."""
    from penstock.keras import saving

    saving.save_model(model, filepath, overwrite, include_optimizer, save_format)


def load_model(
    filepath: Any, custom_objects: dict[str, Any] | None = None, compile: bool = True
) -> Any:
    """The model that `save_model` wrote.

    Args:
      custom_objects: the program's own classes and functions by name.
      compile: whether to restore the optimizer as well.
    """
    from penstock.keras import saving

    return saving.load_model(filepath, custom_objects, compile)


def model_from_config(config: Any, custom_objects: Any = None) -> Any:
    """The model that `get_config` and a class name describe, with new weights."""
    from penstock.keras.layers import deserialize

    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Maybe you meant to use "
            "`Sequential.from_config(config)`?"
        )
    return deserialize(config, custom_objects=custom_objects)


def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """The model that `to_json` described, with new weights."""
    return model_from_config(json.loads(json_string), custom_objects)


def model_from_yaml(yaml_string: str, custom_objects: Any = None) -> Any:
    """The model that `to_yaml` described, with new weights."""
    return model_from_config(yaml_module().safe_load(yaml_string), custom_objects)


def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """A model with new layers like a model's, and new weights.

    Args:
      input_tensors: the inputs of the new model; new placeholders by default.
      clone_function: makes a layer from a layer; by default from its configuration.
    """
    if not isinstance(model, Model):
        raise ValueError("Expected `model` argument to be a `Model` instance, got ", model)
    make = clone_function or (lambda layer: type(layer).from_config(layer.get_config()))
    if isinstance(model, Sequential):
        layers = [make(layer) for layer in model.layers]
        if input_tensors is not None:
            tensor = input_tensors[0] if isinstance(input_tensors, list) else input_tensors
            known = hasattr(tensor, "_keras_history")
            source = tensor if known else Input(tensor=tensor)
            return Sequential([source._keras_history.layer, *layers], name=model.name)
        has_shape = model._is_graph_network and layers
        first = getattr(layers[0], "_batch_input_shape", None) if layers else None
        if has_shape and first is None:
            source = model.inputs[0]._keras_history.layer
            layers.insert(0, InputLayer.from_config(source.get_config()))
        return Sequential(layers, name=model.name)
    if not model._is_graph_network:
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclass "
            "model instead."
        )
    return _cloned_graph(model, input_tensors, make)


def _cloned_graph(model: Any, input_tensors: Any, make: Any) -> Any:
    import penstock as tf

    if input_tensors is None:
        given = [
            InputLayer.from_config(tensor._keras_history.layer.get_config()).output
            for tensor in model.inputs
        ]
    else:
        given = [
            tensor if hasattr(tensor, "_keras_history") else Input(tensor=tensor)
            for tensor in tf.nest.flatten(input_tensors)
        ]
    values = {id(old): new for old, new in zip(model.inputs, given, strict=True)}
    clones: dict[int, Any] = {}
    for node in model._graph_of_layers.nodes:
        outputs = tf.nest.flatten(node.output_tensors)
        if all(id(output) in values for output in outputs):
            continue
        layer = clones.setdefault(id(node.layer), None) or make(node.layer)
        clones[id(node.layer)] = layer
        inputs = tf.nest.map_structure(lambda each: values[id(each)], node.input_tensors)
        arguments = tf.nest.map_structure(
            lambda each: values.get(id(each), each), dict(node.arguments)
        )
        results = tf.nest.flatten(layer(inputs, **arguments))
        values.update({id(old): new for old, new in zip(outputs, results, strict=True)})
    outputs = [values[id(output)] for output in model.outputs]
    clone = Model(
        given[0] if len(given) == 1 else given,
        tf.nest.pack_sequence_as(model._nested_outputs, outputs),
        name=model.name,
    )
    added = [layer for layer in clones.values() if layer not in clone.layers]
    if added:
        clone._insert_layers(added)
    return clone


def share_weights(layer: Any) -> Any:
    """A `clone_function` for models that share the layers, with their weights."""
    return layer


def clone_and_build_model(
    model: Any,
    input_tensors: Any = None,
    target_tensors: Any = None,
    custom_objects: dict[str, Any] | None = None,
    compile_clone: bool = True,
    in_place_reset: bool = False,
    optimizer_iterations: Any = None,
    optimizer_config: dict[str, Any] | None = None,
) -> Any:
    """A clone of a model, compiled as the model is.

    Args:
      target_tensors: tensors to use as labels.
      in_place_reset: accepted; a model that is defined by its `call` can't be cloned.
      optimizer_iterations: the variable that counts the clone's training steps.
      optimizer_config: what the clone's optimizer is, if not like the model's.
    """
    if compile_clone and not model.optimizer:
        raise ValueError(
            "Error when cloning model: compile_clone was set to True, but the original model has "
            "not been compiled."
        )
    with scope_of(custom_objects):
        if model._is_graph_network or isinstance(model, Sequential):
            clone = clone_model(model, input_tensors=input_tensors)
        else:
            clone = _from_own_config(model)
            if input_tensors is not None:
                clone._set_inputs(input_tensors)
    if not compile_clone:
        return clone
    given = model._compile_arguments
    clone.compile(
        _optimizer_like(model.optimizer, optimizer_iterations, optimizer_config),
        model.loss,
        metrics=clone_metrics(given["metrics"]),
        loss_weights=given["loss_weights"],
        sample_weight_mode=given["sample_weight_mode"],
        weighted_metrics=clone_metrics(given["weighted_metrics"]),
        target_tensors=target_tensors,
    )
    return clone


def _from_own_config(model: Any) -> Any:
    try:
        return type(model).from_config(model.get_config())
    except NotImplementedError:
        raise ValueError(
            "This model is a subclassed model. Such a model cannot be cloned: implement "
            "`get_config` and `from_config`."
        ) from None


def _optimizer_like(optimizer: Any, iterations: Any, config: dict[str, Any] | None) -> Any:
    if isinstance(optimizer, TFOptimizer):
        return TFOptimizer(optimizer.optimizer, iterations)
    made = type(optimizer).from_config(optimizer.get_config() if config is None else config)
    if iterations is not None:
        made.iterations = iterations
    return made
