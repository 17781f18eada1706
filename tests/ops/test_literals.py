"""Python's numbers as constants: the results are those of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def _value(tensor: tf.Tensor) -> Any:
    with tf.Session() as session:
        return session.run(tensor)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "complex64"])
def test_bools_are_numbers(dtype: str) -> None:
    made = _value(tf.constant([True, False], dtype))
    assert made.dtype == dtype and made.tolist() == [1, 0]
    assert _value(tf.constant([2, 3], dtype) * True).tolist() == [2, 3]


@pytest.mark.parametrize("dtype", ["string", "qint8"])
def test_bools_are_no_strings(dtype: str) -> None:
    with pytest.raises(TypeError, match=f"Expected {dtype}, got True of type 'bool'"):
        tf.constant([True], dtype)


@pytest.mark.parametrize(
    ("value", "dtype"), [([True, 1], tf.int32), ([1.0, True], tf.float32), ([True], tf.bool)]
)
def test_the_type_of_mixed_lists(value: list[Any], dtype: tf.DType) -> None:
    assert tf.constant(value).dtype == dtype


@pytest.mark.parametrize(
    ("value", "dtype", "wrapped"),
    [
        (-1, "uint8", 255),
        (0xFFFFFFF8, "int32", -8),
        ([2**40, 2**32 + 5], "int32", [0, 5]),
        (2**63, "int64", -(2**63)),
        (2**63, "uint64", 2**63),
    ],
)
def test_integers_of_64_bits_wrap_around(value: Any, dtype: str, wrapped: Any) -> None:
    made = _value(tf.constant(value, dtype))
    assert made.dtype == dtype and np.asarray(made).tolist() == wrapped


def test_larger_integers_do_not_fit() -> None:
    with pytest.raises(OverflowError):
        tf.constant(2**64, tf.int64)
    assert _value(tf.constant(2**64, tf.float32)) == 2.0**64


def test_slices_are_kept_as_they_are_given() -> None:
    slices = tf.IndexedSlices(tf.ones([2, 3]), [0, 2], [4, 3])
    variable = tf.Variable(tf.zeros([4, 3]))
    step = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(slices, variable)])
    with tf.Session() as session:
        session.run(variable.initializer)
        session.run(step)
        assert session.run(variable)[:, 0].tolist() == [-1.0, 0.0, -1.0, 0.0]


def test_a_condition_for_each_row_says_nothing_of_the_shape() -> None:
    rows = tf.placeholder(tf.float32, [None, 3])
    assert tf.where(tf.constant([True, False]), rows, rows).shape.as_list() == [None, 3]
    with pytest.raises(ValueError):
        tf.where(tf.constant([True, False]), tf.zeros([4, 3]), tf.zeros([4, 3]))


def test_messages_of_tensors_are_values() -> None:
    message = tf.make_tensor_proto([1, 2])
    assert tf.constant(message).dtype is tf.int32
    assert _value(tf.add(message, 1)).tolist() == [2, 3]
    assert tf.reshape(tf.ones([2]), tf.make_tensor_proto([2, 1])).shape == (2, 1)


def test_lists_of_numpy_strings():
    values = list(np.array(["a", "bc"])) + [np.bytes_(b"d")]
    with tf.Session() as session:
        assert session.run(tf.constant(values)).tolist() == [b"a", b"bc", b"d"]
