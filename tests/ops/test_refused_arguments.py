"""Arguments that TensorFlow 1.15 refuses, with the words of its errors that programs look for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def _images(channels: int = 2) -> Any:
    return tf.zeros([1, 4, 4, channels])


def _einsum(equation: str) -> Callable[[], Any]:
    return lambda: tf.einsum(equation, tf.zeros([2, 3]))


BUILT: dict[str, tuple[type, str, Callable[[], Any]]] = {
    "one_hot": (
        TypeError,
        "int32.* of on_value does not match dtype parameter",
        lambda: tf.one_hot([1], 3, on_value=5, dtype=tf.float32),
    ),
    "placeholder": (
        ValueError,
        "Dimension 0 in both shapes must be equal, but are 2 and 3",
        lambda: tf.placeholder_with_default([1, 2], [3]),
    ),
    "where": (
        ValueError,
        r"must be equal, but are 3 and 1. Shapes are \[2,3\] and \[2,1\]",
        lambda: tf.where([[True], [False]], tf.zeros([2, 3]), tf.ones([2, 3])),
    ),
    "where by rows": (
        ValueError,
        r"Dimension 0 in both shapes must be equal, but are 2 and 3. Shapes are \[2\] and \[3\]",
        lambda: tf.where([True, True], tf.zeros([3]), tf.ones([3])),
    ),
    "sparse segments": (
        ValueError,
        "Dimension 0 in both shapes must be equal, but are 1 and 2",
        lambda: tf.sparse_segment_sum(tf.zeros([2, 2]), [0], [0, 1]),
    ),
    "map of a sparse tensor": (
        TypeError,
        "To perform a map on the values of a sparse tensor use either",
        lambda: tf.map_fn(lambda x: x, tf.SparseTensor([[0]], [1.0], [1])),
    ),
    "tile": (
        ValueError,
        "Shape must be rank 2 but is rank 1 for 'Tile'",
        lambda: tf.tile([[1]], [1]),
    ),
    "pool strides": (
        ValueError,
        "strides > window_shape not supported",
        lambda: tf.nn.pool(_images(), [2, 2], "AVG", "VALID", strides=[3, 3]),
    ),
    "pool rank": (
        ValueError,
        r"Shape \(1, 4, 4, 2\) must have rank 3",
        lambda: tf.nn.pool(_images(), [2], "MAX", "SAME"),
    ),
    "batch norm": (
        ValueError,
        "Both 'mean' and 'variance' must be None if is_training is True",
        lambda: tf.nn.fused_batch_norm(_images(), [1.0, 1.0], [0.0, 0.0], [0.0, 0.0], [1.0, 1.0]),
    ),
    "conv2d_transpose": (
        ValueError,
        "Shape must be rank 1 but is rank 2",
        lambda: tf.nn.conv2d_transpose(
            _images(), tf.zeros([2, 2, 3, 2]), [[1, 8, 8, 3]], [1, 2, 2, 1]
        ),
    ),
    "einsum count": (
        ValueError,
        'Got 1 arguments for equation "ij,jk", expecting 2',
        lambda: tf.einsum("ij,jk", tf.zeros([2, 2])),
    ),
    "einsum letters": (ValueError, "Indices have incorrect format: i1->i", _einsum("i1->i")),
    "einsum label": (ValueError, "Invalid equation: ij->k", _einsum("ij->k")),
    "einsum period": (ValueError, 'period "." found outside of ellipsis', _einsum("...->.")),
    "broadcasting": (
        ValueError,
        r"Incompatible shapes for broadcasting: \(2, 3\) and \(4,\)",
        lambda: tf.broadcast_static_shape(tf.TensorShape([2, 3]), tf.TensorShape([4])),
    ),
    "broadcast_to": (
        ValueError,
        "Dimensions must be equal, but are 3 and 4",
        lambda: tf.broadcast_to(tf.zeros([2, 3]), [4, 4]),
    ),
    "norm": (ValueError, "a tuple of 2 unique integers", lambda: tf.norm([[1.0]], axis="a")),
    "shape": (TypeError, "A string has ambiguous TensorShape", lambda: tf.TensorShape("a")),
    "case": (TypeError, "fns must be a list, tuple, or dict", lambda: tf.case(3)),
    "case predicate": (
        TypeError,
        "pred must be Tensor of type bool: Const:0",
        lambda: tf.case([(tf.constant(1), lambda: 2)]),
    ),
    "cond predicate": (
        ValueError,
        "Shape must be rank 0 but is rank 1 for 'cond/Switch'",
        lambda: tf.cond(tf.constant([True]), lambda: 1, lambda: 2),
    ),
    "reuse": (
        ValueError,
        "The reuse parameter must be True or False or None",
        lambda: tf.variable_scope("a", reuse=3).__enter__(),
    ),
    "initializer": (
        ValueError,
        "callable with no arguments and the shape should not be provided or an instance of",
        lambda: tf.get_variable("a"),
    ),
    "variable shape": (
        ValueError,
        "The initial value's shape",
        lambda: tf.Variable([1.0], shape=[3], use_resource=True),
    ),
    "feed": (
        TypeError,
        r'passed to the feed with key Tensor\("Const_1:0"',
        lambda: tf.Session().run(tf.constant(1), {tf.constant(2): tf.constant(3)}),
    ),
    "einsum output": (
        ValueError,
        "Invalid equation: ij,jk->ikk",
        lambda: tf.einsum("ij,jk->ikk", tf.zeros([2, 2]), tf.zeros([2, 2])),
    ),
}


@pytest.mark.parametrize("case", BUILT)
def test_building_refuses(case: str) -> None:
    error, message, build = BUILT[case]
    with pytest.raises(error, match=message):
        build()


def test_types_in_messages_have_their_names_in_the_runtime() -> None:
    variable = tf.Variable([1.0], use_resource=True)
    with pytest.raises(
        ValueError, match="read variable with wrong dtype. Expected float got int32"
    ):
        tf.raw_ops.ReadVariableOp(resource=variable.handle, dtype=tf.int32)
    first = tf.FIFOQueue(10, tf.float32, shared_name="shared")
    second = tf.FIFOQueue(10, tf.int32, shared_name="shared")
    sparse = tf.SparseTensor([[0, 0]], [1], [1, 1])
    read = tf.deserialize_many_sparse(tf.serialize_many_sparse(sparse), tf.float32)
    with tf.Session() as session:
        session.run(first.size())
        with pytest.raises(tf.errors.InvalidArgumentError, match="component types float but"):
            session.run(second.size())
        with pytest.raises(tf.errors.InvalidArgumentError, match="of type float but"):
            session.run(read)


def test_initializers_of_version_2_by_their_old_names() -> None:
    from penstock.internal_paths import initializers_v2

    assert initializers_v2.constant_initializer(3)([2]).dtype == tf.int32
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        initializers_v2.constant_initializer([1, 2, 3])([2, 2])
    with pytest.raises(ValueError, match="Expected numeric or boolean dtype"):
        initializers_v2.ones_initializer()([2], dtype=tf.string)


def test_a_gradient_is_registered_once() -> None:
    with pytest.raises(KeyError, match="Registering two gradient with name 'MatMul'!"):
        tf.RegisterGradient("MatMul")(lambda op, grad: grad)
