"""What a SavedModel has of a layer beside what its attributes own: lists, losses, functions."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras.engine.model import Model
from penstock.keras.saved_calls import effects_apart, functions_of, sublayers_of
from penstock.keras.saved_metadata import trace_model_call
from penstock.ops.graph_functions import GraphFunction
from penstock.platform import logging
from penstock.train.tracking import AutoTrackable, ListWrapper

__all__ = ["KERAS_ATTR", "PUBLIC_ATTRIBUTES", "parts_of"]

#: Under this name a SavedModel has what only Keras asks for.
KERAS_ATTR = "keras_api"
_CACHE_KEY = "keras_serialized_attributes"
_PUBLIC_OBJECTS = ("variables", "trainable_variables", "regularization_losses")
_PUBLIC_FUNCTIONS = (
    "__call__",
    "call_and_return_all_conditional_losses",
    "_default_save_signature",
)
#: What a SavedModel has under the object itself.
PUBLIC_ATTRIBUTES = {*_PUBLIC_OBJECTS, *_PUBLIC_FUNCTIONS, KERAS_ATTR}


class SavedParts:
    """The lists and functions of one layer."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.functions: dict[str, Any] = {}
        self._keras_api = AutoTrackable()

    def set(self, objects: dict[str, Any], functions: dict[str, Any]) -> None:
        """Says what the layer has."""
        self.objects, self.functions = objects, functions
        for name, value in {**objects, **functions}.items():
            setattr(self._keras_api, name, value)

    @property
    def public_objects(self) -> dict[str, Any]:
        found = {key: value for key, value in self.objects.items() if key in _PUBLIC_OBJECTS}
        return {**found, KERAS_ATTR: self._keras_api}

    @property
    def public_functions(self) -> dict[str, Any]:
        return {key: value for key, value in self.functions.items() if key in _PUBLIC_FUNCTIONS}


def parts_of(layer: Any, cache: dict[str, Any]) -> SavedParts:
    """The parts of a layer, which are made once for one SavedModel.

    Args:
      cache: what the objects of the SavedModel share.
    """
    is_root = _CACHE_KEY not in cache
    known: dict[int, SavedParts] = cache.setdefault(_CACHE_KEY, {})
    if id(layer) in known:
        return known[id(layer)]
    parts = known[id(layer)] = SavedParts()
    if not _is_ready(layer):
        return parts
    functions: dict[str, Any] = {}
    if is_root and isinstance(layer, Model):
        with effects_apart(layer):
            functions["_default_save_signature"] = trace_model_call(layer)
            functions["_default_save_signature"].get_concrete_function()
    if getattr(layer, "_is_metric", False):
        parts.set(_objects(layer, cache), functions)
        return parts
    try:
        functions.update(functions_of(layer, lambda each: parts_of(each, cache).functions))
    except (ValueError, TypeError) as error:
        logging.warning(
            "Skipping full serialization of object %s, because an error occurred while tracing "
            "layer functions. Error message: %s",
            layer,
            error,
        )
        return parts
    parts.set(_objects(layer, cache), functions)
    return parts


def _is_ready(layer: Any) -> bool:
    if isinstance(layer, Model):
        if not layer.inputs:
            logging.warning(
                "Skipping full serialization of Keras model %s, because its inputs are not "
                "defined.",
                layer,
            )
        return bool(layer.inputs)
    if not layer.built:
        logging.warning(
            "Skipping full serialization of Keras layer %s, because it is not built.", layer
        )
    return bool(layer.built)


def _objects(layer: Any, cache: dict[str, Any]) -> dict[str, Any]:
    inside = sublayers_of(layer)
    own = _loss_functions(layer, cache)
    losses = own + [loss for each in inside for loss in _loss_functions(each, cache)]
    lists = {
        "variables": layer.variables,
        "trainable_variables": layer.trainable_variables,
        "non_trainable_variables": layer.non_trainable_variables,
        "layers": inside,
        "metrics": getattr(layer, "metrics", []),
        "regularization_losses": losses,
        "layer_regularization_losses": own,
    }
    return {key: ListWrapper(list(values)) for key, values in lists.items()}


def _loss_functions(layer: Any, cache: dict[str, Any]) -> list[Any]:
    """The losses of a layer that depend on no inputs, as functions."""
    known: dict[Any, Any] = cache.setdefault("keras_losses", {})
    found = []
    for loss in layer._callable_losses:
        if loss not in known:
            made = loss.args[0]
            is_function = isinstance(made, GraphFunction)
            known[loss] = made if is_function else tf.function(made, input_signature=[])
        found.append(known[loss])
    return found
