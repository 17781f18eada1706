"""A layer of random features whose inner products approximate a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import initializers
from penstock.keras.engine.layer import InputSpec, Layer

__all__ = ["RandomFourierFeatures"]

_KERNELS = ["gaussian", "laplacian"]


class RandomFourierFeatures(Layer):
    """Cosines of random projections: linear models of them are models with a kernel.

    Args:
      output_dim: how many features there are.
      kernel_initializer: "gaussian", "laplacian", or an initializer of the projections.
      scale: the width of the kernel; by default one that fits the inputs' size.
    """

    def __init__(
        self,
        output_dim: int,
        kernel_initializer: Any = "gaussian",
        scale: float | None = None,
        trainable: bool = False,
        name: str | None = None,
        **kwargs: Any,
    ):
        if output_dim <= 0:
            raise ValueError(f"`output_dim` should be a positive integer. Given: {output_dim}.")
        if isinstance(kernel_initializer, str) and kernel_initializer.lower() not in _KERNELS:
            raise ValueError(
                f"Unsupported kernel type: '{kernel_initializer}'. Supported kernel types: "
                f"{_KERNELS}."
            )
        if scale is not None and scale <= 0.0:
            raise ValueError(f"When provided, `scale` should be a positive float. Given: {scale}.")
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.output_dim = output_dim
        self.kernel_initializer = kernel_initializer
        self.scale = scale

    def build(self, input_shape: Any) -> None:
        shape = tf.TensorShape(input_shape)
        if shape.ndims != 2:
            raise ValueError(
                f"The rank of the input tensor should be 2. Got {shape.ndims} instead."
            )
        size = shape.as_list()[1]
        if size is None:
            raise ValueError(
                "The last dimension of the inputs to `RandomFourierFeatures` should be defined. "
                "Found `None`."
            )
        self.input_spec = InputSpec(ndim=2, axes={1: size})
        projections = self.add_weight(
            name="unscaled_random_features",
            shape=(size, self.output_dim),
            dtype=tf.float32,
            initializer=_get_random_features_initializer(
                self.kernel_initializer, (size, self.output_dim)
            ),
            trainable=False,
        )
        self.bias = self.add_weight(
            name="random_features_bias",
            shape=(self.output_dim,),
            dtype=tf.float32,
            initializer=tf.random_uniform_initializer(0.0, 2 * np.pi, dtype=tf.float32),
            trainable=False,
        )
        if self.scale is None:
            self.scale = _get_default_scale(self.kernel_initializer, size)
        scale = self.add_weight(
            name="random_features_scale",
            shape=(1,),
            dtype=tf.float32,
            initializer=tf.constant_initializer(self.scale),
            trainable=True,
            constraint=tf.keras.constraints.NonNeg(),
        )
        self.kernel = (1.0 / scale) * projections
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        inputs = tf.cast(tf.convert_to_tensor(inputs, dtype=self.dtype), tf.float32)
        return tf.cos(tf.nn.bias_add(tf.matmul(inputs, self.kernel), self.bias))

    def compute_output_shape(self, input_shape: Any) -> Any:
        shape = tf.TensorShape(input_shape).with_rank(2)
        if shape.as_list()[-1] is None:
            raise ValueError(
                f"The innermost dimension of input shape must be defined. Given: {shape}"
            )
        return shape[:-1].concatenate(self.output_dim)

    def get_config(self) -> dict[str, Any]:
        kernel: Any = self.kernel_initializer
        if not isinstance(kernel, str):
            kernel = initializers.serialize(kernel)
        own = {"output_dim": self.output_dim, "kernel_initializer": kernel, "scale": self.scale}
        return {**super().get_config(), **own}


def _get_random_features_initializer(initializer: Any, shape: tuple[int, int]) -> Any:
    """The initializer of the projections for the name of a kernel; any other as it is."""
    if not isinstance(initializer, str):
        return initializer
    if initializer.lower() == "gaussian":
        return tf.random_normal_initializer(stddev=1.0)
    chances = np.random.uniform(size=shape)  # noqa: NPY002 the program seeds it
    return tf.constant_initializer(np.tan(np.pi * (chances - 0.5)))  # Cauchy's distribution


def _get_default_scale(initializer: Any, input_dim: int) -> float:
    is_gaussian = isinstance(initializer, str) and initializer.lower() == "gaussian"
    return float(np.sqrt(input_dim / 2.0)) if is_gaussian else 1.0
