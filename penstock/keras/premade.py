"""Models that are ready: `tf.keras.experimental.LinearModel` and `WideDeepModel`."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import activations, initializers, regularizers
from penstock.keras.engine.layer import Layer
from penstock.keras.engine.model import Model
from penstock.keras.layers.core import Dense
from penstock.keras.utils.serialization import serialize_keras_object


class LinearModel(Model):
    """`y = activation(sum(x_i @ w_i) + b)` of one input or several.

    Args:
      units: the size of the result.
      activation: applied to the sum.
      use_bias: whether there is a bias.
      kernel_initializer: of the weights.
      bias_initializer: of the bias.
      kernel_regularizer: of the weights.
      bias_regularizer: of the bias.
    """

    def __init__(
        self,
        units: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.units = units
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)

    def build(self, input_shape: Any) -> None:
        shapes = input_shape if isinstance(input_shape, list) else [input_shape]
        self.dense_layers = [
            Dense(
                units=self.units,
                use_bias=False,
                kernel_initializer=self.kernel_initializer,
                kernel_regularizer=self.kernel_regularizer,
                input_shape=shape,
            )
            for shape in shapes
        ]
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                dtype=self.dtype,
                trainable=True,
            )

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        inputs = inputs if isinstance(inputs, tuple | list) else [inputs]
        if len(inputs) != len(self.dense_layers):
            raise ValueError(
                f"Expected {len(self.dense_layers)} inputs, but got {len(inputs)} inputs"
            )
        results = [layer(each) for each, layer in zip(inputs, self.dense_layers, strict=True)]
        result = results[0]
        for other in results[1:]:
            result = result + other
        if self.bias is not None:
            result = tf.nn.bias_add(result, self.bias)
        return result if self.activation is None else self.activation(result)

    def get_config(self) -> dict[str, Any]:
        return {
            **Layer.get_config(self),
            "units": self.units,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
            "bias_initializer": initializers.serialize(self.bias_initializer),
            "kernel_regularizer": regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": regularizers.serialize(self.bias_regularizer),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        return cls(**config)


class WideDeepModel(Model):
    """The mean of a linear model and a network, each with an optimizer of its own if two are given.

    Args:
      linear_model: sees the first of two inputs, or the only one.
      dnn_model: sees the second of two, or the only one.
      activation: applied to the mean.
    """

    def __init__(self, linear_model: Any, dnn_model: Any, activation: Any = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.linear_model = linear_model
        self.dnn_model = dnn_model
        self.activation = activations.get(activation)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        linear_inputs = dnn_inputs = inputs
        if isinstance(inputs, tuple | list) and len(inputs) == 2:
            linear_inputs, dnn_inputs = inputs
        output = 0.5 * (self.linear_model(linear_inputs) + self.dnn_model(dnn_inputs))
        return self.activation(output) if self.activation else output

    @property
    def _parts(self) -> list[tuple[Any, Any]]:
        """The optimizers, and what each of them trains."""
        several = isinstance(self.optimizer, tuple | list)
        optimizers = self.optimizer[:2] if several else (self.optimizer, self.optimizer)
        return list(zip(optimizers, (self.linear_model, self.dnn_model), strict=True))

    def _optimizer_updates(self) -> list[Any]:
        updates = []
        for optimizer, part in self._parts:
            updates += optimizer.get_updates(loss=self.total_loss, params=part.trainable_weights)
        return updates

    def _optimizers_of(self, pairs: list[Any]) -> list[tuple[Any, list[Any]]]:
        found = []
        for optimizer, part in self._parts:
            own = {id(weight) for weight in part.trainable_weights}
            found.append((optimizer, [pair for pair in pairs if id(pair[1]) in own]))
        return found

    def get_config(self) -> dict[str, Any]:
        return {
            **Layer.get_config(self),
            "linear_model": serialize_keras_object(self.linear_model),
            "dnn_model": serialize_keras_object(self.dnn_model),
            "activation": activations.serialize(self.activation),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        parts = {
            key: tf.keras.layers.deserialize(config.pop(key), custom_objects)
            for key in ("linear_model", "dnn_model")
        }
        activation = activations.deserialize(config.pop("activation", None), custom_objects)
        return cls(**parts, activation=activation, **config)
