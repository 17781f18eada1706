"""`tf.signal` against the definitions, written out in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import signal
from penstock.signal.divisors import gcd

RNG = np.random.RandomState(3)
X = RNG.randn(2, 50)


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetches, feeds)


# Frames ---------------------------------------------------------------------------------------


def _frames(x: np.ndarray, length: int, step: int, pad_end: bool) -> np.ndarray:
    """The frames of the last dimension."""
    samples = x.shape[-1]
    count = -(-samples // step) if pad_end else max(0, 1 + (samples - length) // step)
    padded = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, length + step * count)])
    frames = [padded[..., i * step : i * step + length] for i in range(count)]
    return np.stack(frames, -2) if frames else np.zeros((*x.shape[:-1], 0, length), x.dtype)


@pytest.mark.parametrize("pad_end", [False, True])
@pytest.mark.parametrize(("length", "step"), [(8, 3), (8, 8), (3, 10), (60, 7), (1, 1)])
@pytest.mark.parametrize("known", [True, False])
def test_frame(length: int, step: int, pad_end: bool, known: bool) -> None:
    with tf.Graph().as_default():
        x = tf.constant(X) if known else tf.placeholder_with_default(X, None)
        frames = signal.frame(x, length, step, pad_end=pad_end)
        expected = _frames(X, length, step, pad_end)
        if known:
            assert frames.shape.as_list() == list(expected.shape)
        np.testing.assert_array_equal(run(frames), expected)


def test_frame_of_an_inner_axis() -> None:
    x = np.arange(24).reshape(2, 4, 3)
    with tf.Graph().as_default():
        for axis in (1, -2, tf.placeholder_with_default(1, [])):
            frames = run(signal.frame(x, 2, 2, axis=axis))
            np.testing.assert_array_equal(frames, x.reshape(2, 2, 2, 3))
        padded = run(signal.frame(x, 3, 3, pad_end=True, pad_value=-1, axis=0))
    np.testing.assert_array_equal(padded[0, :2], x)
    assert (padded[0, 2] == -1).all()


@pytest.mark.parametrize("step", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("known", [True, False])
def test_overlap_and_add(step: int, known: bool) -> None:
    frames = RNG.randn(2, 5, 4)
    expected = np.zeros((2, 4 + 4 * step))
    for i in range(5):
        expected[:, i * step : i * step + 4] += frames[:, i]
    with tf.Graph().as_default():
        x = tf.constant(frames) if known else tf.placeholder_with_default(frames, None)
        result = signal.overlap_and_add(x, step)
        if known:
            assert result.shape.as_list() == list(expected.shape)
        np.testing.assert_allclose(run(result), expected)


# Spectra --------------------------------------------------------------------------------------


def test_short_time_transform() -> None:
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(12) / 12)
    expected: Any = np.fft.rfft(_frames(X, 12, 5, False) * window, 16)
    with tf.Graph().as_default():
        np.testing.assert_allclose(run(signal.stft(X, 12, 5)), expected, atol=1e-9)
        length = tf.placeholder_with_default(12, [])
        fed = signal.stft(tf.placeholder_with_default(X, None), length, 5)
        np.testing.assert_allclose(run(fed), expected, atol=1e-9)
        plain = run(signal.stft(X, 12, 5, fft_length=20, window_fn=None, pad_end=True))
    np.testing.assert_allclose(plain, np.fft.rfft(_frames(X, 12, 5, True), 20), atol=1e-9)


@pytest.mark.parametrize(("length", "step"), [(16, 8), (16, 4), (12, 5)])
def test_a_signal_comes_back_from_its_spectra(length: int, step: int) -> None:
    with tf.Graph().as_default():
        spectra = signal.stft(X, length, step)
        window = signal.inverse_stft_window_fn(step)
        again = run(signal.inverse_stft(spectra, length, step, window_fn=window))
    inner = slice(length, again.shape[-1] - length)
    np.testing.assert_allclose(again[:, inner], X[:, inner], atol=1e-9)


@pytest.mark.parametrize("known", [True, False])
def test_inverse_of_other_lengths(known: bool) -> None:
    spectra = RNG.randn(3, 9) + 1j * RNG.randn(3, 9)
    frames = np.fft.irfft(spectra, 16)
    with tf.Graph().as_default():
        given = tf.constant(spectra) if known else tf.placeholder_with_default(spectra, None)
        for length in (10, 20):
            result = signal.inverse_stft(given, length, 20, fft_length=16, window_fn=None)
            fitted = np.pad(frames, [(0, 0), (0, 4)])[:, :length]
            expected = np.pad(fitted, [(0, 0), (0, 20 - length)]).reshape(-1)[: 40 + length]
            np.testing.assert_allclose(run(result), expected, atol=1e-12)


# Cosine transforms ----------------------------------------------------------------------------


def _cosines(type: int, n: int) -> np.ndarray:
    """The matrix of a transform: x @ matrix."""
    k, i = np.meshgrid(np.arange(n), np.arange(n))
    if type == 1:
        weights = np.where((i == 0) | (i == n - 1), 1.0, 2.0)
        return np.asarray(weights * np.cos(np.pi * i * k / (n - 1)))
    if type == 2:
        return np.asarray(2 * np.cos(np.pi * (i + 0.5) * k / n))
    if type == 3:
        return np.asarray(np.where(i == 0, 1.0, 2.0) * np.cos(np.pi * i * (k + 0.5) / n))
    return np.asarray(2 * np.cos(np.pi * (i + 0.5) * (k + 0.5) / n))


@pytest.mark.parametrize("type", [1, 2, 3, 4])
@pytest.mark.parametrize("n", [None, 20, 70])
@pytest.mark.parametrize("known", [True, False])
def test_cosine_transform(type: int, n: int | None, known: bool) -> None:
    length = n or 50
    fitted = np.pad(X, [(0, 0), (0, 20)])[:, :length]
    with tf.Graph().as_default():
        x = tf.constant(X) if known else tf.placeholder_with_default(X, [None, None])
        result = run(signal.dct(x, type=type, n=n))
    np.testing.assert_allclose(result, fitted @ _cosines(type, length), atol=1e-9)


@pytest.mark.parametrize("type", [2, 3, 4])
def test_orthogonal_cosine_transform(type: int) -> None:
    with tf.Graph().as_default():
        matrix = run(signal.dct(np.eye(9), type=type, norm="ortho"))
        again = run(signal.idct(signal.dct(X, type, norm="ortho"), type, norm="ortho"))
        scaled = run(signal.idct(signal.dct(X, type), type))
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(9), atol=1e-12)
    np.testing.assert_allclose(again, X, atol=1e-12)
    np.testing.assert_allclose(scaled, 2 * 50 * X, atol=1e-9)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"axis": 0}, NotImplementedError),
        ({"n": 0}, ValueError),
        ({"type": 5}, ValueError),
        ({"type": 1, "norm": "ortho"}, ValueError),
        ({"norm": "unit"}, ValueError),
    ],
)
def test_refused_cosine_transforms(settings: dict[str, Any], error: type[Exception]) -> None:
    with tf.Graph().as_default(), pytest.raises(error):
        signal.dct(X, **settings)


# Windows and scales ---------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 7, 8])
@pytest.mark.parametrize("periodic", [True, False])
def test_raised_cosines(length: int, periodic: bool) -> None:
    period = length if periodic and length % 2 == 0 else length - 1
    angles = 2 * np.pi * np.arange(length) / max(period, 1)
    with tf.Graph().as_default():
        fed = tf.placeholder_with_default(length, [])
        for function, offset in ((signal.hann_window, 0.5), (signal.hamming_window, 0.54)):
            expected = offset - (1 - offset) * np.cos(angles) if length > 1 else np.ones(1)
            for given in (length, fed):
                window = run(function(given, periodic=periodic, dtype=tf.float64))
                np.testing.assert_allclose(window, expected, atol=1e-12)


def test_power_complementary_windows() -> None:
    with tf.Graph().as_default():
        kaiser = run(signal.kaiser_window(9, beta=5.0, dtype=tf.float64))
        np.testing.assert_allclose(kaiser, np.kaiser(9, 5.0), atol=1e-6)
        for function in (signal.kaiser_bessel_derived_window, signal.vorbis_window):
            window = run(function(10, dtype=tf.float64))
            np.testing.assert_allclose(window[:5] ** 2 + window[5:] ** 2, np.ones(5), atol=1e-6)


def test_mel_bands() -> None:
    with tf.Graph().as_default():
        matrix = run(signal.linear_to_mel_weight_matrix(10, 65, 16000, 80.0, 7600.0))
    mel = 1127 * np.log(1 + np.linspace(0, 8000, 65) / 700)
    low, high = (1127 * np.log(1 + hertz / 700) for hertz in (80.0, 7600.0))
    edges = np.linspace(low, high, 12)
    rising = (mel[:, None] - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mel[:, None]) / (edges[2:] - edges[1:-1])
    expected = np.maximum(0, np.minimum(rising, falling))
    expected[0] = 0
    np.testing.assert_allclose(matrix, expected, atol=1e-5)


@pytest.mark.parametrize(
    "settings",
    [
        {"num_mel_bins": 0},
        {"sample_rate": 0.0},
        {"lower_edge_hertz": -1.0},
        {"lower_edge_hertz": 100.0, "upper_edge_hertz": 10.0},
        {"upper_edge_hertz": 1e4},
        {"dtype": tf.int32},
    ],
)
def test_refused_mel_bands(settings: dict[str, Any]) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="."):
        signal.linear_to_mel_weight_matrix(**settings)


def test_cepstral_coefficients() -> None:
    with tf.Graph().as_default():
        for x in (tf.constant(X), tf.placeholder_with_default(X, [None, None])):
            found = run(signal.mfccs_from_log_mel_spectrograms(x))
            np.testing.assert_allclose(found, X @ _cosines(2, 50) / np.sqrt(100), atol=1e-9)


def test_shifts() -> None:
    x = RNG.randn(3, 4)
    with tf.Graph().as_default():
        for axes in (None, 1, (0, -1)):
            shifted = run(signal.fftshift(x, axes))
            np.testing.assert_array_equal(shifted, np.fft.fftshift(x, axes))
            np.testing.assert_array_equal(run(signal.ifftshift(shifted, axes)), x)


def test_common_divisors() -> None:
    with tf.Graph().as_default():
        fed = tf.placeholder_with_default(12, [])
        assert run([gcd(12, 18), gcd(fed, 18), gcd(fed, 7)]) == [6, 6, 1]
        with pytest.raises(ValueError, match="must be an integer type"):
            gcd(1.5, 2)


# Lengths of real transforms -------------------------------------------------------------------


@pytest.mark.parametrize("length", [5, 10, 16, 64])
@pytest.mark.parametrize("known", [True, False])
def test_real_transform_of_a_length(length: int, known: bool) -> None:
    half = RNG.randn(2, 9) + 1j * RNG.randn(2, 9)
    with tf.Graph().as_default():
        size: Any = [length] if known else tf.placeholder_with_default([length], [1])
        expected: Any = np.fft.rfft(X, length)
        np.testing.assert_allclose(run(signal.rfft(X, size)), expected, atol=1e-4)
        found = run(signal.irfft(half, size))
    np.testing.assert_allclose(found, np.fft.irfft(half, length), atol=1e-4)
