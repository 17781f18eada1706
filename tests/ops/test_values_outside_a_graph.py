"""Constants, messages of constants, and values that a graph knows in part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from penstock.python.framework import constant_op

import penstock as tf
from penstock import dtypes
from penstock.ops import tensor_values


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def test_the_strict_constant_takes_its_own_count_or_one_element() -> None:
    assert constant_op.constant([1, 2, 3, 4], shape=[2, 2]).shape.as_list() == [2, 2]
    assert constant_op.constant([7], shape=[3]).shape.as_list() == [3]
    for size in (2, 5):
        with pytest.raises(TypeError, match=rf"Expected Tensor's shape: \({size},\), got \(3,\)"):
            constant_op.constant([1, 2, 3], shape=[size])
    assert tf.constant([1, 2, 3], shape=[5]).shape.as_list() == [5]


@pytest.mark.parametrize(
    ("values", "field", "listed"),
    [
        (np.array([1 + 2j, 3], np.complex64), "scomplex_val", [1, 2, 3, 0]),
        (np.array([1 + 2j, 3], np.complex128), "dcomplex_val", [1, 2, 3, 0]),
        (np.array([[True], [False]]), "bool_val", [True, False]),
        (np.array([1.0, 2.0], np.float16), "half_val", [0x3C00, 0x4000]),
        (np.array([1, 65535], np.uint16), "int_val", [1, 65535]),
    ],
)
def test_types_whose_values_a_message_lists(
    values: np.ndarray[Any, Any], field: str, listed: list[Any]
) -> None:
    message = tf.make_tensor_proto(values)
    assert not message.tensor_content
    assert list(getattr(message, field)) == listed
    np.testing.assert_array_equal(tf.make_ndarray(message), values)


def test_a_stack_is_known_in_part() -> None:
    stacked = tf.stack([tf.constant([1, 2]), tf.placeholder(tf.int32, [2])])
    assert tensor_values.constant_value(stacked) is None
    known = tensor_values.constant_value(stacked, partial=True)
    assert known is not None
    assert known[0].tolist() == [1, 2]
    assert known[1] is None


def test_a_number_stands_for_no_shape_but_minus_one() -> None:
    assert tensor_values.constant_value_as_shape(tf.constant(-1)).ndims is None
    with pytest.raises(ValueError, match="statically known scalar"):
        tensor_values.constant_value_as_shape(tf.constant(5))
    with pytest.raises(ValueError, match="rank 1"):
        tensor_values.constant_value_as_shape(tf.constant([[1]]))


def test_types_by_number_and_name() -> None:
    for enum, name in dtypes._TYPE_TO_STRING.items():
        make, arguments = tf.DType(enum).__reduce__()
        assert arguments == (name,)
        assert make(*arguments) == tf.DType(enum)


def test_the_argument_of_a_real_number_is_zero() -> None:
    with tf.Session() as session:
        assert session.run(tf.angle([-1.0, 2.0])).tolist() == [0, 0]


def test_a_message_of_fewer_values_than_its_shape_lists_them() -> None:
    message = tf.make_tensor_proto([1, 2], shape=[2, 2])
    assert list(message.int_val) == [1, 2] and not message.tensor_content
    assert tf.make_ndarray(message).tolist() == [[1, 2], [2, 2]]
    message = tf.make_tensor_proto(["a", "b"], shape=[3])
    assert list(message.string_val) == [b"a", b"b"]
    message = tf.make_tensor_proto([10.0, 20.0], tf.float16, shape=[3])
    assert list(message.half_val) == [18688, 19712]
    assert tf.make_ndarray(tf.make_tensor_proto([], shape=[2])).tolist() == [0.0, 0.0]
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(2, 2\), got \(2,\)"):
        tf.make_tensor_proto([1, 2], shape=[2, 2], allow_broadcast=True)


def test_no_values_fill_a_constant_with_zeros() -> None:
    with tf.Session() as session:
        assert session.run(tf.constant([], shape=[2])).tolist() == [0.0, 0.0]
        assert session.run(tf.constant([], tf.string, shape=[2])).tolist() == [b"", b""]
