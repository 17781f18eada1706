"""Weights divided by their largest singular value, estimated a little better in each step."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.platform import logging

__all__ = [
    "compute_spectral_norm",
    "spectral_norm_regularizer",
    "spectral_normalization_custom_getter",
    "spectral_normalize",
]

_ALLOWED = (tf.float16, tf.float32, tf.float64)
_VECTOR_NAME = "spectral_norm_u"


def compute_spectral_norm(
    w_tensor: Any, power_iteration_rounds: int = 1, name: str | None = None
) -> Any:
    """The largest singular value of weights as a matrix with a column for each output.

    Args:
      w_tensor: weights; the last axis is that of outputs.
      power_iteration_rounds: how often the estimate of a singular vector is improved; it is kept
        in a variable from step to step.
      name: of the variable scope.
    """
    with tf.variable_scope(name, "spectral_norm"):
        w = tf.reshape(w_tensor, (-1, w_tensor.get_shape().as_list()[-1]))
        u_variable = tf.get_variable(
            _VECTOR_NAME,
            shape=(w.shape[0], 1),
            dtype=w.dtype,
            initializer=tf.random_normal_initializer(),
            trainable=False,
        )
        u = u_variable
        for _ in range(power_iteration_rounds):
            v = tf.nn.l2_normalize(tf.matmul(tf.transpose(w), u))
            u = tf.nn.l2_normalize(tf.matmul(w, v))
        with tf.control_dependencies([u_variable.assign(u, name="update_u")]):
            u = tf.identity(u)
        u, v = tf.stop_gradient(u), tf.stop_gradient(v)
        norm = tf.matmul(tf.matmul(tf.transpose(u), w), v)
        norm.shape.assert_is_fully_defined()
        norm.shape.assert_is_compatible_with([1, 1])
        return norm[0][0]


def spectral_normalize(w: Any, power_iteration_rounds: int = 1, name: str | None = None) -> Any:
    """Weights divided by their largest singular value."""
    with tf.variable_scope(name, "spectral_normalize"):
        normalized = w / compute_spectral_norm(w, power_iteration_rounds=power_iteration_rounds)
        return tf.reshape(normalized, w.get_shape())


def spectral_norm_regularizer(
    scale: Any, power_iteration_rounds: int = 1, scope: str | None = None
) -> Callable[..., Any]:
    """A regularizer: `scale` times the largest singular value of weights."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if float(scale) < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {float(scale):g}")
        if scale == 0.0:
            logging.info("Scale of 0 disables regularizer.")
            return lambda _: None

    def regularizer(weights: Any, name: str | None = None) -> Any:
        with tf.name_scope(scope, "SpectralNormRegularizer", [weights]) as name:
            factor = tf.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            norm = compute_spectral_norm(weights, power_iteration_rounds=power_iteration_rounds)
            return tf.multiply(factor, norm, name=name)

    return regularizer


def _default_name_filter(name: str) -> bool:
    """Whether a variable has the name that libraries give to weights."""
    return re.match(r"(.*\/)?(depthwise_|pointwise_)?(weights|kernel)$", name) is not None


def spectral_normalization_custom_getter(
    name_filter: Callable[[str], bool] = _default_name_filter, power_iteration_rounds: int = 1
) -> Callable[..., Any]:
    """A `custom_getter` of `tf.variable_scope` that normalizes weights where they are made.

    Args:
      name_filter: which variables to normalize, by their names.
      power_iteration_rounds: see `compute_spectral_norm`.
    """
    if not callable(name_filter):
        raise ValueError("name_filter must be callable")

    def normalized(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        if not name_filter(name):
            return getter(name, *args, **kwargs)
        if name.endswith(_VECTOR_NAME):
            raise ValueError(
                "Cannot apply Spectral Normalization to internal variables created for Spectral "
                f"Normalization. Tried to normalized variable [{name}]"
            )
        if kwargs["dtype"] not in _ALLOWED:
            raise ValueError(f"Disallowed data type {kwargs['dtype']}")
        weights = getter(name, *args, **kwargs)
        if len(weights.get_shape()) < 2:
            raise ValueError("Spectral norm can only be applied to multi-dimensional tensors")
        return spectral_normalize(weights, power_iteration_rounds, f"{name}/spectral_normalize")

    return normalized
