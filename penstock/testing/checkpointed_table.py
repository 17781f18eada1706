"""A table that a saver keeps, for tests of savers with objects that are no variables."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.collections import GraphKeys
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.lookup_tables import (
    LookupTableExportV2,
    LookupTableFindV2,
    LookupTableImportV2,
    LookupTableInsertV2,
    MutableHashTableV2,
)
from penstock.train.saveables import SaveableObject, SaveSpec


class CheckpointedOp:
    """A table from strings to numbers that savers find among the objects to save.

    Args:
      name: name of the table's node, and of the object in the checkpoint.
      table_ref: handle of a table to use; a new one is made if None.
    """

    class CustomSaveable(SaveableObject):
        """Saves the keys and the values of the table."""

        def __init__(self, table: CheckpointedOp, name: str):
            keys, values = table._export()
            specs = [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")]
            super().__init__(table, specs, name)

        def restore(self, restored_tensors: Any, restored_shapes: Any) -> Operation:
            return LookupTableImportV2(self.op.table_ref, *restored_tensors)

    def __init__(self, name: str, table_ref: Tensor | None = None):
        if table_ref is None:
            table_ref = MutableHashTableV2(
                key_dtype=dtypes.string, value_dtype=dtypes.float32, name=name
            )
        self.table_ref = table_ref
        self.name = name
        self.saveable = CheckpointedOp.CustomSaveable(self, name)
        get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self.saveable)

    def insert(self, keys: Any, values: Any) -> Operation:
        """An operation that puts keys with their values into the table."""
        return LookupTableInsertV2(self.table_ref, keys, values)

    def lookup(self, keys: Any, default: Any) -> Tensor:
        """The values of keys."""
        return LookupTableFindV2(self.table_ref, keys, default)

    def keys(self) -> Tensor:
        return self._export()[0]

    def values(self) -> Tensor:
        return self._export()[1]

    def _export(self) -> Any:
        return LookupTableExportV2(self.table_ref, Tkeys=dtypes.string, Tvalues=dtypes.float32)
