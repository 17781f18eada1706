"""`tensorflow.python.keras.saving.hdf5_format`: parts of saving under TensorFlow's names."""

from __future__ import annotations

from typing import Any

from penstock.keras import saving
from penstock.keras.old_weights import converted

HDF5_OBJECT_HEADER_LIMIT = saving._ATTRIBUTE_LIMIT

load_attributes_from_hdf5_group = saving._names
load_model_from_hdf5 = saving.load_model
load_weights_from_hdf5_group = saving._read_weights
load_weights_from_hdf5_group_by_name = saving._read_weights_by_name
save_weights_to_hdf5_group = saving._write_weights
_legacy_weights = saving._ordered


def save_model_to_hdf5(
    model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True
) -> None:
    """Writes a model into an HDF5 file."""
    saving.save_model(model, filepath, overwrite, include_optimizer, save_format="h5")


def save_attributes_to_hdf5_group(group: Any, name: str, data: list[Any]) -> None:
    """Writes names as an attribute, in parts where HDF5 has no room for one."""
    saving._set_names(group, name, [saving._text(each) for each in data])


def preprocess_weights_for_loading(
    layer: Any,
    weights: list[Any],
    original_keras_version: str | None = None,
    original_backend: str | None = None,
) -> list[Any]:
    """Arrays of a file in the order and form of a layer's weights."""
    version = "1" if original_keras_version is None else original_keras_version
    return converted(layer, weights, version, original_backend)
