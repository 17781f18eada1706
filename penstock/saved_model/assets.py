"""Files that a saved graph reads, such as vocabularies: copied beside it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from google.protobuf import message_factory

from penstock import dtypes
from penstock.ir.tensor import Tensor
from penstock.platform import file_io, logging
from penstock.proto import POOL, AssetFileDef
from penstock.saved_model.tensor_infos import get_or_create_assets_dir

_Any = message_factory.GetMessageClass(POOL.FindMessageTypeByName("google.protobuf.Any"))


def _path_of(tensor: Any) -> str:
    if not isinstance(tensor, Tensor):
        raise TypeError("Asset path tensor must be a Tensor.")
    if tensor.op.type != "Const":
        raise TypeError("Asset path tensor must be of type constant.")
    if tensor.dtype is not dtypes.string:
        raise TypeError("Asset path tensor must be of dtype string.")
    value = tensor.op.attrs["value"]
    if value.size != 1:
        raise TypeError("Asset path tensor must be a scalar.")
    path = os.fsdecode(value.reshape(-1)[0])
    if not path:
        raise ValueError(f"Invalid asset filepath tensor {tensor}")
    return path


def get_asset_filename_to_add(asset_filepath: str, asset_filename_map: dict[str, str]) -> str:
    """A file's name among the assets: its own, unless another file has that."""
    name = os.path.basename(asset_filepath)
    other = asset_filename_map.get(name)
    if other is None or other == asset_filepath or file_io.filecmp(asset_filepath, other):
        return name
    number = 1
    while f"{name}_{number}" in asset_filename_map:
        number += 1
    return f"{name}_{number}"


def describe_assets(tensors: Iterable[Any]) -> tuple[list[Any], dict[str, str]]:
    """An AssetFileDef message for each tensor with a path, and the files to copy by their names."""
    messages: list[Any] = []
    files: dict[str, str] = {}
    for tensor in tensors:
        path = _path_of(tensor)
        name = get_asset_filename_to_add(path, files)
        message = AssetFileDef(filename=name)
        message.tensor_info.name = tensor.name
        messages.append(message)
        files[name] = path
    return messages, files


def packed(message: Any) -> Any:
    """A message as a member of a collection of messages of any type."""
    return _Any(
        type_url=f"type.googleapis.com/{message.DESCRIPTOR.full_name}",
        value=message.SerializeToString(deterministic=True),
    )


def copy_assets_to_destination_dir(
    asset_filename_map: dict[str, str], destination_dir: str
) -> None:
    """Copies files into the assets directory of a SavedModel."""
    directory = get_or_create_assets_dir(destination_dir)
    for name, source in asset_filename_map.items():
        target = os.path.join(directory, name)
        if not file_io.file_exists(target):
            file_io.copy(source, target)
    logging.info("Assets written to: %s", directory)
