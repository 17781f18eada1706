"""An op type's signature as an OpDef message."""

from __future__ import annotations

from typing import Any

from penstock import proto
from penstock.ir.attr_codec import encode
from penstock.ir.registry import OpSpec, Trait
from penstock.ir.signature import Arg


def op_def(spec: OpSpec) -> Any:
    message = proto.OpDef(
        name=spec.name,
        is_stateful=spec.is_stateful,
        is_commutative=spec.is_commutative,
        is_aggregate=Trait.AGGREGATE in spec.traits,
        allows_uninitialized_input=Trait.ALLOWS_UNINITIALIZED in spec.traits,
    )
    for arg in spec.inputs:
        _add_arg(message.input_arg, arg)
    for arg in spec.outputs:
        _add_arg(message.output_arg, arg)
    for attr in spec.attrs.values():
        entry = message.attr.add(name=attr.name, type=attr.kind)
        if attr.has_default:
            entry.default_value.CopyFrom(encode(attr.default, attr.kind))
        if attr.allowed is not None:
            inner = attr.kind.removeprefix("list(").removesuffix(")")
            entry.allowed_values.CopyFrom(encode(list(attr.allowed), f"list({inner})"))
        if attr.minimum is not None:
            entry.has_minimum = True
            entry.minimum = attr.minimum
    return message


def _add_arg(target: Any, arg: Arg) -> None:
    target.add(
        name=arg.name,
        type=arg.dtype.as_datatype_enum if arg.dtype is not None else 0,
        type_attr=arg.type_attr or "",
        number_attr=arg.number_attr or "",
        type_list_attr=arg.type_list_attr or "",
        is_ref=arg.is_ref,
    )
