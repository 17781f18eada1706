"""Optimizers that keep weights in bounds, so that a discriminator's slopes are bounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.contrib.opt.wrappers import VariableClippingOptimizer

__all__ = ["clip_discriminator_weights", "clip_variables"]


def clip_variables(optimizer: Any, variables: Sequence[Any], weight_clip: float) -> Any:
    """An optimizer that clips each value of some variables after its steps."""
    if weight_clip < 0:
        raise ValueError(
            f"`discriminator_weight_clip` must be positive. Instead, was {weight_clip}"
        )
    return VariableClippingOptimizer(
        opt=optimizer,
        vars_to_clip_dims={variable: [] for variable in variables},  # no axes: value by value
        max_norm=weight_clip,
        use_locking=True,
        colocate_clip_ops_with_vars=True,
    )


def clip_discriminator_weights(optimizer: Any, model: Any, weight_clip: float) -> Any:
    """An optimizer that clips the variables of a model's discriminator after its steps."""
    return clip_variables(optimizer, model.discriminator_variables, weight_clip)
