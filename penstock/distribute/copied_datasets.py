"""Datasets made again from copies of their nodes, to be read on another device."""

from __future__ import annotations

from typing import Any

from penstock.data.dataset import DatasetV2, _VariantDataset
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor


def copied_dataset(dataset: DatasetV2) -> DatasetV2:
    """The same dataset, from copies of the nodes that it is made by."""
    copies: dict[Operation, Operation] = {}
    return _VariantDataset(_copied(dataset._variant_tensor, copies), dataset.element_spec)


def _copied(tensor: Tensor, copies: dict[Operation, Operation]) -> Any:
    op = tensor.op
    if op not in copies:
        copies[op] = get_default_graph().create_op(
            op.type,
            [_copied(each, copies) for each in op.inputs],
            [each.dtype for each in op.outputs],
            name=op.name,
            attrs=dict(op.node_def.attr),
        )
    return copies[op].outputs[tensor.value_index]
