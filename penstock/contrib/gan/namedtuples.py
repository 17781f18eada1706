"""What the four steps of training a GAN hand on: a model, its losses, operations, step counts."""

from __future__ import annotations

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


class InfoGANModel(NamedTuple):
    """A `GANModel` whose discriminator recognizes part of the noise (Chen et al., 2016)."""

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
    structured_generator_inputs: Any
    predicted_distributions: Any
    discriminator_and_aux_fn: Any


class ACGANModel(NamedTuple):
    """A `GANModel` whose discriminator also classifies (Odena et al., 2016)."""

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
    one_hot_labels: Any
    discriminator_real_classification_logits: Any
    discriminator_gen_classification_logits: Any


class CycleGANModel(NamedTuple):
    """Two `GANModel`s, one from X to Y and one back, and what went both ways."""

    model_x2y: GANModel
    model_y2x: GANModel
    reconstructed_x: Any
    reconstructed_y: Any


class StarGANModel(NamedTuple):
    """One generator between many domains, and a discriminator that tells them (Choi, 2017)."""

    input_data: Any
    input_data_domain_label: Any
    generated_data: Any
    generated_data_domain_target: Any
    reconstructed_data: Any
    discriminator_input_data_source_predication: Any
    discriminator_generated_data_source_predication: Any
    discriminator_input_data_domain_predication: Any
    discriminator_generated_data_domain_predication: Any
    generator_variables: Any
    generator_scope: Any
    generator_fn: Any
    discriminator_variables: Any
    discriminator_scope: Any
    discriminator_fn: Any


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
