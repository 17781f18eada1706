"""How variables and control flow contexts travel in the collections of a MetaGraphDef."""

from __future__ import annotations

from typing import Any

from penstock.ir.collection_protos import register_proto_function
from penstock.ir.collections import GraphKeys
from penstock.ops.control_contexts import CondContext
from penstock.ops.variables import Variable
from penstock.ops.while_context import WhileContext
from penstock.proto import CondContextDef, VariableDef, WhileContextDef


def _describe(variable: Any, export_scope: str | None = None) -> Any:
    return variable.to_proto(export_scope=export_scope)


def _recover(message: Any, import_scope: str | None = None) -> Variable:
    return Variable.from_proto(message, import_scope=import_scope)


for _key in (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.METRIC_VARIABLES,
    GraphKeys.GLOBAL_STEP,
    GraphKeys.EVAL_STEP,
):
    register_proto_function(_key, VariableDef, _describe, _recover)

register_proto_function(
    GraphKeys.COND_CONTEXT, CondContextDef, CondContext.to_proto, CondContext.from_proto
)
register_proto_function(
    GraphKeys.WHILE_CONTEXT, WhileContextDef, WhileContext.to_proto, WhileContext.from_proto
)
