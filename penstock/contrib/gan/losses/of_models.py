"""The losses of GANs, each of a model: its fields are the arguments that have their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from penstock.contrib.gan.losses import wargs
from penstock.contrib.gan.losses import wargs as losses_impl
from penstock.contrib.gan.namedtuples import CycleGANModel, GANLoss

_Loss = Callable[..., Any]

__all__ = [
    *(name for name in wargs.__all__),
    "stargan_discriminator_loss_wrapper",
    "stargan_generator_loss_wrapper",
    "stargan_gradient_penalty_wrapper",
]


def _named_like(loss_fn: _Loss, made: _Loss, kind: str) -> _Loss:
    made.__name__, made.__module__ = loss_fn.__name__, loss_fn.__module__
    made.__doc__ = f"The {kind} version of {loss_fn.__name__}."
    made.__docstring__ = made.__doc__  # type: ignore[attr-defined]
    return made


def _args_to_gan_model(loss_fn: _Loss) -> _Loss:
    """A loss of arguments as one of a model, with the other arguments by keyword."""
    parameters = inspect.signature(loss_fn).parameters

    def of_model(gan_model: Any, **kwargs: Any) -> Any:
        fields = {name: getattr(gan_model, name) for name in gan_model._fields}
        for name, parameter in parameters.items():
            needed = parameter.default is inspect.Parameter.empty
            if needed and name not in fields and name not in kwargs:
                raise ValueError(f"`{name}` must be supplied to {loss_fn.__name__} loss function.")
        both = fields.keys() & kwargs.keys()
        if both:
            raise ValueError(
                "The following args are present in both the tuple and keyword args for "
                f"{loss_fn.__name__}: {both}"
            )
        # A field without a value leaves an argument at its default.
        given = {
            name: value
            for name, value in fields.items()
            if name in parameters
            and (value is not None or parameters[name].default is inspect.Parameter.empty)
        }
        given.update(
            (name, value)
            for name, value in kwargs.items()
            if name not in parameters
            or value is not None
            or parameters[name].default is inspect.Parameter.empty
        )
        return loss_fn(**given)

    return _named_like(loss_fn, of_model, "gan_model")


acgan_discriminator_loss = _args_to_gan_model(wargs.acgan_discriminator_loss)
acgan_generator_loss = _args_to_gan_model(wargs.acgan_generator_loss)
least_squares_discriminator_loss = _args_to_gan_model(wargs.least_squares_discriminator_loss)
least_squares_generator_loss = _args_to_gan_model(wargs.least_squares_generator_loss)
minimax_discriminator_loss = _args_to_gan_model(wargs.minimax_discriminator_loss)
minimax_generator_loss = _args_to_gan_model(wargs.minimax_generator_loss)
modified_discriminator_loss = _args_to_gan_model(wargs.modified_discriminator_loss)
modified_generator_loss = _args_to_gan_model(wargs.modified_generator_loss)
mutual_information_penalty = _args_to_gan_model(wargs.mutual_information_penalty)
wasserstein_discriminator_loss = _args_to_gan_model(wargs.wasserstein_discriminator_loss)
wasserstein_generator_loss = _args_to_gan_model(wargs.wasserstein_generator_loss)
wasserstein_gradient_penalty = _args_to_gan_model(wargs.wasserstein_gradient_penalty)


def combine_adversarial_loss(
    gan_loss: GANLoss,
    gan_model: Any,
    non_adversarial_loss: Any,
    weight_factor: Any = None,
    gradient_ratio: Any = None,
    gradient_ratio_epsilon: float = 1e-6,
    scalar_summaries: bool = True,
    gradient_summaries: bool = True,
) -> GANLoss:
    """The losses with another one put beside the generator's, as `wargs` has it."""
    combined = losses_impl.combine_adversarial_loss(
        non_adversarial_loss,
        gan_loss.generator_loss,
        weight_factor,
        gradient_ratio,
        gradient_ratio_epsilon,
        gan_model.generator_variables,
        scalar_summaries,
        gradient_summaries,
    )
    return gan_loss._replace(generator_loss=combined)


def cycle_consistency_loss(
    cyclegan_model: CycleGANModel, scope: str | None = None, add_summaries: bool = False
) -> Any:
    """How far the data of both sets are from what went to the other set and back."""
    if not isinstance(cyclegan_model, CycleGANModel):
        raise ValueError(
            f"`cyclegan_model` must be a `CycleGANModel`. Instead, was {type(cyclegan_model)}."
        )
    return losses_impl.cycle_consistency_loss(
        cyclegan_model.model_x2y.generator_inputs,
        cyclegan_model.reconstructed_x,
        cyclegan_model.model_y2x.generator_inputs,
        cyclegan_model.reconstructed_y,
        scope,
        add_summaries,
    )


def stargan_generator_loss_wrapper(loss_fn: _Loss) -> _Loss:
    """A generator's loss as one of a `StarGANModel`."""

    def of_model(stargan_model: Any, **kwargs: Any) -> Any:
        return loss_fn(stargan_model.discriminator_generated_data_source_predication, **kwargs)

    return _named_like(loss_fn, of_model, "stargan_model")


def stargan_discriminator_loss_wrapper(loss_fn: _Loss) -> _Loss:
    """A discriminator's loss as one of a `StarGANModel`."""

    def of_model(stargan_model: Any, **kwargs: Any) -> Any:
        return loss_fn(
            stargan_model.discriminator_input_data_source_predication,
            stargan_model.discriminator_generated_data_source_predication,
            **kwargs,
        )

    return _named_like(loss_fn, of_model, "stargan_model")


def stargan_gradient_penalty_wrapper(loss_fn: _Loss) -> _Loss:
    """A gradient penalty as one of a `StarGANModel`; domains are counted from its labels."""

    def of_model(stargan_model: Any, **kwargs: Any) -> Any:
        return loss_fn(
            real_data=stargan_model.input_data,
            generated_data=stargan_model.generated_data,
            generator_inputs=stargan_model.input_data_domain_label.shape.as_list()[-1],
            discriminator_fn=stargan_model.discriminator_fn,
            discriminator_scope=stargan_model.discriminator_scope,
            **kwargs,
        )

    return _named_like(loss_fn, of_model, "stargan_model")
