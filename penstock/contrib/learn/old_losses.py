"""`tf.contrib.learn.ops`: layers and losses of the first TensorFlow programs."""

from __future__ import annotations

from typing import Any

import penstock as tf


def embedding_lookup(params: Any, ids: Any, name: str = "embedding_lookup") -> tf.Tensor:
    """Rows of a tensor for ids of any shape."""
    with tf.name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = tf.convert_to_tensor(params), tf.convert_to_tensor(ids)
        shape = tf.shape(ids)
        flat = tf.reshape(ids, tf.reduce_prod(shape, keepdims=True))
        rows = tf.nn.embedding_lookup(params, flat, name)
        found = tf.reshape(rows, tf.concat([shape, [-1]], 0))
        found.set_shape(ids.get_shape().concatenate(params.get_shape()[1:]))
        return found


def categorical_variable(
    tensor_in: Any, n_classes: int, embedding_size: int, name: str
) -> tf.Tensor:
    """Vectors that are learned for classes, in a variable `<name>/<name>_embeddings`."""
    with tf.variable_scope(name):
        embeddings = tf.get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)


def mean_squared_error_regressor(
    tensor_in: Any, labels: Any, weights: Any, biases: Any, name: str | None = None
) -> tuple[tf.Tensor, tf.Tensor]:
    """Predictions of a linear model, and their squared error."""
    with tf.name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = tf.nn.xw_plus_b(tensor_in, weights, biases)
        if len(labels.get_shape()) == 1 and len(predictions.get_shape()) == 2:
            predictions = tf.squeeze(predictions, axis=[1])
        return predictions, tf.losses.mean_squared_error(labels, predictions)


def softmax_classifier(
    tensor_in: Any,
    labels: Any,
    weights: Any,
    biases: Any,
    class_weight: Any = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Probabilities of a linear model, and their cross entropy."""
    with tf.name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = tf.nn.xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = tf.multiply(logits, class_weight)
        return tf.nn.softmax(logits), tf.losses.softmax_cross_entropy(labels, logits)
