"""Op signatures written as one line of text.

`MatMul(a: T, b: T) -> product: T` names an op, its inputs and its outputs. A type is one of

    float32      a fixed type                   T        the type held by attr T
    N*T          N tensors of type T            *Tin     one tensor per entry of the type list Tin
    &T           a reference to a tensor of T   N*int32, &float32, N*&T …  combinations
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from penstock import dtypes
from penstock.dtypes import DType

REQUIRED: Any = type("Required", (), {"__repr__": lambda self: "<required>"})()

# A graph file names a number in a few bytes, and each tensor takes memory.
_MOST_TENSORS = 1 << 20


@dataclass(frozen=True)
class Arg:
    """One input or output of an op; a list argument has `number_attr` or `type_list_attr`."""

    name: str
    dtype: DType | None = None
    type_attr: str | None = None
    number_attr: str | None = None
    type_list_attr: str | None = None
    is_ref: bool = False

    @property
    def is_list(self) -> bool:
        return self.number_attr is not None or self.type_list_attr is not None

    def count(self, attrs: dict[str, Any]) -> int:
        """How many tensors the argument stands for on a node with these attrs."""
        if self.number_attr is not None:
            number = int(attrs[self.number_attr])
            if number > _MOST_TENSORS:
                raise ValueError(
                    f"{self.number_attr!r} is {number}: an argument stands for {_MOST_TENSORS} "
                    "tensors at most"
                )
            return number
        if self.type_list_attr is not None:
            return len(attrs[self.type_list_attr])
        return 1

    def types(self, attrs: dict[str, Any]) -> list[DType]:
        """The type of each of its tensors, a reference type where it is one."""
        if self.type_list_attr is not None:
            return list(attrs[self.type_list_attr])
        dtype: Any = attrs[self.type_attr] if self.type_attr is not None else self.dtype
        return [dtype._as_ref if self.is_ref else dtype] * self.count(attrs)


@dataclass(frozen=True)
class Attr:
    """One attr of an op: its kind in TensorFlow's words, its default and what it may hold."""

    name: str
    kind: str
    default: Any = REQUIRED
    allowed: tuple[Any, ...] | None = None
    minimum: int | None = None

    @property
    def has_default(self) -> bool:
        return self.default is not REQUIRED


@dataclass(frozen=True)
class AttrSpec:
    """What `attr(...)` returns: an Attr that does not know its name yet."""

    kind: str
    default: Any
    allowed: tuple[Any, ...] | None
    minimum: int | None


def attr(
    kind: str,
    default: Any = REQUIRED,
    allowed: Iterable[Any] | None = None,
    minimum: int | None = None,
) -> AttrSpec:
    """Declares an attr whose kind its default can't tell: `strides=attr("list(int)")`."""
    return AttrSpec(kind, default, None if allowed is None else tuple(allowed), minimum)


def types(*allowed: DType | tuple[DType, ...], default: DType = REQUIRED) -> AttrSpec:
    """Declares a type attr restricted to `allowed` (types, or tuples of types)."""
    flat: list[DType] = []
    for entry in allowed:
        flat.extend(entry if isinstance(entry, tuple) else (entry,))
    return AttrSpec("type", default, tuple(flat) or None, None)


_KIND_OF_DEFAULT: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (int, "int"),
    (str, "string"),
    (DType, "type"),
)


def single_precision(value: float) -> float:
    """A float attr is a 32-bit float in TensorFlow's files: 0.2 is 0.200000003 in double."""
    try:
        return struct.unpack("f", struct.pack("f", value))[0]
    except struct.error as error:
        raise TypeError(str(error)) from None


def _declare(name: str, value: Any) -> Attr:
    if isinstance(value, AttrSpec):
        default = value.default
        if value.kind == "float" and default is not REQUIRED:
            default = single_precision(default)
        return Attr(name, value.kind, default, value.allowed, value.minimum)
    if isinstance(value, tuple) and value and all(isinstance(v, DType) for v in value):
        return Attr(name, "type", REQUIRED, value)
    if isinstance(value, float):
        return Attr(name, "float", single_precision(value))
    for python_type, kind in _KIND_OF_DEFAULT:
        if isinstance(value, python_type):
            return Attr(name, kind, value)
    raise TypeError(f"attr {name!r}: can't tell its kind from {value!r}; use attr(kind, default)")


@dataclass(frozen=True)
class Signature:
    name: str
    inputs: tuple[Arg, ...]
    outputs: tuple[Arg, ...]
    attrs: dict[str, Attr]


_SIGNATURE = re.compile(r"^\s*(\w+)\s*\((.*)\)\s*(?:->\s*(.*))?$", re.DOTALL)


def _parse_arg(text: str) -> Arg:
    name, _, kind = (part.strip() for part in text.partition(":"))
    if not name or not kind:
        raise ValueError(f"an argument is written 'name: type', got {text!r}")
    number: str | None = None
    if kind.startswith("*"):
        return Arg(name, type_list_attr=kind[1:])
    if "*" in kind:
        number, kind = (part.strip() for part in kind.split("*"))
    is_ref = kind.startswith("&")
    kind = kind.removeprefix("&")
    fixed = dtypes.BY_NAME.get(kind)
    if fixed is not None:
        return Arg(name, dtype=fixed, number_attr=number, is_ref=is_ref)
    return Arg(name, type_attr=kind, number_attr=number, is_ref=is_ref)


def _parse_args(text: str | None) -> tuple[Arg, ...]:
    return tuple(_parse_arg(part) for part in (text or "").split(",") if part.strip())


def parse(text: str, declared: dict[str, Any]) -> Signature:
    """Reads a signature line; attrs that only its types mention need no declaration."""
    match = _SIGNATURE.match(text)
    if match is None:
        raise ValueError(f"not an op signature: {text!r}; write 'Name(a: T) -> b: T'")
    name, inputs, outputs = match[1], _parse_args(match[2]), _parse_args(match[3])
    attrs = {key: _declare(key, value) for key, value in declared.items()}
    for arg in (*inputs, *outputs):
        if arg.number_attr is not None:
            attrs.setdefault(arg.number_attr, Attr(arg.number_attr, "int", minimum=1))
        if arg.type_attr is not None:
            attrs.setdefault(arg.type_attr, Attr(arg.type_attr, "type"))
        if arg.type_list_attr is not None:
            key = arg.type_list_attr
            attrs.setdefault(key, Attr(key, "list(type)", minimum=1))
    return Signature(name, inputs, outputs, attrs)
