"""Operations that save tensors to checkpoints and restore them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import errors
from penstock.checkpoint.slices import parse_shape_and_slice
from penstock.ir.constants import constant_value
from penstock.ir.registry import STATEFUL, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ops.shape_checks import merge_shapes, merge_sizes, with_rank
from penstock.shapes import Shape

SaveV2 = op(
    "SaveV2(prefix: string, tensor_names: string, shape_and_slices: string, tensors: *dtypes)",
    STATEFUL,
)
RestoreV2 = op(
    "RestoreV2(prefix: string, tensor_names: string, shape_and_slices: string) -> tensors: *dtypes",
    STATEFUL,
)
Save = op("Save(filename: string, tensor_names: string, data: *T)", STATEFUL)
SaveSlices = op(
    "SaveSlices(filename: string, tensor_names: string, shapes_and_slices: string, data: *T)",
    STATEFUL,
)
Restore = op(
    "Restore(file_pattern: string, tensor_name: string) -> tensor: dt", STATEFUL, preferred_shard=-1
)
RestoreSlice = op(
    "RestoreSlice(file_pattern: string, tensor_name: string, shape_and_slice: string) "
    "-> tensor: dt",
    STATEFUL,
    preferred_shard=-1,
)
MergeV2Checkpoints = op(
    "MergeV2Checkpoints(checkpoint_prefixes: string, destination_prefix: string)",
    STATEFUL,
    delete_old_dirs=True,
    allow_missing_files=False,
)
ShardedFilename = op(
    "ShardedFilename(basename: string, shard: int32, num_shards: int32) -> filename: string"
)
ShardedFilespec = op("ShardedFilespec(basename: string, num_shards: int32) -> filename: string")
not_differentiable(
    SaveV2,
    RestoreV2,
    Save,
    SaveSlices,
    Restore,
    RestoreSlice,
    MergeV2Checkpoints,
    ShardedFilename,
    ShardedFilespec,
)


@SaveV2.shape
@SaveSlices.shape
def _(op, prefix, tensor_names, shape_and_slices, *tensors):
    with_rank(prefix, 0)
    for per_tensor in (tensor_names, shape_and_slices):
        merge_sizes(with_rank(per_tensor, 1)[0], len(tensors))
    return []


@Save.shape
def _(op, filename, tensor_names, *data):
    with_rank(filename, 0)
    merge_sizes(with_rank(tensor_names, 1)[0], len(data))
    return []


@MergeV2Checkpoints.shape
def _(op, checkpoint_prefixes, destination_prefix):
    with_rank(checkpoint_prefixes, 1)
    with_rank(destination_prefix, 0)
    return []


@ShardedFilename.shape
@ShardedFilespec.shape
def _(op, *inputs):
    for shape in inputs:
        with_rank(shape, 0)
    return ()


@RestoreV2.shape
def _(op, prefix, tensor_names, shape_and_slices):
    with_rank(prefix, 0)
    count = len(op.attrs["dtypes"])
    merge_shapes(with_rank(tensor_names, 1), with_rank(shape_and_slices, 1))
    merge_sizes(with_rank(tensor_names, 1)[0], count)
    specs = constant_value(op.inputs[2])
    if specs is None:
        return [None] * count
    return [_shape_of_slice(spec) for spec in specs]


@Restore.shape
def _(op, file_pattern, tensor_name):
    with_rank(file_pattern, 0)
    with_rank(tensor_name, 0)
    return None


@RestoreSlice.shape
def _(op, file_pattern, tensor_name, shape_and_slice):
    for shape in (file_pattern, tensor_name, shape_and_slice):
        with_rank(shape, 0)
    spec = constant_value(op.inputs[2])
    return None if spec is None else _shape_of_slice(spec.item())


def _shape_of_slice(spec: bytes) -> Shape:
    """The shape that a slice specification gives; unknown for the empty one, a whole tensor."""
    if not spec:
        return None
    try:
        return parse_shape_and_slice(spec.decode())[2]
    except errors.InvalidArgumentError as error:
        raise ValueError(error.message) from None


def restore_v2(
    prefix: Any,
    tensor_names: Sequence[str],
    shape_and_slices: Sequence[str],
    dtypes: Sequence[Any],
    name: str | None = None,
) -> list[Tensor]:
    """The tensors of those names from a checkpoint of either format."""
    node = RestoreV2(
        prefix, list(tensor_names), list(shape_and_slices), dtypes=list(dtypes), name=name
    )
    return list(node) if isinstance(node, (list, tuple)) else [node]
