"""One check of a Keras layer with one input and one output: TensorFlow's `layer_test`."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

import penstock as tf
from penstock import keras

__all__ = ["layer_test"]


def layer_test(
    layer_cls: Any,
    kwargs: dict[str, Any] | None = None,
    input_shape: Any = None,
    input_dtype: Any = None,
    input_data: Any = None,
    expected_output: Any = None,
    expected_output_dtype: Any = None,
    expected_output_shape: Any = None,
    validate_training: bool = True,
    adapt_data: Any = None,
) -> Any:
    """Checks what every layer has to do: shapes, types, weights, configuration, a training step.

    Args:
      layer_cls: the class of the layer.
      kwargs: arguments of its constructor.
      input_shape: shape of random input, with None for sizes that don't matter.
      input_dtype: type of the input.
      input_data: the input, instead of random numbers.
      expected_output: what the layer gives for it.
      expected_output_dtype: type of the output, if it is not the input's.
      expected_output_shape: static shape of the output.
      validate_training: whether to train a step.
      adapt_data: data that the layer adapts to before it is called.

    Returns:
      The output.
    """
    kwargs = kwargs or {}
    if input_data is None:
        if input_shape is None:
            raise ValueError("input_shape is None")
        input_dtype = input_dtype or "float32"
        input_data = _random_input(input_shape, input_dtype)
    elif input_shape is None:
        input_shape = input_data.shape
    input_dtype = input_dtype or input_data.dtype
    check = _LayerCheck(layer_cls, kwargs, input_shape, input_dtype, input_data, expected_output)

    layer = check.new_layer(adapt_data)
    inputs = keras.layers.Input(shape=input_shape[1:], dtype=input_dtype)
    output = layer(inputs)
    found = keras.backend.dtype(output)
    if found != (expected_output_dtype or input_dtype):
        check.fail(f"output dtype={found}", expected_output_dtype or input_dtype)
    if expected_output_shape is not None:
        check.same_shape(tf.TensorShape(expected_output_shape), output.shape)
    inferred, value = check.functional_model(layer, inputs, output)
    if validate_training:
        # A model of its own, for the first one's graph was made to predict.
        model = keras.models.Model(inputs, layer(inputs))
        model.compile("rmsprop", "mse", weighted_metrics=["acc"])
        model.train_on_batch(input_data, value)
    return check.first_of_a_sequential(layer, inferred, adapt_data)


def _random_input(shape: Any, dtype: str) -> Any:
    sizes = [np.random.randint(1, 4) if size is None else size for size in shape]  # noqa: NPY002
    values = 10 * np.random.random(sizes)  # noqa: NPY002
    if np.dtype(dtype).kind == "f":
        values -= 0.5
    return values.astype(dtype)


@dataclass
class _LayerCheck:
    """A layer's class and what is known of its input and output."""

    layer_cls: Any
    kwargs: dict[str, Any]
    input_shape: Any
    input_dtype: Any
    input_data: Any
    expected_output: Any

    def fail(self, found: str, expected: Any) -> None:
        raise AssertionError(
            f"When testing layer {self.layer_cls.__name__}, for input {self.input_shape}, found "
            f"{found} but expected to find {expected}.\nFull kwargs: {self.kwargs}"
        )

    def same_shape(self, expected: Any, found: Any) -> None:
        """A shape is the expected one, where that one is known."""
        expected, found = (tuple(tf.TensorShape(each).as_list()) for each in (expected, found))
        pairs = zip(expected, found, strict=False)
        if len(expected) != len(found) or any(a is not None and a != b for a, b in pairs):
            self.fail(f"output_shape={found}", expected)

    def new_layer(self, adapt_data: Any) -> Any:
        layer = self.layer_cls(**self.kwargs)
        if adapt_data is not None:
            layer.adapt(adapt_data)
        weights = layer.get_weights()
        layer.set_weights(weights)
        if "weights" in inspect.signature(self.layer_cls.__init__).parameters:
            layer = self.layer_cls(**{**self.kwargs, "weights": weights})
        return layer

    def functional_model(self, layer: Any, inputs: Any, output: Any) -> tuple[Any, Any]:
        """Predicts with a functional model, and with one made of its configuration."""
        model = keras.models.Model(inputs, output)
        inferred = tf.TensorShape(layer.compute_output_shape(tf.TensorShape(self.input_shape)))
        signature = layer.compute_output_signature(
            tf.TensorSpec(shape=self.input_shape, dtype=self.input_dtype)
        )
        value = model.predict(self.input_data)
        self.same_shape(inferred, value.shape)
        self.same_shape(signature.shape, value.shape)
        if signature.dtype != value.dtype:
            self.fail(f"output_dtype={value.dtype}", signature.dtype)
        self.as_expected(value)
        self.recovers(model, value, keras.models.Model)
        return inferred, value

    def as_expected(self, value: Any) -> None:
        if self.expected_output is not None:
            np.testing.assert_allclose(value, self.expected_output, rtol=1e-3, atol=1e-6)

    def recovers(self, model: Any, value: Any, model_cls: Any) -> None:
        """A model of the same configuration and weights gives the same."""
        recovered = model_cls.from_config(model.get_config())
        if model.weights:
            recovered.set_weights(model.get_weights())
            again = recovered.predict(self.input_data)
            np.testing.assert_allclose(again, value, rtol=1e-3, atol=1e-6)

    def first_of_a_sequential(self, layer: Any, inferred: Any, adapt_data: Any) -> Any:
        config = {**layer.get_config(), "batch_input_shape": self.input_shape}
        layer = layer.__class__.from_config(config)
        if adapt_data is not None:
            layer.adapt(adapt_data)
        model = keras.models.Sequential()
        model.add(layer)
        value = model.predict(self.input_data)
        self.same_shape(inferred, value.shape)
        self.as_expected(value)
        self.recovers(model, value, keras.models.Sequential)
        return value
