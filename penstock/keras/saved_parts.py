"""What a SavedModel has of a layer beside what its attributes own: lists, losses, functions."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras.engine.model import Model
from penstock.keras.saved_calls import effects_apart, functions_of, sublayers_of
from penstock.keras.saved_metadata import trace_model_call
from penstock.ops.graph_functions import GraphFunction
from penstock.platform import logging
from penstock.saved_model.signature_functions import DEFAULT_SIGNATURE_ATTR
from penstock.train.tracking import AutoTrackable, ListWrapper

__all__ = ["KERAS_API", "SHOWN", "SavedParts", "parts_of"]

#: Under this name a SavedModel has what only Keras asks for.
KERAS_API = "keras_api"
#: What a SavedModel has under the layer itself, for any reader.
SHOWN = frozenset(
    {
        "__call__",
        DEFAULT_SIGNATURE_ATTR,
        KERAS_API,
        "call_and_return_all_conditional_losses",
        "regularization_losses",
        "trainable_variables",
        "variables",
    }
)


class SavedParts:
    """The lists and functions of one layer: all of them under `keras_api`, some of them shown."""

    def __init__(self) -> None:
        self.functions: dict[str, Any] = {}
        self.lists: dict[str, Any] = {}
        self._keras_api = AutoTrackable()

    def fill(self, lists: dict[str, Any], functions: dict[str, Any]) -> None:
        """Says what the layer has."""
        self.lists, self.functions = lists, functions
        for name, value in [*lists.items(), *functions.items()]:
            setattr(self._keras_api, name, value)

    @property
    def shown_objects(self) -> dict[str, Any]:
        return {**_shown(self.lists), KERAS_API: self._keras_api}

    @property
    def shown_functions(self) -> dict[str, Any]:
        return _shown(self.functions)


def _shown(parts: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in parts.items() if name in SHOWN}


def parts_of(layer: Any, shared: dict[str, Any]) -> SavedParts:
    """The parts of a layer, which are made once for one SavedModel.

    Args:
      shared: what the objects of the SavedModel share.
    """
    layers: _SavedLayers = shared.setdefault("keras_layers", _SavedLayers())
    return layers.parts_of(layer)


class _SavedLayers:
    """The layers of one SavedModel.

    1. A layer's parts are known, though empty, before those of the layers inside are asked for: a
       layer may be inside of itself.
    2. They stay empty if its functions can't be made: it is saved with its variables alone.
    3. The first layer that is asked for is the one that is served, if it is a model.
    """

    def __init__(self) -> None:
        self._parts: dict[int, SavedParts] = {}
        self._losses: dict[Any, Any] = {}

    def parts_of(self, layer: Any) -> SavedParts:
        if id(layer) not in self._parts:
            is_served = not self._parts and isinstance(layer, Model)
            parts = self._parts[id(layer)] = SavedParts()
            fault = _fault(layer)
            if fault is None:
                fault = self._fill(parts, layer, is_served)
            if fault is not None:
                logging.warning("%s is saved without its functions: %s", layer, fault)
        return self._parts[id(layer)]

    def _fill(self, parts: SavedParts, layer: Any, is_served: bool) -> str | None:
        """Gives a layer its parts, or says why it can't have them."""
        functions: dict[str, Any] = {}
        if is_served:
            functions[DEFAULT_SIGNATURE_ATTR] = _served(layer)
        if not getattr(layer, "_is_metric", False):
            try:
                functions |= functions_of(layer, lambda each: self.parts_of(each).functions)
            except (ValueError, TypeError) as error:  # of the program's own `call`, most likely
                return f"they could not be made, {error}"
        parts.fill(self._lists(layer), functions)
        return None

    def _lists(self, layer: Any) -> dict[str, Any]:
        inside = sublayers_of(layer)
        own = self._loss_functions(layer)
        lists = {
            "layers": inside,
            "metrics": getattr(layer, "metrics", []),
            "variables": layer.variables,
            "trainable_variables": layer.trainable_variables,
            "non_trainable_variables": layer.non_trainable_variables,
            "layer_regularization_losses": own,
            "regularization_losses": sum(map(self._loss_functions, inside), own),
        }
        return {name: ListWrapper(list(values)) for name, values in lists.items()}

    def _loss_functions(self, layer: Any) -> list[Any]:
        """The losses of a layer that depend on no inputs, as functions."""
        for loss in layer._callable_losses:
            if loss not in self._losses:
                made = loss.args[0]  # what the program gave
                is_function = isinstance(made, GraphFunction)
                self._losses[loss] = made if is_function else tf.function(made, input_signature=[])
        return [self._losses[loss] for loss in layer._callable_losses]


def _fault(layer: Any) -> str | None:
    """Why a layer can't have functions yet."""
    if isinstance(layer, Model):
        return None if layer.inputs else "its inputs are not known before it is called"
    return None if layer.built else "it is not built"


def _served(model: Any) -> Any:
    with effects_apart(model):
        function = trace_model_call(model)
        function.get_concrete_function()
    return function
