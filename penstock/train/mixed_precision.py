"""`tf.train.experimental.enable_mixed_precision_graph_rewrite`: 16-bit floats without new code."""

from __future__ import annotations

from typing import Any

from penstock.client import mixed_precision_state as state
from penstock.config.optimizer import set_experimental_options
from penstock.platform import logging
from penstock.train.loss_scale_optimizer import MixedPrecisionLossScaleOptimizer
from penstock.train.optimizer import Optimizer

__all__ = ["disable_mixed_precision_graph_rewrite", "enable_mixed_precision_graph_rewrite"]


def enable_mixed_precision_graph_rewrite(opt: Any, loss_scale: Any = "dynamic") -> Any:
    """Lets new sessions compute matrix products and convolutions on GPUs in float16.

    Args:
      opt: a `tf.train.Optimizer` or a `tf.keras.optimizers.Optimizer`.
      loss_scale: a number, "dynamic", or a `tf.train.experimental.LossScale`.

    Returns:
      `opt` with loss scaling, which small gradients need in 16 bits.
    """
    if not state.using_default_mixed_precision_policy:
        raise ValueError(
            "The mixed precision graph rewrite cannot be enabled, because a keras mixed precision "
            "Policy has been set. Use one of the two."
        )
    wrapped = _wrapped(opt, loss_scale)
    if state.non_mixed_precision_session_created:
        logging.warn(
            "You already have existing Sessions that do not use mixed precision. "
            "enable_mixed_precision_graph_rewrite() will not affect these Sessions."
        )
    set_experimental_options({"auto_mixed_precision": True})
    state.mixed_precision_graph_rewrite_is_enabled = True
    return wrapped


def disable_mixed_precision_graph_rewrite() -> None:
    """Lets new sessions compute in the types of the graph again; loss scaling goes on."""
    if not state.mixed_precision_graph_rewrite_is_enabled:
        logging.warn(
            "disable_mixed_precision_graph_rewrite() called when mixed precision is already "
            "disabled."
        )
    set_experimental_options({"auto_mixed_precision": False})
    state.mixed_precision_graph_rewrite_is_enabled = False


# The names of the functions in `tensorflow.python.training.experimental`.
enable_mixed_precision_graph_rewrite_v1 = enable_mixed_precision_graph_rewrite
disable_mixed_precision_graph_rewrite_v1 = disable_mixed_precision_graph_rewrite


def _wrapped(opt: Any, loss_scale: Any) -> Any:
    kind = type(opt).__name__
    if kind in ("MixedPrecisionLossScaleOptimizer", "LossScaleOptimizer"):
        raise ValueError(
            f'"opt" must not already be an instance of a {kind}. '
            "`enable_mixed_precision_graph_rewrite` will automatically wrap the optimizer with a "
            f"{kind}."
        )
    if isinstance(opt, Optimizer):
        return MixedPrecisionLossScaleOptimizer(opt, loss_scale)
    from penstock.keras.mixed_precision.experimental import LossScaleOptimizer
    from penstock.keras.optimizers.base import OptimizerV2

    if isinstance(opt, OptimizerV2):
        return LossScaleOptimizer(opt, loss_scale)
    raise ValueError(
        '"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, '
        f"but got: {opt}"
    )
