"""Conversions between types, and the parts of complex numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.dtypes import DType
from penstock.ir.composite import IndexedSlices, SparseTensor
from penstock.ir.convert import to_tensor
from penstock.ir.dispatch import dispatched
from penstock.ir.name_scope import name_scope
from penstock.ir.registry import op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import COMPLEX, SINGLE_DOUBLE
from penstock.ops import array
from penstock.ops.constants import constant
from penstock.shapes import Shape

__all__ = [
    "angle",
    "cast",
    "complex",
    "conj",
    "imag",
    "real",
    "saturate_cast",
    "to_bfloat16",
    "to_complex64",
    "to_complex128",
    "to_double",
    "to_float",
    "to_int32",
    "to_int64",
]

_PART: dict[str, Any] = {
    "T": types(COMPLEX, default=dtypes.complex64),
    "Tout": types(SINGLE_DOUBLE, default=dtypes.float32),
}

Cast = op("Cast(x: SrcT) -> y: DstT", Truncate=False)
Complex = op(
    "Complex(real: T, imag: T) -> out: Tout",
    T=types(SINGLE_DOUBLE, default=dtypes.float32),
    Tout=types(COMPLEX, default=dtypes.complex64),
)
ComplexAbs = op("ComplexAbs(x: T) -> y: Tout", **_PART)
Real = op("Real(input: T) -> output: Tout", **_PART)
Imag = op("Imag(input: T) -> output: Tout", **_PART)
Angle = op("Angle(input: T) -> output: Tout", **_PART)
Conj = op(
    "Conj(input: T) -> output: T",
    T=types(COMPLEX, dtypes.variant, default=dtypes.complex64),
)


@Cast.shape
@ComplexAbs.shape
@Real.shape
@Imag.shape
@Angle.shape
@Conj.shape
def _(op: Any, x: Shape) -> Shape:
    return x


@Complex.shape
def _(op: Any, real: Shape, imag: Shape) -> Shape:
    return shapes.broadcast(real, imag)


@Cast.fold
def _(op: Any, x: Any) -> Any:
    return None if x.dtype == object else x.astype(op.attrs["DstT"].as_numpy_dtype)


# Gradients ------------------------------------------------------------------------------------


@Cast.gradient
def _(op: Any, grad: Any) -> Any:
    source, target = op.inputs[0].dtype.base_dtype, grad.dtype.base_dtype
    carries = all(t.is_floating or t.is_complex for t in (source, target))
    return cast(grad, source) if carries else None


@Complex.gradient
def _(op: Any, grad: Any) -> Any:
    from penstock.ops.unbroadcast import stretches_in_step

    of_real, of_imag = stretches_in_step(*op.inputs)
    return of_real.undo(real(grad)), of_imag.undo(imag(grad))


@ComplexAbs.gradient
def _(op: Any, grad: Any) -> Any:
    from penstock.ops.binary import div_no_nan

    length = op.outputs[0]
    weight = complex(grad, array.zeros_like(grad)) * op.inputs[0]
    return div_no_nan(weight, complex(length, array.zeros_like(length)))


@Real.gradient
def _(op: Any, grad: Any) -> Any:
    return complex(grad, constant(0, dtype=grad.dtype))


@Imag.gradient
def _(op: Any, grad: Any) -> Any:
    return complex(constant(0, dtype=grad.dtype), grad)


@Angle.gradient
def _(op: Any, grad: Any) -> Any:
    from penstock.ops.elementwise import after, reciprocal

    x = op.inputs[0]
    with after(grad):
        real_part, imaginary_part = real(x), imag(x)
        turned = reciprocal(complex(imaginary_part, real_part))
        return -complex(grad, constant(0, dtype=grad.dtype)) * turned


@Conj.gradient
def _(op: Any, grad: Any) -> Any:
    return conj(grad)


# Public functions -----------------------------------------------------------------------------


def _is_resource_variable(x: Any) -> bool:
    from penstock.ops.resource_variable import ResourceVariable

    return isinstance(x, ResourceVariable)


@dispatched
def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Converts to another type; floats lose their fraction towards zero on the way to integers.

    A tensor of that type already is returned as it is, and so is a variable behind a handle,
    whose value is then read where the result is used.
    """
    base_type = dtypes.as_dtype(dtype).base_dtype
    if isinstance(x, Tensor) and x.dtype is base_type:
        return x
    if _is_resource_variable(x) and x.dtype is base_type:
        return x
    with name_scope(name, "Cast", [x]) as scope:
        if isinstance(x, SparseTensor):
            values = cast(x.values, base_type, name=scope)
            return SparseTensor(x.indices, values, x.dense_shape)
        if isinstance(x, IndexedSlices):
            values = cast(x.values, base_type, name=scope)
            return IndexedSlices(values, x.indices, x.dense_shape)
        x = to_tensor(x, name="x")
        if x.dtype.base_dtype is base_type:
            return x
        return Cast(x, DstT=base_type, name=scope)


@dispatched
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Tensor:
    """Converts to `dtype`; what lies outside its range becomes its nearest end."""
    from penstock.ops.binary import Maximum, Minimum

    with name_scope(name, "saturate_cast", [value]) as scope:
        value = to_tensor(value, name="value")
        target = dtypes.as_dtype(dtype).base_dtype
        if value.dtype.is_complex and not target.is_complex:
            value = real(value)
        if not value.dtype.is_complex and not value.dtype.is_bool:
            source, within = value.dtype.base_dtype, target.real_dtype
            low, high = _common_range(source, within)
            if source.min < within.min:
                value = Maximum(value, to_tensor(low, source, "min"))
            if source.max > within.max:
                value = Minimum(value, to_tensor(high, source, "max"))
        return cast(value, target, name=scope)


def _common_range(source: DType, target: DType) -> tuple[Any, Any]:
    """The ends of the values that both types hold."""
    low, high = max(source.min, target.min), min(source.max, target.max)
    if not (source.is_floating and target.is_integer):
        return low, high
    element = np.dtype(source.as_numpy_dtype).type
    return _towards_zero(low, element), _towards_zero(high, element)


def _towards_zero(bound: Any, element: Any) -> Any:
    """A bound in a floating type; the number nearest to it may lie outside the range."""
    nearest = element(bound)
    if abs(np.float64(nearest)) > abs(np.float64(bound)):
        return np.nextafter(nearest, element(0))
    return nearest


def to_float(x: Any, name: str = "ToFloat") -> Any:
    """Converts to float32; `tf.cast` does the same."""
    return cast(x, dtypes.float32, name=name)


def to_double(x: Any, name: str = "ToDouble") -> Any:
    """Converts to float64; `tf.cast` does the same."""
    return cast(x, dtypes.float64, name=name)


def to_int32(x: Any, name: str = "ToInt32") -> Any:
    """Converts to int32; `tf.cast` does the same."""
    return cast(x, dtypes.int32, name=name)


def to_int64(x: Any, name: str = "ToInt64") -> Any:
    """Converts to int64; `tf.cast` does the same."""
    return cast(x, dtypes.int64, name=name)


def to_bfloat16(x: Any, name: str = "ToBFloat16") -> Any:
    """Converts to bfloat16; `tf.cast` does the same."""
    return cast(x, dtypes.bfloat16, name=name)


def to_complex64(x: Any, name: str = "ToComplex64") -> Any:
    """Converts to complex64; `tf.cast` does the same."""
    return cast(x, dtypes.complex64, name=name)


def to_complex128(x: Any, name: str = "ToComplex128") -> Any:
    """Converts to complex128; `tf.cast` does the same."""
    return cast(x, dtypes.complex128, name=name)


@dispatched
def complex(real: Any, imag: Any, name: str | None = None) -> Tensor:
    """Complex numbers of their real and imaginary parts (both float32 or both float64)."""
    real = to_tensor(real, name="real")
    imag = to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        pair = real.dtype.base_dtype, imag.dtype.base_dtype
        if pair == (dtypes.float64, dtypes.float64):
            target = dtypes.complex128
        elif pair == (dtypes.float32, dtypes.float32):
            target = dtypes.complex64
        else:
            raise TypeError(
                f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}"
            )
        return Complex(real, imag, Tout=target, name=scope)


@dispatched
def real(input: Any, name: str | None = None) -> Tensor:
    """The real part; real numbers stay as they are."""
    with name_scope(name, "Real", [input]) as scope:
        input = to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return input
        return Real(input, Tout=input.dtype.real_dtype, name=scope)


@dispatched
def imag(input: Any, name: str | None = None) -> Tensor:
    """The imaginary part; zeros for real numbers."""
    with name_scope(name, "Imag", [input]) as scope:
        input = to_tensor(input, name="input")
        if not input.dtype.is_complex:
            return array.zeros_like(input)
        return Imag(input, Tout=input.dtype.real_dtype, name=scope)


@dispatched
def angle(input: Any, name: str | None = None) -> Tensor:
    """The argument of complex numbers, in radians; real ones have 0, whatever their sign."""
    with name_scope(name, "Angle", [input]) as scope:
        input = to_tensor(input, name="input")
        if input.dtype.is_complex:
            return Angle(input, Tout=input.dtype.real_dtype, name=scope)
        return array.zeros_like(input)


@dispatched
def conj(x: Any, name: str | None = None) -> Any:
    """The complex conjugate; real numbers stay as they are."""
    if isinstance(x, Tensor):
        base = x.dtype.base_dtype
        if base.is_floating or base.is_integer:
            return x
    with name_scope(name, "Conj", [x]) as scope:
        x = to_tensor(x, name="x")
        if x.dtype.is_complex or x.dtype is dtypes.variant:
            return Conj(x, name=scope)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
