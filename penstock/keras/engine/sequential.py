"""`tf.keras.Sequential`: layers one after the other."""

from __future__ import annotations

import copy
from typing import Any

import penstock as tf
from penstock.keras.engine.input_layer import Input, InputLayer
from penstock.keras.engine.layer import Layer
from penstock.keras.engine.model import Model
from penstock.keras.engine.network import Network, refuse_legacy_layers

__all__ = ["Sequential"]


class Sequential(Model):
    """A model of layers one after the other.

    If the first layer is told its input shape, each layer is built when it is added; else the model
    is built on the first data.
    """

    _object_identifier = "_tf_keras_sequential"

    def __init__(self, layers: Any = None, name: str | None = None):
        super().__init__(name=name)
        self.supports_masking = True
        self._stack: list[Any] = []
        self._is_built_late = False
        self._layers = self._stack
        given = layers if isinstance(layers, list | tuple) or not layers else [layers]
        for layer in given or []:
            self.add(layer)

    @property
    def layers(self) -> list[Any]:
        """The layers, without the input layer."""
        found = list(self._own_layers)
        return found[1:] if found and isinstance(found[0], InputLayer) else found

    @property
    def _layers(self) -> list[Any]:
        return self.__dict__.get("_own_layers", [])

    @_layers.setter
    def _layers(self, layers: list[Any]) -> None:
        self.__dict__["_own_layers"] = layers

    def add(self, layer: Any) -> None:
        """Adds a layer at the end."""
        layer = _layer_behind(layer)
        refuse_legacy_layers([layer])
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")
        self._append(layer)
        self._restore_waiting_layer(layer)

    def _append(self, layer: Any) -> None:
        self.built = False
        was_connected = bool(self.outputs)
        if not self._stack:
            first_output = self._first_output(layer)
            if first_output is None:
                self._stack.append(layer)
                self._is_graph_network = False
                return
            if isinstance(layer, InputLayer):
                self._stack.append(layer)
            else:
                self._stack += [first_output._keras_history.layer, layer]
                first_output = layer(first_output)
            if isinstance(first_output, (list, tuple)):
                raise ValueError(
                    "All layers in a Sequential model should have a single output tensor. For "
                    "multi-output layers, use the functional API."
                )
            self.outputs = [first_output]
            self._connect()
            return
        self._stack.append(layer)
        if was_connected:
            output = layer(self.outputs[0])
            if isinstance(output, (list, tuple)):
                raise TypeError(
                    "All layers in a Sequential model should have a single output tensor. For "
                    "multi-output layers, use the functional API."
                )
            self.outputs = [output]
            self._connect()

    def _first_output(self, layer: Any) -> Any:
        """The model's input tensor, if the first layer says what it is like."""
        if isinstance(layer, InputLayer):
            return layer.get_output_at(-1)
        first = layer
        while isinstance(first, Network) and first._own_layers:
            if isinstance(first, Sequential) or first._is_connected:
                first = first._own_layers[0]
            else:
                break
        shape = getattr(first, "_batch_input_shape", None)
        if shape is None:
            return None
        return Input(batch_shape=shape, dtype=first.dtype, name=f"{layer.name}_input")

    def _connect(self) -> None:
        """Makes the model a graph of its layers from the input to the last output."""
        stack = self._stack
        source = stack[0].get_output_at(-1)
        self._inbound_nodes.clear()
        self._init_graph_network(source, self.outputs[0])
        # As in TensorFlow, only a stack that was told its input shape counts as such a network.
        self._is_graph_network = not self._is_built_late
        self._layers = stack

    def pop(self) -> None:
        """Removes the last layer."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        layer = self._stack.pop()
        if not self.layers:
            self._stack.clear()
            self.outputs = self.inputs = None
            self.built = self._is_built_late = False
        elif self._is_connected:
            layer._inbound_nodes.pop()
            last = self._stack[-1]
            last._outbound_nodes = []
            self.outputs = [last.output]
            self._connect()

    def build(self, input_shape: Any = None) -> None:
        """Builds the layers on inputs of a shape."""
        if self._is_connected:
            self.built = True
            return
        if isinstance(input_shape, dict):  # features, which the first layer looks up by name
            self.built = True
            return
        if input_shape is None:
            raise ValueError("You must provide an `input_shape` argument.")
        if not self.built and self._stack and not self._building:
            shape = tuple(tf.TensorShape(input_shape).as_list())
            self._build_on(shape)
        self.built = True

    def _build_on(self, batch_shape: Any, dtype: Any = None) -> None:
        tensor = Input(batch_shape=batch_shape, dtype=dtype, name=f"{self.name}_input")
        layers = list(self._stack)
        output = tensor
        for layer in layers:
            output = layer(output, **self._training_of_graph(layer))
        self._stack.insert(0, tensor._keras_history.layer)
        self.outputs = [output]
        self._is_built_late = True
        self._connect()

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        if self._is_connected:
            return super().call(inputs, training=training, mask=mask)
        outputs = inputs
        for layer in self.layers:
            arguments: dict[str, Any] = {}
            if "mask" in layer._call_fn_args:
                arguments["mask"] = mask
            if "training" in layer._call_fn_args and training is not None:
                arguments["training"] = training
            outputs = layer(outputs, **arguments)
            mask = getattr(outputs, "_keras_mask", None)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = input_shape
        for layer in self.layers:
            shape = layer.compute_output_shape(shape)
        return shape

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        outputs = self.call(inputs, mask=mask)
        return getattr(outputs, "_keras_mask", None)

    def predict_proba(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The predictions as probabilities."""
        return self.predict(x, batch_size, verbose)

    def predict_classes(self, x: Any, batch_size: int = 32, verbose: int = 0) -> Any:
        """The likeliest class of each input."""
        predictions = self.predict(x, batch_size=batch_size, verbose=verbose)
        if predictions.shape[-1] > 1:
            return predictions.argmax(axis=-1)
        return (predictions > 0.5).astype("int32")

    def get_config(self) -> dict[str, Any]:
        layers = [
            {"class_name": type(layer).__name__, "config": layer.get_config()}
            for layer in self.layers
        ]
        config: dict[str, Any] = {"name": self.name, "layers": copy.deepcopy(layers)}
        if self._is_connected and not hasattr(self.layers[0], "_batch_input_shape"):
            config["build_input_shape"] = tuple(self.inputs[0].shape.as_list())
        return config

    @classmethod
    def from_config(cls, config: Any, custom_objects: Any = None) -> Any:
        """The model that `get_config` described, with new weights."""
        from penstock.keras.layers import deserialize

        is_old = isinstance(config, list)
        layers = config if is_old else config["layers"]
        model = cls(name=None if is_old else config.get("name"))
        for layer in layers:
            model.add(deserialize(layer, custom_objects=custom_objects))
        shape = None if is_old else config.get("build_input_shape")
        if not model.inputs and shape:
            model.build(shape)
        return model


def _layer_behind(layer: Any) -> Any:
    """The input layer of an `Input` tensor; layers stay as they are."""
    history = getattr(layer, "_keras_history", None)
    if history is not None and isinstance(history.layer, InputLayer):
        return history.layer
    return layer
