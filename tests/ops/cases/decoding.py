"""Data out of strings."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from tests.ops.case import Case, array, bools, c64, f16, f32, string, strings

GZIP = zlib.compressobj(wbits=31)
GZIPPED = GZIP.compress(b"hello") + GZIP.flush()
NUMBERS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
WHOLE = ("int8", "int16", "int32", "int64", "uint8", "uint16")
BYTES = bytes(range(64))


def csv(label: str, records: np.ndarray, defaults: list[np.ndarray], **attrs: Any) -> Case:
    fails = attrs.pop("fails", False)
    return Case("DecodeCSV", (records, defaults), attrs, label=label, fails=fails)


def of(value: Any, dtype: str) -> np.ndarray:
    return array(value, dtype)


NOTHING = np.zeros((0,), np.float32)
TEXT = strings("none")

CASES = [
    Case("DecodeRaw", (strings(BYTES[:32], BYTES[32:]),), {"out_type": dtype}, label=dtype)
    for dtype in NUMBERS + WHOLE
]
CASES += [
    Case(
        "DecodeRaw",
        (strings(BYTES[:32]),),
        {"out_type": dtype, "little_endian": False},
        label=f"{dtype} big-endian",
    )
    for dtype in (*WHOLE, "float32", "complex64")
]
CASES += [
    Case("DecodeRaw", (strings(b"\x00\x01"),), {"out_type": "bool"}, label="bool"),
    Case("DecodeRaw", (string(b"abcd"),), {"out_type": "uint8"}, label="scalar"),
    Case("DecodeRaw", (strings("", ""),), {"out_type": "int16"}, label="no bytes"),
    Case("DecodeRaw", (np.zeros((0, 3), object),), {"out_type": "int16"}, label="empty"),
    Case("DecodeRaw", (strings("ab", "abcd"),), {"out_type": "uint8"}, label="sizes", fails=True),
    Case("DecodeRaw", (strings("abc"),), {"out_type": "int16"}, label="odd", fails=True),
]
CASES += [
    Case(
        "DecodePaddedRaw",
        (strings("abcd", "a", ""), array(length, "int32")),
        {"out_type": dtype, "little_endian": little},
        label=f"{dtype} {length} {'little' if little else 'big'}",
    )
    for dtype, length, little in (
        ("uint8", 3, True),
        ("int16", 4, True),
        ("int16", 4, False),
        ("float32", 8, True),
    )
]
CASES += [
    Case(
        "DecodePaddedRaw",
        (strings("abcd"), array(length, "int32")),
        {"out_type": "int16"},
        label=f"length {length}",
        fails=True,
    )
    for length in (3, 0, -2)
]
CASES += [
    csv(
        "types",
        strings("1,2.5,abc,4,5", ",,,,", " -1 ,1e3, x ,9,inf"),
        [of([7], "int32"), of([1.5], "float32"), TEXT, of([8], "int64"), of([2.5], "float64")],
    ),
    csv("scalar default", strings("1,", ",2"), [of(5, "int32"), of(6, "int32")]),
    csv("shapes", strings(["1", "2"], ["3", "4"]), [of([0], "int32")]),
    csv("scalar record", string("1,a"), [of([0], "int32"), TEXT]),
    csv("empty", np.zeros((0,), object), [of([0], "int32"), TEXT]),
    csv("quotes", strings('"a,b",c', '"a""b",""', 'x,"y\nz"'), [TEXT, TEXT]),
    csv("no quotes", strings('a"b,"c"'), [TEXT, TEXT], use_quote_delim=False),
    csv("line ends", strings("\na,b", "a,\nb", "\r\na,b"), [TEXT, TEXT]),
    csv("delimiter", strings("a;b", ";"), [TEXT, TEXT], field_delim=";"),
    csv("tab", strings("a\tb"), [TEXT, TEXT], field_delim="\t"),
    csv(
        "not available",
        strings("NA,1", "2,NA"),
        [of([5], "int32"), of([6], "int32")],
        na_value="NA",
    ),
    csv("columns", strings("0,1,2,3", 'a,4,"x,y",5'), [of([0], "int32")] * 2, select_cols=[1, 3]),
    csv("last column", strings("a,b,"), [TEXT], select_cols=[2]),
    csv("required", strings("1.5"), [NOTHING]),
    csv("required missing", strings("1", ""), [NOTHING], fails=True),
    csv(
        "missing",
        strings("1,,3"),
        [of([0.0], "float32"), NOTHING, of([0.0], "float32")],
        fails=True,
    ),
    csv("too few", strings("1,2"), [of([0], "int32")] * 3, fails=True),
    csv("too many", strings("1,2,3"), [of([0], "int32")] * 2, fails=True),
    csv("not int32", strings("a"), [of([0], "int32")], fails=True),
    csv("not int64", strings("1.5"), [of([0], "int64")], fails=True),
    csv("not float", strings("x"), [of([0.0], "float32")], fails=True),
    csv("too large", strings("99999999999"), [of([0], "int32")], fails=True),
    csv("quote inside", strings('a"b'), [TEXT], fails=True),
    csv("single quote", strings('"a"b"'), [TEXT], fails=True),
    csv("open quote", strings('"a'), [TEXT], fails=True),
    csv("lines", strings("1,2\n3,4"), [TEXT, TEXT], fails=True),
    csv("two characters", strings("a"), [TEXT], field_delim=";;", fails=True),
    csv("two defaults", strings("a"), [strings("a", "b")], fails=True),
    csv("matrix default", strings("a"), [strings(["a"])], fails=True),
    csv("unsorted columns", strings("a,b"), [TEXT, TEXT], select_cols=[1, 0], fails=True),
    csv("column count", strings("a,b"), [TEXT], select_cols=[0, 1], fails=True),
    csv("missing column", strings("a,b"), [TEXT, TEXT], select_cols=[0, 2], fails=True),
    Case("DecodeJSONExample", (strings("{}", '{"features": {}}'),)),
    Case(
        "DecodeJSONExample",
        (strings(['{"features":{"feature":{"c":{"bytesList":{"value":["YQ=="]}}}}}']),),
        label="bytes",
    ),
    Case("DecodeJSONExample", (strings("{]"),), label="syntax", fails=True),
    Case("DecodeJSONExample", (strings('{"foo": 1}'),), label="field", fails=True),
    Case("DecodeCompressed", (strings("hello", ""),)),
    Case(
        "DecodeCompressed",
        (strings([zlib.compress(b"hello")], [b""]),),
        {"compression_type": "ZLIB"},
        label="zlib",
    ),
    Case(
        "DecodeCompressed",
        (strings(GZIPPED, GZIPPED * 2),),
        {"compression_type": "GZIP"},
        label="gzip",
    ),
    Case(
        "DecodeCompressed", (strings("bad"),), {"compression_type": "ZLIB"}, label="bad", fails=True
    ),
    Case(
        "DecodeCompressed", (strings("a"),), {"compression_type": "FOO"}, label="kind", fails=True
    ),
]
TENSORS = {
    "float32": f32(2, 3),
    "float16": f16(3),
    "complex64": c64(2),
    "bool": bools(4),
    "scalar": array(3, "int64"),
    "int32": array([[1, -2]], "int32"),
    "empty": f32(0, 2),
    "string": strings(["a", ""], ["bc", b"\xff"]),
}
SERIALIZED = {
    "float32": b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08\x00\x00\x80?\x00\x00\x00@",
    "string": b"\x08\x07\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02B\x01aB\x02bc",
    "int64": b"\x08\x09\x12\x04\x12\x02\x08\x03\x52\x01\x05",  # one value for three elements
}
CASES += [Case("SerializeTensor", (value,), label=label) for label, value in TENSORS.items()]
CASES += [
    Case("ParseTensor", (string(value),), {"out_type": dtype}, label=dtype)
    for dtype, value in SERIALIZED.items()
]
CASES += [
    Case(
        "ParseTensor",
        (string(SERIALIZED["float32"]),),
        {"out_type": "int32"},
        label="type",
        fails=True,
    ),
    Case("ParseTensor", (string("bad"),), {"out_type": "int32"}, label="bad", fails=True),
    Case(
        "ParseTensor",
        (strings(SERIALIZED["int64"]),),
        {"out_type": "int64"},
        label="vector",
        fails=True,
    ),
]
