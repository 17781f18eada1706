"""Generalized divisive normalization (Ballé, Laparra and Simoncelli, 2016)."""

from __future__ import annotations

from typing import Any

import penstock as tf

__all__ = ["GDN", "gdn"]


def _bounded_gradient(op: Any, grad: Any) -> list[Any]:
    """Passes the gradient where the input is above the bound or is being moved towards it."""
    inputs, bound = op.inputs
    passes = tf.logical_or(inputs >= bound, grad < 0)
    return [tf.cast(passes, grad.dtype) * grad, None]


tf.RegisterGradient("GDNLowerBound")(_bounded_gradient)


def _at_least(inputs: Any, bound: Any) -> Any:
    with tf.name_scope(None, "GDNLowerBound", [inputs, bound]) as scope:
        inputs = tf.convert_to_tensor(inputs, name="inputs")
        bound = tf.convert_to_tensor(bound, name="bound")
        with tf.get_default_graph().gradient_override_map({"Maximum": "GDNLowerBound"}):
            return tf.maximum(inputs, bound, name=scope)


class GDN(tf.layers.Layer):
    """Divides each channel by a root of a weighted sum of the squares of all channels.

    Args:
      inverse: whether to multiply instead.
      beta_min: least value of `beta`.
      gamma_init: first value of the diagonal of `gamma`.
      reparam_offset: keeps gradients of the reparametrized variables away from zero.
    """

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2**-18,
        data_format: str = "channels_last",
        activity_regularizer: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ):
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
        )
        if data_format not in ("channels_first", "channels_last"):
            raise ValueError(f"Unsupported `data_format` for GDN layer: {data_format}.")
        self.inverse = inverse
        self.data_format = data_format
        self._beta_min = beta_min
        self._gamma_init = gamma_init
        self._reparam_offset = reparam_offset
        self.input_spec = tf.layers.InputSpec(min_ndim=3, max_ndim=5)

    def build(self, input_shape: Any) -> None:
        shape = tf.TensorShape(input_shape)
        axis = 1 if self.data_format == "channels_first" else -1
        channels = shape.as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self.input_spec = tf.layers.InputSpec(ndim=shape.ndims, axes={axis: channels})
        pedestal = tf.constant(self._reparam_offset**2, dtype=self.dtype)

        def beta_initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            return tf.sqrt(tf.ones(shape, dtype=dtype) + self._reparam_offset**2)

        def gamma_initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
            diagonal = self._gamma_init * tf.eye(int(shape[0]), dtype=dtype)
            return tf.sqrt(diagonal + self._reparam_offset**2)

        beta = self.add_variable(
            "reparam_beta", [channels], initializer=beta_initializer, dtype=self.dtype
        )
        bound = (self._beta_min + self._reparam_offset**2) ** 0.5
        self.beta = tf.square(_at_least(beta, tf.constant(bound, dtype=self.dtype))) - pedestal
        gamma = self.add_variable(
            "reparam_gamma", [channels, channels], initializer=gamma_initializer, dtype=self.dtype
        )
        bound = self._reparam_offset
        self.gamma = tf.square(_at_least(gamma, tf.constant(bound, dtype=self.dtype))) - pedestal
        self.built = True

    def call(self, inputs: Any) -> Any:
        inputs = tf.convert_to_tensor(inputs, dtype=self.dtype)
        spatial = inputs.get_shape().ndims - 2
        gamma = tf.reshape(self.gamma, [*[1] * spatial, *self.gamma.get_shape().as_list()])
        is_first = self.data_format == "channels_first"
        data_format = "NC" + "DHW"[-spatial:] if is_first else None
        pooled = tf.nn.convolution(tf.square(inputs), gamma, "VALID", data_format=data_format)
        if is_first:
            norm = tf.sqrt(pooled + tf.reshape(self.beta, [-1, *[1] * spatial]))
        else:
            norm = tf.sqrt(tf.nn.bias_add(pooled, self.beta))
        outputs = inputs * norm if self.inverse else inputs / norm
        outputs.set_shape(inputs.get_shape())
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the inputs, after a check."""
        shape = tf.TensorShape(input_shape)
        if shape.ndims not in (3, 4, 5):
            raise ValueError("`input_shape` must be of rank 3 to 5, inclusive.")
        if shape.as_list()[1 if self.data_format == "channels_first" else -1] is None:
            raise ValueError("The channel dimension of `input_shape` must be defined.")
        return shape


def gdn(
    inputs: Any,
    inverse: bool = False,
    beta_min: float = 1e-6,
    gamma_init: float = 0.1,
    reparam_offset: float = 2**-18,
    data_format: str = "channels_last",
    activity_regularizer: Any = None,
    trainable: bool = True,
    name: Any = None,
    reuse: Any = None,
) -> Any:
    """Generalized divisive normalization of the inputs; see `GDN`."""
    layer = GDN(
        inverse=inverse,
        beta_min=beta_min,
        gamma_init=gamma_init,
        reparam_offset=reparam_offset,
        data_format=data_format,
        activity_regularizer=activity_regularizer,
        trainable=trainable,
        name=name,
        dtype=inputs.dtype.base_dtype,
        _scope=name,
        _reuse=reuse,
    )
    return layer.apply(inputs)
