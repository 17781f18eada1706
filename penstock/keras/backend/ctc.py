"""Connectionist temporal classification with dense labels."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras.backend.config import epsilon

__all__ = ["ctc_batch_cost", "ctc_decode", "ctc_label_dense_to_sparse"]


def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> Any:
    """The labels of each row up to its length, as a sparse tensor."""
    labels = tf.convert_to_tensor(labels)
    shape = tf.shape(labels)
    is_label = tf.sequence_mask(tf.cast(label_lengths, tf.int32), shape[1])
    indices = tf.where(is_label)
    values = tf.gather_nd(labels, indices)
    return tf.SparseTensor(indices, values, tf.cast(shape, tf.int64))


def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Any:
    """The loss of each batch item.

    Args:
      y_true: the labels, (batch, longest).
      y_pred: probabilities, (batch, time, classes).
      input_length: how many steps of each item count, (batch, 1).
      label_length: how many labels of each item count, (batch, 1).
    """
    label_length = tf.cast(tf.squeeze(label_length, axis=-1), tf.int32)
    input_length = tf.cast(tf.squeeze(input_length, axis=-1), tf.int32)
    labels = tf.cast(ctc_label_dense_to_sparse(y_true, label_length), tf.int32)
    scores = tf.log(tf.transpose(y_pred, perm=[1, 0, 2]) + epsilon())
    losses = tf.nn.ctc_loss(inputs=scores, labels=labels, sequence_length=input_length)
    return tf.expand_dims(losses, 1)


def ctc_decode(
    y_pred: Any,
    input_length: Any,
    greedy: bool = True,
    beam_width: int = 100,
    top_paths: int = 1,
) -> tuple[list[Any], Any]:
    """The likeliest labels, padded with -1, and their scores.

    Args:
      greedy: takes the best class of each step, instead of a beam search.
    """
    scores = tf.log(tf.transpose(y_pred, perm=[1, 0, 2]) + epsilon())
    lengths = tf.cast(input_length, tf.int32)
    if greedy:
        decoded, log_probability = tf.nn.ctc_greedy_decoder(scores, lengths)
    else:
        decoded, log_probability = tf.nn.ctc_beam_search_decoder(
            scores, lengths, beam_width=beam_width, top_paths=top_paths
        )
    dense = [
        tf.sparse_to_dense(each.indices, each.dense_shape, each.values, default_value=-1)
        for each in decoded
    ]
    return dense, log_probability
