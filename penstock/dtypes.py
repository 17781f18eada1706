"""The element types of tensors: one `DType` object per entry of TensorFlow's types.proto.

Every type has a reference twin, numbered 100 higher and named `..._ref`: the type of a tensor
that stands for a variable's buffer rather than for a value.
"""

from __future__ import annotations

import builtins
from typing import Any

import ml_dtypes
import numpy as np

_REF_OFFSET = 100

# enum number, name, and the NumPy type of an element (None: no NumPy equivalent).
_TYPES: list[tuple[int, str, Any]] = [
    (1, "float32", np.float32),
    (2, "float64", np.float64),
    (3, "int32", np.int32),
    (4, "uint8", np.uint8),
    (5, "int16", np.int16),
    (6, "int8", np.int8),
    (7, "string", object),
    (8, "complex64", np.complex64),
    (9, "int64", np.int64),
    (10, "bool", np.bool_),
    (11, "qint8", np.dtype([("qint8", np.int8)])),
    (12, "quint8", np.dtype([("quint8", np.uint8)])),
    (13, "qint32", np.dtype([("qint32", np.int32)])),
    (14, "bfloat16", ml_dtypes.bfloat16),
    (15, "qint16", np.dtype([("qint16", np.int16)])),
    (16, "quint16", np.dtype([("quint16", np.uint16)])),
    (17, "uint16", np.uint16),
    (18, "complex128", np.complex128),
    (19, "float16", np.float16),
    (20, "resource", None),
    (21, "variant", None),
    (22, "uint32", np.uint32),
    (23, "uint64", np.uint64),
    (24, "float8_e5m2", ml_dtypes.float8_e5m2),
    (25, "float8_e4m3fn", ml_dtypes.float8_e4m3fn),
    (26, "float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz),
    (27, "float8_e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz),
    (28, "float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz),
    (29, "int4", ml_dtypes.int4),
    (30, "uint4", ml_dtypes.uint4),
    (31, "int2", ml_dtypes.int2),
    (32, "uint2", ml_dtypes.uint2),
    (33, "float4_e2m1fn", ml_dtypes.float4_e2m1fn),
]

# Types whose values are images or probabilities have a range to which they are clipped.
_UPPER_LIMIT: dict[str, Any] = {
    "bool": True,
    "float32": 1,
    "float64": 1,
    "int8": 2**7 - 1,
    "int16": 2**15 - 1,
    "int32": 2**31 - 1,
    "int64": 2**63 - 1,
    "uint8": 2**8 - 1,
    "uint16": 2**16 - 1,
    "uint32": 2**32 - 1,
    "uint64": 2**64 - 1,
}

# The "kind" that NumPy gives most types; ml_dtypes' own have no telling one.
_KIND_OF_NUMPY_KIND = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"}


def _kind(name: str, element: Any) -> str:
    if element is None or element is object:
        return name
    if isinstance(element, np.dtype):
        return "quantized"
    if element.__module__ == "ml_dtypes":
        return name.rstrip("0123456789") if "int" in name else "float"
    return _KIND_OF_NUMPY_KIND[np.dtype(element).kind]


class DType:
    """The element type of a tensor, e.g. `tf.float32`.

    1. There is one object per type: `DType(1) is as_dtype("float32") is float32`.
    2. The attributes are fixed when the module is imported; nobody assigns them later.
    3. It equals whatever `as_dtype` turns into it, but hashes as its enum number.
    """

    __slots__ = (
        "_as_ref",
        "_kind",
        "_numpy",
        "as_datatype_enum",
        "base_dtype",
        "is_bool",
        "is_complex",
        "is_floating",
        "is_integer",
        "is_numpy_compatible",
        "is_quantized",
        "is_ref_dtype",
        "is_unsigned",
        "name",
        "real_dtype",
        "size",
    )

    _as_ref: DType  #: The reference type of this base type; itself for a reference type.
    _kind: str
    _numpy: Any
    as_datatype_enum: int  #: The number in types.proto.
    base_dtype: DType  #: The type without `_ref`.
    is_bool: builtins.bool
    is_complex: builtins.bool
    is_floating: builtins.bool  #: Whether it is a real floating point type, of any width.
    is_integer: builtins.bool  #: Whether it is an integer type, not a quantized one.
    is_numpy_compatible: builtins.bool  #: Whether it has a NumPy equivalent.
    is_quantized: builtins.bool
    is_ref_dtype: builtins.bool  #: Whether a tensor of it stands for a variable's buffer.
    is_unsigned: builtins.bool
    name: str
    real_dtype: DType  #: The type of the real part; the type itself unless it is complex.
    size: int  #: Bytes per element; of strings and handles those of what NumPy would keep.

    def __new__(cls, type_enum: int) -> DType:
        try:
            return _BY_ENUM[int(type_enum)]
        except KeyError:
            raise TypeError(
                f"{type_enum!r} does not correspond to a valid tensorflow::DataType"
            ) from None

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy type of an element; KeyError for `resource` and `variant`."""
        if self._numpy is None:
            raise KeyError(f"tf.{self.name} has no NumPy equivalent")
        return self._numpy

    @property
    def min(self) -> Any:
        """The smallest value that the type represents."""
        return self._bound("min", "minimum")

    @property
    def max(self) -> Any:
        """The largest value that the type represents."""
        return self._bound("max", "maximum")

    def _bound(self, which: str, word: str) -> Any:
        info: Any
        if self.is_floating:
            info = ml_dtypes.finfo(self._numpy)  # type: ignore[no-untyped-call]
            return getattr(info, which)
        if self.is_integer:
            info = ml_dtypes.iinfo(self._numpy)  # type: ignore[no-untyped-call]
            return int(getattr(info, which))
        raise TypeError(f"Cannot find {word} value of {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The (low, high) to which values are clipped, e.g. (0, 255) for `uint8`."""
        try:
            return 0, _UPPER_LIMIT[self.base_dtype.name]
        except KeyError:
            raise ValueError(f"{self} does not have defined limits.") from None

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a tensor of type `other` can be used where this type is wanted."""
        other = as_dtype(other)
        return self is other or self is other.base_dtype

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None or type(other) is DType:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


def _make(enum: int, name: str, element: Any, base: DType | None) -> DType:
    self = object.__new__(DType)
    kind = _kind(name, element) if base is None else base._kind
    self._kind = kind
    self._numpy = element
    self.as_datatype_enum = enum
    self.base_dtype = self if base is None else base
    self.is_bool = kind == "bool"
    self.is_complex = kind == "complex"
    self.is_floating = kind == "float"
    self.is_integer = kind in ("int", "uint")
    self.is_numpy_compatible = element is not None
    self.is_quantized = kind == "quantized"
    self.is_ref_dtype = base is not None
    self.is_unsigned = kind == "uint"
    self.name = name
    self.real_dtype = self
    self.size = 1 if element is None else np.dtype(element).itemsize
    return self


def _make_all() -> dict[int, DType]:
    made: dict[int, DType] = {}
    for enum, name, element in _TYPES:
        base = made[enum] = _make(enum, name, element, None)
        ref = made[enum + _REF_OFFSET] = _make(enum + _REF_OFFSET, f"{name}_ref", element, base)
        base._as_ref = ref._as_ref = ref
    by_name = {dtype.name: dtype for dtype in made.values()}
    for complex_name, real_name in (("complex64", "float32"), ("complex128", "float64")):
        for dtype in (by_name[complex_name], by_name[f"{complex_name}_ref"]):
            dtype.real_dtype = by_name[real_name]
    return made


_BY_ENUM = _make_all()

float32 = DType(1)
float64 = double = DType(2)
int32 = DType(3)
uint8 = DType(4)
int16 = DType(5)
int8 = DType(6)
string = DType(7)
complex64 = DType(8)
int64 = DType(9)
bool = DType(10)
qint8 = DType(11)
quint8 = DType(12)
qint32 = DType(13)
bfloat16 = DType(14)
qint16 = DType(15)
quint16 = DType(16)
uint16 = DType(17)
complex128 = DType(18)
float16 = half = DType(19)
resource = DType(20)
variant = DType(21)
uint32 = DType(22)
uint64 = DType(23)
float8_e5m2 = DType(24)
float8_e4m3fn = DType(25)
float8_e4m3fnuz = DType(26)
float8_e4m3b11fnuz = DType(27)
float8_e5m2fnuz = DType(28)
int4 = DType(29)
uint4 = DType(30)
int2 = DType(31)
uint2 = DType(32)
float4_e2m1fn = DType(33)

float32_ref = float32._as_ref
float64_ref = double_ref = float64._as_ref
int32_ref = int32._as_ref
uint8_ref = uint8._as_ref
int16_ref = int16._as_ref
int8_ref = int8._as_ref
string_ref = string._as_ref
complex64_ref = complex64._as_ref
int64_ref = int64._as_ref
bool_ref = bool._as_ref
qint8_ref = qint8._as_ref
quint8_ref = quint8._as_ref
qint32_ref = qint32._as_ref
bfloat16_ref = bfloat16._as_ref
qint16_ref = qint16._as_ref
quint16_ref = quint16._as_ref
uint16_ref = uint16._as_ref
complex128_ref = complex128._as_ref
float16_ref = half_ref = float16._as_ref
resource_ref = resource._as_ref
variant_ref = variant._as_ref
uint32_ref = uint32._as_ref
uint64_ref = uint64._as_ref
float8_e5m2_ref = float8_e5m2._as_ref
float8_e4m3fn_ref = float8_e4m3fn._as_ref
float8_e4m3fnuz_ref = float8_e4m3fnuz._as_ref
float8_e4m3b11fnuz_ref = float8_e4m3b11fnuz._as_ref
float8_e5m2fnuz_ref = float8_e5m2fnuz._as_ref
int4_ref = int4._as_ref
uint4_ref = uint4._as_ref
int2_ref = int2._as_ref
uint2_ref = uint2._as_ref
float4_e2m1fn_ref = float4_e2m1fn._as_ref

#: Every type a tensor holds as plain values: neither a reference nor a handle.
TF_VALUE_DTYPES = {
    dtype for dtype in _BY_ENUM.values() if dtype.is_numpy_compatible and not dtype.is_ref_dtype
}

QUANTIZED_DTYPES = frozenset(dtype for dtype in _BY_ENUM.values() if dtype.is_quantized)

#: The names of the types that TensorFlow 1.x has.
_TYPE_TO_STRING = {enum: dtype.name for enum, dtype in _BY_ENUM.items() if enum % 100 <= 23}

#: The base types by name.
BY_NAME = {dtype.name: dtype for dtype in _BY_ENUM.values() if not dtype.is_ref_dtype}


def _conversions() -> dict[Any, DType]:
    table: dict[Any, DType] = dict(_BY_ENUM)
    for dtype in _BY_ENUM.values():
        table[dtype.name] = dtype
    for name, dtype in {"float": float32, "double": float64, "half": float16}.items():
        table[name] = dtype
        table[f"{name}_ref"] = dtype._as_ref
    for dtype in TF_VALUE_DTYPES:
        table[dtype.as_numpy_dtype] = table[np.dtype(dtype.as_numpy_dtype)] = dtype
    # C integer types that NumPy keeps apart from the sized ones of the same width.
    for c_type in (np.intc, np.uintc, np.int_, np.uint, np.longlong, np.ulonglong):
        table[c_type] = table[np.dtype(c_type)] = table[np.dtype(c_type).name]
    for text_type in (np.object_, np.str_, np.bytes_):
        table[text_type] = string
    table[float] = float32
    table[builtins.bool] = bool
    return table


_CONVERSIONS = _conversions()


def runtime_name(dtype: DType) -> str:
    """The name of a type in the messages of TensorFlow's runtime, which is C++'s."""
    return {"float32": "float", "float64": "double", "float16": "half"}.get(dtype.name, dtype.name)


def as_dtype(type_value: Any) -> DType:
    """The `DType` for a `DType`, enum number, name ("float32", "float", "float_ref" …), NumPy
    dtype or scalar type, or the Python types `float` and `bool`.
    """
    if type(type_value) is DType:
        return type_value
    try:
        return _CONVERSIONS[type_value]
    except (KeyError, TypeError):
        pass
    # Sized strings, other byte orders, and NumPy arrays and scalars: by the scalar type.
    numpy_dtype = getattr(type_value, "dtype", type_value)
    if isinstance(numpy_dtype, np.dtype) and numpy_dtype.type in _CONVERSIONS:
        return _CONVERSIONS[numpy_dtype.type]
    raise TypeError(
        f"Cannot convert value {type_value!r} to a TensorFlow DType; a type is a tf.DType, a NumPy "
        "type, or a name such as 'float32'."
    )


def as_dtype_or(type_value: Any, default: DType) -> DType:
    """The `DType`, or the default of an op's attribute where None is given for it."""
    return default if type_value is None else as_dtype(type_value)
