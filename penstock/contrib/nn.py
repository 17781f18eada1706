"""`tf.contrib.nn`: losses with logits first, alpha dropout, scaled softplus."""

from __future__ import annotations

import numbers
from typing import Any

import penstock as tf
from penstock.contrib import lazy_paths
from penstock.ir.constants import constant_value
from penstock.ops.convolution import conv1d_transpose as conv1d_transpose
from penstock.ops.embedding import _embedding_lookup_and_transform
from penstock.ops.nth_element import nth_element as nth_element
from penstock.ops.sampled_losses import _sampled_logits

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


def rank_sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    resampling_temperature: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> Any:
    """`tf.nn.sampled_softmax_loss` of those sampled classes that are hardest to tell apart.

    Args:
      num_sampled: how many classes are drawn.
      num_resampled: how many of them, those with the largest logits, are used.
      sampled_values: what a candidate sampler gave; of learned unigrams by default.
      resampling_temperature: what logits are divided by before they are compared.
    """
    if num_sampled > num_classes:
        raise ValueError(
            f"num_sampled ({num_sampled}) cannot be greater than num_classes ({num_classes})"
        )
    if num_sampled <= num_resampled:
        raise ValueError(
            f"num_resampled ({num_resampled}) must be less than num_sampled ({num_sampled})"
        )
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    with tf.name_scope(
        name, "rank_sampled_softmax_loss", [weights, biases, labels, inputs]
    ) as name:
        if not sampled_values:
            sampled_values = tf.nn.learned_unigram_candidate_sampler(
                true_classes=labels,
                num_true=num_true,
                num_sampled=num_sampled,
                unique=True,
                range_max=num_classes,
            )
        classes, true_counts, counts = map(tf.stop_gradient, sampled_values)
        classes = tf.cast(classes, tf.int64)
        warm = inputs / resampling_temperature

        def largest(rows: Any) -> Any:
            return tf.reduce_logsumexp(tf.matmul(rows, warm, transpose_b=True), axis=1)

        logits = _embedding_lookup_and_transform(
            weights, classes, partition_strategy, transform_fn=largest
        )
        offsets = tf.nn.embedding_lookup(biases, classes, partition_strategy)
        logits += tf.reshape(offsets, [-1]) / resampling_temperature
        _, hardest = tf.nn.top_k(logits, k=num_resampled, sorted=False)
        return tf.nn.sampled_softmax_loss(
            weights=weights,
            biases=biases,
            labels=labels,
            inputs=inputs,
            num_sampled=num_resampled,
            num_classes=num_classes,
            num_true=num_true,
            sampled_values=(tf.gather(classes, hardest), true_counts, tf.gather(counts, hardest)),
            remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy,
            name=name,
        )


def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Any:
    """`tf.nn.sampled_softmax_loss` for one true class an example."""
    logits, _ = _sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        1,
        sampled_values,
        remove_accidental_hits,
        partition_strategy,
        name,
        None,
    )
    first = tf.zeros([tf.shape(logits)[0], 1], dtype=tf.int64)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.squeeze(first), logits=logits)


def fwd_gradients(ys: Any, xs: Any, grad_xs: Any = None, assert_unused: bool = False) -> Any:
    """The derivatives of ys in a direction of xs, by differentiating the gradients once more.

    Args:
      grad_xs: the direction, ones by default.
      assert_unused: whether a step fails that needs the gradients themselves.
    """
    factors = [tf.zeros_like(y) + float("nan") for y in ys]
    products = [
        tf.convert_to_tensor(each) if isinstance(each, tf.IndexedSlices) else each
        for each in tf.gradients(ys, xs, grad_ys=factors)
    ]
    if assert_unused:
        with tf.control_dependencies(products):
            failure = tf.Assert(False, [1], name="fwd_gradients")
        with tf.control_dependencies([failure]):
            products = tf.identity_n(products)
    found = []
    for x, product in zip(xs, products, strict=True):
        full = tf.zeros_like(x) if product is None else product
        full.set_shape(x.shape)
        found.append(full)
    return tf.gradients(found, factors, grad_ys=grad_xs)


__getattr__ = lazy_paths.resolver(__name__)

#: TensorFlow has modules in here, whose names are these.
__path__: list[str] = []
