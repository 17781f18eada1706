"""Normalization by batches and by layers."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras.engine.layer import Layer
from penstock.layers import identifiers
from penstock.layers.kinds import batch_normalization as kind

__all__ = ["BatchNormalization", "LayerNormalization"]


class BatchNormalization(kind.BatchNormalization, Layer):
    """Normalizes each feature by its mean and variance, then scales and shifts it.

    While training these are the batch's, and the moving averages are updated; otherwise the moving
    averages are used.
    """

    _CONFIG = (
        "axis",
        "momentum",
        "epsilon",
        "center",
        "scale",
        "beta_initializer",
        "gamma_initializer",
        "moving_mean_initializer",
        "moving_variance_initializer",
        "beta_regularizer",
        "gamma_regularizer",
        "beta_constraint",
        "gamma_constraint",
    )

    def call(self, inputs: Any, training: Any = None) -> Any:
        return super().call(inputs, training)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if self.renorm:
            config["renorm"] = True
            config["renorm_clipping"] = self.renorm_clipping
            config["renorm_momentum"] = self.renorm_momentum
        return config


class LayerNormalization(Layer):
    """Normalizes the features of each example by their mean and variance, scales and shifts them.

    Args:
      axis: axis of the features, or a list of axes.
    """

    _CONFIG = (
        "axis",
        "epsilon",
        "center",
        "scale",
        "beta_initializer",
        "gamma_initializer",
        "beta_regularizer",
        "gamma_regularizer",
        "beta_constraint",
        "gamma_constraint",
    )

    def __init__(
        self,
        axis: Any = -1,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ):
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list, tuple)):
            raise ValueError(
                "Expected an int or a list/tuple of ints for the argument 'axis', but received "
                f"instead: {axis}"
            )
        self.axis: Any = axis if isinstance(axis, int) else list(axis)
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = identifiers.initializer(beta_initializer)
        self.gamma_initializer = identifiers.initializer(gamma_initializer)
        self.beta_regularizer = identifiers.regularizer(beta_regularizer)
        self.gamma_regularizer = identifiers.regularizer(gamma_regularizer)
        self.beta_constraint = identifiers.constraint(beta_constraint)
        self.gamma_constraint = identifiers.constraint(gamma_constraint)
        self.supports_masking = True
        self.gamma: Any = None
        self.beta: Any = None

    def build(self, input_shape: Any) -> None:
        sizes = tf.TensorShape(input_shape).as_list()
        axes = [self.axis] if isinstance(self.axis, int) else self.axis
        self.axis = [axis + len(sizes) if axis < 0 else axis for axis in axes]
        for axis in self.axis:
            if not 0 <= axis < len(sizes):
                raise ValueError(f"Invalid axis: {axis}")
        if len(self.axis) != len(set(self.axis)):
            raise ValueError(f"Duplicate axis: {tuple(self.axis)}")
        shape = [sizes[axis] for axis in self.axis]
        if self.scale:
            self.gamma = self.add_weight(
                name="gamma",
                shape=shape,
                initializer=self.gamma_initializer,
                regularizer=self.gamma_regularizer,
                constraint=self.gamma_constraint,
            )
        if self.center:
            self.beta = self.add_weight(
                name="beta",
                shape=shape,
                initializer=self.beta_initializer,
                regularizer=self.beta_regularizer,
                constraint=self.beta_constraint,
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        sizes = inputs.shape.as_list()
        wanted = [size if axis in self.axis else 1 for axis, size in enumerate(sizes)]

        def broadcast(weight: Any) -> Any:
            is_plain = weight is None or self.axis == [len(sizes) - 1]
            return weight if is_plain else tf.reshape(weight, wanted)

        mean, variance = tf.nn.moments(inputs, self.axis, keep_dims=True)
        outputs = tf.nn.batch_normalization(
            inputs,
            mean,
            variance,
            offset=broadcast(self.beta),
            scale=broadcast(self.gamma),
            variance_epsilon=self.epsilon,
        )
        outputs.set_shape(inputs.shape)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape
