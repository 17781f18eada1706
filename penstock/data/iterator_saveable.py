"""The places of iterators in checkpoints."""

from __future__ import annotations

from typing import Any

from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.datasets import iterators as nodes
from penstock.train.saveables import SaveableObject, SaveSpec


class IteratorSaveable(SaveableObject):
    """The place of an iterator, for a `tf.train.Saver` or a `tf.train.Checkpoint`."""

    def __init__(self, iterator_resource: Tensor, name: str):
        state = nodes.SerializeIterator(iterator_resource)
        specs = [SaveSpec(state, "", f"{name}-state")]
        super().__init__(iterator_resource, specs, name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
        with get_default_graph().colocate_with(self.op):
            op: Operation = nodes.DeserializeIterator(self.op, restored_tensors[0])
        return op
