"""`keras.saving.saving_utils`: what a file says about a model besides its weights."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Any

import penstock as tf
from penstock.keras import losses, optimizers
from penstock.keras.engine import network_config
from penstock.keras.engine.model_inputs import generic_output_names
from penstock.keras.engine.network import json_value
from penstock.keras.saving import _training_config
from penstock.keras.utils.hdf5_matrix import ask_to_proceed_with_overwrite


def extract_model_metrics(model: Any) -> dict[str, Any] | None:
    """The metrics that a model was compiled with, by name."""
    if not model._compile_arguments.get("metrics"):
        return None
    endpoints = model._endpoints
    return {each.name: each for endpoint in endpoints for each in endpoint.metrics}


def model_input_signature(model: Any) -> list[Any] | None:
    """The specs of a model's inputs, for any size of the batch; None if it has none yet."""
    if not model.inputs:
        return None
    specs = [
        tf.TensorSpec([None, *tensor.shape.as_list()[1:]], tensor.dtype, name=name)
        for tensor, name in zip(model.inputs, model.input_names, strict=True)
    ]
    if isinstance(model._nested_inputs, dict):
        return [dict(zip(sorted(model._nested_inputs), specs, strict=True))]
    return specs if len(specs) == 1 else [specs]


def trace_model_call(model: Any, input_signature: Any = None) -> Any:
    """A function that calls a model in inference, from its inputs to its outputs by name.

    Args:
      input_signature: specs of the inputs; by default those of the model, or of its `call`.
    """
    specs: Any = input_signature or getattr(model.call, "input_signature", None)
    specs = specs or model_input_signature(model)
    if specs is None:
        raise_model_input_error(model)

    def called(*args: Any) -> dict[str, Any]:
        outputs = tf.nest.flatten(model(args[0] if len(specs) == 1 else list(args), training=False))
        names = getattr(model, "output_names", None) or generic_output_names(outputs)
        return dict(zip(names, outputs, strict=True))

    return tf.function(called, input_signature=specs, autograph=False)


def raise_model_input_error(model: Any) -> None:
    """ValueError for a model whose inputs are not known yet."""
    raise ValueError(
        f"Model {model} cannot be saved because the input shapes have not been set. Usually, input "
        "shapes are automatically determined from calling .fit() or .predict(). To manually set "
        "the shapes, call model._set_inputs(inputs)."
    )


def layer_metadata(layer: Any) -> str:
    """What a SavedModel says of a layer, as JSON."""
    metadata: dict[str, Any] = {
        "class_name": type(layer).__name__,
        "name": layer.name,
        "trainable": layer.trainable,
        "expects_training_arg": layer._expects_training_arg,
        "dtype": layer.dtype,
        "batch_input_shape": getattr(layer, "_batch_input_shape", None),
    }
    with suppress(NotImplementedError):  # by models of a program's own class
        metadata["config"] = layer.get_config()
    spec = layer.input_spec
    metadata["input_spec"] = spec and tf.nest.map_structure(_described, spec)
    regularizer = layer.activity_regularizer
    metadata["activity_regularizer"] = (
        _described(regularizer) if hasattr(regularizer, "get_config") else None
    )
    return json.dumps(metadata, default=json_value)


def _described(value: Any) -> Any:
    if value is None:
        return None
    return {"class_name": type(value).__name__, "config": value.get_config()}


def model_metadata(
    model: Any, include_optimizer: bool = True, require_config: bool = True
) -> dict[str, Any]:
    """Architecture and training of a model, in what JSON can hold."""
    config: dict[str, Any] = {"class_name": type(model).__name__}
    try:
        config["config"] = model.get_config()
    except NotImplementedError:
        if require_config:
            raise
    metadata = {
        "keras_version": network_config.KERAS_VERSION,
        "backend": tf.keras.backend.backend(),
        "model_config": config,
    }
    if model.optimizer and include_optimizer and hasattr(model.optimizer, "_weights"):
        metadata["training_config"] = _training_config(model)
    return metadata


def should_overwrite(filepath: str, overwrite: bool) -> bool:
    """Whether a file may be written: the user is asked if it exists and this is not settled."""
    if not overwrite and os.path.isfile(filepath):
        return ask_to_proceed_with_overwrite(filepath)
    return True


def compile_args_from_training_config(
    training_config: dict[str, Any], custom_objects: dict[str, Any] | None = None
) -> dict[str, Any]:
    """The arguments of `compile` that a file's training configuration says."""
    own = custom_objects or {}

    def known(structure: Any) -> Any:
        return tf.nest.map_structure(lambda each: own.get(each, each), structure)

    loss = training_config["loss"]
    if isinstance(loss, dict) and "class_name" in loss:
        loss = losses.get(loss)
    config = training_config["optimizer_config"]
    return {
        "optimizer": optimizers.deserialize(config, custom_objects=own),
        "loss": loss if isinstance(loss, losses.Loss) else known(loss),
        "metrics": known(training_config["metrics"]),
        "weighted_metrics": known(training_config.get("weighted_metrics")),
        "loss_weights": training_config["loss_weights"],
        "sample_weight_mode": training_config["sample_weight_mode"],
    }
