"""Checks of parameters and values, and what several distributions compute alike."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf
from penstock.shapes import dimension_value


def checked(assertions: Sequence[Any], value: Any) -> Any:
    """The value, after assertions; itself if there are none."""
    if not assertions:
        return value
    with tf.control_dependencies(list(assertions)):
        return tf.identity(value)


def gen_new_seed(seed: int | None, salt: str) -> int | None:
    """A second seed that follows from one and a word."""
    if seed is None:
        return None
    return int(hashlib.md5(f"{seed}{salt}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF


def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Any:
    """The logarithm of the multinomial coefficient n! / Π counts!."""
    with tf.name_scope(name, values=[n, counts]):
        n = tf.convert_to_tensor(n, name="n")
        counts = tf.convert_to_tensor(counts, name="counts")
        return tf.lgamma(n + 1) - tf.reduce_sum(tf.lgamma(counts + 1), axis=[-1])


def assert_integer_form(
    x: Any, int_dtype: Any = None, message: str | None = None, name: str = "assert_integer_form"
) -> Any:
    """An assertion that all numbers are whole."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return tf.no_op()
        sizes = {tf.float16: tf.int16, tf.float32: tf.int32, tf.float64: tf.int64}
        whole = tf.cast(tf.cast(x, int_dtype or sizes[x.dtype.base_dtype]), x.dtype)
        return tf.assert_equal(
            x, whole, message=message or f"{x} has non-integer components", name=name
        )


def embed_check_nonnegative_integer_form(
    x: Any, name: str = "embed_check_nonnegative_integer_form"
) -> Any:
    """The tensor, with a check that its numbers are whole and not negative."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        checks = [tf.assert_non_negative(x, message=f"'{x}' must be non-negative.")]
        if not x.dtype.is_integer:
            checks.append(
                assert_integer_form(x, message=f"'{x}' cannot contain fractional components.")
            )
        return checked(checks, x)


def embed_check_integer_casting_closed(
    x: Any,
    target_dtype: Any,
    assert_nonnegative: bool = True,
    name: str = "embed_check_casting_closed",
) -> Any:
    """The tensor, with a check that its numbers can be numbers of another type."""
    with tf.name_scope(name, values=[x]):
        x = tf.convert_to_tensor(x, name="x")
        checks = []
        if assert_nonnegative:
            checks.append(tf.assert_non_negative(x, message="Elements must be non-negative."))
        if x.dtype.is_floating:
            checks.append(
                assert_integer_form(
                    x,
                    int_dtype=tf.int32 if target_dtype == tf.bool else target_dtype,
                    message=f"Elements must be {target_dtype.name}-equivalent.",
                )
            )
        largest = _largest_integer(target_dtype)
        if x.dtype.is_floating:
            limit_needed = target_dtype == tf.bool
        else:
            limit_needed = _largest_integer(x.dtype) > largest
        if limit_needed:
            checks.append(
                tf.assert_less_equal(
                    x,
                    tf.cast(largest, x.dtype),
                    message=f"Elements cannot exceed {largest}.",
                )
            )
        least = 0 if target_dtype == tf.bool else int(target_dtype.min)
        if not (assert_nonnegative or x.dtype.is_floating) and int(x.dtype.min) < least:
            checks.append(
                tf.assert_greater_equal(
                    x,
                    tf.cast(least, x.dtype),
                    message=f"Elements cannot be smaller than {least}.",
                )
            )
        return checked(checks, x)


def _largest_integer(dtype: Any) -> int:
    """The greatest number up to which a type has all whole numbers."""
    if dtype == tf.bool:
        return 1
    if dtype.is_floating:
        return int(2 ** (np.finfo(dtype.as_numpy_dtype).nmant + 1))
    return int(dtype.max)


def embed_check_categorical_event_shape(
    categorical_param: Any, name: str = "embed_check_categorical_event_shape"
) -> Any:
    """The parameter of a categorical distribution, with a check of the number of classes."""
    with tf.name_scope(name, values=[categorical_param]):
        x = tf.convert_to_tensor(categorical_param, name="categorical_param")
        most = _largest_integer(x.dtype.base_dtype)
        if x.shape.ndims == 0:
            raise ValueError("A categorical-distribution parameter must have at least 1 dimension.")
        classes = None if x.shape.ndims is None else dimension_value(x.shape[-1])
        too_few = "A categorical-distribution parameter must have at least 2 events."
        too_many = (
            f"Number of classes exceeds `dtype` precision, i.e., {x.dtype.name} implies shape"
        )
        if classes is not None:
            if classes < 2:
                raise ValueError(too_few)
            if classes > most:
                raise ValueError(f"{too_many} ({classes}) cannot exceed {most}.")
            return x
        count = tf.shape(x)[-1]
        return checked(
            [
                tf.assert_greater_equal(count, 2, message=too_few),
                tf.assert_less_equal(
                    count, min(most, 2**31 - 1), message=f"{too_many} cannot exceed {most}."
                ),
            ],
            x,
        )


def get_logits_and_probs(
    logits: Any = None,
    probs: Any = None,
    multidimensional: bool = False,
    validate_args: bool = False,
    name: str = "get_logits_and_probs",
    dtype: Any = None,
) -> tuple[Any, Any]:
    """Both forms of a parameter that is given in one.

    Args:
      multidimensional: Whether the last dimension is that of classes.
    """
    with tf.name_scope(name, values=[v for v in (probs, logits) if v is not None]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = tf.convert_to_tensor(logits, name="logits", dtype=dtype)
            if not logits.dtype.is_floating:
                raise TypeError("logits must having floating type.")
            if not multidimensional:
                return logits, tf.sigmoid(logits, name="probs")
            if validate_args:
                logits = embed_check_categorical_event_shape(logits)
            return logits, tf.nn.softmax(logits, name="probs")
        probs = tf.convert_to_tensor(probs, name="probs", dtype=dtype)
        if not probs.dtype.is_floating:
            raise TypeError("probs must having floating type.")
        if validate_args:
            with tf.name_scope("validate_probs"):
                probs = _checked_probs(probs, multidimensional)
        with tf.name_scope("logits"):
            if multidimensional:
                return tf.log(probs), probs
            return tf.log(probs) - tf.log1p(-1.0 * probs), probs


def _checked_probs(probs: Any, multidimensional: bool) -> Any:
    one = tf.constant(1.0, probs.dtype)
    checks = [tf.assert_non_negative(probs)]
    if multidimensional:
        probs = embed_check_categorical_event_shape(probs)
        total = tf.reduce_sum(probs, -1)
        checks.append(tf.assert_near(total, one, message="probs does not sum to 1."))
    else:
        message = "probs has components greater than 1."
        checks.append(tf.assert_less_equal(probs, one, message=message))
    return checked(checks, probs)
