"""The nodes of tf.assert_equal and its kind, and which errors they raise at once."""

from __future__ import annotations

from typing import Any

from tests.ops.graphs.snapshot import error_of

_COMPARISONS = (
    "assert_equal",
    "assert_none_equal",
    "assert_less",
    "assert_less_equal",
    "assert_greater",
    "assert_greater_equal",
)
_SIGNS = ("assert_positive", "assert_negative", "assert_non_negative", "assert_non_positive")


def comparisons(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.placeholder(tf.float32, [], name="y")
    made = [getattr(tf, name)(x, y) for name in _COMPARISONS]
    made.append(tf.assert_less(x, y, data=[x, "said"], summarize=2, message="before", name="mine"))
    made.append(tf.assert_equal(x, x))
    made.append(tf.assert_less(1.0, x))
    return made


def signs(tf: Any) -> Any:
    x = tf.placeholder(tf.float64, [3], name="x")
    made = [getattr(tf, name)(x) for name in _SIGNS]
    return [*made, tf.assert_positive(x, message="said"), tf.assert_positive([1, 2])]


def nearness(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [3], name="x")
    z = tf.placeholder(tf.float64, [3], name="z")
    return [tf.assert_near(x, 1.0), tf.assert_near(z, z, rtol=0.1, atol=1.0, message="m")]


def known_to_fail(tf: Any) -> Any:
    small, big = tf.constant([1, 2], name="small"), tf.constant([3, 4], name="big")
    calls = [lambda n=name: getattr(tf, n)(big, small) for name in _COMPARISONS]
    calls += [lambda n=name: getattr(tf, n)(small) for name in _SIGNS]
    calls += [lambda n=name: getattr(tf, n)(tf.constant([])) for name in _SIGNS]
    calls += [
        lambda: tf.assert_equal(tf.constant([1, 1, 1]), small),
        lambda: tf.assert_rank(small, 0),
        lambda: tf.assert_rank(small, [1]),
        lambda: tf.assert_rank(small, 1.0),
        lambda: tf.assert_rank_at_least(small, 2),
        lambda: tf.assert_rank_in(small, (0, 2)),
        lambda: tf.assert_type(small, tf.float32),
        lambda: tf.assert_integer(tf.constant(1.0)),
        lambda: tf.assert_scalar(small),
        lambda: tf.assert_proper_iterable(small),
        lambda: tf.assert_proper_iterable("text"),
        lambda: tf.assert_proper_iterable(3),
        lambda: tf.assert_same_float_dtype([small, tf.constant(1.0)]),
        lambda: tf.assert_same_float_dtype([small]),
        lambda: tf.is_strictly_increasing(tf.constant(["a", "b"])),
        lambda: tf.debugging.assert_shapes([(small, 3)]),
        lambda: tf.debugging.assert_shapes([(small, (3,))]),
        lambda: tf.debugging.assert_shapes([(small, ("a", "a"))]),
        lambda: tf.debugging.assert_shapes([(small, ("a", ...))]),
    ]
    return [error_of(call) for call in calls]


def ranks_and_types(tf: Any) -> Any:
    unknown = tf.placeholder(tf.float32, name="unknown")
    rank = tf.placeholder(tf.int32, name="rank")
    known = tf.constant([[1, 2]], name="known")
    return [
        tf.assert_rank(known, 2),
        tf.assert_rank(unknown, 2, message="said"),
        tf.assert_rank(known, rank),
        tf.assert_rank_at_least(unknown, 1),
        tf.assert_rank_at_least(known, 1, name="mine"),
        tf.assert_rank_in(unknown, [0, 1, rank]),
        tf.assert_rank_in(known, (1, 2)),
        tf.assert_type(known, tf.int32),
        tf.assert_integer(known),
        tf.assert_scalar(3.0),
        tf.assert_same_float_dtype([None, unknown]).name,
        tf.assert_same_float_dtype().name,
        tf.is_numeric_tensor(known),
        tf.is_numeric_tensor(3),
        tf.is_numeric_tensor(tf.constant("x")),
    ]


def shapes(tf: Any) -> Any:
    known = tf.placeholder(tf.float32, [2, 3], name="known")
    partly = tf.placeholder(tf.float32, [None, 3], name="partly")
    unknown = tf.placeholder(tf.float32, name="unknown")
    return [
        tf.debugging.assert_shapes([(known, ("N", 3)), (partly, ("N", None))]),
        tf.debugging.assert_shapes({unknown: (..., "Q"), known: "NQ"}, message="said"),
        tf.debugging.assert_shapes([(unknown, ("N", 7)), (tf.constant(1.0), ())]),
    ]


def order_and_numerics(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [None], name="x")
    return [
        tf.is_non_decreasing(x),
        tf.math.is_strictly_increasing(tf.placeholder(tf.int32)),
        error_of(tf.add_check_numerics_ops),
    ]


def checked_numerics(tf: Any) -> Any:
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.sqrt(x) + tf.cast(tf.shape(x)[0], tf.float32)
    return [y, tf.add_check_numerics_ops()]
