"""What `Defun` accepts, and what it says of the rest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.internal_paths.function_captures import (
    get_extra_args,
    get_extra_inputs,
    get_extra_vars,
)
from penstock.ops.functions import Defun


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_functions_with_defaults_or_keywords_are_refused() -> None:
    with pytest.raises(ValueError, match=r"not supported.*has defaults \(12,\)"):
        Defun()(lambda a=12: a)
    with pytest.raises(ValueError, match="keywords arguments are not supported"):
        Defun()(lambda **kwargs: tf.constant(1))


def test_a_function_without_arguments_takes_none() -> None:
    constant = Defun()(lambda: tf.constant(1))
    with pytest.raises(ValueError, match="Expected number of arguments: 0, received: 1"):
        constant(2)


def test_unknown_keywords_are_named() -> None:
    plus_one = Defun(tf.int32)(lambda a: a + 1)
    assert plus_one(1, name="p").op.name == "p"
    with pytest.raises(ValueError, match="Unknown keyword arguments"):
        plus_one(1, device="/gpu:0")
    assert plus_one(1, noinline=True).op.get_attr("_noinline") is True


def test_results_are_tensors() -> None:
    two = Defun()(lambda: (None, None))
    with pytest.raises(ValueError, match="can not return None"):
        two()


def test_names_of_results_must_be_as_many_as_results() -> None:
    named = Defun(tf.float32, out_names=["a", "b"])(lambda x: x)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="output names size = 2 outputs size = 1"
    ):
        named(1.0)


def test_variables_of_a_body_belong_to_the_graph_around_it() -> None:
    seen: list[Any] = []

    @Defun(tf.float32)
    def scaled(x: Any) -> Any:
        with tf.variable_scope("inner"):
            w = tf.get_variable("w", initializer=3.0)
        result = x * w
        seen.extend((get_extra_vars(), get_extra_inputs(), get_extra_args()))
        return result

    with tf.variable_scope("outer"):
        y = scaled(2.0)
    assert [v.name for v in tf.global_variables()] == ["outer/inner/w:0"]
    variables, inputs, args = seen
    assert [v.name for v in variables] == ["outer/inner/w:0"]
    assert len(inputs) == len(args) == 1
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(y) == 6.0
    assert get_extra_vars() == get_extra_inputs() == get_extra_args() == []


def test_an_overloaded_function_is_made_for_types() -> None:
    twice = Defun()(lambda x: x + x)
    whole, broken = twice.instantiate([tf.int32]), twice.instantiate([tf.float32])
    assert whole.name != broken.name
    assert whole.declared_input_types == [tf.int32]
    with tf.Session() as session:
        assert session.run([whole(2), broken(2.5)]) == [4, 5.0]
