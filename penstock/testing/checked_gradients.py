"""Identities whose gradients are checked, or not a number: for tests of mixed precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf

__all__ = ["create_identity_with_grad_check_fn", "create_identity_with_nan_gradients_fn"]

Identity = Callable[[Any], Any]


def create_identity_with_grad_check_fn(
    expected_gradient: Any, expected_dtype: Any = None
) -> Identity:
    """The identity, whose gradient fails unless it has a value and a type."""

    @tf.custom_gradient
    def identity_with_grad_check(x: Any) -> Any:
        def grad(dx: Any) -> Any:
            if expected_dtype:
                assert dx.dtype == expected_dtype, (
                    f"dx.dtype should be {expected_dtype} but is: {dx.dtype}"
                )
            expected = tf.convert_to_tensor(
                expected_gradient, dtype=dx.dtype, name="expected_gradient"
            )
            with tf.control_dependencies([tf.assert_equal(dx, expected)]):
                return tf.identity(dx)

        return tf.identity(x), grad

    checked: Identity = identity_with_grad_check
    return checked


def create_identity_with_nan_gradients_fn(have_nan_gradients: Any) -> Identity:
    """The identity, whose gradient is not a number where a boolean tensor says so."""

    @tf.custom_gradient
    def identity_with_nan_gradients(x: Any) -> Any:
        def grad(dx: Any) -> Any:
            # The loss scale must not change before what comes before this gradient is checked.
            with tf.control_dependencies([dx]):
                nan = tf.constant(float("nan"), dtype=dx.dtype)
            return tf.cond(have_nan_gradients, lambda: tf.fill(tf.shape(dx), nan), lambda: dx)

        return tf.identity(x), grad

    spoilt: Identity = identity_with_nan_gradients
    return spoilt
