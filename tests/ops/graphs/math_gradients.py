"""The nodes of the gradients of the math family."""

from __future__ import annotations

from typing import Any


def _gradients(tf: Any, y: Any, *xs: Any) -> Any:
    """The gradients of `y`, with a placeholder for the one that flows into it."""
    return tf.gradients(y, list(xs), grad_ys=[tf.placeholder(y.dtype, y.shape)])


def _of(tf: Any, functions: list[Any], dtype: Any = None, shape: Any = (None, 3)) -> Any:
    x = tf.placeholder(dtype or tf.float32, shape, name="x")
    return [_gradients(tf, function(x), x) for function in functions]


_SMOOTH = (
    "abs negative reciprocal square sqrt rsqrt exp expm1 log log1p sin cos tan asin acos atan sinh "
    "cosh asinh acosh atanh tanh sigmoid"
).split()


def of_one_tensor(tf: Any) -> Any:
    return _of(tf, [getattr(tf, name) for name in [*_SMOOTH, "erf", "erfc", "lgamma", "digamma"]])


def of_static_shape(tf: Any) -> Any:
    return _of(tf, [tf.sign, tf.abs, tf.square, tf.exp, tf.floor], shape=[2, 3])


def of_complex_numbers(tf: Any) -> Any:
    functions = [getattr(tf, name) for name in _SMOOTH]
    return _of(tf, [*functions, tf.conj, tf.real, tf.imag, tf.angle], tf.complex64)


def of_gradients(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    made = []
    for function in (tf.reciprocal, tf.sqrt, tf.rsqrt, tf.tanh, tf.sigmoid, tf.square):
        first = tf.gradients(function(x), x)
        made += [first, tf.gradients(first, x)]
    return made


def of_bessel_functions(tf: Any) -> Any:
    return _of(tf, [tf.math.bessel_i0e, tf.math.bessel_i0, tf.math.erf])


def of_special_functions(tf: Any) -> Any:
    made = _of(tf, [tf.math.erfinv, tf.math.ndtri])
    x, y = tf.placeholder(tf.float32, name="a"), tf.placeholder(tf.float32, [3], name="b")
    for function in (tf.math.xlogy, tf.math.xlog1py, tf.math.nextafter):
        made.append(_gradients(tf, function(x, y), x, y))
    for function in (tf.igamma, tf.igammac, tf.zeta, tf.polygamma):
        made.append(_gradients(tf, function(x, y), x, y))
    return [*made, _gradients(tf, tf.betainc(x, x, y), x, y)]


_BINARY = (
    "add subtract multiply divide div_no_nan maximum minimum pow squared_difference floormod "
    "floordiv"
).split()


def _of_two(tf: Any, first: Any, second: Any) -> Any:
    x = tf.placeholder(tf.float32, first, name="x")
    y = tf.placeholder(tf.float32, second, name="y")
    return [_gradients(tf, getattr(tf, name)(x, y), x, y) for name in _BINARY]


def of_equal_shapes(tf: Any) -> Any:
    return _of_two(tf, [2, 3], [2, 3])


def of_angles(tf: Any) -> Any:
    x, y = tf.placeholder(tf.float32, [2, 3], name="x"), tf.placeholder(tf.float32, [2, 3])
    return _gradients(tf, tf.atan2(x, y), x, y)


def of_broadcast_rows(tf: Any) -> Any:
    return _of_two(tf, [2, 3], [3])


def of_broadcast_numbers(tf: Any) -> Any:
    return _of_two(tf, [], [None, 3])


def of_unknown_batches(tf: Any) -> Any:
    return _of_two(tf, [None, 3], [None, 3])


def of_unknown_ranks(tf: Any) -> Any:
    return _of_two(tf, None, [3])


def of_broadcast_sums(tf: Any) -> Any:
    shapes: list[tuple[Any, Any]] = [
        ([None, 3], [3]),
        ([None, 3], [1, 3]),
        ([None, 3], [2, 3]),
        ([None, 3], [None, 1]),
        ([4, 1, 3], [2, 1]),
        ([1, 3], [1]),
        ([1], []),
        ([None, 1], []),
        ([None, 1, 3], [1]),
        ([0, 3], [None, 3]),
    ]
    made = []
    for first, second in shapes:
        x, y = tf.placeholder(tf.float32, first), tf.placeholder(tf.float32, second)
        made.append(_gradients(tf, x + y, x, y))
    return made


def of_other_types(tf: Any) -> Any:
    made = []
    for dtype in (tf.float64, tf.float16, tf.complex64):
        x, y = tf.placeholder(dtype, [2, 3]), tf.placeholder(dtype, [2, 3])
        made += [_gradients(tf, x * y, x, y), _gradients(tf, x / y, x, y)]
    x = tf.placeholder(tf.float32, [3])
    made += [_gradients(tf, tf.cast(x, t), x) for t in (tf.float64, tf.complex64)]
    return [*made, tf.gradients(tf.cast(x, tf.int32), x), _gradients(tf, tf.complex(x, x), x)]


def of_choices(tf: Any) -> Any:
    c = tf.placeholder(tf.bool, [2, 3], name="c")
    x, y = tf.placeholder(tf.float32, [2, 3], name="x"), tf.placeholder(tf.float32, [], name="y")
    u = tf.placeholder(tf.float32, name="u")
    made = [_gradients(tf, tf.where(c, x, x + 1.0), x), _gradients(tf, tf.where_v2(c, x, y), x, y)]
    made += [
        _gradients(tf, tf.where_v2(c, u, y), u, y),
        tf.gradients(tf.clip_by_value(x, y, 1.0), x),
    ]
    return [*made, tf.gradients(tf.nn.l2_loss(x), x), tf.gradients(tf.add_n([x, x]), x)]


def of_reductions(tf: Any) -> Any:
    made = []
    for shape in ([2, 3], [None, 3], None):
        x = tf.placeholder(tf.float32, shape)
        for name in "sum mean max min logsumexp".split():
            function = getattr(tf, f"reduce_{name}")
            made += [_gradients(tf, function(x), x), _gradients(tf, function(x, 1), x)]
            made.append(_gradients(tf, function(x, [0], keepdims=True), x))
        made.append(_gradients(tf, tf.reduce_sum(x, tf.placeholder(tf.int32)), x))
    x = tf.placeholder(tf.float32, [2, 3])
    made += [tf.gradients(tf.reduce_sum(x, [-1]), x), tf.gradients(tf.reduce_sum(x, [1, 0]), x)]
    made += [tf.gradients(tf.reduce_sum(tf.placeholder_with_default(1.0, [])), x)]
    return made


def of_products_of_elements(tf: Any) -> Any:
    x = tf.placeholder(tf.float32)
    return [tf.gradients(tf.reduce_prod(x), x), tf.gradients(tf.reduce_prod(x, 1, True), x)]


def of_scans(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [2, 3])
    made = [_gradients(tf, tf.cumsum(x), x), _gradients(tf, tf.cumsum(x, 1, True, True), x)]
    made += [_gradients(tf, tf.cumprod(x, 1, exclusive=True), x)]
    return [*made, _gradients(tf, tf.math.cumulative_logsumexp(x, 1), x)]


def of_matrix_products(tf: Any) -> Any:
    made = []
    for turn_a in (False, True):
        for turn_b in (False, True):
            for batch in ([], [5]):
                a = tf.placeholder(tf.float32, batch + ([3, 2] if turn_a else [2, 3]))
                b = tf.placeholder(tf.float32, batch + ([4, 3] if turn_b else [3, 4]))
                made.append(_gradients(tf, tf.matmul(a, b, turn_a, turn_b), a, b))
    for first, second in ([(5, 2, 3), (3, 4)], [(None, 2, 3), (None, 3, 4)]):
        a, b = tf.placeholder(tf.float32, first), tf.placeholder(tf.float32, second)
        made.append(_gradients(tf, tf.matmul(a, b), a, b))
    a, b = tf.placeholder(tf.complex64, [2, 3]), tf.placeholder(tf.complex64, [3, 4])
    made.append(_gradients(tf, tf.matmul(a, b), a, b))
    a, b = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [4, 3])
    made.append(_gradients(tf, tf.matmul(a, b, transpose_b=True, a_is_sparse=True), a, b))
    x = tf.placeholder(tf.float32, [2, 3])
    return [*made, _gradients(tf, tf.cross(x, x + 1.0), x)]


def of_einsum(tf: Any) -> Any:
    a, b = tf.placeholder(tf.float32, [2, 3]), tf.placeholder(tf.float32, [3, 4])
    u, v = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    made = [_gradients(tf, tf.einsum("ij,jk->ik", a, b), a, b)]
    made += [_gradients(tf, tf.einsum("bij,bjk->ik", u, v), u, v)]
    return [*made, _gradients(tf, tf.einsum("...ij,...jk->...ik", u, v), u, v)]


def of_segments(tf: Any) -> Any:
    made = []
    for shape in ([4, 2], None):
        x = tf.placeholder(tf.float32, shape)
        ids = tf.placeholder(tf.int32, shape and shape[:1])
        for name in "sum mean max min".split():
            made.append(_gradients(tf, getattr(tf, f"segment_{name}")(x, ids), x))
        for name in "sum prod max min".split() if shape else ():
            made.append(_gradients(tf, getattr(tf, f"unsorted_segment_{name}")(x, ids, 3), x))
        for name in "sum mean sqrt_n".split():
            function = getattr(tf, f"sparse_segment_{name}")
            made.append(_gradients(tf, function(x, ids, ids), x))
            made.append(_gradients(tf, function(x, ids, ids, num_segments=3), x))
    return made
