"""Cosine transforms, by Fourier transforms of mirrored signals."""

from __future__ import annotations

import math
from typing import Any

from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array, casts, elementwise
from penstock.ops.fourier import irfft, rfft
from penstock.shapes import dimension_value

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}


def dct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The cosine transform of the given type over the last dimension.

    Args:
      n: length to cut or pad the input to, by default its own.
      norm: "ortho" for an orthogonal transform.
    """
    _check(input, type, n, axis, norm)
    return _transform(input, type, n, norm, name)


def idct(
    input: Any,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dct`, times twice the length unless `norm` is "ortho"."""
    _check(input, type, n, axis, norm)
    return _transform(input, _INVERSE[type], n, norm, name)


def _check(input: Any, type: int, n: int | None, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"axis must be -1. Got: {axis}")
    if n is not None and n < 1:
        raise ValueError("n should be a positive integer or None")
    if type not in _INVERSE:
        raise ValueError("Types I, II, III and IV (I)DCT are supported.")
    if type == 1 and norm == "ortho":
        raise ValueError("Normalization is not supported for the Type-I DCT.")
    if type == 1:
        size = dimension_value(convert_to_tensor(input).shape[-1])
        if size is not None and size < 2:
            raise ValueError("Type-I DCT requires the dimension to be greater than one.")
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _transform(input: Any, type: int, n: Any, norm: str | None, name: str | None = None) -> Tensor:
    with name_scope(name, "dct", [input]):
        x: Any = convert_to_tensor(input)
        if n is not None:
            x = _with_length(x, n)
        size = _last_size(x)
        if type == 1:
            mirrored = array.concat([x, x[..., -2:0:-1]], axis=-1)
            return casts.real(rfft(mirrored))
        if type == 2:
            return _type_two(x, size, norm)
        if type == 3:
            return _type_three(x, size, norm)
        # The odd coefficients of a transform of twice the length.
        whole: Any = _transform(x, 2, 2 * size, None)
        odd = whole[..., 1::2]
        if norm == "ortho":
            odd *= math.sqrt(0.5) * elementwise.rsqrt(casts.cast(size, x.dtype))
        return odd


def _last_size(x: Any) -> Any:
    sizes: Any = array.shape(x)
    return dimension_value(x.shape[-1]) or sizes[-1]


def _with_length(x: Any, n: Any) -> Any:
    """`x` cut or padded at its end; where its length is not known, both, of which one is none."""
    if not isinstance(n, Tensor) and dimension_value(x.shape[-1]) is not None:
        if n <= dimension_value(x.shape[-1]):
            return x[..., :n]
        missing: Any = n - dimension_value(x.shape[-1])
        return array.pad(x, [[0, 0]] * (x.shape.ndims - 1) + [[0, missing]])
    x = array.pad(x, [[0, 0]] * (x.shape.ndims - 1) + [[0, n]])
    return x[..., :n]


def _turns(x: Any, size: Any, sign: float) -> Any:
    """2 exp(± i pi k / 2 size): half a sample's shift of frequency k, doubled."""
    length: Any = casts.cast(size, x.dtype)
    angles: Any = array.range(length) * (sign * math.pi * 0.5)
    zero = convert_to_tensor(0.0, dtype=x.dtype)
    return 2.0 * elementwise.exp(casts.complex(zero, angles / length))


def _weights(x: Any, first: Any, others: Any, size: Any) -> Any:
    return array.pad(array.expand_dims(first, 0), [[0, size - 1]], constant_values=others)


def _type_two(x: Any, size: Any, norm: str | None) -> Any:
    spectrum: Any = rfft(x, fft_length=[2 * size])
    result: Any = casts.real(spectrum[..., :size] * _turns(x, size, -1.0))
    if norm == "ortho":
        first = 0.5 * elementwise.rsqrt(casts.cast(size, x.dtype))
        result *= _weights(x, first, first * math.sqrt(2.0), size)
    return result


def _type_three(x: Any, size: Any, norm: str | None) -> Any:
    length: Any = casts.cast(size, x.dtype)
    if norm == "ortho":
        first: Any = elementwise.sqrt(length)
        x *= _weights(x, first, first * math.sqrt(0.5), size)
    else:
        x *= length
    zero = convert_to_tensor(0.0, dtype=x.dtype)
    spectrum = _turns(x, size, 1.0) * casts.complex(x, zero)
    whole: Any = irfft(spectrum, fft_length=[2 * size])
    return whole[..., :size]
