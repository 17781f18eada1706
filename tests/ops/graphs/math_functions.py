"""The nodes that the functions of the math family make."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.graphs.snapshot import error_of


def _unknown(tf: Any, dtype: Any = None) -> Any:
    return tf.placeholder(dtype or tf.float32)


def operators(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    n = tf.placeholder(tf.int32, [3], name="n")
    b = tf.placeholder(tf.bool, [2], name="b")
    made = [x + 1, 1 + x, x - 1, 1 - x, x * 2, 2 * x, x / 2, 2 / x, x // 2, 2 // x, x % 2, 2 % x]
    made += [x**2, 2**x, -x, abs(x), x < 1, x <= 1, x > 1, x >= 1, x > 1, x @ tf.transpose(x)]
    made += [n / 2, 2 / n, n // 2, n % 3, n * n, n**2]
    made += [b & b, b | b, b ^ b, ~b, True & b, b ^ True, x + np.ones(3), np.ones(3) - x]
    return made


def refused_operands(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    n = tf.placeholder(tf.int32, [3], name="n")
    y = tf.placeholder(tf.float32, [2], name="y")
    return [
        error_of(lambda: x + n),
        error_of(lambda: x + "a"),
        error_of(lambda: x + [1, 2]),
        error_of(lambda: x * y),
        error_of(lambda: n + 1.5),
        error_of(lambda: x & x),
        error_of(lambda: tf.truediv(x, n)),
        error_of(lambda: tf.add_n([])),
        error_of(lambda: tf.add_n([x, n])),
        error_of(lambda: tf.scalar_mul(y, x)),
        error_of(lambda: tf.matmul(x, x)),
        error_of(lambda: tf.matmul(x, y)),
        error_of(lambda: tf.matmul(x, x, transpose_a=True, adjoint_a=True)),
        error_of(lambda: tf.reduce_sum(x, 2)),
        error_of(lambda: tf.reduce_sum(x, axis=0, reduction_indices=0)),
        error_of(lambda: tf.reduce_sum(x, keepdims=True, keep_dims=True)),
        error_of(lambda: tf.argmax(x, 5)),
        error_of(lambda: tf.complex(n, n)),
        error_of(lambda: tf.einsum("ij,jk->ik", x)),
        error_of(lambda: tf.tensordot(x, x, [[0], [0, 1]])),
        error_of(lambda: tf.norm(x, ord=-1)),
        error_of(lambda: tf.cast(x, "no type")),
        error_of(lambda: tf.clip_by_global_norm(x, 1.0)),
    ]


def of_one_tensor(tf: Any) -> Any:
    names = (
        "abs negative sign reciprocal square sqrt rsqrt exp expm1 log log1p sin cos tan asin acos "
        "atan sinh cosh asinh acosh atanh tanh sigmoid erf erfc lgamma digamma floor ceil round "
        "rint is_nan is_inf is_finite log_sigmoid lbeta"
    ).split()
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    made = [getattr(tf, name)(x) for name in names]
    made += [getattr(tf, name)(x, name=f"named_{name}") for name in names]
    made += [getattr(tf.math, name)(x) for name in ("erfinv", "ndtri")]
    made += [tf.exp(1.0), tf.negative([1.0, 2.0]), tf.round(tf.constant(1)), tf.sigmoid(2.0)]
    return made


def of_bessel_functions(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    names = ("bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e")
    made = [getattr(tf.math, name)(x) for name in names]
    return made + [getattr(tf.math, name)([1.0], name=f"named_{name}") for name in names]


def of_lists_of_tensors(tf: Any) -> Any:
    parts = [tf.placeholder(tf.float32, [], name=name) for name in ("a", "b")]
    return [tf.reduce_logsumexp(parts), tf.reduce_logsumexp(parts, keepdims=True, name="named")]


def slices_by_tensors(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [4, 5], name="x")
    i, j = tf.constant(1, name="i"), tf.constant(1, tf.int64, name="j")
    made = [x[bound:] for bound in (i, j)] + [x[:bound] for bound in (i, j)]
    made += [x[i, i:], x[j], x[..., i], x[::j], x[tf.newaxis, j:]]
    return made


def of_two_tensors(tf: Any) -> Any:
    names = (
        "add subtract multiply divide div truediv floordiv floor_div realdiv div_no_nan mod "
        "floormod maximum minimum pow squared_difference atan2 igamma igammac zeta polygamma less "
        "less_equal greater greater_equal equal not_equal"
    ).split()
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    made = [getattr(tf, name)(x, 2.0) for name in names]
    made += [getattr(tf, name)(x, x, name=f"named_{name}") for name in names]
    made += [getattr(tf.math, name)(x, x) for name in ("xlogy", "xdivy", "multiply_no_nan")]
    n = tf.placeholder(tf.int32, [3], name="n")
    for name in ("div", "truediv", "divide", "floordiv", "truncatediv", "truncatemod", "mod"):
        made.append(getattr(tf, name)(n, 2))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"):
        made.append(getattr(tf.bitwise, name)(n, 3))
    made += [tf.betainc(x, 1.0, x), tf.logical_xor(x > 0, x < 1), tf.scalar_mul(2.0, x)]
    made += [tf.add(tf.constant("a"), "b"), tf.bitwise.invert(n), tf.truediv(n, n, name="quotient")]
    return made


def sums_of_lists(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2], name="x")
    return [
        tf.add_n([x]),
        tf.add_n([x], name="one"),
        tf.add_n([x, x, x]),
        tf.add_n([1.0, 2.0], name="numbers"),
        tf.accumulate_n([x, x]),
        tf.accumulate_n([_unknown(tf), _unknown(tf)], shape=[3]),
    ]


def conversions(tf: Any) -> Any:
    x, n = tf.placeholder(tf.float32, [3], name="x"), tf.placeholder(tf.int32, [3], name="n")
    c = tf.placeholder(tf.complex64, [3], name="c")
    made = [tf.cast(x, tf.float32), tf.cast(x, tf.int32), tf.cast(1, tf.float32), tf.to_float(n)]
    made += [tf.to_double(x), tf.to_int32(x), tf.to_int64(x), tf.to_bfloat16(x), tf.to_complex64(x)]
    made += [tf.saturate_cast(x, tf.uint8), tf.saturate_cast(n, tf.uint8)]
    made += [tf.saturate_cast(tf.placeholder(tf.float64), tf.int16)]
    made += [tf.real(x), tf.imag(x), tf.conj(x), tf.abs(c)]
    made += [tf.real(c), tf.imag(c), tf.conj(c), tf.angle(c), tf.complex(x, x)]
    return made


def reductions(tf: Any) -> Any:
    names = "sum mean prod max min".split()
    x, u = tf.placeholder(tf.float32, [2, 3], name="x"), _unknown(tf)
    b = tf.placeholder(tf.bool, [2, None], name="b")
    made = [getattr(tf, f"reduce_{name}")(x) for name in names]
    made += [getattr(tf, f"reduce_{name}")(u, keepdims=True) for name in names]
    made += [getattr(tf, f"reduce_{name}")(x, [0, -1], name=f"over_{name}") for name in names]
    made += [tf.reduce_all(b), tf.reduce_any(b, 1), tf.reduce_all(b, axis=[0], keep_dims=True)]
    made += [tf.reduce_sum(u), tf.reduce_sum(u, 1), tf.reduce_sum(x, reduction_indices=1)]
    made += [tf.reduce_sum(tf.placeholder(tf.float32, [])), tf.reduce_mean([1.0, 2.0])]
    made += [tf.reduce_sum(x, tf.placeholder(tf.int32, [1])), tf.reduce_sum(x, axis=[])]
    made += [tf.reduce_logsumexp(x), tf.reduce_logsumexp(x, 1), tf.reduce_logsumexp(u, 0, True)]
    made += [tf.math.reduce_std(x), tf.math.reduce_variance(x, 1, keepdims=True)]
    made += [tf.math.reduce_euclidean_norm(x, 1), tf.count_nonzero(x), tf.count_nonzero(b, 1)]
    made += [tf.count_nonzero(x, keepdims=True, dtype=tf.int32), tf.trace(x)]
    made += [tf.argmax(x), tf.argmax(x, 1), tf.argmin(x, axis=1, output_type=tf.int32)]
    made += [tf.argmax(u, dimension=1), tf.cumsum(x), tf.cumprod(x, 1, exclusive=True)]
    made += [tf.cumsum(u, reverse=True, name="running"), tf.math.cumulative_logsumexp(x, axis=1)]
    return made


def norms(tf: Any) -> Any:
    x, u = tf.placeholder(tf.float32, [2, 3], name="x"), _unknown(tf)
    made = [tf.norm(u), tf.norm(x, axis=1), tf.norm(x, ord=1, keepdims=True)]
    made += [tf.norm(u, ord=np.inf), tf.norm(x, ord=3, axis=1), tf.norm(x, ord="fro", axis=[0, 1])]
    made += [tf.norm(x, ord=1, axis=[-2, -1]), tf.norm(x, ord=np.inf, axis=[-2, -1])]
    return made


def clipping(tf: Any) -> Any:
    x, u = tf.placeholder(tf.float32, [2, 3], name="x"), _unknown(tf)
    made = [tf.clip_by_value(x, 0.0, 1.0), tf.clip_by_value(u, u, 1.0, name="clipped")]
    made += [tf.clip_by_norm(u, 1.0), tf.clip_by_norm(x, 1.0, axes=[0])]
    made += [tf.clip_by_average_norm(x, 1.0), tf.clip_by_average_norm(u, 1.0)]
    made += [tf.global_norm([x, None, u]), tf.clip_by_global_norm([x, None, u], 1.0)]
    made += [tf.clip_by_global_norm([x], 2.0, use_norm=u, name="given"), tf.nn.l2_loss(x)]
    return made


def products(tf: Any) -> Any:
    x, u = tf.placeholder(tf.float32, [2, 3], name="x"), _unknown(tf)
    batch = tf.placeholder(tf.float32, [5, 2, 3], name="batch")
    c = tf.placeholder(tf.complex64, [2, 3], name="c")
    half = tf.placeholder(tf.bfloat16, [2, 3], name="half")
    made = [tf.matmul(x, x, transpose_b=True), tf.matmul(x, x, transpose_a=True), tf.matmul(u, u)]
    made += [tf.matmul(batch, batch, adjoint_a=True), tf.matmul(batch, x, transpose_b=True)]
    made += [tf.matmul(x, u), tf.matmul(c, c, adjoint_b=True), tf.matmul([[1, 2]], [[1], [2]])]
    made += [tf.matmul(x, x, transpose_b=True, a_is_sparse=True, name="sparse")]
    made += [tf.matmul(half, half, transpose_b=True, b_is_sparse=True), tf.cross(x, x)]
    made += [tf.sparse_matmul(x, x, transpose_b=True)]
    made += [tf.tensordot(x, tf.transpose(x), 1), tf.tensordot(x, x, 2), tf.tensordot(x, x, 0)]
    made += [tf.tensordot(batch, batch, [[1, 2], [1, 2]]), tf.tensordot(u, x, [[1], [0]])]
    made += [tf.tensordot(tf.placeholder(tf.float32, [None, 2]), x, 1)]
    return made


def einsums(tf: Any) -> Any:
    x, u = tf.placeholder(tf.float32, [2, 3], name="x"), _unknown(tf)
    batch = tf.placeholder(tf.float32, [5, 2, 3], name="batch")
    made = [tf.einsum("ij,kj->ik", x, x), tf.einsum("ij,jk", u, u), tf.einsum("ij -> ji", x)]
    made += [tf.einsum("ij,kj,kl->il", x, x, x), tf.einsum("...ij->...ji", batch, name="turned")]
    return made


def segments(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [4, 2], name="x")
    ids = tf.placeholder(tf.int32, [4], name="ids")
    made = [getattr(tf, f"segment_{n}")(x, ids) for n in "sum mean prod max min".split()]
    for name in "sum mean prod max min sqrt_n".split():
        made.append(getattr(tf, f"unsorted_segment_{name}")(x, ids, 3))
    for name in "sum mean sqrt_n".split():
        made.append(getattr(tf, f"sparse_segment_{name}")(x, ids, ids))
        made.append(getattr(tf, f"sparse_segment_{name}")(x, ids, ids, num_segments=3))
    return made


def counting(tf: Any) -> Any:
    x, n = _unknown(tf), tf.placeholder(tf.int32, [3], name="n")
    made = [tf.bincount(n), tf.bincount(n, weights=x, minlength=3, maxlength=5)]
    made += [tf.histogram_fixed_width(x, [0.0, 1.0], nbins=5)]
    made += [tf.math.polyval([1.0, 2.0, 3.0], x), tf.math.polyval([], x)]
    return made
