"""Models as SavedModels with their objects: `save_format="tf"`, and what reads such files."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import Any

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.revived_layers import LayerLoader
from penstock.keras.saved_metadata import (
    compile_args_from_training_config,
    raise_model_input_error,
    should_overwrite,
)
from penstock.platform import logging
from penstock.saved_model import tensor_infos
from penstock.saved_model.loader import parse_saved_model
from penstock.saved_model.object_loader import load_by

__all__ = ["load", "save"]


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
        # Functions of the program that call the model do so for inference.
        with K.learning_phase_scope(0):
            if tf.executing_eagerly():
                tf.saved_model.save(model, filepath, signatures)
            else:
                with K.get_session().as_default():
                    tf.saved_model.save(model, filepath, signatures)
    finally:
        model.optimizer = optimizer


def load(filepath: str, custom_objects: dict[str, Any] | None = None, compile: bool = True) -> Any:
    """The model or layer of a SavedModel, of Penstock or TensorFlow.

    A model that has a description is made from it. What is only known by what it computes, as a
    program's own class, comes back as what calls the functions in the file.
    """
    objects = parse_saved_model(os.fsdecode(filepath)).meta_graphs[0].object_graph_def
    identifiers = [node.user_object.identifier for node in objects.nodes]
    if not any(each.startswith("_tf_keras_") for each in identifiers):
        raise OSError(f"The SavedModel at {filepath} is not one of a Keras model")
    is_model = identifiers[0] in ("_tf_keras_network", "_tf_keras_model", "_tf_keras_sequential")
    metadata = json.loads(objects.nodes[0].user_object.metadata) if is_model else {}
    described = _described_model(metadata, custom_objects) if is_model else None
    known = {} if described is None else _known_objects(objects, described)
    loaded = load_by(partial(LayerLoader, known=known), filepath)
    training = metadata.get("training_config")
    if compile and training is not None:
        loaded.compile(**compile_args_from_training_config(training, custom_objects))
    if described is not None:
        path = tensor_infos.get_variables_path(os.fsdecode(filepath))
        loaded.load_weights(path).expect_partial()  # not the lists of the SavedModel
    return loaded


def _known_objects(objects: Any, root: Any) -> dict[int, Any]:
    """Which objects of a SavedModel are those that a model owns, by their numbers."""
    known = {0: root}
    pending = [0]
    while pending:
        number = pending.pop()
        owned = {each.name: each.ref for each in known[number]._checkpoint_dependencies}
        for child in objects.nodes[number].children:
            if child.local_name in owned and child.node_id not in known:
                known[child.node_id] = owned[child.local_name]
                pending.append(child.node_id)
    return known


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
