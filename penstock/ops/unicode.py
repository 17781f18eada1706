"""Unicode: encodings, code points and their scripts."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, shapes
from penstock.ir.dispatch import dispatched
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import INDEX
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

__all__: list[str] = []

_ENCODINGS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_DECODING: dict[str, Any] = {
    "input_encoding": attr("string"),
    "errors": attr("string", "replace", allowed=("strict", "replace", "ignore")),
    "replacement_char": 65533,
    "replace_control_characters": False,
    "Tsplits": types(INDEX, default=dtypes.int64),
}

UnicodeScript = op("UnicodeScript(input: int32) -> output: int32")
UnicodeTranscode = op(
    "UnicodeTranscode(input: string) -> output: string",
    input_encoding=attr("string"),
    output_encoding=attr("string", allowed=_ENCODINGS),
    errors=attr("string", "replace", allowed=("strict", "replace", "ignore")),
    replacement_char=65533,
    replace_control_characters=False,
)
UnicodeEncode = op(
    "UnicodeEncode(input_values: int32, input_splits: Tsplits) -> output: string",
    errors=attr("string", "replace", allowed=("ignore", "replace", "strict")),
    output_encoding=attr("string", allowed=_ENCODINGS),
    replacement_char=65533,
    Tsplits=types(INDEX, default=dtypes.int64),
)
UnicodeDecode = op(
    "UnicodeDecode(input: string) -> row_splits: Tsplits, char_values: int32", **_DECODING
)
UnicodeDecodeWithOffsets = op(
    "UnicodeDecodeWithOffsets(input: string) -> row_splits: Tsplits, char_values: int32, "
    "char_to_byte_starts: int64",
    **_DECODING,
)


@UnicodeScript.shape
@UnicodeTranscode.shape
def _(op: Operation, input: Shape) -> Shape:
    return input


@UnicodeEncode.shape
def _(op: Operation, values: Shape, splits: Shape) -> Shape:
    with_rank(values, 1)
    (count,) = with_rank(splits, 1)
    if count == 0:
        raise ValueError("Negative dimension size caused by subtracting 1 from 0")
    return (None if count is None else count - 1,)


@UnicodeDecode.shape
def _(op: Operation, input: Shape) -> list[Shape]:
    return [_splits(input), (None,)]


@UnicodeDecodeWithOffsets.shape
def _(op: Operation, input: Shape) -> list[Shape]:
    return [_splits(input), (None,), (None,)]


def _splits(input: Shape) -> Shape:
    count = shapes.num_elements(input)
    return (None if count is None else count + 1,)


@dispatched
def unicode_script(input: Any, name: str | None = None) -> Tensor:
    """The number, in ICU's list, of the script that each code point belongs to; -1 for none."""
    return UnicodeScript(input, name=name)


def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Tensor:
    """Strings of one encoding in another: "UTF-8", "UTF-16-BE" or "UTF-32-BE".

    Args:
      input: Strings.
      input_encoding: Their encoding, by any usual name.
      output_encoding: The encoding wanted.
      errors: What is done with bytes that are not valid: "replace", "ignore", or "strict" to fail.
      replacement_char: The code point that replaces them.
      replace_control_characters: Whether characters below a blank count as not valid.
    """
    return UnicodeTranscode(
        input,
        input_encoding=input_encoding,
        output_encoding=output_encoding,
        errors=errors,
        replacement_char=replacement_char,
        replace_control_characters=replace_control_characters,
        name=name,
    )
