"""`tf.contrib.losses.metric_learning`: losses that put embeddings of one label close together."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib import lazy_paths

__all__ = [
    "contrastive_loss",
    "lifted_struct_loss",
    "npairs_loss",
    "npairs_loss_multilabel",
    "triplet_semihard_loss",
]


def pairwise_distance(feature: Any, squared: bool = False) -> Any:
    """The distance of each row from each; its gradient is zero, not NaN, where it is zero."""
    norms = tf.reduce_sum(tf.square(feature), axis=[1], keepdims=True)
    squares = norms + tf.transpose(norms) - 2.0 * tf.matmul(feature, feature, transpose_b=True)
    squares = tf.maximum(squares, 0.0)  # rounding may leave a little below zero
    apart = tf.cast(tf.greater(squares, 0.0), tf.float32)
    distances = squares if squared else tf.sqrt(squares + (1.0 - apart) * 1e-16)
    itself = tf.diag(tf.ones([tf.shape(feature)[0]]))
    return distances * apart * (1.0 - itself)


def masked_maximum(data: Any, mask: Any, dim: int = 1) -> Any:
    """The greatest value along an axis among those that a mask of ones and zeros keeps."""
    least = tf.reduce_min(data, dim, keepdims=True)
    return tf.reduce_max((data - least) * mask, dim, keepdims=True) + least


def masked_minimum(data: Any, mask: Any, dim: int = 1) -> Any:
    """The least value along an axis among those that a mask of ones and zeros keeps."""
    greatest = tf.reduce_max(data, dim, keepdims=True)
    return tf.reduce_min((data - greatest) * mask, dim, keepdims=True) + greatest


def _same_label(labels: Any) -> Any:
    """Whether two examples have one label, for each pair."""
    shape = tf.shape(labels)
    assert shape.shape == 1
    column = tf.reshape(labels, [shape[0], 1])
    return tf.equal(column, tf.transpose(column))


def _positive_pairs(same: Any) -> Any:
    """Ones for pairs of different examples with one label."""
    return tf.cast(same, tf.float32) - tf.diag(tf.ones([tf.shape(same)[0]]))


def contrastive_loss(
    labels: Any, embeddings_anchor: Any, embeddings_positive: Any, margin: float = 1.0
) -> Any:
    """Pairs with label 1 close, those with 0 at least `margin` apart (Hadsell et al., 2006)."""
    difference = tf.squared_difference(embeddings_anchor, embeddings_positive)
    distances = tf.sqrt(tf.reduce_sum(difference, 1))
    close = tf.cast(labels, distances.dtype)
    too_near = tf.maximum(margin - distances, 0.0)
    return tf.reduce_mean(
        close * tf.square(distances) + (1.0 - close) * tf.square(too_near),
        name="contrastive_loss",
    )


def triplet_semihard_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Each pair of one label closer than the nearest stranger that is further away than it.

    If there is no such stranger, the furthest of all counts (Schroff et al., 2015).

    Args:
      labels: integers, one for each example.
      embeddings: rows of unit length.
      margin: how much closer.
    """
    distances = pairwise_distance(embeddings, squared=True)
    same = _same_label(labels)
    others = tf.logical_not(same)
    # Axes: anchor, positive, negative.
    to_positive, to_negative = distances[:, :, None], distances[:, None, :]
    further = tf.logical_and(others[:, None, :], to_negative > to_positive)
    to_negative = to_negative + tf.zeros_like(to_positive)
    outside = masked_minimum(to_negative, tf.cast(further, tf.float32), dim=2)[:, :, 0]
    inside = masked_maximum(distances, tf.cast(others, tf.float32)) + tf.zeros_like(distances)
    negatives = tf.where(tf.reduce_any(further, axis=2), outside, inside)
    positives = _positive_pairs(same)
    losses = tf.maximum((margin + distances - negatives) * positives, 0.0)
    return tf.truediv(tf.reduce_sum(losses), tf.reduce_sum(positives), name="triplet_semihard_loss")


def _npairs(alike: Any, anchor: Any, positive: Any, reg_lambda: float, print_losses: bool) -> Any:
    """Cross entropy of similarities with what is alike, plus the size of embeddings."""
    sizes = [tf.reduce_mean(tf.reduce_sum(tf.square(each), 1)) for each in (anchor, positive)]
    l2loss = tf.multiply(0.25 * reg_lambda, sizes[0] + sizes[1], name="l2loss")
    similarity = tf.matmul(anchor, positive, transpose_b=True)
    shares = alike / tf.reduce_sum(alike, 1, keepdims=True)
    entropy = tf.nn.softmax_cross_entropy_with_logits(logits=similarity, labels=shares)
    entropy = tf.reduce_mean(entropy, name="xentropy")
    if print_losses:
        entropy = tf.Print(entropy, ["cross entropy:", entropy, "l2loss:", l2loss])
    return l2loss + entropy


def npairs_loss(
    labels: Any,
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """Each anchor most similar to the positives of its label (Sohn, 2016).

    Args:
      labels: integers, one for each pair.
      embeddings_anchor: rows, not of unit length.
      embeddings_positive: as many rows.
      reg_lambda: the weight of their squared lengths.
      print_losses: whether steps print both parts.
    """
    alike = tf.cast(_same_label(labels), tf.float32)
    return _npairs(alike, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


def npairs_loss_multilabel(
    sparse_labels: Any,
    embeddings_anchor: Any,
    embeddings_positive: Any,
    reg_lambda: float = 0.002,
    print_losses: bool = False,
) -> Any:
    """`npairs_loss` for examples with several labels: more in common, more alike.

    Args:
      sparse_labels: a `SparseTensor` of one axis for each pair, which has its labels.
      embeddings_anchor: see `npairs_loss`.
      embeddings_positive: see there.
      reg_lambda: see there.
      print_losses: see there.
    """
    if not all(isinstance(each, tf.SparseTensor) for each in sparse_labels):
        raise TypeError(f"sparse_labels must be a list of SparseTensors, but got {sparse_labels}")
    with tf.name_scope("NpairsLossMultiLabel"):
        common = [
            [
                tf.cast(tf.sparse_reduce_sum(tf.sparse_minimum(one, other)), tf.float32)
                for other in sparse_labels
            ]
            for one in sparse_labels
        ]
        alike = tf.stack([tf.stack(row) for row in common])
        return _npairs(alike, embeddings_anchor, embeddings_positive, reg_lambda, print_losses)


def lifted_struct_loss(labels: Any, embeddings: Any, margin: float = 1.0) -> Any:
    """Each pair of one label closer than all strangers of both, smoothly (Song et al., 2015).

    Args:
      labels: integers, one for each example.
      embeddings: rows, not of unit length.
      margin: how much closer.
    """
    distances = pairwise_distance(embeddings)
    same = _same_label(labels)
    others = tf.cast(tf.logical_not(same), tf.float32)
    violations = margin - distances
    worst = masked_maximum(violations, others)
    worst_of_both = tf.maximum(worst, tf.transpose(worst))
    # Axes: one of the pair, the other, a stranger.
    exponents = violations[:, None, :] - worst_of_both[:, :, None]
    of_one = tf.reduce_sum(tf.exp(exponents) * others[:, None, :], axis=2)
    losses = worst_of_both + tf.log(of_one + tf.transpose(of_one)) + distances
    positives = _positive_pairs(same)
    squares = tf.square(tf.maximum(losses * positives, 0.0))
    return tf.truediv(
        0.25 * tf.reduce_sum(squares), tf.reduce_sum(positives) / 2.0, name="liftedstruct_loss"
    )


__getattr__ = lazy_paths.resolver(__name__)
