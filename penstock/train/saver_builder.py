"""The nodes of a saver: those that save to a file name, and those that restore from it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from penstock import devices
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.checkpoint_files import (
    MergeV2Checkpoints,
    SaveSlices,
    SaveV2,
    ShardedFilename,
    ShardedFilespec,
    restore_v2,
)
from penstock.ops.constants import constant, placeholder_with_default
from penstock.ops.control import group, with_dependencies
from penstock.ops.identity import identity
from penstock.ops.masking import where
from penstock.ops.partitioned_variables import PartitionedVariable
from penstock.ops.regex import regex_full_match
from penstock.ops.shaping import shape as shape_of
from penstock.ops.string_joining import string_join
from penstock.proto import SaverDef
from penstock.train import saveables as kinds
from penstock.train.saveables import set_cpu0, validate_and_slice_inputs

Saveables = Sequence[kinds.SaveableObject]
PerDevice = list[tuple[str, list[kinds.SaveableObject]]]


class BaseSaverBuilder:
    """Adds the nodes of a saver to the graph; subclasses may add others in their place."""

    SaveSpec = kinds.SaveSpec
    SaveableObject = kinds.SaveableObject
    VariableSaveable = kinds.ReferenceVariableSaveable
    ResourceVariableSaveable = kinds.ResourceVariableSaveable

    def __init__(self, write_version: int = SaverDef.V2):
        self._write_version = write_version

    # For subclasses to override ---------------------------------------------------------------

    def save_op(self, filename_tensor: Tensor, saveables: Saveables) -> Operation:
        """An operation that saves `saveables`."""
        names, slices, tensors = [], [], []
        for saveable in saveables:
            for spec in saveable.specs:
                names.append(spec.name)
                tensors.append(spec.tensor)
                slices.append(spec.slice_spec)
        if self._write_version == SaverDef.V1:
            return SaveSlices(filename_tensor, names, slices, tensors, name="save")
        if self._write_version == SaverDef.V2:
            return SaveV2(filename_tensor, names, slices, tensors)
        raise RuntimeError(f"Unexpected write_version: {self._write_version}")

    def bulk_restore(
        self,
        filename_tensor: Tensor,
        saveables: Saveables,
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Tensor]:
        """The tensors of all `saveables`, one restoring operation each."""
        tensors: list[Tensor] = []
        for saveable in saveables:
            device = set_cpu0(saveable.device) if saveable.device else None
            with get_default_graph().device(device):
                tensors += self.restore_op(filename_tensor, saveable, preferred_shard)
        return tensors

    def restore_op(
        self, filename_tensor: Tensor, saveable: kinds.SaveableObject, preferred_shard: int
    ) -> list[Tensor]:
        """The tensors of one saveable."""
        return [
            restore_v2(filename_tensor, [spec.name], [spec.slice_spec], [_base_type(spec)])[0]
            for spec in saveable.specs
        ]

    def sharded_filename(self, filename_tensor: Tensor, shard: int, num_shards: Tensor) -> Tensor:
        """The name of one shard's file."""
        return ShardedFilename(filename_tensor, shard, num_shards)

    # Saving -----------------------------------------------------------------------------------

    def _AddSaveOps(self, filename_tensor: Tensor, saveables: Saveables) -> Tensor:
        save = self.save_op(filename_tensor, saveables)
        result: Tensor = with_dependencies([save], filename_tensor)
        return result

    def _AddShardedSaveOps(self, filename_tensor: Tensor, per_device: PerDevice) -> Tensor:
        if self._write_version == SaverDef.V2:
            return self._AddShardedSaveOpsForV2(filename_tensor, per_device)
        num_shards = constant(len(per_device), name="num_shards")
        graph = get_default_graph()
        saves = []
        for shard, (device, saveables) in enumerate(per_device):
            with graph.device(device):
                filename = self.sharded_filename(filename_tensor, shard, num_shards)
                saves.append(self._AddSaveOps(filename, saveables))
        with graph.control_dependencies(saves):
            return ShardedFilespec(filename_tensor, num_shards)

    def _AddShardedSaveOpsForV2(self, checkpoint_prefix: Tensor, per_device: PerDevice) -> Tensor:
        """Each device saves aside, then the index files are merged and the data files renamed."""
        graph = get_default_graph()
        with graph.device("CPU"):
            # Some file systems don't rename across directories: there the parts lie side by side.
            suffix = where(
                regex_full_match(checkpoint_prefix, "^s3://.*"),
                constant(".part"),
                constant("_temp/part"),
            )
            aside = string_join([checkpoint_prefix, suffix])
        num_shards = constant(len(per_device), name="num_shards")
        prefixes, saves, last_device = [], [], ""
        for shard, (device, saveables) in enumerate(per_device):
            last_device = device
            with graph.device(set_cpu0(device)):
                prefixes.append(self.sharded_filename(aside, shard, num_shards))
                saves.append(self._AddSaveOps(prefixes[-1], saveables))
        with (
            graph.control_dependencies(saves),
            graph.device(set_cpu0(last_device)),
        ):
            merge = MergeV2Checkpoints(prefixes, checkpoint_prefix, delete_old_dirs=True)
            with graph.control_dependencies([merge]):
                return identity(checkpoint_prefix)

    # Restoring --------------------------------------------------------------------------------

    def _AddRestoreOps(
        self,
        filename_tensor: Tensor,
        saveables: Saveables,
        restore_sequentially: bool,
        reshape: bool,
        preferred_shard: int = -1,
        name: str = "restore_all",
    ) -> Operation:
        tensors = self.bulk_restore(
            filename_tensor, saveables, preferred_shard, restore_sequentially
        )
        assigned, position = [], 0
        for saveable in saveables:
            wanted = [_shape_to_restore(spec) for spec in saveable.specs] if reshape else None
            values = tensors[position : position + len(saveable.specs)]
            position += len(saveable.specs)
            assigned.append(saveable.restore(values, wanted))
        return group(*assigned, name=name)

    def _AddShardedRestoreOps(
        self,
        filename_tensor: Tensor,
        per_device: PerDevice,
        restore_sequentially: bool,
        reshape: bool,
    ) -> Operation:
        restores = []
        for shard, (device, saveables) in enumerate(per_device):
            with get_default_graph().device(device):
                restores.append(
                    self._AddRestoreOps(
                        filename_tensor,
                        saveables,
                        restore_sequentially,
                        reshape,
                        preferred_shard=shard,
                        name="restore_shard",
                    )
                )
        return group(*restores, name="restore_all")

    def _GroupByDevices(self, saveables: Saveables) -> PerDevice:
        per_device: dict[str, list[kinds.SaveableObject]] = defaultdict(list)
        for saveable in saveables:
            names = {devices.canonical_name(spec.device) for spec in saveable.specs}
            if len(names) != 1:
                raise ValueError(
                    f"All tensors of a saveable object must be on the same device: {saveable.name}"
                )
            per_device[names.pop()].append(saveable)
        return sorted(per_device.items())

    # Both -------------------------------------------------------------------------------------

    def build(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
    ) -> Any:
        """Adds the nodes; returns a SaverDef message that names them."""
        return self._build_internal(
            names_to_saveables,
            reshape,
            sharded,
            max_to_keep,
            keep_checkpoint_every_n_hours,
            name,
            restore_sequentially,
            filename,
        )

    def _build_internal(
        self,
        names_to_saveables: Any,
        reshape: bool = False,
        sharded: bool = False,
        max_to_keep: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000.0,
        name: str | None = None,
        restore_sequentially: bool = False,
        filename: str | None = "model",
        build_save: bool = True,
        build_restore: bool = True,
    ) -> Any:
        if not build_save or not build_restore:
            raise ValueError(
                "save and restore operations need to be built together  when eager execution is "
                "not enabled."
            )
        saveables = validate_and_slice_inputs(names_to_saveables)
        with name_scope(name, "save", [saveable.op for saveable in saveables]):
            placeholder = placeholder_with_default(filename or "model", shape=(), name="filename")
            # Programs and files know the node to feed by this name of old.
            path = placeholder_with_default(placeholder, shape=(), name="Const")
            if sharded:
                per_device = self._GroupByDevices(saveables)
                save = self._AddShardedSaveOps(path, per_device)
                restore = self._AddShardedRestoreOps(
                    path, per_device, restore_sequentially, reshape
                )
            else:
                save = self._AddSaveOps(path, saveables)
                restore = self._AddRestoreOps(path, saveables, restore_sequentially, reshape)
        _add_missing_wholes()
        return SaverDef(
            filename_tensor_name=path.name,
            save_tensor_name=save.name,
            restore_op_name=restore.name,
            max_to_keep=max_to_keep or 0,
            sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            version=self._write_version,
        )


class BulkSaverBuilder(BaseSaverBuilder):
    """Restores everything by one operation."""

    def bulk_restore(
        self,
        filename_tensor: Tensor,
        saveables: Saveables,
        preferred_shard: int,
        restore_sequentially: bool,
    ) -> list[Tensor]:
        specs = [spec for saveable in saveables for spec in saveable.specs]
        with get_default_graph().device("cpu:0"):
            return restore_v2(
                filename_tensor,
                [spec.name for spec in specs],
                [spec.slice_spec for spec in specs],
                [_base_type(spec) for spec in specs],
            )


def _base_type(spec: kinds.SaveSpec) -> Any:
    return spec.dtype.base_dtype


def _shape_to_restore(spec: kinds.SaveSpec) -> Any:
    tensor = spec.tensor
    shape = tensor.get_shape()
    return shape if shape.is_fully_defined() else shape_of(tensor)


def _add_missing_wholes() -> None:
    """A partitioned variable in a collection is exported by its name: a node must have it."""
    graph = get_default_graph()
    for key in graph.get_all_collection_keys():
        for member in graph.get_collection(key):
            if isinstance(member, PartitionedVariable) and member.name not in graph._nodes_by_name:
                member.as_tensor()
