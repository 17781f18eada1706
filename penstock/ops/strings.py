"""Strings, element by element: parts, lengths, letter case, base 64."""

from __future__ import annotations

from typing import Any

from penstock import shapes
from penstock.ir.dispatch import dispatched
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.shapes import Shape

__all__ = [
    "decode_base64",
    "encode_base64",
    "string_length",
    "string_strip",
    "substr",
]

_UNIT: dict[str, Any] = {"unit": attr("string", "BYTE", allowed=("BYTE", "UTF8_CHAR"))}

Substr = op("Substr(input: string, pos: T, len: T) -> output: string", T=INDEX, **_UNIT)
StringLength = op("StringLength(input: string) -> output: int32", **_UNIT)
StringStrip = op("StringStrip(input: string) -> output: string")
StringLower = op("StringLower(input: string) -> output: string", encoding="")
StringUpper = op("StringUpper(input: string) -> output: string", encoding="")
EncodeBase64 = op("EncodeBase64(input: string) -> output: string", pad=False)
DecodeBase64 = op("DecodeBase64(input: string) -> output: string")
not_differentiable(EncodeBase64, DecodeBase64)


@StringLength.shape
@StringStrip.shape
@StringLower.shape
@StringUpper.shape
@EncodeBase64.shape
@DecodeBase64.shape
def _(op: Operation, input: Shape) -> Shape:
    return input


@Substr.shape
def _(op: Operation, input: Shape, pos: Shape, length: Shape) -> Shape:
    if pos is not None and length is not None and not shapes.compatible(pos, length):
        raise ValueError(
            f"pos and len shapes must match: {shapes.text(pos)} vs. {shapes.text(length)}"
        )
    return shapes.broadcast(input, pos)


@dispatched
def substr(input: Any, pos: Any, len: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The part of each string that starts at `pos` (from the end if negative) with `len` units.

    `pos` and `len` have one shape, which broadcasts with that of `input`; a `unit` is a "BYTE" or
    a "UTF8_CHAR".
    """
    return Substr(input, pos, len, unit=unit, name=name)


@dispatched
def string_length(input: Any, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The length of each string in bytes, or in characters with `unit="UTF8_CHAR"`."""
    return StringLength(input, unit=unit, name=name)


@dispatched
def string_strip(input: Any, name: str | None = None) -> Tensor:
    """Each string without white space at its ends."""
    return StringStrip(input, name=name)


def string_lower(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Each string in lower case: ASCII letters only, or all with `encoding="utf-8"`."""
    return StringLower(input, encoding=encoding, name=name)


def string_upper(input: Any, encoding: str = "", name: str | None = None) -> Tensor:
    """Each string in upper case: ASCII letters only, or all with `encoding="utf-8"`."""
    return StringUpper(input, encoding=encoding, name=name)


@dispatched
def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Each string in web-safe base 64, filled up with "=" if `pad`."""
    return EncodeBase64(input, pad=pad, name=name)


@dispatched
def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """The strings that web-safe base 64, filled up or not, stands for."""
    return DecodeBase64(input, name=name)
