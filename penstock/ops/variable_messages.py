"""What the VariableDef messages of both kinds of variables have in common."""

from __future__ import annotations

from typing import Any

from penstock.ir.naming import without_scope
from penstock.ops.save_slices import SaveSliceInfo
from penstock.ops.variables import Variable


def save_slice_info_of(message: Any, import_scope: str | None) -> SaveSliceInfo | None:
    if not message.HasField("save_slice_info_def"):
        return None
    return SaveSliceInfo(save_slice_info_def=message.save_slice_info_def, import_scope=import_scope)


def describe_settings(variable: Variable, message: Any, export_scope: str | None) -> None:
    """Fills the fields of a VariableDef message that both kinds of variables have."""
    message.trainable = variable.trainable
    message.synchronization = variable.synchronization.value
    message.aggregation = variable.aggregation.value
    if variable.initial_value is not None:
        message.initial_value_name = without_scope(variable.initial_value.name, export_scope)
    info = variable._get_save_slice_info()
    if info is not None:
        described = info.to_proto(export_scope)
        if described is not None:
            message.save_slice_info_def.MergeFrom(described)
