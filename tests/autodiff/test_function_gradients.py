"""Gradients of nodes that call functions: conditionals, loops, and gradients themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.internal_paths import functional_calls as functional
from penstock.ops import functional_branches
from penstock.ops.functions import Defun


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


@Defun(tf.float32, tf.float32)
def product(a: Any, b: Any) -> Any:
    return a * b


@Defun(tf.float32, tf.float32)
def square_plus(a: Any, b: Any) -> Any:
    return a * a + b


def test_a_function_can_be_differentiated_more_than_once() -> None:
    @Defun(tf.float32)
    def cube(x: Any) -> Any:
        return x * x * x

    x = tf.constant(2.0)
    first = tf.gradients(cube(x), x)[0]
    second = tf.gradients(first, x)[0]
    third = tf.gradients(second, x)[0]
    with tf.Session() as session:
        assert session.run([first, second, third]) == [12.0, 12.0, 6.0]


@pytest.mark.parametrize(("taken", "expected"), [(True, [5.0, 2.0]), (False, [4.0, 1.0])])
def test_if(taken: bool, expected: list[float]) -> None:
    a, b, condition = tf.constant(2.0), tf.constant(5.0), tf.placeholder(tf.bool)
    result = functional.If(condition, [a, b], product, square_plus)[0]
    grads = tf.gradients(result, [a, b])
    assert grads[0].shape == []
    with tf.Session() as session:
        assert session.run(grads, {condition: taken}) == expected


def test_second_derivative_of_if() -> None:
    a, b = tf.constant(2.0), tf.constant(5.0)
    result = functional.If(tf.constant(False), [a, b], product, square_plus)[0]
    first = tf.gradients(result, a)[0]
    with tf.Session() as session:
        assert session.run(tf.gradients(first, a)) == [2.0]


def test_case() -> None:
    a, b, index = tf.constant(2.0), tf.constant(5.0), tf.placeholder(tf.int32)
    result = functional_branches.Case(
        index, [a, b], Tout=[tf.float32], branches=[product, square_plus]
    )[0]
    grads = tf.gradients(result, [a, b])
    with tf.Session() as session:
        assert session.run(grads, {index: 0}) == [5.0, 2.0]
        assert session.run(grads, {index: 1}) == [4.0, 1.0]


def _squared(x: Any, times: int) -> list[Any]:
    @Defun(tf.int32, tf.float32, tf.float32)
    def goes_on(i: Any, v: Any, factor: Any) -> Any:
        return i < times

    @Defun(tf.int32, tf.float32, tf.float32)
    def once(i: Any, v: Any, factor: Any) -> Any:
        return i + 1, v * v * factor, factor

    return functional.While([0, x, tf.constant(1.5)], goes_on, once)


@pytest.mark.parametrize("times", [0, 1, 3])
def test_while(times: int) -> None:
    x = tf.constant(1.25)
    grad = tf.gradients(_squared(x, times)[1], x)[0]
    power = 2**times
    expected = power * 1.25 ** (power - 1) * 1.5 ** (power - 1)
    with tf.Session() as session:
        assert session.run(grad) == pytest.approx(expected, rel=1e-6)


def test_a_loop_with_effects_runs_once() -> None:
    @Defun(tf.float32)
    def goes_on(v: Any) -> Any:
        return v < 3.0

    @Defun(tf.float32)
    def noisy(v: Any) -> Any:
        return v * (1.0 + tf.random_uniform([]))

    x = tf.constant(1.0)
    (result,) = functional.While([x], goes_on, noisy)
    grad = tf.gradients(result, x)[0]
    with tf.Session() as session:
        value, slope = session.run([result, grad])
    assert value == pytest.approx(slope)  # the factors that the loop drew are the gradient's


def test_the_gradient_of_a_loops_gradient() -> None:
    x = tf.constant(1.25)
    first = tf.gradients(_squared(x, 2)[1], x)[0]
    second = tf.gradients(first, x)[0]
    with tf.Session() as session:
        factor = 1.5**3
        expected = [factor * 4 * 1.25**3, factor * 12 * 1.25**2]
        assert session.run([first, second]) == pytest.approx(expected)


def test_a_gradient_function_with_too_many_results_fails_when_it_runs() -> None:
    @Defun(tf.float32, tf.float32)
    def wrong(x: Any, dy: Any) -> Any:
        return x, dy

    @Defun(tf.float32, grad_func=wrong)
    def forward(x: Any) -> Any:
        return x * 2.0

    x = tf.constant(1.0)
    grad = tf.gradients(forward(x), x)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=r"return 1 .*but get 2 instead"),
    ):
        session.run(grad)
