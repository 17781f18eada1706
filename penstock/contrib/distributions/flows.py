"""Bijectors whose parameters are functions of the argument, such as networks: normalizing flows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.distributions.bijector import Bijector
from penstock.shapes import dimension_value

__all__ = [
    "BatchNormalization",
    "MaskedAutoregressiveFlow",
    "RealNVP",
    "masked_autoregressive_default_template",
    "masked_dense",
    "real_nvp_default_template",
]

_UNKNOWN_SIZE = "Rightmost dimension must be known prior to graph execution."


def _scaled(x: Any, shift: Any, log_scale: Any) -> Any:
    if log_scale is not None:
        x = x * tf.exp(log_scale)
    return x if shift is None else x + shift


def _unscaled(y: Any, shift: Any, log_scale: Any) -> Any:
    if shift is not None:
        y = y - shift
    return y if log_scale is None else y * tf.exp(-log_scale)


def _log_det(log_scale: Any, dtype: Any, name: str) -> Any:
    if log_scale is None:
        return tf.constant(0.0, dtype=dtype, name=name)
    return tf.reduce_sum(log_scale, axis=-1)


class MaskedAutoregressiveFlow(Bijector):
    """Scales and shifts each entry of a vector by a function of the entries before it.

    G. Papamakarios, T. Pavlakou and I. Murray, Masked autoregressive flow for density estimation
    (2017).

    Args:
      shift_and_log_scale_fn: a function from vectors to two of their size, or None: of each entry
        the shift and the logarithm of the scale. They must not depend on the entry itself or
        on later ones.
      unroll_loop: whether `forward` is built of as many copies as a vector has entries.
    """

    def __init__(
        self,
        shift_and_log_scale_fn: Callable[[Any], tuple[Any, Any]],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        unroll_loop: bool = False,
        name: str | None = None,
    ):
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "masked_autoregressive_flow",
        )

    def _forward(self, x: Any) -> Any:
        """Each round makes one more entry right."""
        known = dimension_value(x.shape.with_rank_at_least(1)[-1])
        first = tf.zeros_like(x, name="y0")
        if self._unroll_loop:
            if known is None:
                raise ValueError(
                    "The final dimension of `x` must be known at graph construction time if "
                    f"`unroll_loop=True`. `x.shape: {x.shape!r}`"
                )
            y = first
            for _ in range(known):
                y = _scaled(x, *self._shift_and_log_scale_fn(y))
            return y
        # Variables are made outside of the loop.
        self._shift_and_log_scale_fn(first)
        size = tf.shape(x)[-1]
        _, y = tf.while_loop(
            lambda i, y: i < size,
            lambda i, y: (i + 1, _scaled(x, *self._shift_and_log_scale_fn(y))),
            (0, first),
            maximum_iterations=known,
        )
        return y

    def _inverse(self, y: Any) -> Any:
        return _unscaled(y, *self._shift_and_log_scale_fn(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        _, log_scale = self._shift_and_log_scale_fn(y)
        found = _log_det(log_scale, y.dtype, "ildj")
        return found if log_scale is None else -found


def _block_mask(blocks: int, n_in: int, n_out: int, *, exclusive: bool) -> np.ndarray:
    """A matrix [n_out, n_in] with ones where an output may depend on an input.

    Inputs and outputs are in as many blocks: a block depends on those before it, and on its own
    one unless that is excluded.
    """
    mask = np.zeros([n_out, n_in], np.float32)
    wide, high = n_in // blocks, n_out // blocks
    for block in range(blocks):
        first = (block + 1) * high if exclusive else block * high
        mask[first:, block * wide : (block + 1) * wide] = 1
    return mask


def masked_dense(
    inputs: Any,
    units: int,
    num_blocks: int | None = None,
    exclusive: bool = False,
    kernel_initializer: Any = None,
    reuse: Any = None,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A dense layer whose outputs depend on earlier inputs alone.

    M. Germain et al., MADE: masked autoencoder for distribution estimation (2015).

    Args:
      num_blocks: of how many blocks inputs and outputs are.
      exclusive: whether a block does not depend on the input of its own number.
    """
    depth = dimension_value(inputs.shape.with_rank_at_least(1)[-1])
    if depth is None:
        raise NotImplementedError(_UNKNOWN_SIZE)
    assert num_blocks is not None
    mask = _block_mask(num_blocks, depth, units, exclusive=exclusive).T
    initializer = kernel_initializer or tf.glorot_normal_initializer()

    def masked_initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return mask * initializer(shape, dtype, partition_info)

    settings: dict[str, Any] = {
        "kernel_initializer": masked_initializer,
        "kernel_constraint": lambda kernel: mask * kernel,
        "name": name,
        "dtype": inputs.dtype.base_dtype,
        "_scope": name,
        "_reuse": reuse,
        **kwargs,
    }
    with tf.name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        return tf.layers.Dense(units, *args, **settings).apply(inputs)


def masked_autoregressive_default_template(
    hidden_layers: Any,
    shift_only: bool = False,
    activation: Any = tf.nn.relu,
    log_scale_min_clip: float = -5.0,
    log_scale_max_clip: float = 3.0,
    log_scale_clip_gradient: bool = False,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A network for `MaskedAutoregressiveFlow`, of layers that are masked.

    Args:
      hidden_layers: the sizes of hidden layers.
      shift_only: whether nothing is scaled.
      log_scale_min_clip, log_scale_max_clip: the bounds of the scale's logarithm.
      log_scale_clip_gradient: whether the gradient is zero beyond the bounds.
    """
    name = name or "masked_autoregressive_default_template"

    def network(x: Any) -> tuple[Any, Any]:
        depth = dimension_value(x.shape.with_rank_at_least(1)[-1])
        if depth is None:
            raise NotImplementedError(_UNKNOWN_SIZE)
        sizes = np.int32(x.shape.as_list()) if x.shape.is_fully_defined() else tf.shape(x)
        for i, units in enumerate(hidden_layers):
            x = masked_dense(x, units, depth, i == 0, *args, activation=activation, **kwargs)
        outputs = depth if shift_only else 2 * depth
        x = masked_dense(x, outputs, depth, False, *args, activation=None, **kwargs)
        if shift_only:
            return tf.reshape(x, sizes), None
        shift, log_scale = tf.unstack(tf.reshape(x, tf.concat([sizes, [2]], 0)), num=2, axis=-1)
        clip = tf.clip_by_value if log_scale_clip_gradient else _clip_by_value_preserve_grad
        return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

    with tf.name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):
        return tf.make_template(name, network)


def _clip_by_value_preserve_grad(
    x: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None
) -> Any:
    """Numbers within bounds, with the gradient of the numbers themselves."""
    with tf.name_scope(name, "clip_by_value_preserve_grad", [x, clip_value_min, clip_value_max]):
        return x + tf.stop_gradient(tf.clip_by_value(x, clip_value_min, clip_value_max) - x)


class RealNVP(Bijector):
    """Scales and shifts the later entries of a vector by a function of the first ones.

    L. Dinh, J. Sohl-Dickstein and S. Bengio, Density estimation using Real NVP (2017).

    Args:
      num_masked: how many entries stay as they are.
      shift_and_log_scale_fn: a function from these, and the number of the others, to shifts and
        logarithms of scales; either may be None.
    """

    def __init__(
        self,
        num_masked: int,
        shift_and_log_scale_fn: Callable[[Any, int], tuple[Any, Any]],
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        name: str | None = None,
    ):
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._input_depth: int | None = None
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name or "real_nvp",
        )

    def _parts(self, x: Any) -> tuple[Any, Any, Any, Any]:
        """The entries that stay and the others; their shifts and logarithms of scales."""
        if self._input_depth is None:
            depth = dimension_value(x.shape.with_rank_at_least(1)[-1])
            if depth is None:
                raise NotImplementedError(_UNKNOWN_SIZE)
            if self._num_masked >= depth:
                raise ValueError("Number of masked units must be smaller than the event size.")
            self._input_depth = depth
        kept, others = x[..., : self._num_masked], x[..., self._num_masked :]
        return (
            kept,
            others,
            *self._shift_and_log_scale_fn(kept, self._input_depth - self._num_masked),
        )

    def _forward(self, x: Any) -> Any:
        kept, others, shift, log_scale = self._parts(x)
        return tf.concat([kept, _scaled(others, shift, log_scale)], axis=-1)

    def _inverse(self, y: Any) -> Any:
        kept, others, shift, log_scale = self._parts(y)
        return tf.concat([kept, _unscaled(others, shift, log_scale)], axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        log_scale = self._parts(y)[3]
        found = _log_det(log_scale, y.dtype, "ildj")
        return found if log_scale is None else -found

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return _log_det(self._parts(x)[3], x.dtype, "fldj")


def real_nvp_default_template(
    hidden_layers: Any,
    shift_only: bool = False,
    activation: Any = tf.nn.relu,
    name: str | None = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """A network of dense layers for `RealNVP`.

    Args:
      hidden_layers: the sizes of hidden layers.
      shift_only: whether nothing is scaled.
    """

    def network(x: Any, output_units: int) -> tuple[Any, Any]:
        for units in hidden_layers:
            x = tf.layers.dense(x, units, activation, *args, **kwargs)
        outputs = output_units if shift_only else 2 * output_units
        x = tf.layers.dense(x, outputs, None, *args, **kwargs)
        if shift_only:
            return x, None
        shift, log_scale = tf.split(x, 2, axis=-1)
        return shift, log_scale

    with tf.name_scope(name, "real_nvp_default_template"):
        return tf.make_template("real_nvp_default_template", network)


class BatchNormalization(Bijector):
    """Undoes a batch normalization; its inverse is the normalization of a layer.

    Args:
      batchnorm_layer: a `tf.layers.BatchNormalization`.
      training: whether the inverse takes the moments of its batch, or the moving ones.
    """

    def __init__(
        self,
        batchnorm_layer: Any = None,
        training: bool = True,
        validate_args: bool = False,
        name: str = "batch_normalization",
    ):
        self.batchnorm = batchnorm_layer or tf.layers.BatchNormalization(
            gamma_constraint=lambda x: tf.nn.relu(x) + 1e-6
        )
        _check_layer(self.batchnorm)
        self._training = training
        axis = self.batchnorm.axis
        super().__init__(
            forward_min_event_ndims=1 if isinstance(axis, int) else len(axis),
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Any) -> Any:
        layer = self.batchnorm
        if not layer.built:
            layer.build(x.shape)
        spread = self._spreader(x)
        # y = (x - beta) / gamma * deviation + mean
        factor = tf.sqrt(spread(layer.moving_variance) + layer.epsilon)
        if layer.scale:
            factor = factor / spread(layer.gamma)
        centred = x - spread(layer.beta) if layer.center else x
        return centred * factor + spread(layer.moving_mean)

    def _spreader(self, x: Any) -> Callable[[Any], Any]:
        """A function that gives the moments of channels the rank of `x`."""
        if not x.shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        sizes = [1] * x.shape.ndims
        axis = self._axes()[0]
        sizes[axis] = x.shape.as_list()[axis]
        return lambda moment: tf.reshape(moment, sizes)

    def _axes(self) -> list[int]:
        axis = self.batchnorm.axis
        return [axis] if isinstance(axis, int) else list(axis)

    def _inverse(self, y: Any) -> Any:
        return self.batchnorm.apply(y, training=self._training)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -self._log_det(x, saved=True)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._log_det(y, saved=not self._training)

    def _log_det(self, y: Any, *, saved: bool) -> Any:
        if not y.shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        layer = self.batchnorm
        if not layer.built:
            layer.build(y.shape)
        if saved:
            variance = layer.moving_variance
        else:
            others = [i for i in range(y.shape.ndims) if i not in self._axes()]
            _, variance = tf.nn.moments(y, axes=others, keep_dims=True)
        log_gamma = tf.reduce_sum(tf.log(layer.gamma))
        return log_gamma - 0.5 * tf.reduce_sum(tf.log(variance + layer.epsilon))


def _check_layer(layer: Any) -> None:
    if not isinstance(layer, tf.layers.BatchNormalization):
        raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
    if layer.renorm:
        raise ValueError("BatchNorm Bijector does not support renormalization.")
    if layer.virtual_batch_size:
        raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
