"""Layers and models of a SavedModel: known by what they compute, not by their classes."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras import regularizers
from penstock.keras.engine.layer import Layer
from penstock.keras.engine.model import Model
from penstock.keras.engine.model_inputs import generic_output_names
from penstock.keras.engine.network import Network
from penstock.keras.engine.sequential import Sequential
from penstock.keras.saved_calls import WITH_LOSSES
from penstock.keras.saved_parts import KERAS_API, SHOWN
from penstock.layers.input_spec import InputSpec
from penstock.layers.smart_cond import smart_cond
from penstock.ops.resource_variable import ResourceVariable
from penstock.saved_model.object_loader import ObjectLoader
from penstock.saved_model.signature_functions import SIGNATURE_ATTRIBUTE_NAME

__all__ = ["LayerLoader", "RestoredLayer", "RestoredModel", "RestoredNetwork"]

#: By this name a layer has what the SavedModel shows of it. It is no part of a checkpoint.
_PARTS = "_saved_parts"


class LayerLoader(ObjectLoader):
    """Makes the objects of a SavedModel, those of Keras as layers and models."""

    def __init__(self, meta_graph: Any, export_dir: str, known: Any = None):
        super().__init__(meta_graph, export_dir, known)
        layers = [node for node in self._nodes if _PARTS in getattr(node, "__dict__", {})]
        restored = [each for each in layers if isinstance(each, RestoredLayer)]
        if not tf.executing_eagerly():
            self._restore_by_initializers()
            for layer in restored:
                for variable in layer._trainable_weights + layer._non_trainable_weights:
                    K.track_variable(variable)
        # Models call their layers, which must be complete by then.
        for layer in restored:
            layer._learn_parameters()
        for layer in layers:
            _add_losses(layer)
        for layer in restored:
            layer._find_outputs()

    def _user_object(self, message: Any) -> tuple[Any, Callable[..., None]]:
        kind = _KINDS.get(message.identifier)
        if kind is None:
            return super()._user_object(message)
        metadata = json.loads(message.metadata)
        named: Any = type(metadata["class_name"], (kind,), {})
        return named(metadata), _set_part

    def _add_to_known(self, known: Any, name: str, value: Any) -> None:
        if isinstance(known, Layer):
            _keep(known, name, value)

    def _restore_by_initializers(self) -> None:
        """Lets the initializers of variables that were there give them their saved values."""
        for number, node in self._known.items():
            if isinstance(node, ResourceVariable) and number in self._keys:
                value = self._restored_value(number, node.dtype.base_dtype, node.shape)
                node._initializer_op = tf.raw_ops.AssignVariableOp(
                    resource=node.handle, value=value
                )


def _set_part(node: Any, name: str, value: Any) -> None:
    if not _keep(node, name, value):
        node._own(name, value)


def _keep(layer: Any, name: str, value: Any) -> bool:
    """Keeps what a layer has in a SavedModel alone; whether it is such a thing."""
    if name in SHOWN:
        layer.__dict__.setdefault(_PARTS, {})[name] = value
    elif name == SIGNATURE_ATTRIBUTE_NAME:
        layer.__dict__[name] = value
    else:
        return False
    return True


def _add_losses(layer: Any) -> None:
    """Gives a layer the losses of the SavedModel that it does not have by itself."""
    api = layer.__dict__[_PARTS].get(KERAS_API)
    saved = list(getattr(api, "layer_regularization_losses", ()))
    for loss in saved[len(layer._callable_losses) :]:
        layer.add_loss(loss)
    if layer._activity_regularizer is None:
        layer.__dict__["_activity_regularizer"] = getattr(api, "activity_regularizer_fn", None)


class RestoredLayer(Layer):
    """A layer of a SavedModel, which calls the functions that were saved of it."""

    def __init__(self, metadata: dict[str, Any]):
        optional: dict[str, Any] = {}
        if metadata.get("batch_input_shape") is not None:
            optional["batch_input_shape"] = metadata["batch_input_shape"]
        if isinstance(metadata.get("dtype"), str):
            optional["dtype"] = metadata["dtype"]
        super().__init__(
            name=metadata["name"], trainable=metadata.get("trainable", True), **optional
        )
        self._take_metadata(metadata)
        if metadata.get("input_spec"):
            self.input_spec = _input_spec(metadata["input_spec"])

    def _take_metadata(self, metadata: dict[str, Any]) -> None:
        kept = self.__dict__
        kept[_PARTS] = {}
        kept["_metadata"] = metadata
        kept["_is_feature_layer"] = metadata.get("_is_feature_layer", False)
        if metadata.get("activity_regularizer") is not None:
            regularizer = regularizers.deserialize(metadata["activity_regularizer"])
            kept["_activity_regularizer"] = regularizer
        self.built = True

    def _own(self, name: str, value: Any) -> None:
        """Takes what the layer has as an attribute."""
        setattr(self, name, value)

    @property
    def keras_api(self) -> Any:
        """The lists and functions that Keras saved of the layer."""
        return self._saved_parts.get(KERAS_API)

    @property
    def _saved_call(self) -> Any:
        return getattr(self.keras_api, WITH_LOSSES, None)

    @property
    def _saved_inputs(self) -> Any:
        """The specs of the inputs that the saved function was first made for."""
        made = getattr(self._saved_call, "concrete_functions", ())
        return made[0].structured_input_signature[0][0] if made else None

    @property
    def _expects_training_arg(self) -> bool:
        return bool(self._metadata.get("expects_training_arg"))

    def _learn_parameters(self) -> None:
        """Lets callers give what the saved function takes."""
        if self._saved_call is None:
            return
        kind_of = {
            each.name: each.kind
            for each in inspect.signature(self._saved_call).parameters.values()
            if each.name != "self"
        }
        more = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        self._call_fn_args = [name for name, kind in kind_of.items() if kind not in more]
        self._call_accepts_kwargs = inspect.Parameter.VAR_KEYWORD in kind_of.values()

    def _find_outputs(self) -> None:
        """Computes the outputs that only a model has before it is called."""

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        if self._saved_inputs is None:
            raise ValueError(
                f"The layer {self.name} can't be called: its call function was not serialized in "
                "the SavedModel."
            )
        outputs, losses = self._called_for(inputs, args, kwargs)
        self.add_loss(losses, inputs)
        return outputs

    def _called_for(self, inputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What the saved function gives, which was saved for training and for inference."""
        function = self._saved_call
        if "training" not in self._call_fn_args or not self._expects_training_arg:
            kwargs.pop("training", None)
            return function(inputs, *args, **kwargs)
        given = dict(zip(self._call_fn_args[1:], args, strict=False)) | kwargs
        training = given.pop("training", None)
        return smart_cond(
            K.learning_phase() if training is None else training,
            lambda: function(inputs, **given, training=True),
            lambda: function(inputs, **given, training=False),
        )

    def get_config(self) -> dict[str, Any]:
        config: dict[str, Any] | None = self._metadata.get("config")
        if config is None:
            raise NotImplementedError
        return config


class RestoredNetwork(RestoredLayer, Network):
    """A network of layers of a SavedModel."""

    def __init__(self, metadata: dict[str, Any]):
        # The next class behind RestoredLayer is Network, Model or Sequential.
        super(RestoredLayer, self).__init__(name=metadata["name"])
        self.__dict__["_trainable"] = metadata.get("trainable", True)
        self._take_metadata(metadata)


class RestoredModel(RestoredNetwork, Model):
    """A model of a SavedModel."""

    def _find_outputs(self) -> None:
        """Finds the outputs for inputs like those that the model was saved for."""
        if self._saved_inputs is None:
            return
        made = tf.nest.map_structure(
            lambda spec: tf.keras.Input(shape=spec.shape[1:], dtype=spec.dtype, name=spec.name),
            self._saved_inputs,
        )
        outputs = self(made, **self._training_of_graph(self))
        self._nested_inputs, self.inputs = made, tf.nest.flatten(made)
        self._nested_outputs, self.outputs = outputs, tf.nest.flatten(outputs)
        self.input_names = [tensor._keras_history.layer.name for tensor in self.inputs]
        self.output_names = generic_output_names(self.outputs)


class RestoredSequential(RestoredModel, Sequential):
    """A stack of layers of a SavedModel: they are called, not a function, as it may be changed."""

    def __init__(self, metadata: dict[str, Any]):
        super().__init__(metadata)
        self.__dict__["_owned_layers"] = {}

    def _own(self, name: str, value: Any) -> None:
        if isinstance(value, Layer):
            self._owned_layers[name] = value  # to be stacked when all are there
        else:
            super()._own(name, value)

    def _saved_layers(self) -> list[Layer]:
        listed = getattr(self.keras_api, "layers", None)
        if listed is not None:
            return list(listed)
        # One whose inputs were not known has no lists: only `layer-0`, `layer-1` and so on.
        count = sum(name.startswith("layer-") for name in self._owned_layers)
        return [self._owned_layers[f"layer-{number}"] for number in range(count)]

    def _learn_parameters(self) -> None:
        """Those of its class hold."""

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        return Sequential.call(self, inputs, *args, **kwargs)

    def _find_outputs(self) -> None:
        for layer in self._saved_layers():
            self.add(layer)
        specs = self._saved_inputs
        if not self.inputs and specs is not None:
            self._build_on(tuple(specs.shape.as_list()), specs.dtype.name)


_KINDS: dict[str, type[RestoredLayer]] = {
    **dict.fromkeys(
        ("_tf_keras_layer", "_tf_keras_input_layer", "_tf_keras_rnn_layer"), RestoredLayer
    ),
    "_tf_keras_model": RestoredModel,
    "_tf_keras_network": RestoredNetwork,
    "_tf_keras_sequential": RestoredSequential,
}


def _input_spec(described: Any) -> Any:
    """The (structure of) InputSpec that a SavedModel describes."""
    if isinstance(described, list):
        return [_input_spec(each) for each in described]
    if "class_name" not in described:
        return {key: _input_spec(each) for key, each in described.items()}
    config = dict(described["config"])
    # JSON has no numbers for keys.
    config["axes"] = {int(axis): size for axis, size in (config.get("axes") or {}).items()}
    return InputSpec.from_config(config)
