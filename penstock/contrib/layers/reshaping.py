"""Layers without weights: flattening, one-hot codes, softmax, maxout, dropout, sequences."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock.contrib.framework.arg_scope import add_arg_scope
from penstock.contrib.layers.building import keras_data_format, model_variable_getter
from penstock.contrib.layers.known_values import last_dimension
from penstock.contrib.layers.named_outputs import collect_named_outputs
from penstock.ir.composite import SparseTensor

__all__ = [
    "dense_to_sparse",
    "dropout",
    "flatten",
    "images_to_sequence",
    "maxout",
    "one_hot_encoding",
    "sequence_to_images",
    "softmax",
]


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: Any = None,
) -> Any:
    """Sets each input to zero with probability `1 - keep_prob` when training, scales the rest."""
    with tf.variable_scope(
        scope, "Dropout", [inputs], custom_getter=model_variable_getter()
    ) as opened:
        layer = tf.layers.Dropout(
            rate=1 - keep_prob,
            noise_shape=noise_shape,
            seed=seed,
            name=opened.name,
            _scope=opened,
        )
        outputs = layer.apply(tf.convert_to_tensor(inputs), training=is_training)
        return collect_named_outputs(outputs_collections, opened.name, outputs)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Any:
    """One row per example."""
    with tf.name_scope(scope, "Flatten", [inputs]) as opened:
        outputs = tf.layers.flatten(tf.convert_to_tensor(inputs))
        return collect_named_outputs(outputs_collections, opened, outputs)


@add_arg_scope
def _inner_flatten(
    inputs: Any, new_rank: int, output_collections: Any = None, scope: Any = None
) -> Any:
    """Inputs whose last dimensions are made one, so that there are `new_rank` in all."""
    with tf.name_scope(scope, "InnerFlatten", [inputs, new_rank]) as opened:
        if isinstance(inputs, SparseTensor):
            flattened = _sparse_inner_flatten(inputs, new_rank)
        else:
            flattened = _dense_inner_flatten(tf.convert_to_tensor(inputs), new_rank)
    return collect_named_outputs(output_collections, opened, flattened)


def _sparse_inner_flatten(inputs: Any, new_rank: int) -> Any:
    rank = inputs.dense_shape.get_shape().as_list()[0]
    if rank < new_rank:
        raise ValueError(
            f"Inputs has rank less than new_rank. {inputs} must have rank at least {new_rank}. "
            f"Received rank {rank}, shape {inputs.get_shape()}"
        )
    outer, inner = inputs.dense_shape[: new_rank - 1], inputs.dense_shape[new_rank - 1 :]
    return tf.sparse_reshape(inputs, tf.concat((outer, [tf.reduce_prod(inner)]), 0))


def _dense_inner_flatten(inputs: Any, new_rank: int) -> Any:
    at_least = tf.assert_rank_at_least(
        inputs, new_rank, message="inputs has rank less than new_rank"
    )
    with tf.control_dependencies([at_least]):
        outer = tf.strided_slice(tf.shape(inputs), [0], [new_rank - 1])
        reshaped = tf.reshape(inputs, tf.concat((outer, [-1]), 0))
    shape = inputs.get_shape()
    if isinstance(new_rank, int) and shape.ndims is not None:
        sizes = shape.as_list()
        inner = sizes[new_rank - 1 :]
        reshaped.set_shape([*sizes[: new_rank - 1], None if None in inner else math.prod(inner)])
    return reshaped


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: Any,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """A row for each label with `on_value` at its place."""
    with tf.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as opened:
        labels = tf.convert_to_tensor(labels)
        if labels.dtype == tf.int32:
            labels = tf.to_int64(labels)
        outputs = tf.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, opened, outputs)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Softmax over the last dimension of logits of any rank from two on."""
    with tf.variable_scope(scope, "softmax", [logits]):
        size = last_dimension(logits.get_shape(), min_rank=2)
        rows = tf.nn.softmax(tf.reshape(logits, [-1, size]))
        predictions = tf.reshape(rows, tf.shape(logits))
        predictions.set_shape(logits.get_shape())
        return predictions


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """The maximum of each of `num_units` groups of features."""
    with tf.variable_scope(scope, "MaxOut", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        sizes = inputs.get_shape().as_list()
        features = sizes[axis]
        if features % num_units:
            raise ValueError(
                f"number of features({features}) is not a multiple of num_units({num_units})"
            )
        sizes[axis] = num_units
        known = [tf.shape(inputs)[i] if size is None else size for i, size in enumerate(sizes)]
        return tf.reduce_max(tf.reshape(inputs, [*known, features // num_units]), -1)


@add_arg_scope
def dense_to_sparse(
    tensor: Any, eos_token: Any = 0, outputs_collections: Any = None, scope: Any = None
) -> Any:
    """A sparse tensor of the elements that are not `eos_token`."""
    with tf.variable_scope(scope, "dense_to_sparse", [tensor]) as opened:
        tensor = tf.convert_to_tensor(tensor)
        indices = tf.where(tf.not_equal(tensor, tf.constant(eos_token, tensor.dtype)))
        values = tf.gather_nd(tensor, indices)
        outputs = SparseTensor(indices, values, tf.shape(tensor, out_type=tf.int64))
        return collect_named_outputs(outputs_collections, opened.name, outputs)


@add_arg_scope
def images_to_sequence(
    inputs: Any, data_format: str = "NHWC", outputs_collections: Any = None, scope: Any = None
) -> Any:
    """The columns of images as steps in time: `[width, batch * height, depth]`."""
    channels = keras_data_format(data_format, "NCHW", "NHWC")
    with tf.name_scope(scope, "ImagesToSequence", [inputs]) as opened:
        inputs = tf.convert_to_tensor(inputs)
        if channels == "channels_first":
            inputs = tf.transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.get_shape().as_list()
        sizes = tf.shape(inputs)
        rows = sizes[0] * sizes[1]
        outputs = tf.reshape(tf.transpose(inputs, [2, 0, 1, 3]), [width, rows, depth])
        return collect_named_outputs(outputs_collections, opened, outputs)


@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """The inverse of `images_to_sequence`, for images of a height."""
    with tf.name_scope(scope, "SequenceToImages", [inputs]) as opened:
        inputs = tf.convert_to_tensor(inputs)
        width, rows, depth = inputs.get_shape().as_list()
        batch = -1 if rows is None else rows // height
        reshaped = tf.reshape(inputs, [width, batch, height, depth])
        is_first = output_data_format == "channels_first"
        outputs = tf.transpose(reshaped, [1, 3, 2, 0] if is_first else [1, 2, 0, 3])
        return collect_named_outputs(outputs_collections, opened, outputs)
