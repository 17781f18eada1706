"""Layers and models of a SavedModel: known by what they compute, not by their classes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras import regularizers
from penstock.keras.engine.layer import Layer
from penstock.keras.engine.model import Model
from penstock.keras.engine.network import Network
from penstock.keras.engine.sequential import Sequential
from penstock.keras.saved_parts import KERAS_ATTR, PUBLIC_ATTRIBUTES
from penstock.layers.input_spec import InputSpec
from penstock.layers.smart_cond import smart_cond
from penstock.ops.resource_variable import ResourceVariable
from penstock.saved_model.object_loader import ObjectLoader

__all__ = ["KerasObjectLoader", "RevivedLayer", "RevivedModel", "RevivedNetwork"]


class RevivedLayer(Layer):
    """A layer of a SavedModel, which calls the functions that were saved of it."""

    def __init__(self, metadata: dict[str, Any]):
        shape = metadata.get("batch_input_shape")
        kwargs = {} if shape is None else {"batch_input_shape": shape}
        dtype = metadata.get("dtype")
        super().__init__(
            name=metadata["name"],
            trainable=metadata.get("trainable", True),
            dtype=dtype if isinstance(dtype, str) else None,
            **kwargs,
        )
        self._take_metadata(metadata)

    def _take_metadata(self, metadata: dict[str, Any]) -> None:
        kept = self.__dict__
        kept["_metadata"] = metadata
        kept["_serialized_attributes"] = {}
        if metadata.get("input_spec"):
            self.input_spec = _input_spec(metadata["input_spec"])
        regularizer = metadata.get("activity_regularizer")
        if regularizer is not None:
            kept["_activity_regularizer"] = regularizers.deserialize(regularizer)
        kept["_is_feature_layer"] = metadata.get("_is_feature_layer", False)
        self.built = True

    @property
    def keras_api(self) -> Any:
        """The lists and functions that Keras saved of the layer."""
        return self._serialized_attributes.get(KERAS_ATTR)

    @property
    def _saved_call(self) -> Any:
        return getattr(self.keras_api, "call_and_return_conditional_losses", None)

    @property
    def _expects_training_arg(self) -> bool:
        return bool(self._metadata.get("expects_training_arg"))

    def _inspect_saved_call(self) -> None:
        """Lets callers give what the saved function takes."""
        if self._saved_call is None:
            return
        spec = self._saved_call.argspec
        names = [*spec.args, *spec.kwonlyargs]
        self._call_fn_args = [name for name in names if name != "self"]
        self._call_accepts_kwargs = spec.varkw is not None

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        function = self._saved_call
        if function is None or not function.concrete_functions:
            raise ValueError(
                f"The layer {self.name} can't be called: its call function was not serialized in "
                "the SavedModel."
            )
        outputs, losses = self._called_for(function, inputs, args, kwargs)
        self.add_loss(losses, inputs)
        return outputs

    def _called_for(self, function: Any, inputs: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """The function's results for training or inference: it was saved for both."""
        if "training" not in self._call_fn_args or not self._expects_training_arg:
            kwargs.pop("training", None)
            return function(inputs, *args, **kwargs)
        given = dict(zip(self._call_fn_args[1:], args, strict=False)) | kwargs
        training = given.pop("training", None)
        if training is None:
            training = K.learning_phase()

        def called(is_training: bool) -> Any:
            return function(inputs, **given, training=is_training)

        return smart_cond(training, lambda: called(True), lambda: called(False))

    def get_config(self) -> dict[str, Any]:
        config: dict[str, Any] | None = self._metadata.get("config")
        if config is None:
            raise NotImplementedError
        return config


class RevivedNetwork(RevivedLayer, Network):
    """A network of layers of a SavedModel."""

    def __init__(self, metadata: dict[str, Any]):
        Network.__init__(self, name=metadata["name"])
        self.__dict__["_trainable"] = metadata.get("trainable", True)
        self._take_metadata({**metadata, "input_spec": None})


class RevivedModel(RevivedNetwork, Model):
    """A model of a SavedModel."""

    def __init__(self, metadata: dict[str, Any]):
        Model.__init__(self, name=metadata["name"])
        self.__dict__["_trainable"] = metadata.get("trainable", True)
        self._take_metadata({**metadata, "input_spec": None})

    def _set_saved_inputs(self) -> None:
        """Finds the outputs for inputs like those that the model was saved for."""
        if self._saved_call is None:
            return
        specs = self._saved_call.concrete_functions[0].structured_input_signature[0][0]
        made = tf.nest.map_structure(
            lambda spec: tf.keras.Input(shape=spec.shape[1:], dtype=spec.dtype, name=spec.name),
            specs,
        )
        outputs = self(made, **self._training_of_graph(self))
        self.inputs = tf.nest.flatten(made)
        self._nested_inputs = made
        self.outputs = tf.nest.flatten(outputs)
        self._nested_outputs = outputs
        self.input_names = [tensor._keras_history.layer.name for tensor in self.inputs]
        self.output_names = [f"output_{i + 1}" for i in range(len(self.outputs))]


class RevivedSequential(RevivedModel, Sequential):
    """A stack of layers of a SavedModel, which can be changed."""

    def __init__(self, metadata: dict[str, Any]):
        Sequential.__init__(self, name=metadata["name"])
        self.__dict__["_trainable"] = metadata.get("trainable", True)
        self._take_metadata({**metadata, "input_spec": None})

    def _inspect_saved_call(self) -> None:
        """Its layers are called, not a function."""

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        return Sequential.call(self, inputs, *args, **kwargs)

    def _set_saved_inputs(self) -> None:
        for layer in self.keras_api.layers:
            self.add(layer)
        if not self.inputs:
            specs = self._saved_call.concrete_functions[0].structured_input_signature[0][0]
            self._build_on(tuple(specs.shape.as_list()), specs.dtype.name)


def _input_spec(described: Any) -> Any:
    if isinstance(described, dict) and "class_name" in described:
        config = dict(described["config"])
        axes = config.get("axes") or {}
        config["axes"] = {int(axis): size for axis, size in axes.items()}
        return InputSpec.from_config(config)
    if isinstance(described, dict):
        return {key: _input_spec(each) for key, each in described.items()}
    return [_input_spec(each) for each in described]


_KINDS: dict[str, Any] = {
    "_tf_keras_layer": RevivedLayer,
    "_tf_keras_rnn_layer": RevivedLayer,
    "_tf_keras_input_layer": RevivedLayer,
    "_tf_keras_network": RevivedNetwork,
    "_tf_keras_model": RevivedModel,
    "_tf_keras_sequential": RevivedSequential,
}


class KerasObjectLoader(ObjectLoader):
    """Makes the objects of a SavedModel, those of Keras as layers and models."""

    def __init__(self, meta_graph: Any, export_dir: str, known: Any = None):
        super().__init__(meta_graph, export_dir, known)
        if not tf.executing_eagerly():
            self._restore_by_initializers()
        revived = [node for node in self._nodes if isinstance(node, RevivedLayer)]
        for node in revived:
            node._inspect_saved_call()
            _track_variables(node)
        layers = [node for node in self._nodes if "_serialized_attributes" in _attributes(node)]
        for node in layers:
            _add_losses(node)
        for node in revived:
            if isinstance(node, RevivedModel):
                node._set_saved_inputs()

    def _user_object(self, message: Any) -> tuple[Any, Callable[..., None]]:
        if message.identifier not in _KINDS:
            return super()._user_object(message)
        metadata = json.loads(message.metadata)
        kind: Any = type(metadata["class_name"], (_KINDS[message.identifier],), {})
        return kind(metadata), _set_revived

    def _restore_by_initializers(self) -> None:
        """Lets the initializers of variables that were there give them their saved values."""
        for number, node in self._known.items():
            if isinstance(node, ResourceVariable) and number in self._keys:
                value = self._restored_value(number, node.dtype.base_dtype, node.shape)
                node._initializer_op = tf.raw_ops.AssignVariableOp(
                    resource=node.handle, value=value
                )

    def _add_to_known(self, known: Any, name: str, value: Any) -> None:
        if not isinstance(known, Layer):
            return
        if name in PUBLIC_ATTRIBUTES:
            known.__dict__.setdefault("_serialized_attributes", {})[name] = value
        elif name == "signatures":
            known.__dict__[name] = value


def _attributes(node: Any) -> dict[str, Any]:
    return getattr(node, "__dict__", {})


def _set_revived(node: Any, name: str, value: Any) -> None:
    if name in PUBLIC_ATTRIBUTES:
        node._serialized_attributes[name] = value
    elif name == "signatures":
        node.__dict__[name] = value
    elif not (isinstance(node, RevivedSequential) and isinstance(value, Layer)):
        setattr(node, name, value)


def _track_variables(node: Any) -> None:
    if not tf.executing_eagerly():
        for variable in node._trainable_weights + node._non_trainable_weights:
            K.track_variable(variable)


def _add_losses(node: Any) -> None:
    """Gives a layer the losses of the SavedModel that it does not have by itself."""
    api = node._serialized_attributes.get(KERAS_ATTR)
    saved = list(getattr(api, "layer_regularization_losses", ()))
    for loss in saved[len(node._callable_losses) :]:
        node.add_loss(loss)
    if node._activity_regularizer is None:
        node.__dict__["_activity_regularizer"] = getattr(api, "activity_regularizer_fn", None)
