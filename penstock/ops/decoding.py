"""Data out of strings: raw bytes, comma-separated values, JSON, compressed data, whole tensors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.dispatch import dispatched
from penstock.ir.operation import Operation
from penstock.ir.registry import attr, not_differentiable, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import FLOATING, FLOATING_COMPLEX, SIGNED
from penstock.ops.shaping import renamed_argument
from penstock.shapes import Shape

__all__ = [
    "decode_compressed",
    "decode_csv",
    "decode_json_example",
    "decode_raw",
    "parse_tensor",
    "serialize_tensor",
]

DecodeRaw = op(
    "DecodeRaw(bytes: string) -> output: out_type",
    out_type=types(FLOATING_COMPLEX, SIGNED, dtypes.uint16, dtypes.uint8, dtypes.bool),
    little_endian=True,
)
DecodePaddedRaw = op(
    "DecodePaddedRaw(input_bytes: string, fixed_length: int32) -> output: out_type",
    out_type=types(FLOATING, SIGNED, dtypes.uint16, dtypes.uint8),
    little_endian=True,
)
DecodeCSV = op(
    "DecodeCSV(records: string, record_defaults: *OUT_TYPE) -> output: *OUT_TYPE",
    OUT_TYPE=attr(
        "list(type)",
        allowed=(dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string),
        minimum=1,
    ),
    field_delim=",",
    use_quote_delim=True,
    na_value="",
    select_cols=attr("list(int)", []),
)
DecodeJSONExample = op("DecodeJSONExample(json_examples: string) -> binary_examples: string")
DecodeCompressed = op("DecodeCompressed(bytes: string) -> output: string", compression_type="")
ParseTensor = op("ParseTensor(serialized: string) -> output: out_type")
SerializeTensor = op("SerializeTensor(tensor: T) -> serialized: string")
not_differentiable(DecodeRaw, DecodePaddedRaw, ParseTensor, SerializeTensor)


@DecodeRaw.shape
def _(op: Operation, strings: Shape) -> Shape:
    return None if strings is None else (*strings, None)


@DecodePaddedRaw.shape
def _(op: Operation, strings: Shape, fixed_length: Shape) -> Shape:
    known = constant_value(op.inputs[1])
    if known is None or known.ndim:
        return None if strings is None else (*strings, None)
    length, size = int(known), op.attrs["out_type"].size
    if length < 0:
        raise ValueError(
            f"Dimension size, given by scalar input 1, must be non-negative but is {length}"
        )
    if length % size:
        raise ValueError(f"Dimension size must be evenly divisible by {size} but is {length}")
    return None if strings is None else (*strings, length // size)


@DecodeCSV.shape
def _(op: Operation, records: Shape, *defaults: Shape) -> list[Shape]:
    for shape in defaults:
        if shape is not None and len(shape) > 1:
            raise ValueError(f"Shape must be at most rank 1 but is rank {len(shape)}")
        if shape and shape[0] is not None and shape[0] > 1:
            raise ValueError(
                "Shape of a default must be a length-0 or length-1 vector, or a scalar."
            )
    return [records] * len(defaults)


@DecodeJSONExample.shape
@DecodeCompressed.shape
def _(op: Operation, strings: Shape) -> Shape:
    return strings


@ParseTensor.shape
def _(op: Operation, serialized: Shape) -> Shape:
    return None


@SerializeTensor.shape
def _(op: Operation, tensor: Shape) -> Shape:
    return ()


def decode_raw(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: bool = True,
    name: str | None = None,
    bytes: Any = None,
    fixed_length: Any = None,
) -> Tensor:
    """The numbers whose bytes are in strings of one length, along a new last dimension.

    With `fixed_length` strings of any length are cut, or filled up with zeros, to that many bytes.

    >>> image = tf.reshape(tf.decode_raw(features["image_raw"], tf.uint8), [28, 28])
    """
    strings = renamed_argument("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    if fixed_length is not None:
        return DecodePaddedRaw(
            strings, fixed_length, out_type=out_type, little_endian=little_endian, name=name
        )
    return DecodeRaw(strings, out_type=out_type, little_endian=little_endian, name=name)


def decode_csv(
    records: Any,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    name: str | None = None,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor]:
    """The columns of comma-separated records, one tensor of the records' shape for each.

    Args:
      records: Strings, one line each.
      record_defaults: For each column its default, which tells its type too; a column with an empty
        vector must be there in every record.
      field_delim: The character between fields.
      use_quote_delim: Whether a field in double quotes may hold the delimiter.
      na_value: A field with this text counts as missing, as an empty one does.
      select_cols: The numbers of the columns wanted, in rising order; all if None.
    """
    if select_cols is not None:
        columns = list(select_cols)
        if any(after <= before for before, after in itertools.pairwise(columns)):
            raise ValueError("select_cols is not strictly increasing.")
        if columns[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(columns) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    return DecodeCSV(
        records,
        record_defaults,
        field_delim=field_delim,
        use_quote_delim=use_quote_delim,
        na_value=na_value,
        select_cols=select_cols,
        name=name,
    )


def decode_json_example(json_examples: Any, name: str | None = None) -> Tensor:
    """Each JSON text of a `tf.train.Example` as the message's binary form."""
    return DecodeJSONExample(json_examples, name=name)


@dispatched
def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Tensor:
    """The strings that "ZLIB" or "GZIP" data holds; "" leaves them as they are."""
    return DecodeCompressed(bytes, compression_type=compression_type, name=name)


def parse_tensor(serialized: Any, out_type: Any, name: str | None = None) -> Tensor:
    """The tensor in a serialized TensorProto."""
    return ParseTensor(serialized, out_type=out_type, name=name)


def serialize_tensor(tensor: Any, name: str | None = None) -> Tensor:
    """A tensor as a string: a serialized TensorProto."""
    return SerializeTensor(tensor, name=name)
