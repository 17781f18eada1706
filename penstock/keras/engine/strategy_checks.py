"""What `compile` refuses under a strategy."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.keras.engine.layer_graph import is_eager_outside
from penstock.keras.optimizers.tf_optimizer import TFOptimizer


def check_strategy(model: Any, arguments: dict[str, Any]) -> None:
    """Refuses a model or arguments of `compile` that the strategy around can not distribute."""
    if not tf.distribute.has_strategy() or not tf.distribute.in_cross_replica_context():
        return
    used = model.optimizer if isinstance(model.optimizer, list) else [model.optimizer]
    steps_are_functions = (
        model._experimental_run_tf_function
        and is_eager_outside()
        and arguments["sample_weight_mode"] is None
        and arguments["target_tensors"] is None
        and not any(isinstance(each, TFOptimizer) for each in used)
    )
    if not steps_are_functions:
        _check_arguments(model, arguments)
    if model.outputs:
        _check_variables(model, tf.distribute.get_strategy())


def _check_arguments(model: Any, arguments: dict[str, Any]) -> None:
    """Refuses what is only distributed by steps that are `tf.function`s."""
    for key in ("sample_weight_mode", "weighted_metrics"):
        if arguments[key]:
            raise NotImplementedError(f"{key} is not supported with tf.distribute.Strategy.")
    if arguments["target_tensors"]:
        raise ValueError("target_tensors is not supported with tf.distribute.Strategy.")
    if model.run_eagerly:
        raise ValueError(
            "We currently do not support enabling `run_eagerly` with distribution strategy."
        )
    if not is_eager_outside() and not (model.built and model.inputs and model.outputs):
        raise ValueError(
            "We currently do not support distribution strategy with a `Sequential` model that is "
            "created without `input_shape`/`input_dim` set in its first layer or a subclassed "
            "model."
        )


def _check_variables(model: Any, strategy: Any) -> None:
    """Refuses a model some of whose variables were made outside of the strategy's scope."""
    for variable in model.variables:
        if not strategy.extended.variable_created_in_scope(variable):
            raise ValueError(
                f"Variable ({variable}) was not created in the distribution strategy scope of "
                f"({strategy}): build the model, its layers and its optimizer, and compile it, "
                "in the same `with strategy.scope():`."
            )
