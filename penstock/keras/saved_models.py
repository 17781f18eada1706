"""Models as SavedModels with their objects: `save_format="tf"`, and what reads such files."""

from __future__ import annotations

import json
import os
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine.model import Model
from penstock.keras.saved_metadata import (
    compile_args_from_training_config,
    raise_model_input_error,
    should_overwrite,
)
from penstock.platform import logging
from penstock.saved_model import tensor_infos
from penstock.saved_model.loader import parse_saved_model

__all__ = ["RevivedModel", "load", "save"]


def save(
    model: Any,
    filepath: str,
    overwrite: bool = True,
    include_optimizer: bool = True,
    signatures: Any = None,
) -> None:
    """Writes a model: its objects with their variables, its description, functions to call it.

    Args:
      signatures: further functions, as `tf.saved_model.save` takes them.
    """
    if not should_overwrite(filepath, overwrite):
        return
    if not model.inputs:
        raise_model_input_error(model)
    optimizer = model.optimizer
    if not include_optimizer:
        model.optimizer = None
    try:
        if tf.executing_eagerly():
            tf.saved_model.save(model, filepath, signatures)
        else:
            with K.get_session().as_default():
                tf.saved_model.save(model, filepath, signatures)
    finally:
        model.optimizer = optimizer


def load(filepath: str, custom_objects: dict[str, Any] | None = None, compile: bool = True) -> Any:
    """The model of a SavedModel, of Penstock or TensorFlow.

    A model that has a description is made from it. One that is only known by what it computes, as a
    program's own class, comes back as what calls the functions in the file.
    """
    metadata = _metadata(filepath)
    model = _described_model(metadata, custom_objects)
    if model is None:
        kind: Any = type(metadata["class_name"], (RevivedModel,), {})
        model = kind(tf.saved_model.load_v2(filepath), metadata)
    training = metadata.get("training_config")
    if compile and training is not None:
        model.compile(**compile_args_from_training_config(training, custom_objects))
    if not isinstance(model, RevivedModel):
        model.load_weights(tensor_infos.get_variables_path(os.fsdecode(filepath)))
    return model


def _metadata(filepath: str) -> dict[str, Any]:
    """What a SavedModel says of its root object."""
    graph = parse_saved_model(os.fsdecode(filepath)).meta_graphs[0].object_graph_def
    root = graph.nodes[0].user_object if graph.nodes else None
    if root is None or not root.identifier.startswith("_tf_keras_"):
        raise OSError(f"The SavedModel at {filepath} is not one of a Keras model")
    metadata: dict[str, Any] = json.loads(root.metadata)
    return metadata


def _described_model(metadata: dict[str, Any], custom_objects: Any) -> Any:
    from penstock.keras.models import model_from_config

    config = metadata.get("model_config") or {}
    if "config" not in config:
        return None
    try:
        model = model_from_config(config, custom_objects=custom_objects)
    except ValueError as error:
        logging.warning(
            "The model can't be made from its description (%s): it is loaded as its functions.",
            error,
        )
        return None
    if model.built or metadata.get("batch_input_shape") is None:
        return model
    model.build(tuple(metadata["batch_input_shape"]))
    return model


class RevivedModel(Model):
    """A model whose layers are not known: it calls a function of its SavedModel."""

    def __init__(self, restored: Any, metadata: dict[str, Any]):
        super().__init__(name=metadata.get("name"))
        self._restored = restored
        self._metadata = metadata
        self.trainable = metadata.get("trainable", True)
        signature = restored.signatures["serving_default"]
        specs = list(signature.structured_input_signature[1].values())
        made = [
            tf.keras.Input(shape=spec.shape[1:], dtype=spec.dtype, name=spec.name) for spec in specs
        ]
        self._set_inputs_to(made)

    def _set_inputs_to(self, made: list[Any]) -> None:
        nested = made[0] if len(made) == 1 else made
        outputs = self(nested)
        self.inputs = made
        self._nested_inputs = nested
        self.outputs = tf.nest.flatten(outputs)
        self._nested_outputs = outputs
        self.input_names = [tensor._keras_history.layer.name for tensor in made]
        self.output_names = [f"output_{i + 1}" for i in range(len(self.outputs))]
        self.built = True

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        return self._restored(inputs)

    @property
    def weights(self) -> list[Any]:
        return list(self._restored.variables)

    @property
    def trainable_weights(self) -> list[Any]:
        return list(self._restored.trainable_variables) if self.trainable else []

    def get_config(self) -> dict[str, Any]:
        config: dict[str, Any] | None = self._metadata.get("config")
        if config is None:
            raise NotImplementedError
        return config
