"""Activations with parameters, as layers."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.layer import Layer
from penstock.layers import identifiers
from penstock.layers.input_spec import InputSpec

__all__ = ["ELU", "LeakyReLU", "PReLU", "ReLU", "Softmax", "ThresholdedReLU"]


class _Elementwise(Layer):
    def __init__(self, **kwargs: Any):
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


class LeakyReLU(_Elementwise):
    """`x` where positive, else `alpha * x`."""

    _CONFIG = ("alpha",)

    def __init__(self, alpha: float = 0.3, **kwargs: Any):
        super().__init__(**kwargs)
        self.alpha = float(alpha)

    def call(self, inputs: Any) -> Any:
        return K.relu(inputs, alpha=self.alpha)


class PReLU(_Elementwise):
    """`x` where positive, else `alpha * x` with trained alphas.

    Args:
      shared_axes: axes along which an alpha is the same.
    """

    _CONFIG = ("alpha_initializer", "alpha_regularizer", "alpha_constraint", "shared_axes")

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.alpha_initializer = identifiers.initializer(alpha_initializer)
        self.alpha_regularizer = identifiers.regularizer(alpha_regularizer)
        self.alpha_constraint = identifiers.constraint(alpha_constraint)
        self.shared_axes = None
        if shared_axes is not None:
            is_several = isinstance(shared_axes, (list, tuple))
            self.shared_axes = list(shared_axes) if is_several else [shared_axes]

    def build(self, input_shape: Any) -> None:
        sizes = tf.TensorShape(input_shape).as_list()
        shared = self.shared_axes or []
        self.alpha = self.add_weight(
            shape=[1 if axis in shared else size for axis, size in enumerate(sizes[1:], start=1)],
            name="alpha",
            initializer=self.alpha_initializer,
            regularizer=self.alpha_regularizer,
            constraint=self.alpha_constraint,
        )
        axes: Any = {axis: sizes[axis] for axis in range(1, len(sizes)) if axis not in shared}
        self.input_spec = InputSpec(ndim=len(sizes), axes=axes)
        self.built = True

    def call(self, inputs: Any) -> Any:
        return K.relu(inputs) - self.alpha * K.relu(-inputs)


class ELU(_Elementwise):
    """`x` where positive, else `alpha * (exp(x) - 1)`."""

    _CONFIG = ("alpha",)

    def __init__(self, alpha: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.alpha = float(alpha)

    def call(self, inputs: Any) -> Any:
        return K.elu(inputs, self.alpha)


class ThresholdedReLU(_Elementwise):
    """`x` where larger than `theta`, else 0."""

    _CONFIG = ("theta",)

    def __init__(self, theta: float = 1.0, **kwargs: Any):
        super().__init__(**kwargs)
        self.theta = float(theta)

    def call(self, inputs: Any) -> Any:
        return inputs * tf.cast(tf.greater(inputs, self.theta), inputs.dtype)


class Softmax(_Elementwise):
    """Exponentials that add up to one along an axis."""

    _CONFIG = ("axis",)

    def __init__(self, axis: int = -1, **kwargs: Any):
        super().__init__(**kwargs)
        self.axis = axis

    def call(self, inputs: Any) -> Any:
        return K.softmax(inputs, axis=self.axis)


class ReLU(_Elementwise):
    """`x` above a threshold (at most `max_value`), `negative_slope * (x - threshold)` below it."""

    _CONFIG = ("max_value", "negative_slope", "threshold")

    def __init__(
        self,
        max_value: float | None = None,
        negative_slope: float = 0,
        threshold: float = 0,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0.0:
            raise ValueError(f"max_value of Relu layer cannot be negative value: {max_value}")
        if negative_slope < 0.0:
            raise ValueError(
                f"negative_slope of Relu layer cannot be negative value: {negative_slope}"
            )
        self.max_value = None if max_value is None else float(max_value)
        self.negative_slope = float(negative_slope)
        self.threshold = float(threshold)

    def call(self, inputs: Any) -> Any:
        return K.relu(
            inputs,
            alpha=self.negative_slope,
            max_value=self.max_value,
            threshold=self.threshold,
        )
