"""Batch normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import add_arg_scope
from penstock.contrib.layers import moving_statistics as statistics
from penstock.contrib.layers.building import (
    add_to_collections,
    finished,
    keras_data_format,
    model_variable_getter,
)
from penstock.contrib.layers.known_values import smart_cond
from penstock.contrib.layers.moving_statistics import Moments, parameter

__all__ = ["batch_norm"]


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Callable[[Any], Any] | None = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> Any:
    """Normalizes each channel by the mean and variance of the batch, or by moving averages.

    Args:
      decay: weight of the past in the moving averages.
      center: whether to add a variable `beta`.
      scale: whether to multiply by a variable `gamma`.
      param_initializers: initializers by `beta`, `gamma`, `moving_mean`, `moving_variance`.
      updates_collections: where the updates of the moving averages go, for the training step to
        run; None makes the outputs wait for them.
      is_training: a truth value or a tensor.
      batch_weights: weights of the examples in the moments.
      fused: whether to use the fused op where it can be used; None means yes.
      zero_debias_moving_mean: whether to correct the moving mean for its start at zero.
    """
    inputs = tf.convert_to_tensor(inputs)
    rank = inputs.get_shape().ndims
    is_plain = batch_weights is None and not renorm and adjustment is None
    collected_as_usual = updates_collections is tf.GraphKeys.UPDATE_OPS
    fused = True if fused is None else fused
    needs_own_updates = zero_debias_moving_mean or not collected_as_usual
    keras_data_format(data_format, "NCHW", "NHWC")
    parameters = {
        "center": center,
        "scale": scale,
        "initializers": param_initializers,
        "collections": variables_collections,
        "trainable": trainable,
    }
    averaging = {
        "updates_collections": updates_collections,
        "is_training": is_training,
        "decay": decay,
        "zero_debias": zero_debias_moving_mean,
    }
    if fused and is_plain and rank in (2, 4) and (needs_own_updates or rank == 2):
        with tf.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as opened:
            outputs = _fused(
                inputs,
                epsilon,
                data_format,
                {**parameters, "regularizers": param_regularizers},
                averaging,
            )
            return finished(outputs, opened.name, activation_fn, outputs_collections)
    with tf.variable_scope(
        scope, "BatchNorm", [inputs], reuse=reuse, custom_getter=model_variable_getter()
    ) as opened:
        if batch_weights is None and not needs_own_updates:
            regularizers = param_regularizers or {}
            layer = tf.layers.BatchNormalization(
                axis=1 if data_format == "NCHW" else -1,
                momentum=decay,
                epsilon=epsilon,
                center=center,
                scale=scale,
                **{
                    f"{name}_initializer": statistics.initializer_of(name, param_initializers)
                    for name in statistics.DEFAULT_INITIALIZERS
                },
                beta_regularizer=regularizers.get("beta"),
                gamma_regularizer=regularizers.get("gamma"),
                trainable=trainable,
                renorm=renorm,
                renorm_clipping=renorm_clipping,
                renorm_momentum=renorm_decay,
                adjustment=adjustment,
                name=opened.name,
                _scope=opened,
                _reuse=reuse,
                fused=fused,
            )
            outputs = layer.apply(inputs, training=is_training)
            for name in ("moving_mean", "moving_variance", "beta", "gamma"):
                if getattr(layer, name) is not None:
                    add_to_collections(getattr(layer, name), variables_collections, name)
        elif renorm:
            raise ValueError(
                "renorm is not supported with batch_weights, updates_collections or "
                "zero_debias_moving_mean"
            )
        else:
            outputs = _from_moments(
                inputs, batch_weights, epsilon, data_format, parameters, averaging
            )
        return finished(outputs, opened.name, activation_fn, outputs_collections)


def _beta_and_gamma(
    shape: Any,
    dtype: Any,
    center: bool,
    scale: bool,
    initializers: Any,
    collections: Any,
    trainable: bool,
    regularizers: Any = None,
) -> list[Any]:
    """The variables that outputs are shifted and scaled by; None where they are not."""
    return [
        parameter(
            name,
            shape,
            dtype,
            initializers,
            collections,
            trainable,
            (regularizers or {}).get(name),
        )
        if wanted
        else None
        for name, wanted in (("beta", center), ("gamma", scale))
    ]


def _fused(inputs: Any, epsilon: float, data_format: str, parameters: Any, averaging: Any) -> Any:
    """Batch normalization by the fused op, with updates of our own."""
    original = inputs
    is_first = data_format == "NCHW"
    if inputs.get_shape().ndims == 2:
        channels = inputs.get_shape().as_list()[-1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        inputs = tf.reshape(inputs, [-1, channels, 1, 1] if is_first else [-1, 1, 1, channels])
    inputs_shape = inputs.get_shape()
    shape = inputs_shape[1:2] if is_first else inputs_shape[-1:]
    if not shape.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined `C` dimension {shape}.")
    beta, gamma = _beta_and_gamma(shape, tf.float32, **parameters)
    if beta is None:
        beta = tf.constant(0.0, dtype=tf.float32, shape=shape)
    if gamma is None:
        gamma = tf.constant(1.0, dtype=tf.float32, shape=shape)
    moving = statistics.moving_moments(
        shape, tf.float32, parameters["initializers"], parameters["collections"]
    )

    def by_batch() -> Any:
        return tf.nn.fused_batch_norm(inputs, gamma, beta, epsilon=epsilon, data_format=data_format)

    def by_averages() -> Any:
        return tf.nn.fused_batch_norm(
            inputs,
            gamma,
            beta,
            mean=moving.mean,
            variance=moving.variance,
            epsilon=epsilon,
            is_training=False,
            data_format=data_format,
        )

    outputs, *moments = smart_cond(averaging["is_training"], by_batch, by_averages)
    outputs = _with_updates(outputs, moving, Moments(*moments), **averaging)
    outputs.set_shape(inputs_shape)
    return outputs if original is inputs else tf.reshape(outputs, tf.shape(original))


def _with_updates(
    outputs: Any,
    moving: Moments,
    batch: Moments,
    updates_collections: Any,
    is_training: Any,
    decay: float,
    zero_debias: bool,
) -> Any:
    """Outputs whose moving averages are updated: before them, or by whom runs a collection."""
    if statistics.is_known_not_training(is_training):
        return outputs
    if updates_collections is not None:
        statistics.collect_updates(
            updates_collections, is_training, moving, batch, decay, zero_debias
        )
        return outputs

    def after_updates() -> Any:
        with tf.control_dependencies(statistics.updates(moving, batch, decay, zero_debias)):
            return tf.identity(outputs)

    return smart_cond(is_training, after_updates, lambda: outputs)


def _from_moments(
    inputs: Any,
    batch_weights: Any,
    epsilon: float,
    data_format: str,
    parameters: Any,
    averaging: Any,
) -> Any:
    """Batch normalization by its definition, which allows weights of examples."""
    inputs_shape = inputs.get_shape()
    rank = inputs_shape.ndims
    if rank is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    channel = 1 if data_format == "NCHW" else rank - 1
    shape = inputs_shape[channel : channel + 1]
    if not shape.is_fully_defined():
        raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {shape}.")
    dtype = inputs.dtype.base_dtype
    beta, gamma = _beta_and_gamma(shape, dtype, **parameters)
    moving = statistics.moving_moments(
        shape, dtype, parameters["initializers"], parameters["collections"]
    )
    if statistics.is_known_not_training(averaging["is_training"]):
        used = moving
    else:
        batch = _moments(inputs, batch_weights, data_format)
        used = _chosen_moments(moving, batch, **averaging)
    mean, variance = used
    if data_format == "NCHW":
        along = [1, inputs_shape.as_list()[1], *[1] * (rank - 2)]
        mean, variance, beta, gamma = (
            None if each is None else tf.reshape(each, along)
            for each in (mean, variance, beta, gamma)
        )
    outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
    outputs.set_shape(inputs_shape)
    return outputs


def _moments(inputs: Any, batch_weights: Any, data_format: str) -> Moments:
    """The moments of a batch by channel, of weighted examples if there are weights."""
    rank = inputs.get_shape().ndims
    is_first = data_format == "NCHW"
    axes = [0, *range(2, rank)] if is_first else list(range(rank - 1))
    if batch_weights is None:
        found = tf.nn.moments(inputs, axes, keep_dims=is_first)
    else:
        weights = tf.convert_to_tensor(batch_weights)
        inputs.get_shape()[0:1].assert_is_compatible_with(weights.get_shape())
        weights = tf.reshape(weights, [-1, *[1] * (rank - 1)])
        found = tf.nn.weighted_moments(inputs, axes, weights, keep_dims=is_first)
    return Moments(*(tf.reshape(each, [-1]) for each in found)) if is_first else Moments(*found)


def _chosen_moments(
    moving: Moments,
    batch: Moments,
    updates_collections: Any,
    is_training: Any,
    decay: float,
    zero_debias: bool,
) -> Moments:
    """The moments of the batch when training, else the averages; with the averages' updates."""
    if updates_collections is not None:
        statistics.collect_updates(
            updates_collections, is_training, moving, batch, decay, zero_debias
        )
        chosen = smart_cond(is_training, lambda: tuple(batch), lambda: tuple(moving))
        return Moments(*chosen)

    def after_updates() -> tuple[Any, ...]:
        with tf.control_dependencies(statistics.updates(moving, batch, decay, zero_debias)):
            return tuple(tf.identity(each) for each in batch)

    return Moments(*smart_cond(is_training, after_updates, lambda: tuple(moving)))
