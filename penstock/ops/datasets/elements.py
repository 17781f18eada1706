"""What the signatures of dataset ops share: the types and shapes of elements, the handle."""

from __future__ import annotations

from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec, attr, not_differentiable
from penstock.ops.shape_checks import with_rank, with_rank_at_most
from penstock.shapes import Shape

ANY_TYPES = attr("list(type)", minimum=0)
ELEMENTS = {
    "output_types": attr("list(type)", minimum=1),
    "output_shapes": attr("list(shape)", minimum=1),
}


def scalar(op: Any, *inputs: Shape) -> Shape:
    """The shape of a handle."""
    return ()


#: Inputs that are scalars wherever they occur; TensorFlow does not look at the other settings.
_SCALARS = frozenset(
    "batch_size buffer_size compression_type count data_source_name driver_name drop_remainder "
    "filename footer_bytes header_bytes index num_shards query record_bytes seed seed2 shift size "
    "start step stop stride tag".split()
)

_MOST_DIMENSIONS = {"filenames": 1, "sleep_microseconds": 0}


def _handle(op: Operation, *inputs: Shape) -> Shape:
    """The shape of a handle, after a look at those of the settings."""
    place = 0
    for arg in op.spec.inputs:
        if arg.name in _SCALARS:
            with_rank(inputs[place], 0)
        elif arg.name in _MOST_DIMENSIONS:
            with_rank_at_most(inputs[place], _MOST_DIMENSIONS[arg.name])
        place += arg.count(op.attrs)
    return ()


def dataset_handles(*specs: OpSpec) -> None:
    """Says of op types that their output is one dataset, through which no gradient flows."""
    for spec in specs:
        spec.shape(_handle)
    not_differentiable(*specs)
