"""`tf.keras.models`."""

from __future__ import annotations

import json
from typing import Any

from penstock.keras.cloning import (
    _in_place_subclassed_model_reset,
    clone_model,
)
from penstock.keras.engine.model import Model
from penstock.keras.engine.network import yaml_module
from penstock.keras.engine.sequential import Sequential
from penstock.keras.metrics import clone_metrics
from penstock.keras.optimizers.tf_optimizer import TFOptimizer
from penstock.keras.utils.serialization import scope_of

__all__ = [
    "Model",
    "Sequential",
    "clone_model",
    "load_model",
    "model_from_config",
    "model_from_json",
    "model_from_yaml",
    "save_model",
]


def save_model(
    model: Any,
    filepath: str,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Any = None,
    options: Any = None,
) -> None:
    """Writes architecture, weights and the optimizer's state into an HDF5 file."""
    from penstock.keras import saving

    saving.save_model(model, filepath, overwrite, include_optimizer, save_format)


def load_model(
    filepath: Any, custom_objects: dict[str, Any] | None = None, compile: bool = True
) -> Any:
    """The model that `save_model` wrote.

    Args:
      custom_objects: the program's own classes and functions by name.
      compile: whether to restore the optimizer as well.
    """
    from penstock.keras import saving

    return saving.load_model(filepath, custom_objects, compile)


def model_from_config(config: Any, custom_objects: Any = None) -> Any:
    """The model that `get_config` and a class name describe, with new weights."""
    from penstock.keras.layers import deserialize

    if isinstance(config, list):
        raise TypeError(
            "`model_from_config` expects a dictionary, not a list. Maybe you meant to use "
            "`Sequential.from_config(config)`?"
        )
    return deserialize(config, custom_objects=custom_objects)


def model_from_json(json_string: str, custom_objects: Any = None) -> Any:
    """The model that `to_json` described, with new weights."""
    return model_from_config(json.loads(json_string), custom_objects)


def model_from_yaml(yaml_string: str, custom_objects: Any = None) -> Any:
    """The model that `to_yaml` described, with new weights."""
    return model_from_config(yaml_module().safe_load(yaml_string), custom_objects)


def clone_and_build_model(
    model: Any,
    input_tensors: Any = None,
    target_tensors: Any = None,
    custom_objects: dict[str, Any] | None = None,
    compile_clone: bool = True,
    in_place_reset: bool = False,
    optimizer_iterations: Any = None,
    optimizer_config: dict[str, Any] | None = None,
) -> Any:
    """A clone of a model, compiled as the model is.

    Args:
      target_tensors: tensors to use as labels.
      in_place_reset: whether a model that is defined by its `call`, and that has no
        configuration, is emptied and used as its own clone.
      optimizer_iterations: the variable that counts the clone's training steps.
      optimizer_config: what the clone's optimizer is, if not like the model's.
    """
    if compile_clone and not model.optimizer:
        raise ValueError(
            "Error when cloning model: compile_clone was set to True, but the original model has "
            "not been compiled."
        )
    optimizer, loss, given = model.optimizer, model.loss, model._compile_arguments
    with scope_of(custom_objects):
        if model._is_graph_network or isinstance(model, Sequential):
            clone = clone_model(model, input_tensors=input_tensors)
        else:
            clone = _from_own_config(model, in_place_reset)
            if input_tensors is not None:
                clone._set_inputs(input_tensors)
    if not compile_clone:
        return clone
    clone.compile(
        _optimizer_like(optimizer, optimizer_iterations, optimizer_config),
        loss,
        metrics=clone_metrics(given["metrics"]),
        loss_weights=given["loss_weights"],
        sample_weight_mode=given["sample_weight_mode"],
        weighted_metrics=clone_metrics(given["weighted_metrics"]),
        target_tensors=target_tensors,
    )
    return clone


def _from_own_config(model: Any, in_place_reset: bool) -> Any:
    try:
        return type(model).from_config(model.get_config())
    except NotImplementedError:
        if in_place_reset:
            _in_place_subclassed_model_reset(model)
            return model
        raise ValueError(
            "This model is a subclassed model. Such a model cannot be cloned, but there is a "
            "workaround where the model is reset in-place. To use this, please set the argument "
            "`in_place_reset` to `True`. This will reset the attributes in the original model. To "
            "restore the attributes, call `in_place_subclassed_model_state_restoration(model)`."
        ) from None


def _optimizer_like(optimizer: Any, iterations: Any, config: dict[str, Any] | None) -> Any:
    if isinstance(optimizer, TFOptimizer):
        return TFOptimizer(optimizer.optimizer, iterations)
    made = type(optimizer).from_config(optimizer.get_config() if config is None else config)
    if iterations is not None:
        made.iterations = iterations
    return made
