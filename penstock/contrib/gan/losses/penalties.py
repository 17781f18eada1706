"""What is added to the losses of GANs: penalties, consistency, a main loss beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.framework.variables import get_trainable_variables
from penstock.ir.constants import constant_value

__all__ = [
    "combine_adversarial_loss",
    "cycle_consistency_loss",
    "mutual_information_penalty",
    "wasserstein_gradient_penalty",
]

_LOSSES = tf.GraphKeys.LOSSES
_MEAN = tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS


def _of_known_rank(data: Any, argument: str) -> Any:
    data = tf.convert_to_tensor(data)
    if data.shape.ndims is None:
        raise ValueError(f"`{argument}` can't have unknown rank.")
    return data


def _slopes(interpolates: Any, outputs: Any, batch_size: Any, epsilon: float) -> Any:
    """The norm of the discriminator's gradient at each example."""
    gradients = tf.gradients(outputs, interpolates)[0]
    squares = tf.reduce_sum(tf.square(gradients), axis=list(range(1, gradients.shape.ndims)))
    if isinstance(batch_size, int):
        squares.set_shape([batch_size, *squares.shape.as_list()[1:]])
    return tf.sqrt(squares + epsilon)  # epsilon keeps the gradient finite where it is zero


def wasserstein_gradient_penalty(
    real_data: Any,
    generated_data: Any,
    generator_inputs: Any,
    discriminator_fn: Callable[..., Any],
    discriminator_scope: Any,
    epsilon: float = 1e-10,
    target: Any = 1.0,
    one_sided: bool = False,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """How far the discriminator's slopes are from `target` between real and generated data.

    Args:
      real_data: examples.
      generated_data: as many examples, of the generator.
      generator_inputs: what the discriminator gets as its second argument.
      discriminator_fn: makes the discriminator.
      discriminator_scope: where its variables are, or None.
      epsilon: added to squared norms.
      target: the wanted norm of the gradient (Gulrajani et al., 2017).
      one_sided: whether slopes below the target go free (Petzka et al., 2017).
      weights: of examples.
      scope: of the nodes.
      loss_collection: to which the penalty is added.
      reduction: how penalties of examples are put together.
      add_summaries: whether to add a summary.
    """
    values = (real_data, generated_data)
    with tf.name_scope(scope, "wasserstein_gradient_penalty", values) as scope:
        real_data = _of_known_rank(real_data, "real_data")
        generated_data = _of_known_rank(generated_data, "generated_data")
        differences = generated_data - real_data
        batch_size = differences.shape.as_list()[0] or tf.shape(differences)[0]
        alpha = tf.random_uniform(shape=[batch_size] + [1] * (differences.shape.ndims - 1))
        interpolates = real_data + alpha * differences
        # Out of this name scope: updates of the discriminator are found by the name of its own.
        with (
            tf.name_scope(None),
            tf.variable_scope(discriminator_scope, "gpenalty_dscope", reuse=tf.AUTO_REUSE),
        ):
            outputs = discriminator_fn(interpolates, generator_inputs)
        if isinstance(outputs, tuple):  # with logits of classes after it
            outputs = outputs[0]
        penalties = _slopes(interpolates, outputs, batch_size, epsilon) / target - 1.0
        if one_sided:
            penalties = tf.maximum(0.0, penalties)
        penalty = tf.losses.compute_weighted_loss(
            tf.square(penalties),
            weights,
            scope=scope,
            loss_collection=loss_collection,
            reduction=reduction,
        )
        if add_summaries:
            tf.summary.scalar("gradient_penalty_loss", penalty)
        return penalty


def _check_distributions(distributions: Any) -> None:
    if not isinstance(distributions, (list, tuple)):
        raise ValueError(
            f"`distributions` must be a list or tuple. Instead, found {type(distributions)}."
        )
    for each in distributions:
        if not callable(getattr(each, "log_prob", None)):
            raise ValueError(
                f"`distributions` must be a list of `Distributions`. Instead, found {type(each)}."
            )


def mutual_information_penalty(
    structured_generator_inputs: Sequence[Any],
    predicted_distributions: Sequence[Any],
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: str | None = _LOSSES,
    reduction: str = _MEAN,
    add_summaries: bool = False,
) -> Any:
    """How unlikely the structured noise is under what the discriminator saw of it."""
    _check_distributions(predicted_distributions)
    if len(structured_generator_inputs) != len(predicted_distributions):
        raise ValueError(
            f"`structured_generator_inputs` length {len(structured_generator_inputs)} must be the "
            f"same as `predicted_distributions` length {len(predicted_distributions)}."
        )
    with tf.name_scope(scope, "mutual_information_loss") as scope:
        log_probs = [
            tf.reduce_mean(distribution.log_prob(noise))
            for distribution, noise in zip(
                predicted_distributions, structured_generator_inputs, strict=True
            )
        ]
        loss = -1 * tf.losses.compute_weighted_loss(
            log_probs, weights, scope, loss_collection=loss_collection, reduction=reduction
        )
        if add_summaries:
            tf.summary.scalar("mutual_information_penalty", loss)
    return loss


def _numerically_stable_global_norm(tensor_list: Sequence[Any]) -> Any:
    """The norm of all tensors together, scaled by their largest value so as not to overflow."""
    tensors = [tensor for tensor in tensor_list if tensor is not None]
    if not tensors:
        return 0.0
    largest = tf.reduce_max([tf.reduce_max(tf.abs(tensor)) for tensor in tensors])
    return largest * tf.global_norm([tensor / largest for tensor in tensors])


def _check_combination(losses: Sequence[Any], weight_factor: Any, gradient_ratio: Any) -> None:
    for loss in losses:
        loss.shape.assert_is_compatible_with([])
    if weight_factor is None and gradient_ratio is None:
        raise ValueError("`weight_factor` and `gradient_ratio` cannot both be `None.`")
    if weight_factor is not None and gradient_ratio is not None:
        raise ValueError("`weight_factor` and `gradient_ratio` cannot both be specified.")


def combine_adversarial_loss(
    main_loss: Any,
    adversarial_loss: Any,
    weight_factor: Any = None,
    gradient_ratio: Any = None,
    gradient_ratio_epsilon: float = 1e-6,
    variables: Sequence[Any] | None = None,
    scalar_summaries: bool = True,
    gradient_summaries: bool = True,
    scope: str | None = None,
) -> Any:
    """A main loss plus an adversarial one, weighted in one of two ways.

    Args:
      main_loss: a scalar.
      adversarial_loss: a scalar.
      weight_factor: of the adversarial loss; this or `gradient_ratio` must be given.
      gradient_ratio: the norm of the main loss's gradient in those of the adversarial one.
      gradient_ratio_epsilon: keeps the division of norms finite.
      variables: with respect to which gradients are taken; all trainable ones if None.
      scalar_summaries: whether to add summaries of the losses.
      gradient_summaries: whether to add summaries of their gradients.
      scope: of the nodes.
    """
    _check_combination([main_loss, adversarial_loss], weight_factor, gradient_ratio)
    if variables is None:
        variables = get_trainable_variables()
    with tf.name_scope(scope, "adversarial_loss", values=[main_loss, adversarial_loss]):
        if gradient_summaries or gradient_ratio is not None:
            main_norm, adversarial_norm = (
                _numerically_stable_global_norm(tf.gradients(loss, variables))
                for loss in (main_loss, adversarial_loss)
            )
        if scalar_summaries:
            tf.summary.scalar("main_loss", main_loss)
            tf.summary.scalar("adversarial_loss", adversarial_loss)
        if gradient_summaries:
            tf.summary.scalar("main_loss_gradients", main_norm)
            tf.summary.scalar("adversarial_loss_gradients", adversarial_norm)
        given = gradient_ratio if weight_factor is None else weight_factor
        if constant_value(tf.convert_to_tensor(given)) == 0:
            return main_loss
        if weight_factor is not None:
            return main_loss + tf.stop_gradient(weight_factor) * adversarial_loss
        coefficient = main_norm / (adversarial_norm + gradient_ratio_epsilon) / gradient_ratio
        tf.summary.scalar("adversarial_coefficient", coefficient)
        return main_loss + tf.stop_gradient(coefficient) * adversarial_loss


def cycle_consistency_loss(
    data_x: Any,
    reconstructed_data_x: Any,
    data_y: Any,
    reconstructed_data_y: Any,
    scope: str | None = None,
    add_summaries: bool = False,
) -> Any:
    """How far data are, in the mean, from what went to the other set and back."""
    values = [data_x, reconstructed_data_x, data_y, reconstructed_data_y]
    with tf.name_scope(scope, "cycle_consistency_loss", values=values):
        loss_x2x = tf.losses.absolute_difference(data_x, reconstructed_data_x)
        loss_y2y = tf.losses.absolute_difference(data_y, reconstructed_data_y)
        loss = (loss_x2x + loss_y2y) / 2.0
        if add_summaries:
            tf.summary.scalar("cycle_consistency_loss_x2x", loss_x2x)
            tf.summary.scalar("cycle_consistency_loss_y2y", loss_y2y)
            tf.summary.scalar("cycle_consistency_loss", loss)
    return loss
