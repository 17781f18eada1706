"""Savers without a session: each call makes the nodes that save to, or restore from, a prefix."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from penstock import dtypes
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ops.checkpoint_files import MergeV2Checkpoints, SaveV2, ShardedFilename, restore_v2
from penstock.ops.constants import constant, placeholder
from penstock.ops.control import device, group
from penstock.ops.identity import identity
from penstock.ops.string_joining import string_join
from penstock.proto import SaverDef
from penstock.train.saveables import SaveableObject, set_cpu0

__all__ = ["MultiDeviceSaver", "sharded_filename"]


def sharded_filename(filename_tensor: Any, shard: int, num_shards: Any) -> Any:
    """The name of one of the files that devices write, as a tensor."""
    return ShardedFilename(filename_tensor, shard, num_shards)


def _checked(saveable_objects: Iterable[Any], expected: str) -> list[SaveableObject]:
    saveables = list(saveable_objects)
    for saveable in saveables:
        if not isinstance(saveable, SaveableObject):
            raise ValueError(f"Expected a {expected} of SaveableObjects, got {saveable}.")
    return saveables


class _SingleDeviceSaver:
    """Saves and restores objects on the device where its nodes are made."""

    def __init__(self, saveable_objects: Iterable[SaveableObject]):
        self._saveables = _checked(saveable_objects, "list")

    def save(self, file_prefix: Any) -> Operation:
        """The operation that saves to a prefix."""
        specs = [spec for saveable in self._saveables for spec in saveable.specs]
        names, slices = [spec.name for spec in specs], [spec.slice_spec for spec in specs]
        tensors = [spec.tensor for spec in specs]
        with device("cpu:0"):
            saved: Operation = SaveV2(file_prefix, names, slices, tensors)
        return saved

    def restore(self, file_prefix: Any) -> dict[str, Any]:
        """The operations that restore from a prefix, by the names of the objects."""
        specs = [spec for saveable in self._saveables for spec in saveable.specs]
        names, slices = [spec.name for spec in specs], [spec.slice_spec for spec in specs]
        types = [spec.dtype.base_dtype for spec in specs]
        with device("cpu:0"):
            restored = iter(restore_v2(file_prefix, names, slices, types))
        return {
            each.name: each.restore([next(restored) for _ in each.specs], None)
            for each in self._saveables
        }


class MultiDeviceSaver:
    """Saves and restores objects; those of each device go to a file of their own.

    Args:
      saveable_objects: `SaveableObject`s.
    """

    def __init__(self, saveable_objects: Iterable[SaveableObject]):
        per_device: dict[str, list[SaveableObject]] = {}
        for saveable in _checked(saveable_objects, "dictionary"):
            per_device.setdefault(saveable.device or "", []).append(saveable)
        self._savers = {
            where: _SingleDeviceSaver(saveables) for where, saveables in sorted(per_device.items())
        }

    def to_proto(self) -> Any:
        """Adds the nodes that save and restore to the graph; a SaverDef that names them."""
        filename = placeholder(dtypes.string, shape=[], name="saver_filename")
        with get_default_graph().control_dependencies([self.save(filename)]), device("cpu:0"):
            saved = identity(filename)
        restored = group(*self.restore(filename).values(), name="restore_all")
        return SaverDef(
            filename_tensor_name=filename.name,
            save_tensor_name=saved.name,
            restore_op_name=restored.name,
            version=SaverDef.V2,
        )

    def save(self, file_prefix: Any) -> Operation:
        """The operation that saves to a prefix.

        Each device writes aside; then the index files are merged and the data files renamed.
        """
        with device("cpu:0"):
            aside = string_join([file_prefix, f"_temp_{uuid.uuid4().hex}/part"])
        num_shards = constant(len(self._savers), name="num_shards")
        prefixes, saves, last_device = [], [], ""
        for shard, (last_device, saver) in enumerate(self._savers.items()):
            with device(set_cpu0(last_device)):
                prefixes.append(sharded_filename(aside, shard, num_shards))
            with device(last_device):
                saves.append(saver.save(prefixes[-1]))
        with get_default_graph().control_dependencies(saves), device(set_cpu0(last_device)):
            merged: Operation = MergeV2Checkpoints(prefixes, file_prefix, delete_old_dirs=True)
        return merged

    def restore(self, file_prefix: Any) -> dict[str, Any]:
        """The operations that restore from a prefix, by the names of the objects."""
        restored: dict[str, Any] = {}
        for where, saver in self._savers.items():
            with device(where):
                restored.update(saver.restore(file_prefix))
        return restored
