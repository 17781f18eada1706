"""The table of TensorFlow's op signatures, and how a registered op differs from it."""

from __future__ import annotations

import gzip
import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from penstock.dtypes import DType
from penstock.ir import registry
from penstock.ir.registry import OpSpec, Trait
from penstock.ir.signature import Arg, Attr

TABLE = Path(__file__).parents[1] / "data" / "opdefs.json.gz"
OLD_TABLE = TABLE.with_name("opdefs_1_15.json")  # of ops that later releases have not

_FLAGS = {
    "is_stateful": Trait.STATEFUL,
    "is_commutative": Trait.COMMUTATIVE,
    "is_aggregate": Trait.AGGREGATE,
    "allows_uninitialized_input": Trait.ALLOWS_UNINITIALIZED,
}


@cache
def table() -> dict[str, dict[str, Any]]:
    """The definition of each op by its name."""
    with gzip.open(TABLE, "rt", encoding="utf-8") as file:
        found: dict[str, dict[str, Any]] = json.load(file)
    return {**found, **json.loads(OLD_TABLE.read_text(encoding="utf-8"))["ops"]}


def differences(spec: OpSpec, definition: dict[str, Any]) -> list[str]:
    """What a registered op has otherwise than TensorFlow's, one line each."""
    found = _differing_args("input", spec.inputs, definition["inputs"])
    found += _differing_args("output", spec.outputs, definition["outputs"])
    wanted_attrs = {attr["name"]: attr for attr in definition["attrs"]}
    for name in sorted(spec.attrs.keys() | wanted_attrs.keys()):
        if name not in wanted_attrs:
            found.append(f"attr {name}: TensorFlow's op has none of that name")
        elif name not in spec.attrs:
            found.append(f"attr {name}: missing, TensorFlow has {wanted_attrs[name]}")
        else:
            found += _differing_attr(spec.attrs[name], wanted_attrs[name])
    for flag, trait in _FLAGS.items():
        ours, theirs = trait in spec.traits, definition.get(flag, False)
        if ours != theirs:
            found.append(f"{flag}: {ours}, TensorFlow has {theirs}")
    return found


def _differing_args(
    what: str, args: tuple[Arg, ...], definitions: list[dict[str, Any]]
) -> list[str]:
    ours, theirs = [_arg(arg) for arg in args], definitions
    if len(ours) != len(theirs):
        names = [arg["name"] for arg in ours], [arg["name"] for arg in theirs]
        return [f"{what}s: {names[0]}, TensorFlow has {names[1]}"]
    return [
        f"{what} {i}: {mine}, TensorFlow has {other}"
        for i, (mine, other) in enumerate(zip(ours, theirs, strict=True))
        if mine != other
    ]


def _arg(arg: Arg) -> dict[str, Any]:
    """An argument in the form of the table."""
    described = {
        "name": arg.name,
        "type": None if arg.dtype is None else arg.dtype.name,
        "type_attr": arg.type_attr,
        "number_attr": arg.number_attr,
        "type_list_attr": arg.type_list_attr,
        "is_ref": arg.is_ref or None,
    }
    return {key: value for key, value in described.items() if value is not None}


def _differing_attr(attr: Attr, definition: dict[str, Any]) -> list[str]:
    kind = definition["type"]
    facts: dict[str, tuple[Any, Any]] = {
        "kind": (attr.kind, kind),
        "minimum": (attr.minimum, definition.get("minimum")),
        "allowed": (_allowed(attr.allowed), _allowed(definition.get("allowed"))),
        "has a default": (attr.has_default, definition.get("has_default", False)),
    }
    # The table only says that there is a default where it is a tensor.
    if attr.has_default and "default" in definition and kind != "tensor":
        default = _plain(attr.default, attr.kind), _plain(definition["default"], kind)
        facts["default"] = default
    return [
        f"attr {attr.name}, {fact}: {ours}, TensorFlow has {theirs}"
        for fact, (ours, theirs) in facts.items()
        if ours != theirs
    ]


def _allowed(values: Any) -> list[str] | None:
    if values is None:
        return None
    return sorted({value.name if isinstance(value, DType) else value for value in values})


def _plain(value: Any, kind: str) -> Any:
    """A default in one form for both sides: names of types, lists, single precision."""
    if kind.startswith("list("):
        return [_plain(entry, kind[5:-1]) for entry in value]
    if isinstance(value, DType):
        return value.name
    if kind == "float":
        return float(np.float32(value))
    if kind == "shape":
        return None if value is None else list(value)
    return value.decode() if isinstance(value, bytes) else value


def public_op_types() -> list[str]:
    """What Penstock registers for its users, in alphabetical order.

    Tests register ops of other names in this process, and `test_ops` those of TensorFlow's tests;
    ops that begin with an underscore are made by passes alone.
    """
    tests = sys.modules.get("penstock.testing.test_ops")
    left_out = set() if tests is None else set(tests._OP_TYPES.values())
    return sorted(
        name
        for name in registry.specs()
        if name in table() and name[0] != "_" and name not in left_out
    )
