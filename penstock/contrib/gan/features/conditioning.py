"""Tensors that depend on a condition: a label, or another tensor."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib import layers
from penstock.ir.constants import constant_value

__all__ = ["condition_tensor", "condition_tensor_from_onehot"]


def condition_tensor(tensor: Any, conditioning: Any) -> Any:
    """A batch plus a learnt linear map of what it is conditioned on (van den Oord, 2016)."""
    tensor.shape[1:].assert_is_fully_defined()
    if conditioning.shape.ndims < 2:
        raise ValueError(f"conditioning must be at least 2D, but saw shape: {conditioning.shape}")
    mapped = layers.linear(layers.flatten(conditioning), tensor.shape[1:].num_elements())
    if not mapped.shape.is_compatible_with(tensor.shape):
        shape = tf.shape(tensor)
        known = constant_value(shape)
        mapped = tf.reshape(mapped, shape if known is None else known)
    return tensor + mapped


def condition_tensor_from_onehot(
    tensor: Any, one_hot_labels: Any, embedding_size: int = 256
) -> Any:
    """A batch conditioned on classes, each of which has an embedding."""
    one_hot_labels.shape.assert_has_rank(2)
    one_hot_labels.shape[1:].assert_is_fully_defined()
    classes = tf.argmax(one_hot_labels, axis=1)
    embedding = tf.get_variable("embedding", [one_hot_labels.shape[1], embedding_size])
    looked_up = tf.nn.embedding_lookup(embedding, classes, name="token_to_embedding")
    return condition_tensor(tensor, looked_up)
