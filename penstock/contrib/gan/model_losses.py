"""Both losses of a model, with the terms that are asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.gan import losses as gan_losses
from penstock.contrib.gan.losses import wargs
from penstock.contrib.gan.namedtuples import (
    ACGANModel,
    CycleGANLoss,
    CycleGANModel,
    GANLoss,
    GANModel,
    InfoGANModel,
    StarGANModel,
)

__all__ = ["cyclegan_loss", "gan_loss", "stargan_loss"]

_Loss = Callable[..., Any]

_OF_STAR_GENERATOR = gan_losses.stargan_generator_loss_wrapper(wargs.wasserstein_generator_loss)
_OF_STAR_DISCRIMINATOR = gan_losses.stargan_discriminator_loss_wrapper(
    wargs.wasserstein_discriminator_loss
)


def _checked_weight(weight: Any, name: str) -> Any:
    """A weight that must not be negative: checked now, or in each step if it is a tensor."""
    if isinstance(weight, tf.Tensor):
        weight.shape.assert_is_compatible_with([])
        with tf.control_dependencies([tf.assert_greater_equal(weight, 0.0)]):
            return tf.identity(weight)
    if weight is not None and weight < 0:
        raise ValueError(f"`{name}` must be greater than 0. Instead, was {weight}")
    return weight


def _is_used(weight: Any) -> bool:
    return weight is not None and (isinstance(weight, tf.Tensor) or weight > 0)


def _tensor_pool_adjusted_model(model: Any, tensor_pool_fn: _Loss) -> Any:
    """The model with the discriminator applied to generated data out of a pool."""
    if not isinstance(model, (GANModel, ACGANModel, InfoGANModel)):
        raise ValueError(f"Tensor pool does not support `model`: {type(model)}.")
    if isinstance(model, InfoGANModel):
        inputs, data, structured = tensor_pool_fn(
            (model.generator_inputs, model.generated_data, model.structured_generator_inputs)
        )
    else:
        inputs, data = tensor_pool_fn((model.generator_inputs, model.generated_data))
    pooled: Any = model._replace(generator_inputs=inputs, generated_data=data)
    with tf.variable_scope(model.discriminator_scope, reuse=True):
        if isinstance(model, InfoGANModel):
            outputs, distributions = model.discriminator_and_aux_fn(data, inputs)
            return pooled._replace(
                structured_generator_inputs=structured,
                discriminator_gen_outputs=outputs,
                predicted_distributions=distributions,
            )
        outputs = model.discriminator_fn(data, inputs)
    if isinstance(model, ACGANModel):
        logits, classification = outputs
        return pooled._replace(
            discriminator_gen_outputs=logits,
            discriminator_gen_classification_logits=classification,
        )
    return pooled._replace(discriminator_gen_outputs=outputs)


def _regularization(scope: Any) -> Any:
    return tf.losses.get_regularization_loss(scope.name) if scope else 0


def gan_loss(
    model: Any,
    generator_loss_fn: _Loss = gan_losses.wasserstein_generator_loss,
    discriminator_loss_fn: _Loss = gan_losses.wasserstein_discriminator_loss,
    gradient_penalty_weight: Any = None,
    gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: Any = 1.0,
    gradient_penalty_one_sided: bool = False,
    mutual_information_penalty_weight: Any = None,
    aux_cond_generator_weight: Any = None,
    aux_cond_discriminator_weight: Any = None,
    tensor_pool_fn: _Loss | None = None,
    add_summaries: bool = True,
) -> GANLoss:
    """The losses of generator and discriminator, with those of regularizers.

    Args:
      model: a `GANModel`, `InfoGANModel` or `ACGANModel`.
      generator_loss_fn: a loss of the model.
      discriminator_loss_fn: a loss of the model.
      gradient_penalty_weight: of the penalty of the discriminator's slopes.
      gradient_penalty_epsilon: see `wasserstein_gradient_penalty`.
      gradient_penalty_target: see there.
      gradient_penalty_one_sided: see there.
      mutual_information_penalty_weight: of the penalty of an `InfoGANModel`.
      aux_cond_generator_weight: of the classification loss of an `ACGANModel`, for the generator.
      aux_cond_discriminator_weight: the same for the discriminator.
      tensor_pool_fn: keeps generated data, as `features.tensor_pool` does.
      add_summaries: whether to add summaries of the losses.
    """
    penalty_weight = _checked_weight(gradient_penalty_weight, "gradient_penalty_weight")
    information_weight = _checked_weight(mutual_information_penalty_weight, "infogan_weight")
    generator_weight = _checked_weight(aux_cond_generator_weight, "aux_cond_generator_weight")
    discriminator_weight = _checked_weight(
        aux_cond_discriminator_weight, "aux_cond_discriminator_weight"
    )
    if _is_used(information_weight) and not isinstance(model, InfoGANModel):
        raise ValueError(
            "When `mutual_information_penalty_weight` is provided, `model` must be an "
            f"`InfoGANModel`. Instead, was {type(model)}."
        )
    classified = _is_used(generator_weight) or _is_used(discriminator_weight)
    if classified and not isinstance(model, ACGANModel):
        raise ValueError(
            "When `aux_cond_generator_weight` or `aux_cond_discriminator_weight` is provided, "
            f"`model` must be an `ACGANModel`. Instead, was {type(model)}."
        )
    pooled = _tensor_pool_adjusted_model(model, tensor_pool_fn) if tensor_pool_fn else model
    generator_loss = generator_loss_fn(model, add_summaries=add_summaries)
    discriminator_loss = discriminator_loss_fn(pooled, add_summaries=add_summaries)
    if _is_used(penalty_weight):
        discriminator_loss += penalty_weight * gan_losses.wasserstein_gradient_penalty(
            pooled,
            epsilon=gradient_penalty_epsilon,
            target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided,
            add_summaries=add_summaries,
        )
    if _is_used(information_weight):
        penalty = gan_losses.mutual_information_penalty
        information = penalty(model, add_summaries=add_summaries)
        seen = information if pooled is model else penalty(pooled, add_summaries=add_summaries)
        generator_loss += information_weight * information
        discriminator_loss += information_weight * seen
    if _is_used(generator_weight):
        generator_loss += generator_weight * gan_losses.acgan_generator_loss(
            model, add_summaries=add_summaries
        )
    if _is_used(discriminator_weight):
        discriminator_loss += discriminator_weight * gan_losses.acgan_discriminator_loss(
            pooled, add_summaries=add_summaries
        )
    return GANLoss(
        generator_loss + _regularization(model.generator_scope),
        discriminator_loss + _regularization(model.discriminator_scope),
    )


def cyclegan_loss(
    model: CycleGANModel,
    generator_loss_fn: _Loss = gan_losses.least_squares_generator_loss,
    discriminator_loss_fn: _Loss = gan_losses.least_squares_discriminator_loss,
    cycle_consistency_loss_fn: _Loss = gan_losses.cycle_consistency_loss,
    cycle_consistency_loss_weight: Any = 10.0,
    **kwargs: Any,
) -> CycleGANLoss:
    """The losses of both directions, the consistency of the cycle in both generators'.

    Other arguments are those of `gan_loss`.
    """
    if not isinstance(model, CycleGANModel):
        raise ValueError(f"`model` must be a `CycleGANModel`. Instead, was {type(model)}.")
    consistency = cycle_consistency_loss_fn(model, add_summaries=kwargs.get("add_summaries", True))
    weight = _checked_weight(cycle_consistency_loss_weight, "cycle_consistency_loss_weight")
    weighted = weight * consistency

    def one_way(partial_model: GANModel) -> GANLoss:
        loss = gan_loss(partial_model, generator_loss_fn, discriminator_loss_fn, **kwargs)
        return loss._replace(generator_loss=loss.generator_loss + weighted)

    with tf.name_scope("cyclegan_loss_x2y"):
        loss_x2y = one_way(model.model_x2y)
    with tf.name_scope("cyclegan_loss_y2x"):
        loss_y2x = one_way(model.model_y2x)
    return CycleGANLoss(loss_x2y, loss_y2x)


def stargan_loss(
    model: StarGANModel,
    generator_loss_fn: _Loss = _OF_STAR_GENERATOR,
    discriminator_loss_fn: _Loss = _OF_STAR_DISCRIMINATOR,
    gradient_penalty_weight: Any = 10.0,
    gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: Any = 1.0,
    gradient_penalty_one_sided: bool = False,
    reconstruction_loss_fn: _Loss = tf.losses.absolute_difference,
    reconstruction_loss_weight: Any = 10.0,
    classification_loss_fn: _Loss = tf.losses.softmax_cross_entropy,
    classification_loss_weight: Any = 1.0,
    classification_one_hot: bool = True,
    add_summaries: bool = True,
) -> GANLoss:
    """The losses of a `StarGANModel`: adversarial, of slopes, of reconstruction, of domains."""

    def classification(labels: Any, logits: Any, scope: str) -> Any:
        with tf.name_scope(scope, values=(labels, logits)):
            loss = classification_loss_fn(onehot_labels=labels, logits=logits)
            if not classification_one_hot:
                loss = tf.reduce_sum(loss, axis=1)
            loss = tf.reduce_mean(loss)
            if add_summaries:
                tf.summary.scalar(scope, loss)
            return loss

    model.input_data_domain_label.shape.assert_has_rank(2)
    model.input_data_domain_label.shape[1:].assert_is_fully_defined()
    generator_loss = generator_loss_fn(model, add_summaries=add_summaries)
    discriminator_loss = discriminator_loss_fn(model, add_summaries=add_summaries)
    if _is_used(gradient_penalty_weight):
        penalty = gan_losses.stargan_gradient_penalty_wrapper(wargs.wasserstein_gradient_penalty)(
            model,
            epsilon=gradient_penalty_epsilon,
            target=gradient_penalty_target,
            one_sided=gradient_penalty_one_sided,
            add_summaries=add_summaries,
        )
        discriminator_loss += penalty * gradient_penalty_weight
    reconstruction = reconstruction_loss_fn(model.input_data, model.reconstructed_data)
    generator_loss += reconstruction * reconstruction_loss_weight
    if add_summaries:
        tf.summary.scalar("reconstruction_loss", reconstruction)
    of_generated = classification(
        model.generated_data_domain_target,
        model.discriminator_generated_data_domain_predication,
        "generator_classification_loss",
    )
    of_input = classification(
        model.input_data_domain_label,
        model.discriminator_input_data_domain_predication,
        "discriminator_classification_loss",
    )
    return GANLoss(
        generator_loss + of_generated * classification_loss_weight,
        discriminator_loss + of_input * classification_loss_weight,
    )
