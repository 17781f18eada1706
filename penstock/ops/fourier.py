"""Fourier transforms over the last one, two or three dimensions."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec, op, types
from penstock.ir.tensor import Tensor
from penstock.ir.type_sets import COMPLEX, SINGLE_DOUBLE
from penstock.ops import array, binary, casts, reductions
from penstock.ops.shape_checks import with_rank, with_rank_at_least, with_size
from penstock.shapes import Shape

__all__ = ["fft", "fft2d", "fft3d", "ifft", "ifft2d", "ifft3d"]

_TCOMPLEX = types(COMPLEX, default=dtypes.complex64)
_TREAL = types(SINGLE_DOUBLE, default=dtypes.float32)


def _complex_op(name: str) -> OpSpec:
    return op(f"{name}(input: Tcomplex) -> output: Tcomplex", Tcomplex=_TCOMPLEX)


def _real_op(name: str) -> OpSpec:
    return op(
        f"{name}(input: Treal, fft_length: int32) -> output: Tcomplex",
        Treal=_TREAL,
        Tcomplex=_TCOMPLEX,
    )


def _inverse_real_op(name: str) -> OpSpec:
    return op(
        f"{name}(input: Tcomplex, fft_length: int32) -> output: Treal",
        Treal=_TREAL,
        Tcomplex=_TCOMPLEX,
    )


FFT, IFFT = _complex_op("FFT"), _complex_op("IFFT")
FFT2D, IFFT2D = _complex_op("FFT2D"), _complex_op("IFFT2D")
FFT3D, IFFT3D = _complex_op("FFT3D"), _complex_op("IFFT3D")
RFFT, IRFFT = _real_op("RFFT"), _inverse_real_op("IRFFT")
RFFT2D, IRFFT2D = _real_op("RFFT2D"), _inverse_real_op("IRFFT2D")
RFFT3D, IRFFT3D = _real_op("RFFT3D"), _inverse_real_op("IRFFT3D")

# By the number of transformed dimensions: forward, inverse, of real numbers, back to them.
_BY_RANK = {
    1: (FFT, IFFT, RFFT, IRFFT),
    2: (FFT2D, IFFT2D, RFFT2D, IRFFT2D),
    3: (FFT3D, IFFT3D, RFFT3D, IRFFT3D),
}


def _register(rank: int) -> None:
    forward, inverse, real, inverse_real = _BY_RANK[rank]

    @forward.shape
    @inverse.shape
    def _(op: Operation, x: Shape) -> Shape:
        return with_rank_at_least(x, rank)

    @real.shape
    def _(op: Operation, x: Shape, length: Shape) -> Shape:
        return _transformed_shape(op, x, length, rank, halves=True)

    @inverse_real.shape
    def _(op: Operation, x: Shape, length: Shape) -> Shape:
        return _transformed_shape(op, x, length, rank, halves=False)

    @forward.gradient
    def _(op: Operation, grad: Any) -> Any:
        return inverse(grad) * _count(grad, rank)

    @inverse.gradient
    def _(op: Operation, grad: Any) -> Any:
        return forward(grad) / _count(grad, rank)

    @real.gradient
    def _(op: Operation, grad: Any) -> Any:
        return _real_gradient(op, grad, rank), None

    @inverse_real.gradient
    def _(op: Operation, grad: Any) -> Any:
        return _inverse_real_gradient(op, grad, rank), None


def _transformed_shape(op: Operation, x: Shape, length: Shape, rank: int, halves: bool) -> Shape:
    with_rank_at_least(x, rank)
    with_size(with_rank(length, 1)[0], rank)
    if x is None:
        return None
    value = constant_value(op.inputs[1])
    if value is None:
        return (*x[:-rank], *[None] * rank)
    sizes = [int(size) for size in value]
    if halves and sizes[-1]:
        sizes[-1] = sizes[-1] // 2 + 1
    return (*x[:-rank], *sizes)


# Gradients ------------------------------------------------------------------------------------


def _sizes(x: Any, rank: int) -> Any:
    """The sizes of the last dimensions."""
    sizes: Any = array.shape(x)
    return sizes[-rank:]


def _count(x: Any, rank: int) -> Any:
    """How many numbers are transformed together, in the type of `x`."""
    return casts.cast(reductions.reduce_prod(_sizes(x, rank)), x.dtype)


def _real_gradient(op: Operation, grad: Any, rank: int) -> Any:
    """The real part of the inverse transform, without scale, of the half that was kept."""
    inverse = _BY_RANK[rank][1]
    lengths: Any = op.inputs[1]
    missing = lengths[-1] - _sizes(grad, 1)[0]
    whole = array.pad(grad, _at_ends(grad, [0] * (rank - 1) + [missing]))
    found = casts.real(inverse(whole) * _count(whole, rank))
    return _with_sizes_of(op.inputs[0], found, rank)


def _inverse_real_gradient(op: Operation, grad: Any, rank: int) -> Any:
    """The transform, doubled where a frequency stands for its conjugate too."""
    real = _BY_RANK[rank][2]
    lengths: Any = op.inputs[1]
    last = lengths[-1]
    found: Any = real(grad, lengths, Tcomplex=op.inputs[0].dtype)
    doubled = array.ones([binary.maximum((last + 1) // 2 - 1, 0)], dtype=found.dtype) * 2.0
    ones = array.ones([1], dtype=found.dtype)
    middle = array.ones([1 - last % 2], dtype=found.dtype)
    weights = array.concat([ones, doubled, middle], 0)
    found = found * (weights / casts.cast(reductions.reduce_prod(lengths), found.dtype))
    return _with_sizes_of(op.inputs[0], found, rank)


def _at_ends(x: Any, after: list[Any]) -> Any:
    """Paddings after the last dimensions of `x`."""
    inner = array.stack([array.stack([0, count]) for count in after])
    outer = array.zeros([array.rank(x) - len(after), 2], dtype=dtypes.int32)
    return array.concat([outer, inner], 0)


def _with_sizes_of(x: Any, found: Any, rank: int) -> Any:
    """A gradient with zeros for what lay beyond the transformed length."""
    if x.shape.is_fully_defined() and x.shape.as_list() == found.shape.as_list():
        return found
    missing = _sizes(x, rank) - _sizes(found, rank)
    found = array.pad(found, _at_ends(found, [missing[i] for i in range(rank)]))
    found.set_shape(x.shape)
    return found


for _rank in _BY_RANK:
    _register(_rank)


# Public functions -----------------------------------------------------------------------------


def fft(input: Any, name: str | None = None) -> Tensor:
    """The Fourier transform over the last dimension."""
    return FFT(input, name=name)


def ifft(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft`."""
    return IFFT(input, name=name)


def fft2d(input: Any, name: str | None = None) -> Tensor:
    """The Fourier transform over the last two dimensions."""
    return FFT2D(input, name=name)


def ifft2d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft2d`."""
    return IFFT2D(input, name=name)


def fft3d(input: Any, name: str | None = None) -> Tensor:
    """The Fourier transform over the last three dimensions."""
    return FFT3D(input, name=name)


def ifft3d(input: Any, name: str | None = None) -> Tensor:
    """The inverse of `fft3d`."""
    return IFFT3D(input, name=name)


def rfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The first half of the Fourier transform of real numbers; the other half is its mirror.

    `fft_length` is the length to cut or pad the input to, by default its own.
    """
    return _of_real(RFFT, 1, input_tensor, fft_length, name, "rfft")


def rfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`rfft` over the last two dimensions."""
    return _of_real(RFFT2D, 2, input_tensor, fft_length, name, "rfft2d")


def rfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`rfft` over the last three dimensions."""
    return _of_real(RFFT3D, 3, input_tensor, fft_length, name, "rfft3d")


def irfft(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft`; `fft_length` is the length of the result, by default an even one."""
    return _to_real(IRFFT, 1, input_tensor, fft_length, name, "irfft")


def irfft2d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft2d`."""
    return _to_real(IRFFT2D, 2, input_tensor, fft_length, name, "irfft2d")


def irfft3d(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft3d`."""
    return _to_real(IRFFT3D, 3, input_tensor, fft_length, name, "irfft3d")


def _of_real(
    spec: OpSpec, rank: int, value: Any, fft_length: Any, name: str | None, default_name: str
) -> Tensor:
    with name_scope(name, default_name, [value, fft_length]) as scope:
        x = convert_to_tensor(value, preferred_dtype=dtypes.float32)
        if x.dtype not in (dtypes.float32, dtypes.float64):
            raise ValueError(f"RFFT requires tf.float32 or tf.float64 inputs, got: {x}")
        x.shape.with_rank_at_least(rank)
        length = _own_length(x, rank) if fft_length is None else _as_length(fft_length)
        padded = _padded(x, rank, length, is_half=False)
        wanted = dtypes.complex64 if x.dtype == dtypes.float32 else dtypes.complex128
        return spec(padded, length, Tcomplex=wanted, name=scope)


def _to_real(
    spec: OpSpec, rank: int, value: Any, fft_length: Any, name: str | None, default_name: str
) -> Tensor:
    with name_scope(name, default_name, [value, fft_length]) as scope:
        x = convert_to_tensor(value, preferred_dtype=dtypes.complex64)
        x.shape.with_rank_at_least(rank)
        if not x.dtype.is_complex:
            raise ValueError(f"IRFFT requires tf.complex64 or tf.complex128 inputs, got: {x}")
        length = _whole_length(x, rank) if fft_length is None else _as_length(fft_length)
        padded = _padded(x, rank, length, is_half=True)
        return spec(padded, length, Treal=x.dtype.real_dtype, name=scope)


def _as_length(fft_length: Any) -> Tensor:
    length = convert_to_tensor(fft_length, dtypes.int32)
    length.get_shape().assert_has_rank(1)
    return length


def _own_length(x: Tensor, rank: int) -> Any:
    """The sizes of the dimensions to transform."""
    inner = x.shape[-rank:]
    if inner.is_fully_defined():
        return _as_length(inner.as_list())
    return _sizes(x, rank)


def _whole_length(x: Tensor, rank: int) -> Any:
    """The sizes before the last one was halved, if it was even."""
    inner = x.shape[-rank:]
    if inner.is_fully_defined():
        known = inner.as_list()
        return _as_length([*known[:-1], max(0, 2 * (known[-1] - 1))])
    sizes: Any = array.unstack(_sizes(x, rank))
    sizes[-1] = binary.maximum(0, 2 * (sizes[-1] - 1))
    return array.stack(sizes)


def _padded(x: Tensor, rank: int, length: Any, is_half: bool) -> Tensor:
    """`x` with zeros up to the length that the transform needs."""
    if x._shape is not None and 0 in x._shape:
        return x
    known = constant_value(length)
    inner = None if x._shape is None else x._shape[-rank:]
    if known is None or inner is None or None in inner:
        return _padded_by_step(x, rank, length, is_half)
    needed = [int(size) for size in known]
    if is_half:
        needed[-1] = needed[-1] // 2 + 1
    missing = [max(size - own, 0) for size, own in zip(needed, inner, strict=False) if own]
    if not any(missing):
        return x
    outer = [[0, 0]] * max(len(x._shape or ()) - rank, 0)
    return array.pad(x, outer + [[0, count] for count in missing])


def _padded_by_step(x: Tensor, rank: int, length: Any, is_half: bool) -> Tensor:
    count: Any = array.rank(x)
    inner = _sizes(x, rank)
    outer = array.zeros([binary.maximum(0, count - rank)], dtypes.int32)
    if is_half:
        length = array.concat([length[:-1], length[-1:] // 2 + 1], 0)
    missing = binary.maximum(0, length - inner)
    after = array.concat([outer, missing], 0)
    return array.pad(x, array.stack([array.zeros_like(after), after], axis=1))
