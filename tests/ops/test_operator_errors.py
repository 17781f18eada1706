"""What Python's operators say of operands that don't fit: what the function behind them says."""

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize(
    "operate",
    [
        lambda x, y: x + y,
        lambda x, y: x * y,
        lambda x, y: x @ y,
        lambda x, y: x < y,
        lambda x, y: x**y,
    ],
)
def test_arrays_of_other_shapes(operate):
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        operate(tf.ones([2, 3]), np.ones([4, 5], np.float32))


def test_numbers_of_other_types():
    with pytest.raises(TypeError, match="has type float32 that does not match type int32"):
        tf.constant([1]) + 1.5
    with pytest.raises(TypeError, match="has type float32 that does not match type int32"):
        tf.constant(1) + tf.Variable(1.0)
    with pytest.raises(TypeError, match="DataType bool not in list of allowed values"):
        tf.constant([True]) + True


def test_an_operand_that_is_no_tensor_answers_itself():
    class Answer:
        def __radd__(self, other):
            return "mine"

    assert tf.constant(1) + Answer() == "mine"
