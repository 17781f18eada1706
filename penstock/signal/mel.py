"""Spectra on the mel scale, on which equal steps sound equally far."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import array, binary, casts, elementwise
from penstock.shapes import dimension_value
from penstock.signal.cosine_transforms import dct
from penstock.signal.frames import frame

# mel(f) = Q log(1 + f / BREAK)
_BREAK_HERTZ = 700.0
_Q = 1127.0


def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The matrix that takes spectra of equally spaced frequencies to bands on the mel scale.

    `spectrograms @ matrix` has `num_mel_bins` overlapping triangular bands from
    `lower_edge_hertz` to `upper_edge_hertz`.
    """
    with name_scope(name, "linear_to_mel_weight_matrix") as scope:
        dtype = dtypes.as_dtype(dtype)
        if isinstance(sample_rate, Tensor):
            known = constant_value(sample_rate)
            sample_rate = sample_rate if known is None else known
        _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        rate: Any = casts.cast(sample_rate, dtype, name="sample_rate")
        lower = convert_to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        upper = convert_to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = convert_to_tensor(0.0, dtype)
        # The constant part of a signal is no sound: its row is zero.
        frequencies: Any = array.linspace(zero, rate / 2.0, num_spectrogram_bins)
        bins: Any = array.expand_dims(_hertz_to_mel(frequencies[1:]), 1)
        edges = frame(
            array.linspace(_hertz_to_mel(lower), _hertz_to_mel(upper), num_mel_bins + 2),
            frame_length=3,
            frame_step=1,
        )
        start, centre, end = (
            array.reshape(part, [1, num_mel_bins]) for part in array.split(edges, 3, axis=1)
        )
        rising: Any = (bins - start) / (centre - start)
        falling: Any = (end - bins) / (end - centre)
        weights = binary.maximum(zero, binary.minimum(rising, falling))
        return array.pad(weights, [[1, 0], [0, 0]], name=scope)


def _hertz_to_mel(frequencies: Any) -> Any:
    with name_scope(None, "hertz_to_mel", [frequencies]):
        return _Q * elementwise.log(1.0 + frequencies / _BREAK_HERTZ)


def _check(bins: Any, rate: Any, lower: float, upper: float, dtype: Any) -> None:
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if not isinstance(rate, Tensor):
        if rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {rate}")
        if upper > rate / 2:
            raise ValueError(
                "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
                f"Got: {upper} for sample_rate: {rate}"
            )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """The cepstral coefficients of logarithmic spectra on the mel scale."""
    with name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectra = convert_to_tensor(log_mel_spectrograms)
        bins: Any = dimension_value(spectra.shape[-1]) if spectra.shape.ndims else None
        if bins == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {spectra}")
        if bins is None:
            sizes: Any = array.shape(spectra)
            bins = sizes[-1]
        scale = elementwise.rsqrt(casts.cast(bins, spectra.dtype) * 2.0)
        return dct(spectra, type=2) * scale
