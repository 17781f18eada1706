"""Gradients of nodes that are marked to be compiled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import penstock as tf
from penstock.contrib.compiler.jit import experimental_jit_scope


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def _marks(op: tf.Operation) -> tuple[Any, ...]:
    names = ("_XlaCompile", "_XlaScope", "_XlaSeparateCompiledGradients")
    return tuple(op.get_attr(name) for name in names if name in op.node_def.attr)


def test_they_are_compiled_with_the_node() -> None:
    x = tf.placeholder(tf.float32, [1, 1])
    plain = tf.matmul(x, x, name="plain")
    with experimental_jit_scope():
        marked = tf.matmul(plain, plain, name="marked")
    tf.gradients(marked, x)
    made = tf.get_default_graph().get_operations()
    assert {_marks(op) for op in made if "gradients/marked" in op.name} == {(True, b"jit_scope_0")}
    assert {_marks(op) for op in made if "gradients/plain" in op.name} == {()}


def test_they_are_compiled_apart() -> None:
    x = tf.placeholder(tf.float32, [1, 1])
    with experimental_jit_scope(separate_compiled_gradients=True):
        y = tf.exp(x)
    with tf.name_scope("outer"):
        (slope,) = tf.gradients(y, x, name="slopes")
    assert _marks(slope.op) == (True, b"jit_scope_0_grad_outer_slopes")


def test_what_is_not_compiled_has_plain_gradients() -> None:
    x = tf.placeholder(tf.float32, [1, 1])
    with experimental_jit_scope(compile_ops=False):
        y = tf.exp(x)
    assert _marks(tf.gradients(y, x)[0].op) == ()


@pytest.mark.parametrize(
    ("is_inside", "options", "scopes"),
    [
        (False, {}, (b"function_product", b"function_product")),
        (True, {}, (b"jit_scope_0", b"jit_scope_0")),
        (
            True,
            {"separate_compiled_gradients": True},
            (b"jit_scope_0", b"jit_scope_0_grad_slopes"),
        ),
    ],
)
def test_functions(is_inside: bool, options: dict[str, Any], scopes: tuple[bytes, bytes]) -> None:
    @tf.python.framework.function.Defun(compiled=True, noinline=True, **options)
    def product(a: Any, b: Any) -> Any:
        return a * b

    x = tf.constant(3.0)
    if is_inside:
        with experimental_jit_scope():
            y = product(x, x)
    else:
        y = product(x, x)
    (slope,) = tf.gradients(y, x, name="slopes")
    attrs = tf.get_default_graph().as_graph_def().library.function[0].attr
    assert attrs["_XlaCompile"].b and attrs["_XlaScope"].s == scopes[0]
    assert _marks(slope.op.inputs[0].op)[:2] == (True, scopes[1])
    with tf.Session() as session:
        assert session.run(slope) == 6.0
