"""Models made anew of models: `clone_model` and its parts."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras.engine.input_layer import Input, InputLayer
from penstock.keras.engine.layer import Layer
from penstock.keras.engine.model import Model
from penstock.keras.engine.sequential import Sequential


def clone_model(model: Any, input_tensors: Any = None, clone_function: Any = None) -> Any:
    """A model with new layers like a model's, and new weights.

    Args:
      input_tensors: the inputs of the new model; new placeholders by default.
      clone_function: makes a layer from a layer; by default from its configuration.
    """
    clone = _clone_sequential_model if isinstance(model, Sequential) else _clone_functional_model
    return clone(model, input_tensors, clone_function or _clone_layer)


def _clone_layer(layer: Any) -> Any:
    return type(layer).from_config(layer.get_config())


def share_weights(layer: Any) -> Any:
    """A `clone_function` for models that share the layers, with their weights."""
    return layer


def _clone_sequential_model(
    model: Any, input_tensors: Any = None, layer_fn: Any = _clone_layer
) -> Any:
    if not isinstance(model, Sequential):
        raise ValueError(
            f"Expected `model` argument to be a `Sequential` model instance, but got: {model}"
        )
    if not callable(layer_fn):
        raise ValueError("Expected `layer_fn` argument to be a callable.")
    layers = [layer_fn(layer) for layer in model.layers]
    if input_tensors is not None:
        return Sequential([_input_layer(input_tensors), *layers], name=model.name)
    first = getattr(layers[0], "_batch_input_shape", None) if layers else None
    if model._is_connected and layers and first is None:
        source = model.inputs[0]._keras_history.layer
        layers.insert(0, InputLayer.from_config(source.get_config()))
    return Sequential(layers, name=model.name)


def _input_layer(input_tensors: Any) -> Any:
    """The input layer of the only tensor, made for one that is no layer's."""
    flat = tf.nest.flatten(input_tensors)
    if len(flat) != 1:
        raise ValueError(
            "To clone a `Sequential` model, we expect at most one tensor as part of "
            "`input_tensors`."
        )
    if not hasattr(flat[0], "_keras_history"):
        return Input(tensor=flat[0])._keras_history.layer
    layer = flat[0]._keras_history.layer
    if not isinstance(layer, InputLayer):
        raise ValueError(
            "Cannot clone a `Sequential` model on top of a tensor that comes from a Keras layer "
            "other than an `InputLayer`. Use the functional API instead."
        )
    return layer


def _clone_functional_model(
    model: Any, input_tensors: Any = None, layer_fn: Any = _clone_layer
) -> Any:
    if not isinstance(model, Model):
        raise ValueError("Expected `model` argument to be a `Model` instance, got ", model)
    if isinstance(model, Sequential):
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, got a `Sequential` "
            "instance instead:",
            model,
        )
    if not model._is_graph_network:
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclass "
            "model instead."
        )
    if not callable(layer_fn):
        raise ValueError("Expected `layer_fn` argument to be a callable.")
    return _cloned_graph(model, input_tensors, layer_fn)


def _cloned_graph(model: Any, input_tensors: Any, make: Any) -> Any:
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


# Subclassed models, which are emptied and filled again --------------------------------------------

#: Where an emptied model keeps what it was.
_KEPT = "_original_attributes_cache"


def _in_place_subclassed_model_reset(model: Any) -> None:
    """Gives a subclassed model new layers like its own, as if it were a clone of itself.

    `in_place_subclassed_model_state_restoration` brings the old ones back.
    """
    own = {name: value for name, value in vars(model).items() if isinstance(value, Layer)}
    _refuse_nested(model, own)
    if getattr(model, _KEPT, None) is None:
        model.__dict__[_KEPT] = {key: _copied(value) for key, value in vars(model).items()}
    for name, layer in own.items():
        setattr(model, name, _clone_layer(layer))
    _reset_build_compile_trackers(model)


def _refuse_nested(model: Any, own: dict[str, Any]) -> None:
    for name, value in vars(model).items():
        is_list = isinstance(value, list | tuple) and not name.startswith("_")
        if is_list and value and all(isinstance(each, Layer) for each in value):
            raise ValueError(
                "We do not support the use of list-of-layers attributes in subclassed models used "
                f"with `model_to_estimator` at this time. Found list model: {name}"
            )
    for layer in own.values():
        if getattr(layer, "layers", None):
            raise ValueError(
                "We do not support the use of nested layers in `model_to_estimator` at this time. "
                f"Found nested layer: {layer}"
            )


def _copied(value: Any) -> Any:
    return type(value)(value) if type(value) in (list, dict) else value


def _reset_build_compile_trackers(model: Any) -> None:
    """Lets a model be built and compiled anew."""
    model.built = False
    model.inputs = None
    model.outputs = None
    model.optimizer = None
    model._is_compiled = False
    model._endpoints = []
    model._functions = {}


def in_place_subclassed_model_state_restoration(model: Any) -> None:
    """Gives a model back the layers that it had before it was emptied."""
    kept = getattr(model, _KEPT, None)
    if kept is None:
        _reset_build_compile_trackers(model)
        return
    vars(model).clear()
    vars(model).update(kept)
