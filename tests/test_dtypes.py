"""DType, with values looked up in TensorFlow's `tf.DType`."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from penstock import dtypes, proto

ALL = [dtypes.DType(number) for number in proto.DataType.values() if number]


def test_every_entry_of_types_proto_is_here() -> None:
    # TensorFlow spells three names shorter in types.proto than in Python.
    spelling = {"float": "float32", "double": "float64", "half": "float16"}
    for key, number in proto.DataType.items():
        if key == "DT_INVALID":
            continue
        base = key.removeprefix("DT_").removesuffix("_REF").lower()
        ref = "_ref" if key.endswith("_REF") else ""
        dtype = dtypes.DType(number)
        assert dtype.name == spelling.get(base, base) + ref
        assert dtype.as_datatype_enum == int(dtype) == hash(dtype) == number
        assert getattr(dtypes, dtype.name) is dtype
        assert dtypes.as_dtype(number) is dtypes.as_dtype(dtype.name) is dtype
    assert len(ALL) == 66


@pytest.mark.parametrize("dtype", ALL, ids=repr)
def test_reference_twins(dtype: dtypes.DType) -> None:
    assert dtype.is_ref_dtype == dtype.name.endswith("_ref")
    assert dtype._as_ref.name == dtype.base_dtype.name + "_ref"
    assert dtype._as_ref.as_datatype_enum == dtype.base_dtype.as_datatype_enum + 100
    assert dtype._as_ref._as_ref is dtype._as_ref
    assert dtype.base_dtype.base_dtype is dtype.base_dtype
    for question in ("is_floating", "is_integer", "is_unsigned", "is_complex", "is_bool"):
        assert getattr(dtype, question) == getattr(dtype.base_dtype, question)


KINDS = {
    "is_floating": "float16 float32 float64 bfloat16 float8_e5m2 float8_e4m3fn float8_e4m3fnuz "
    "float8_e4m3b11fnuz float8_e5m2fnuz float4_e2m1fn",
    "is_integer": "int8 int16 int32 int64 uint8 uint16 uint32 uint64 int4 uint4 int2 uint2",
    "is_unsigned": "uint8 uint16 uint32 uint64 uint4 uint2",
    "is_complex": "complex64 complex128",
    "is_bool": "bool",
    "is_quantized": "qint8 quint8 qint16 quint16 qint32",
}


@pytest.mark.parametrize(("question", "names"), KINDS.items())
def test_kinds(question: str, names: str) -> None:
    yes = {dtype.name for dtype in ALL if getattr(dtype, question) and not dtype.is_ref_dtype}
    assert yes == set(names.split())


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        (dtypes.float32, 4),
        (dtypes.float64_ref, 8),
        (dtypes.complex128, 16),
        (dtypes.bool, 1),
        (dtypes.bfloat16, 2),
        (dtypes.qint32, 4),
        (dtypes.int4, 1),
        (dtypes.string, 8),
        (dtypes.resource, 1),
        (dtypes.variant, 1),
    ],
)
def test_size(dtype: dtypes.DType, size: int) -> None:
    assert dtype.size == size


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        (dtypes.int32, -2147483648, 2147483647),
        (dtypes.uint64, 0, 18446744073709551615),
        (dtypes.int4, -8, 7),
        (dtypes.uint2, 0, 3),
        (dtypes.float16, -65504, 65504),
        (dtypes.float32_ref, np.finfo(np.float32).min, np.finfo(np.float32).max),
        (dtypes.float8_e4m3fn, -448, 448),
        (dtypes.float8_e5m2, -57344, 57344),
        (dtypes.float4_e2m1fn, -6, 6),
    ],
)
def test_min_and_max(dtype: dtypes.DType, low: float, high: float) -> None:
    assert (dtype.min, dtype.max) == (low, high)
    assert type(dtype.min) is (int if dtype.is_integer else dtype.as_numpy_dtype)


@pytest.mark.parametrize("name", ["string", "complex64", "bool", "qint8", "resource", "bool_ref"])
def test_no_min_and_max(name: str) -> None:
    with pytest.raises(TypeError, match="minimum"):
        _ = dtypes.as_dtype(name).min
    with pytest.raises(TypeError, match="maximum"):
        _ = dtypes.as_dtype(name).max


def test_limits() -> None:
    assert dtypes.float32.limits == (0, 1)
    assert dtypes.float64_ref.limits == (0, 1)
    assert dtypes.uint8.limits == (0, 255)
    assert dtypes.int64.limits == (0, 9223372036854775807)
    assert dtypes.bool.limits == (0, True)
    for dtype in (dtypes.float16, dtypes.string, dtypes.qint8, dtypes.int4):
        with pytest.raises(ValueError, match="does not have defined limits"):
            _ = dtype.limits


def test_numpy_types() -> None:
    assert dtypes.float32.as_numpy_dtype is dtypes.float32_ref.as_numpy_dtype is np.float32
    assert dtypes.bfloat16.as_numpy_dtype is ml_dtypes.bfloat16
    assert dtypes.string.as_numpy_dtype is object
    assert dtypes.qint8.as_numpy_dtype == np.dtype([("qint8", "i1")])
    for dtype in (dtypes.resource, dtypes.variant_ref):
        assert not dtype.is_numpy_compatible
        with pytest.raises(KeyError):
            _ = dtype.as_numpy_dtype


def test_real_dtype() -> None:
    assert dtypes.complex64.real_dtype is dtypes.complex64_ref.real_dtype is dtypes.float32
    assert dtypes.complex128.real_dtype is dtypes.float64
    assert dtypes.float32_ref.real_dtype is dtypes.float32_ref
    assert dtypes.string.real_dtype is dtypes.string


CONVERSIONS: list[tuple[Any, str]] = [
    ("float", "float32"),
    ("double", "float64"),
    ("half", "float16"),
    ("float_ref", "float32_ref"),
    ("double_ref", "float64_ref"),
    ("half_ref", "float16_ref"),
    (np.str_("float32"), "float32"),
    (float, "float32"),
    (bool, "bool"),
    (object, "string"),
    (np.float16, "float16"),
    (np.bool_, "bool"),
    (np.object_, "string"),
    (np.str_, "string"),
    (np.bytes_, "string"),
    (np.intc, "int32"),
    (np.longlong, "int64"),
    (np.ulonglong, "uint64"),
    (np.dtype("float32"), "float32"),
    (np.dtype(">f4"), "float32"),
    (np.dtype("S3"), "string"),
    (np.dtype("U3"), "string"),
    (np.dtype("O"), "string"),
    (np.dtype([("qint8", "i1")]), "qint8"),
    (ml_dtypes.bfloat16, "bfloat16"),
    (np.dtype(ml_dtypes.float8_e5m2), "float8_e5m2"),
    (np.zeros(2, np.int8), "int8"),
    (np.float64(7.5), "float64"),
]


@pytest.mark.parametrize(("value", "name"), CONVERSIONS, ids=repr)
def test_as_dtype(value: Any, name: str) -> None:
    assert dtypes.as_dtype(value).name == name
    if not isinstance(value, (np.ndarray, np.generic)):
        assert dtypes.as_dtype(name) == value


@pytest.mark.parametrize(
    "value",
    [int, str, bytes, complex, None, [], 0, 99, "int", "i4", "<f4", "foo", "DT_FLOAT", b"float32"]
    + [np.datetime64, np.longdouble, np.dtype([("a", "i4")]), np.dtype("V4")],
    ids=repr,
)
def test_not_a_dtype(value: Any) -> None:
    with pytest.raises(TypeError, match="to a TensorFlow DType"):
        dtypes.as_dtype(value)
    assert dtypes.float32 != value


def test_dtypes_are_singletons() -> None:
    for dtype in ALL:
        assert dtypes.DType(dtype.as_datatype_enum) is dtypes.as_dtype(dtype) is dtype
        assert pickle.loads(pickle.dumps(dtype)) is dtype  # noqa: S301 - our own bytes
        assert copy.copy(dtype) is copy.deepcopy(dtype) is dtype
    with pytest.raises(TypeError, match="99"):
        dtypes.DType(99)


def test_equality() -> None:
    assert dtypes.float32 == "float32"
    assert dtypes.float32 == np.float32
    assert dtypes.float32 == 1
    assert dtypes.float32 != "float32_ref"
    assert dtypes.float32 != dtypes.float32_ref
    assert dtypes.float32 is not None
    assert dtypes.float32 != "no such type"
    assert dtypes.half is dtypes.float16
    assert dtypes.double is dtypes.float64
    with pytest.raises(TypeError):
        _ = dtypes.float32 < dtypes.int32  # type: ignore[operator]


def test_compatibility_lets_a_reference_be_read_as_a_value() -> None:
    assert dtypes.float32.is_compatible_with(dtypes.float32_ref)
    assert dtypes.float32.is_compatible_with("float")
    assert not dtypes.float32_ref.is_compatible_with(dtypes.float32)
    assert not dtypes.float32.is_compatible_with(dtypes.int32)


def test_text() -> None:
    assert repr(dtypes.float32) == "tf.float32"
    assert str(dtypes.float32_ref) == "<dtype: 'float32_ref'>"


def test_sets() -> None:
    assert {dtype.name for dtype in dtypes.QUANTIZED_DTYPES} == {
        name + ref for name in KINDS["is_quantized"].split() for ref in ("", "_ref")
    }
    base = {dtype for dtype in ALL if not dtype.is_ref_dtype}
    assert base == dtypes.TF_VALUE_DTYPES | {dtypes.resource, dtypes.variant}
