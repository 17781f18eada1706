"""`tf.contrib.nn`: losses with logits first, alpha dropout, scaled softplus."""

from __future__ import annotations

import numbers
from typing import Any

import penstock as tf
from penstock.contrib import lazy_paths
from penstock.ir.constants import constant_value
from penstock.ops.convolution import conv1d_transpose as conv1d_transpose
from penstock.ops.nth_element import nth_element as nth_element

#: What a dropped unit is set to: the value that SELU saturates at.
_ALPHA = -1.7580993408473766


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: str | None = None
) -> Any:
    """`tf.nn.softmax_cross_entropy_with_logits`, with the arguments of TensorFlow 0.x."""
    return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, name: str | None = None
) -> Any:
    """`tf.nn.sparse_softmax_cross_entropy_with_logits`, with the arguments of TensorFlow 0.x."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: Any, targets: Any, name: str | None = None
) -> Any:
    """`tf.nn.sigmoid_cross_entropy_with_logits`, with the arguments of TensorFlow 0.x."""
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def alpha_dropout(
    x: Any, keep_prob: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None
) -> Any:
    """Dropout that keeps mean and variance of units with SELU (Klambauer et al., 2017)."""
    with tf.name_scope(name, "alpha_dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < float(keep_prob) <= 1.0:
            raise ValueError(
                "keep_prob must be a scalar tensor or a float in the range (0, 1], got "
                f"{float(keep_prob):g}"
            )
        keep = tf.convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep.get_shape().assert_has_rank(0)
        if constant_value(keep) == 1:
            return x
        shape = tf.shape(x) if noise_shape is None else noise_shape
        noise = tf.random_uniform(shape, seed=seed, dtype=x.dtype)
        kept = tf.cast(tf.greater_equal(noise, 1 - keep), x.dtype)
        scale = (keep + keep * (1 - keep) * _ALPHA**2) ** -0.5
        shift = -scale * _ALPHA * (1 - keep)
        return scale * (x * kept + _ALPHA * (1 - kept)) + shift


def scaled_softplus(x: Any, alpha: Any, clip: Any = None, name: str | None = None) -> Any:
    """`alpha * softplus(x / alpha)`, cut off at `clip`: near zero softer than a rectifier."""
    values = [x, alpha] if clip is None else [x, alpha, clip]
    with tf.name_scope(name, "scaled_softplus", values):
        x = tf.convert_to_tensor(x, name="x")
        alpha = tf.convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        y = alpha * tf.nn.softplus(x / alpha)
        if clip is None:
            return y
        return tf.minimum(y, tf.convert_to_tensor(clip, dtype=x.dtype, name="clip"))


__getattr__ = lazy_paths.resolver(__name__)
