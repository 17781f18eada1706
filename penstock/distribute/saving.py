"""Checkpoints of variables with a copy in each replica: one value is saved, all are restored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.distribute.variables import MirroredVariable, SyncOnReadVariable
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ops.control import group
from penstock.ops.identity import identity
from penstock.train.saveables import ResourceVariableSaveable, SaveableObject, SaveSpec


class MirroredSaveable(ResourceVariableSaveable):
    """Saves the first copy."""

    def __init__(self, variable: MirroredVariable, name: str):
        self._variable = variable
        super().__init__(variable.primary, "", name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        made = []
        for copy in self._variable.values:
            with get_default_graph().device(copy.device):
                made.append(copy.assign(identity(restored_tensors[0]), read_value=False))
        return group(*made)


class SyncOnReadSaveable(SaveableObject):
    """Saves what the copies aggregate to."""

    def __init__(self, variable: SyncOnReadVariable, name: str):
        self._variable = variable
        strategy = variable.distribute_strategy
        spec = SaveSpec(
            lambda: strategy.extended.read_var(variable),
            "",
            name,
            dtype=variable.dtype,
            device=variable.primary.device,
        )
        super().__init__(variable, [spec], name)

    def restore(self, restored_tensors: Sequence[Tensor], restored_shapes: Any) -> Any:
        with self._variable.distribute_strategy.scope():
            return self._variable.assign(restored_tensors[0])
