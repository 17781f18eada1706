"""Models in HDF5 files, and weights in HDF5 files or checkpoints."""

from __future__ import annotations

import json
import os
from importlib import import_module
from typing import Any

import numpy as np

import penstock as tf
from penstock.keras import backend as K
from penstock.keras.engine import network_config
from penstock.keras.engine.network import json_value
from penstock.keras.old_weights import converted
from penstock.platform import logging, tf2
from penstock.train.checkpoint_state import update_checkpoint_state_internal
from penstock.train.tracking import streaming_restore

__all__ = ["load_model", "load_weights", "save_model", "save_weights"]

# An attribute of an HDF5 object holds 64 KB: longer lists of names go into several.
_ATTRIBUTE_LIMIT = 64512


def _h5py() -> Any:
    try:
        h5py = import_module("h5py")
    except ImportError:
        raise ImportError(
            "HDF5 files need h5py: pip install penstock[hdf5], or save weights as a checkpoint "
            "(save_format='tf')"
        ) from None
    return h5py


# Models -----------------------------------------------------------------------------------------


def save_model(
    model: Any,
    filepath: Any,
    overwrite: bool = True,
    include_optimizer: bool = True,
    save_format: str | None = None,
    signatures: Any = None,
) -> None:
    """Writes architecture, weights and the optimizer's state into an HDF5 file or a SavedModel.

    Args:
      save_format: "h5", the default unless version 2's behaviour is on, or "tf" for a SavedModel.
      signatures: of a SavedModel, as `tf.saved_model.save` takes them.
    """
    if save_format not in (None, "h5", "hdf5", "keras", "tf"):
        raise ValueError(f"Unknown save_format {save_format!r}: one of 'h5' and 'tf'")
    if save_format is None and isinstance(filepath, str) and tf2.enabled():
        save_format = "tf"
    if save_format == "tf" and not str(filepath).endswith((".h5", ".hdf5", ".keras")):
        from penstock.keras import saved_models

        saved_models.save(model, filepath, overwrite, include_optimizer, signatures)
        return
    if not model._is_connected:
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a "
            "Sequential model. It does not work for subclassed models, because such models are "
            "defined via the body of a Python method, which isn't safely serializable. Consider "
            'saving to the Tensorflow SavedModel format (by setting save_format="tf") or using '
            "`save_weights`."
        )
    h5py = _h5py()
    if isinstance(filepath, h5py.File):
        _write_model(filepath, model, include_optimizer)
        return
    if not overwrite and os.path.isfile(filepath):
        raise FileExistsError(f"{filepath} exists already, and overwrite is False")
    with h5py.File(filepath, "w") as file:
        _write_model(file, model, include_optimizer)


def _write_model(file: Any, model: Any, include_optimizer: bool) -> None:
    described = network_config.described(model)
    file.attrs["keras_version"] = described["keras_version"]
    file.attrs["backend"] = described["backend"]
    architecture = {key: described[key] for key in ("class_name", "config")}
    file.attrs["model_config"] = json.dumps(architecture, default=json_value).encode()
    _write_weights(file.create_group("model_weights"), model.layers)
    if not include_optimizer or not model.optimizer:
        return
    if not hasattr(model.optimizer, "_weights"):
        logging.warning(
            "TensorFlow optimizers do not make it possible to access optimizer attributes or "
            "optimizer state after instantiation. The model is saved without its optimizer."
        )
        return
    file.attrs["training_config"] = json.dumps(_training_config(model), default=json_value).encode()
    weights = model.optimizer.weights
    if weights:
        group = file.create_group("optimizer_weights")
        _write_values(group, weights)


def _training_config(model: Any) -> dict[str, Any]:
    given = model._compile_arguments
    return {
        "loss": given["loss"],
        "metrics": given["metrics"],
        "weighted_metrics": given["weighted_metrics"],
        "sample_weight_mode": given["sample_weight_mode"],
        "loss_weights": given["loss_weights"],
        "optimizer_config": {
            "class_name": type(model.optimizer).__name__,
            "config": model.optimizer.get_config(),
        },
    }


def load_model(
    filepath: Any, custom_objects: dict[str, Any] | None = None, compile: bool = True
) -> Any:
    """The model that `save_model` wrote: an HDF5 file, or the folder of a SavedModel."""
    if isinstance(filepath, (str, os.PathLike)) and os.path.isdir(filepath):
        from penstock.keras import saved_models

        return saved_models.load(os.fspath(filepath), custom_objects, compile)
    h5py = _h5py()
    if isinstance(filepath, h5py.File):
        return _read_model(filepath, custom_objects, compile)
    if not os.path.exists(filepath):
        raise OSError(
            f"SavedModel file does not exist at: {filepath}/{{saved_model.pbtxt|saved_model.pb}}"
        )
    with h5py.File(filepath, "r") as file:
        return _read_model(file, custom_objects, compile)


def _read_model(file: Any, custom_objects: Any, compile: bool) -> Any:
    from penstock.keras.models import model_from_config
    from penstock.keras.utils.serialization import scope_of

    found = file.attrs.get("model_config")
    if found is None:
        raise ValueError("No model found in config file.")
    with scope_of(custom_objects):
        model = model_from_config(json.loads(_text(found)), custom_objects)
        _read_weights(file["model_weights"], model.layers)
        training = file.attrs.get("training_config")
        if compile and training is not None:
            _compile(model, json.loads(_text(training)), file)
        elif compile:
            logging.warning(
                "No training configuration found in save file: the model was *not* compiled. "
                "Compile it manually."
            )
    return model


def _compile(model: Any, config: dict[str, Any], file: Any) -> None:
    from penstock.keras import optimizers

    optimizer = optimizers.deserialize(config["optimizer_config"])
    metrics = config.get("metrics") or config.get("metrics_config") or []
    model.compile(
        optimizer=optimizer,
        loss=config.get("loss") or config.get("loss_config"),
        metrics=metrics,
        weighted_metrics=config.get("weighted_metrics"),
        loss_weights=config.get("loss_weights"),
        sample_weight_mode=config.get("sample_weight_mode"),
    )
    if "optimizer_weights" in file:
        model._function("train")  # which makes the optimizer's variables
        group = file["optimizer_weights"]
        values = [group[name][()] for name in _names(group, "weight_names")]
        try:
            optimizer.set_weights(values)
        except ValueError:
            logging.warning(
                "Error in loading the saved optimizer state. As a result, your model is starting "
                "with a freshly initialized optimizer."
            )


# Weights ----------------------------------------------------------------------------------------


def save_weights(
    model: Any, filepath: str, overwrite: bool = True, save_format: str | None = None
) -> None:
    """Writes a model's weights: into HDF5 for ".h5", ".hdf5" and ".keras", else a checkpoint."""
    model._assert_weights_created()
    is_h5 = str(filepath).endswith((".h5", ".hdf5", ".keras"))
    wanted = {"h5": "h5", "hdf5": "h5", "keras": "h5", "tf": "tf", "tensorflow": "tf"}
    kind = "h5" if is_h5 else "tf"
    if save_format is not None:
        if save_format.lower() not in wanted:
            raise ValueError(
                f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.'
            )
        kind = wanted[save_format.lower()]
        if kind == "tf" and is_h5:
            raise ValueError(
                f'save_weights got save_format="tf"/"tensorflow", but the filepath ("{filepath}") '
                'looks like an HDF5 file. Omit the ".h5"/".keras" when saving in TensorFlow format.'
            )
    if kind == "h5":
        if not overwrite and os.path.isfile(filepath):
            raise FileExistsError(f"{filepath} exists already, and overwrite is False")
        with _h5py().File(filepath, "w") as file:
            _write_weights(file, model.layers)
        return
    model._trackable_saver.save(filepath, session=K.get_session())
    update_checkpoint_state_internal(
        save_dir=os.path.dirname(filepath),
        model_checkpoint_path=filepath,
        save_relative_paths=True,
        all_model_checkpoint_paths=[filepath],
    )


def load_weights(model: Any, filepath: str, by_name: bool = False) -> Any:
    """Reads weights that `save_weights` wrote; for a checkpoint, returns how far it matched.

    A checkpoint has the weights by their places in the model, not by the names of its layers. What
    the model has yet to make is restored when it is made.
    """
    is_h5 = str(filepath).endswith((".h5", ".hdf5", ".keras"))
    if not is_h5 and tf.train.checkpoint_exists(filepath):
        if by_name:
            raise NotImplementedError(
                "Weights may only be loaded based on topology into Models when loading "
                "TensorFlow-formatted weights (got by_name=True to load_weights)."
            )
        status = model._trackable_saver.restore(filepath)
        streaming_restore(status, session=K.get_session())
        return status.assert_nontrivial_match()
    if not model.built and not model._is_connected and not hasattr(model, "_build_on"):
        raise ValueError(
            "Unable to load weights saved in HDF5 format into a subclassed Model which has not "
            "created its variables yet. Call the Model first, then load the weights."
        )
    model._assert_weights_created()
    with _h5py().File(filepath, "r") as file:
        group = (
            file["model_weights"]
            if "layer_names" not in file.attrs and ("model_weights" in file)
            else file
        )
        if by_name:
            _read_weights_by_name(group, model.layers)
        else:
            _read_weights(group, model.layers)
    return None


def _write_weights(file: Any, layers: list[Any]) -> None:
    _set_names(file, "layer_names", [layer.name for layer in layers])
    file.attrs["backend"] = b"tensorflow"
    file.attrs["keras_version"] = b"2.2.4-tf"
    for layer in layers:
        _write_values(file.create_group(layer.name), _ordered(layer))


def _ordered(layer: Any) -> list[Any]:
    """A layer's weights in the order of the file: the trained ones first."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def _write_values(group: Any, weights: list[Any]) -> None:
    names = [weight.name for weight in weights]
    _set_names(group, "weight_names", names)
    for name, value in zip(names, K.batch_get_value(weights), strict=True):
        dataset = group.create_dataset(name, value.shape, dtype=value.dtype)
        dataset[() if not value.shape else slice(None)] = value


def _read_weights(file: Any, all_layers: list[Any]) -> None:
    layers = [layer for layer in all_layers if _ordered(layer)]
    version, backend = _origin(file)
    names = [name for name in _names(file, "layer_names") if _names(file[name], "weight_names")]
    if len(names) != len(layers):
        raise ValueError(
            f"You are trying to load a weight file containing {len(names)} layers into a model "
            f"with {len(layers)} layers."
        )
    pairs: list[tuple[Any, Any]] = []
    for index, (name, layer) in enumerate(zip(names, layers, strict=True)):
        values = _values(file[name])
        weights = _ordered(layer)
        values = converted(layer, values, version, backend)
        if len(values) != len(weights):
            raise ValueError(
                f'Layer #{index} (named "{layer.name}" in the current model) was found to '
                f"correspond to layer {name} in the save file. However the new layer {layer.name} "
                f"expects {len(weights)} weights, but the saved weights have {len(values)} "
                "elements."
            )
        pairs += _checked(index, layer, weights, values)
    K.batch_set_value(pairs)


def _read_weights_by_name(file: Any, all_layers: list[Any]) -> None:
    version, backend = _origin(file)
    layers: dict[str, list[Any]] = {}
    for layer in all_layers:
        layers.setdefault(layer.name, []).append(layer)
    pairs: list[tuple[Any, Any]] = []
    for index, name in enumerate(_names(file, "layer_names")):
        for layer in layers.get(name, []):
            weights = _ordered(layer)
            values = converted(layer, _values(file[name]), version, backend)
            if len(values) != len(weights):
                raise ValueError(
                    f'Layer #{index} (named "{layer.name}") expects {len(weights)} weight(s), but '
                    f"the saved weights have {len(values)} element(s)."
                )
            pairs += _checked(index, layer, weights, values)
    K.batch_set_value(pairs)


def _checked(
    index: int, layer: Any, weights: list[Any], values: list[Any]
) -> list[tuple[Any, Any]]:
    """Weights with the values that are read for them; ValueError for other shapes."""
    pairs = list(zip(weights, values, strict=True))
    for weight, value in pairs:
        if tuple(weight.shape.as_list()) != np.shape(value):
            raise ValueError(
                f'Layer #{index} (named "{layer.name}"), weight {weight} has shape '
                f"{tuple(weight.shape.as_list())}, but the saved weight has shape "
                f"{np.shape(value)}."
            )
    return pairs


def _origin(file: Any) -> tuple[str, str | None]:
    version = _text(file.attrs.get("keras_version", "1"))
    backend = file.attrs.get("backend")
    return version, None if backend is None else _text(backend)


def _values(group: Any) -> list[Any]:
    return [np.asarray(group[name]) for name in _names(group, "weight_names")]


def _names(group: Any, attribute: str) -> list[str]:
    if attribute in group.attrs:
        return [_text(name) for name in group.attrs[attribute]]
    names: list[str] = []
    part = 0
    while f"{attribute}{part}" in group.attrs:
        names += [_text(name) for name in group.attrs[f"{attribute}{part}"]]
        part += 1
    return names


def _set_names(group: Any, attribute: str, names: list[str]) -> None:
    encoded = [name.encode() for name in names]
    too_long = [name for name in encoded if len(name) > _ATTRIBUTE_LIMIT]
    if too_long:
        raise RuntimeError(f"names are too long for an HDF5 file: {too_long}")
    array = np.asarray(encoded)
    parts = 1
    pieces = [array]
    while any(piece.nbytes > _ATTRIBUTE_LIMIT for piece in pieces):
        parts += 1
        pieces = np.array_split(array, parts)
    if parts == 1:
        group.attrs[attribute] = array if names else np.asarray([], dtype="S1")
        return
    for index, piece in enumerate(pieces):
        group.attrs[f"{attribute}{index}"] = piece


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
