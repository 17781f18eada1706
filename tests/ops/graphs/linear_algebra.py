"""The nodes that the functions of linear algebra and Fourier transforms make."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.graphs.snapshot import error_of


def _matrices(tf: Any) -> tuple[Any, Any, Any]:
    square = tf.placeholder(tf.float32, [2, 3, 3], name="square")
    sides = tf.placeholder(tf.float32, [2, 3, None], name="sides")
    unknown = tf.placeholder(tf.float32, name="unknown")
    return square, sides, unknown


def ops_on_matrices(tf: Any) -> Any:
    square, sides, unknown = _matrices(tf)
    tall = tf.placeholder(tf.complex64, [None, 5, 3], name="tall")
    made: list[Any] = [tf.matrix_inverse(square), tf.matrix_inverse(unknown, adjoint=True)]
    made += [tf.matrix_determinant(square), tf.cholesky(unknown, name="factor")]
    made += [tf.matrix_solve(square, sides), tf.matrix_solve(square, unknown, adjoint=True)]
    made += [tf.matrix_triangular_solve(square, sides, lower=False)]
    made += [tf.cholesky_solve(square, sides), tf.linalg.slogdet(square), tf.linalg.lu(square)]
    made += [tf.qr(tall), tf.qr(tall, full_matrices=True), tf.linalg.sqrtm(square)]
    made += [tf.svd(tall), tf.svd(square, compute_uv=False), tf.svd(tall, full_matrices=True)]
    made += [tf.self_adjoint_eig(square), tf.self_adjoint_eigvals(unknown)]
    made += [tf.linalg.logm(tf.placeholder(tf.complex128, [3, 3])), tf.roll(square, [1, 2], [0, 1])]
    return made


def composed(tf: Any) -> Any:
    square, sides, _ = _matrices(tf)
    tall = tf.placeholder(tf.complex64, [2, 5, 3], name="tall")
    made: list[Any] = [tf.linalg.logdet(square), tf.linalg.adjoint(tall), tf.linalg.trace(square)]
    made += [tf.linalg.matvec(square, tf.placeholder(tf.float32, [2, 3])), tf.linalg.eye(3)]
    made += [tf.linalg.normalize(square, axis=1), tf.linalg.matrix_rank(square)]
    made += [tf.linalg.pinv(square), tf.linalg.pinv(sides), tf.linalg.matrix_rank(sides)]
    return [*made, tf.linalg.norm(square, axis=[-2, -1])]


def least_squares(tf: Any) -> Any:
    tall = tf.placeholder(tf.float32, [4, 3], name="tall")
    wide = tf.placeholder(tf.float32, [3, 4], name="wide")
    made = [tf.matrix_solve_ls(tall, tall), tf.matrix_solve_ls(wide, wide, fast=False)]
    made += [tf.matrix_solve_ls(wide, wide, l2_regularizer=0.5), tf.linalg.lstsq(wide, wide)]
    return made


def tridiagonal(tf: Any) -> Any:
    compact = tf.placeholder(tf.float32, [3, 4], name="compact")
    whole = tf.placeholder(tf.float32, [4, 4], name="whole")
    vector = tf.placeholder(tf.float32, [4], name="vector")
    short = tf.placeholder(tf.float32, [3], name="short")
    rows = (short, vector, short)
    made = [
        tf.linalg.tridiagonal_solve(compact, vector),
        tf.linalg.tridiagonal_solve(compact, whole),
    ]
    made += [tf.linalg.tridiagonal_solve(rows, whole, diagonals_format="sequence")]
    made += [tf.linalg.tridiagonal_solve(whole, whole, diagonals_format="matrix")]
    made += [tf.linalg.tridiagonal_matmul(compact, whole)]
    made += [tf.linalg.tridiagonal_matmul((vector,) * 3, whole, diagonals_format="sequence")]
    return made


def transforms(tf: Any) -> Any:
    signal = tf.placeholder(tf.float32, [2, 3, 10], name="signal")
    spectrum = tf.placeholder(tf.complex64, [2, 3, 6], name="spectrum")
    partly = tf.placeholder(tf.float32, [2, None], name="partly")
    made = [tf.fft(spectrum), tf.ifft(spectrum), tf.fft2d(spectrum), tf.ifft2d(spectrum)]
    made += [tf.fft3d(spectrum), tf.ifft3d(spectrum, name="volume"), tf.signal.rfft(signal)]
    made += [tf.signal.rfft(signal, [16]), tf.signal.rfft2d(signal, [2, 4]), tf.signal.rfft(partly)]
    made += [tf.signal.rfft(partly, tf.placeholder(tf.int32, [1])), tf.signal.rfft3d(signal)]
    made += [tf.signal.irfft(spectrum), tf.signal.irfft(spectrum, [7]), tf.signal.irfft2d(spectrum)]
    made += [
        tf.signal.irfft(tf.placeholder(tf.complex64, [2, None])),
        tf.spectral.irfft3d(spectrum),
    ]
    made += [tf.signal.fftshift(signal), tf.signal.ifftshift(signal, axes=1)]
    made += [tf.signal.fftshift(signal, axes=(0, 2), name="centred")]
    made += [tf.signal.hann_window(8), tf.signal.hamming_window(9, periodic=False)]
    return made


def initial_values(tf: Any) -> Any:
    made = [
        tf.orthogonal_initializer(seed=1)([3, 4]),
        tf.initializers.orthogonal(gain=2.0)([2, 2, 3]),
    ]
    return [*made, tf.orthogonal_initializer(dtype=tf.float64).get_config()]


def refused(tf: Any) -> Any:
    square, sides, _ = _matrices(tf)
    vector = tf.placeholder(tf.float32, [3], name="vector")
    number = tf.placeholder(tf.int32, [3, 3], name="number")
    tall = tf.placeholder(tf.complex128, [3, 2], name="tall")
    return [
        error_of(lambda: tf.matrix_inverse(vector)),
        error_of(lambda: tf.matrix_inverse(sides)),
        error_of(lambda: tf.matrix_inverse(number)),
        error_of(lambda: tf.cholesky(np.ones([2, 3]))),
        error_of(lambda: tf.matrix_solve(square, vector)),
        error_of(lambda: tf.matrix_solve(square, tf.placeholder(tf.float32, [2, 4, 1]))),
        error_of(lambda: tf.matrix_solve(square, tf.placeholder(tf.float32, [3, 3, 1]))),
        error_of(lambda: tf.svd(vector)),
        error_of(lambda: tf.qr(1.0)),
        error_of(lambda: tf.self_adjoint_eig(tf.placeholder(tf.float32, [2, 3]))),
        error_of(lambda: tf.linalg.pinv(number)),
        error_of(lambda: tf.linalg.pinv(vector)),
        error_of(lambda: tf.linalg.lstsq(tall, tall, l2_regularizer=1.0)),
        error_of(lambda: tf.linalg.tridiagonal_solve(square, sides, diagonals_format="rows")),
        error_of(lambda: tf.linalg.tridiagonal_solve(vector, sides)),
        error_of(lambda: tf.linalg.tridiagonal_solve([vector, vector], vector, "sequence")),
        error_of(lambda: tf.fft(vector)),
        error_of(lambda: tf.signal.rfft(number)),
        error_of(lambda: tf.signal.rfft2d(vector)),
        error_of(lambda: tf.signal.irfft(vector)),
        error_of(lambda: tf.roll(1.0, 1, 0)),
        error_of(lambda: tf.roll(vector, [1], [0, 1])),
        error_of(lambda: tf.orthogonal_initializer()([5])),
    ]
