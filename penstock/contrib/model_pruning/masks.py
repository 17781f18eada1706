"""Masks of weights: ones where a weight is kept, zeros where it is pruned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

MASK_COLLECTION = "masks"
THRESHOLD_COLLECTION = "thresholds"
MASKED_WEIGHT_COLLECTION = "masked_weights"
WEIGHT_COLLECTION = "kernel"
MASKED_WEIGHT_NAME = "weights/masked_weight"


def weight_mask_variable(var: Any, scope: Any) -> Any:
    """A variable `mask` of the shape of another one, of ones."""
    with tf.variable_scope(scope):
        return tf.get_variable(
            "mask",
            var.get_shape(),
            initializer=tf.ones_initializer(),
            trainable=False,
            dtype=var.dtype,
        )


def weight_threshold_variable(var: Any, scope: Any) -> Any:
    """A variable `threshold`, of the type of another one, of zero."""
    with tf.variable_scope(scope):
        return tf.get_variable(
            "threshold", [], initializer=tf.zeros_initializer(), trainable=False, dtype=var.dtype
        )


def masked(weights: Any, mask: Any, threshold: Any) -> tf.Tensor:
    """The product of weights and mask, known to `Pruning` by the collections they are in."""
    product = tf.multiply(mask, weights, MASKED_WEIGHT_NAME)
    if not any(mask is known for known in tf.get_collection(MASK_COLLECTION)):
        tf.add_to_collection(THRESHOLD_COLLECTION, threshold)
        tf.add_to_collection(MASK_COLLECTION, mask)
        tf.add_to_collection(MASKED_WEIGHT_COLLECTION, product)
        tf.add_to_collection(WEIGHT_COLLECTION, weights)
    return product


def masked_in_layer(layer: Any, weights: Any) -> tf.Tensor:
    """The product of a layer's weights with a mask that the layer gets, with a threshold."""
    layer.built = False  # else further variables would have to be there already
    add: Callable[..., Any] = layer.add_variable
    settings = {"trainable": False, "dtype": layer.dtype}
    mask = add(
        name="mask", shape=weights.get_shape(), initializer=tf.ones_initializer(), **settings
    )
    threshold = add(name="threshold", shape=[], initializer=tf.zeros_initializer(), **settings)
    layer.built = True
    return masked(weights, mask, threshold)


def apply_mask(x: Any, scope: Any = "") -> tf.Tensor:
    """Weights as a layer is to use them, so that `Pruning` can set some to zero.

    Args:
      x: a variable.
      scope: where the variables `mask` and `threshold` are made.
    """
    return masked(x, weight_mask_variable(x, scope), weight_threshold_variable(x, scope))


def get_masked_weights() -> list[Any]:
    """All products of weights and masks."""
    return tf.get_collection(MASKED_WEIGHT_COLLECTION)


def get_masks() -> list[Any]:
    """All masks."""
    return tf.get_collection(MASK_COLLECTION)


def get_thresholds() -> list[Any]:
    """All thresholds, below which weights are pruned."""
    return tf.get_collection(THRESHOLD_COLLECTION)


def get_weights() -> list[Any]:
    """All weights that have masks."""
    return tf.get_collection(WEIGHT_COLLECTION)


def get_weight_sparsity() -> list[tf.Tensor]:
    """The fraction of pruned weights, of each mask."""
    return [tf.nn.zero_fraction(mask) for mask in get_masks()]
