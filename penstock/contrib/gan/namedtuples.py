"""What the four steps of training a GAN hand on: a model, its losses, operations, step counts."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = [
    "ACGANModel",
    "CycleGANLoss",
    "CycleGANModel",
    "GANLoss",
    "GANModel",
    "GANTrainOps",
    "GANTrainSteps",
    "InfoGANModel",
    "StarGANModel",
]

_NETWORKS = (
    "generator_variables generator_scope generator_fn "
    "discriminator_variables discriminator_scope discriminator_fn"
).split()


class GANModel(NamedTuple):
    """A generator and a discriminator, with what they made of noise and of real data."""

    generator_inputs: Any
    generated_data: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    real_data: Any
    discriminator_real_outputs: Any
    discriminator_gen_outputs: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any


class InfoGANModel(
    namedtuple(  # type: ignore[misc]
        "InfoGANModel",
        (
            *GANModel._fields,
            "structured_generator_inputs",
            "predicted_distributions",
            "discriminator_and_aux_fn",
        ),
    )
):
    """A `GANModel` whose discriminator recognizes part of the noise (Chen et al., 2016)."""


class ACGANModel(
    namedtuple(  # type: ignore[misc]
        "ACGANModel",
        (
            *GANModel._fields,
            "one_hot_labels",
            "discriminator_real_classification_logits",
            "discriminator_gen_classification_logits",
        ),
    )
):
    """A `GANModel` whose discriminator also classifies (Odena et al., 2016)."""


class CycleGANModel(NamedTuple):
    """Two `GANModel`s, one from X to Y and one back, and what went both ways."""

    model_x2y: GANModel
    model_y2x: GANModel
    reconstructed_x: Any
    reconstructed_y: Any


class StarGANModel(
    namedtuple(  # type: ignore[misc]
        "StarGANModel",
        [
            "input_data",
            "input_data_domain_label",
            "generated_data",
            "generated_data_domain_target",
            "reconstructed_data",
            "discriminator_input_data_source_predication",
            "discriminator_generated_data_source_predication",
            "discriminator_input_data_domain_predication",
            "discriminator_generated_data_domain_predication",
            *_NETWORKS,
        ],
    )
):
    """One generator between many domains, and a discriminator that tells them (Choi, 2017)."""


class GANLoss(NamedTuple):
    """The losses of generator and discriminator."""

    generator_loss: Any
    discriminator_loss: Any


class CycleGANLoss(NamedTuple):
    """The `GANLoss` of each direction."""

    loss_x2y: GANLoss
    loss_y2x: GANLoss


class GANTrainOps(NamedTuple):
    """Operations that update each network, and the one that counts steps."""

    generator_train_op: Any
    discriminator_train_op: Any
    global_step_inc_op: Any
    train_hooks: Sequence[Any] = ()


class GANTrainSteps(NamedTuple):
    """How often each network is updated in a step."""

    generator_train_steps: int
    discriminator_train_steps: int
