"""Numbers as strings, strings as numbers, and templates filled with tensors."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.dispatch import dispatched
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import REAL
from penstock.ops.shaping import renamed_argument
from penstock.shapes import Shape

__all__ = ["as_string", "string_to_number"]

AsString = op(
    "AsString(input: T) -> output: string",
    T=types(REAL, dtypes.complex64, dtypes.complex128, dtypes.bool, dtypes.variant, dtypes.string),
    precision=-1,
    scientific=False,
    shortest=False,
    width=-1,
    fill="",
)
StringToNumber = op(
    "StringToNumber(string_tensor: string) -> output: out_type",
    out_type=types(
        dtypes.float32,
        dtypes.float64,
        dtypes.int32,
        dtypes.int64,
        dtypes.uint32,
        dtypes.uint64,
        default=dtypes.float32,
    ),
)
StringFormat = op(
    "StringFormat(inputs: *T) -> output: string",
    T=attr("list(type)", minimum=0),
    template="%s",
    placeholder="%s",
    summarize=3,
)
not_differentiable(AsString, StringToNumber)


@AsString.shape
@StringToNumber.shape
def _(op: Operation, input: Shape) -> Shape:
    return input


@StringFormat.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    places = _text(op.attrs["template"]).count(_text(op.attrs["placeholder"]))
    if places != len(inputs):
        raise ValueError(
            f"num placeholders in template and num inputs must match: {places} vs. {len(inputs)}"
        )
    return ()


def _text(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


@dispatched
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Tensor:
    """Each number as a string, as C's printf writes it.

    Args:
      input: Numbers, truths (true, false) or strings.
      precision: Digits behind the point of a floating number; 6 if negative.
      scientific: Write 1.5e+00.
      shortest: Write whichever is shorter, 1.5 or 1e+10.
      width: Fill up to this many characters,
      fill: with zeros ("0"), or at the end with blanks ("-"); "+" and " " write a sign.
    """
    return AsString(
        input,
        precision=precision,
        scientific=scientific,
        shortest=shortest,
        width=width,
        fill=fill,
        name=name,
    )


@dispatched
def string_to_number(
    string_tensor: Any = None,
    out_type: Any = dtypes.float32,
    name: str | None = None,
    input: Any = None,
) -> Tensor:
    """The number that each string spells, with white space around it or not."""
    strings = renamed_argument("input", input, "string_tensor", string_tensor)
    return StringToNumber(strings, out_type=out_type, name=name)


def string_format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Tensor:
    """The template with a tensor written in place of each placeholder.

    `summarize` is the number of entries to write at either end of each axis; -1 for all.

    >>> tf.strings.format("tensor: {}, suffix", tf.range(10))
    b'tensor: [0 1 2 ... 7 8 9], suffix'
    """
    tensors = [inputs] if isinstance(inputs, Tensor) else inputs
    places = template.count(placeholder)
    if places != len(tensors):
        raise ValueError(
            f"{places} placeholder(s) in template does not match {len(tensors)} tensor(s) "
            "provided as input"
        )
    return StringFormat(
        list(tensors), template=template, placeholder=placeholder, summarize=summarize, name=name
    )
