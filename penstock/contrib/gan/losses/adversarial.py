"""Losses of generators and discriminators, from what a discriminator gives.

Each takes outputs of any rank, so that a discriminator may judge patches one by one.
"""

from __future__ import annotations

from typing import Any

import penstock as tf

__all__ = [
    "acgan_discriminator_loss",
    "acgan_generator_loss",
    "least_squares_discriminator_loss",
    "least_squares_generator_loss",
    "minimax_discriminator_loss",
    "minimax_generator_loss",
    "modified_discriminator_loss",
    "modified_generator_loss",
    "wasserstein_discriminator_loss",
    "wasserstein_generator_loss",
]

_LOSSES = tf.GraphKeys.LOSSES
_MEAN = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS


def _summarize(add_summaries: bool, **scalars: Any) -> None:
    if add_summaries:
        for name, value in scalars.items():
            tf.summary.scalar(name, value)


def _comparable(real: Any, generated: Any) -> tuple[Any, Any]:
    """Both outputs of a discriminator as floats; their shapes must agree."""
    real, generated = tf.to_float(real), tf.to_float(generated)
    real.shape.assert_is_compatible_with(generated.shape)
    return real, generated


def wasserstein_generator_loss(
    discriminator_gen_outputs: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Minus what the discriminator gives generated data (Arjovsky et al., 2017)."""
    values = (discriminator_gen_outputs, weights)
    with tf.name_scope(scope, "generator_wasserstein_loss", values) as scope:
        loss = tf.losses.compute_weighted_loss(
            -tf.to_float(discriminator_gen_outputs), weights, scope, loss_collection, reduction
        )
        _summarize(add_summaries, generator_wass_loss=loss)
    return loss


def wasserstein_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """What the discriminator gives generated data, less what it gives real data."""
    values = (
        discriminator_real_outputs,
        discriminator_gen_outputs,
        real_weights,
        generated_weights,
    )
    with tf.name_scope(scope, "discriminator_wasserstein_loss", values) as scope:
        real, generated = _comparable(discriminator_real_outputs, discriminator_gen_outputs)
        on_generated = tf.losses.compute_weighted_loss(
            generated, generated_weights, scope, loss_collection=None, reduction=reduction
        )
        on_real = tf.losses.compute_weighted_loss(
            real, real_weights, scope, loss_collection=None, reduction=reduction
        )
        loss = on_generated - on_real
        tf.losses.add_loss(loss, loss_collection)
        _summarize(
            add_summaries,
            discriminator_gen_wass_loss=on_generated,
            discriminator_real_wass_loss=on_real,
            discriminator_wass_loss=loss,
        )
    return loss


def acgan_discriminator_loss(
    discriminator_real_classification_logits: Any,
    discriminator_gen_classification_logits: Any,
    one_hot_labels: Any,
    label_smoothing: float = 0.0,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """The cross entropy of the classes of real and of generated data (Odena et al., 2016)."""
    values = (
        discriminator_real_classification_logits,
        discriminator_gen_classification_logits,
        one_hot_labels,
    )
    with tf.name_scope(scope, "acgan_discriminator_loss", values) as scope:
        on_generated = tf.losses.softmax_cross_entropy(
            one_hot_labels,
            discriminator_gen_classification_logits,
            weights=generated_weights,
            scope=scope,
            loss_collection=None,
            reduction=reduction,
        )
        on_real = tf.losses.softmax_cross_entropy(
            one_hot_labels,
            discriminator_real_classification_logits,
            weights=real_weights,
            label_smoothing=label_smoothing,
            scope=scope,
            loss_collection=None,
            reduction=reduction,
        )
        loss = on_generated + on_real
        tf.losses.add_loss(loss, loss_collection)
        _summarize(
            add_summaries,
            discriminator_gen_ac_loss=on_generated,
            discriminator_real_ac_loss=on_real,
            discriminator_ac_loss=loss,
        )
    return loss


def acgan_generator_loss(
    discriminator_gen_classification_logits: Any,
    one_hot_labels: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """The cross entropy of the classes of generated data."""
    values = (discriminator_gen_classification_logits, one_hot_labels)
    with tf.name_scope(scope, "acgan_generator_loss", values) as scope:
        loss = tf.losses.softmax_cross_entropy(
            one_hot_labels,
            discriminator_gen_classification_logits,
            weights=weights,
            scope=scope,
            loss_collection=loss_collection,
            reduction=reduction,
        )
        _summarize(add_summaries, generator_ac_loss=loss)
    return loss


def minimax_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.25,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """The cross entropy of real as 1 and generated as 0 (Goodfellow et al., 2014)."""
    values = (
        discriminator_real_outputs,
        discriminator_gen_outputs,
        real_weights,
        generated_weights,
        label_smoothing,
    )
    with tf.name_scope(scope, "discriminator_minimax_loss", values) as scope:
        on_real = tf.losses.sigmoid_cross_entropy(
            tf.ones_like(discriminator_real_outputs),
            discriminator_real_outputs,
            real_weights,
            label_smoothing,
            scope,
            loss_collection=None,
            reduction=reduction,
        )
        on_generated = tf.losses.sigmoid_cross_entropy(
            tf.zeros_like(discriminator_gen_outputs),
            discriminator_gen_outputs,
            generated_weights,
            scope=scope,
            loss_collection=None,
            reduction=reduction,
        )
        loss = on_real + on_generated
        tf.losses.add_loss(loss, loss_collection)
        _summarize(
            add_summaries,
            discriminator_gen_minimax_loss=on_generated,
            discriminator_real_minimax_loss=on_real,
            discriminator_minimax_loss=loss,
        )
    return loss


def minimax_generator_loss(
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.0,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Minus the loss of the discriminator; its gradient is small where it is needed most."""
    with tf.name_scope(scope, "generator_minimax_loss") as scope:
        loss = -minimax_discriminator_loss(
            tf.ones_like(discriminator_gen_outputs),
            discriminator_gen_outputs,
            label_smoothing,
            weights,
            weights,
            scope,
            loss_collection,
            reduction,
        )
    _summarize(add_summaries, generator_minimax_loss=loss)
    return loss


def modified_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.25,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """`minimax_discriminator_loss`, by the name that goes with `modified_generator_loss`."""
    return minimax_discriminator_loss(
        discriminator_real_outputs,
        discriminator_gen_outputs,
        label_smoothing,
        real_weights,
        generated_weights,
        scope or "discriminator_modified_loss",
        loss_collection,
        reduction,
        add_summaries,
    )


def modified_generator_loss(
    discriminator_gen_outputs: Any,
    label_smoothing: float = 0.0,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """The cross entropy of generated data as real: it does not flatten early in training."""
    with tf.name_scope(scope, "generator_modified_loss", [discriminator_gen_outputs]) as scope:
        loss = tf.losses.sigmoid_cross_entropy(
            tf.ones_like(discriminator_gen_outputs),
            discriminator_gen_outputs,
            weights,
            label_smoothing,
            scope,
            loss_collection,
            reduction,
        )
        _summarize(add_summaries, generator_modified_loss=loss)
    return loss


def least_squares_generator_loss(
    discriminator_gen_outputs: Any,
    real_label: Any = 1,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Half the squared distance of generated data's outputs from `real_label` (Mao, 2016)."""
    values = (discriminator_gen_outputs, real_label)
    with tf.name_scope(scope, "lsq_generator_loss", values) as scope:
        generated = tf.to_float(discriminator_gen_outputs)
        squares = tf.squared_difference(generated, real_label) / 2.0
        loss = tf.losses.compute_weighted_loss(squares, weights, scope, loss_collection, reduction)
    _summarize(add_summaries, generator_lsq_loss=loss)
    return loss


def least_squares_discriminator_loss(
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    real_label: Any = 1,
    fake_label: Any = 0,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """Half the squared distances of the outputs from `real_label` and from `fake_label`."""
    values = (discriminator_gen_outputs, real_label)
    with tf.name_scope(scope, "lsq_discriminator_loss", values) as scope:
        real, generated = _comparable(discriminator_real_outputs, discriminator_gen_outputs)
        real_squares = tf.squared_difference(real, real_label) / 2.0
        fake_squares = tf.squared_difference(generated, fake_label) / 2.0
        on_real = tf.losses.compute_weighted_loss(
            real_squares, real_weights, scope, loss_collection=None, reduction=reduction
        )
        on_generated = tf.losses.compute_weighted_loss(
            fake_squares, generated_weights, scope, loss_collection=None, reduction=reduction
        )
        loss = on_real + on_generated
        tf.losses.add_loss(loss, loss_collection)
    _summarize(
        add_summaries,
        discriminator_gen_lsq_loss=on_generated,
        discriminator_real_lsq_loss=on_real,
        discriminator_lsq_loss=loss,
    )
    return loss
