"""Constants of Python sequences in eager mode, which reads them by rules of its own."""

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode


class _Endless(list):
    """A list that says nonsense of its length."""

    def __len__(self):
        return -1


class _Positions:
    """A sequence that can't be asked for its first element."""

    def __getitem__(self, key):
        raise KeyError(key)

    def __len__(self):
        return 2

    def __iter__(self):
        return iter([1, 3])


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (range(3), "int32", [0, 1, 2]),
        ([range(2), range(2)], "int32", [[0, 1], [0, 1]]),
        (_Positions(), "int32", [1, 3]),
        ([np.float64(1), 2], "float64", [1, 2]),
        ([1, np.float64(2)], "float32", [1, 2]),
        ([np.array([1.0, 2.0])], "float64", [[1, 2]]),
        ([1, 2**42, 0.5], "float32", [1, 2**42, 0.5]),
        ([1, True], "int32", [1, 1]),
    ],
)
def test_what_is_read(value, dtype, expected):
    tensor = tf.constant(value)
    assert tensor.dtype.name == dtype
    np.testing.assert_array_equal(tensor.numpy(), expected)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ([1, "a"], "mixed types"),
        (["a", 1], "mixed types"),
        ([1, [2]], "mixed types"),
        ([True, 1], "mixed types"),
        ([1, None], "mixed types"),
        ([1, _Endless([1])], "mixed types"),
        ([_Endless([1])], "should return >= 0"),
        (_Endless([1]), "should return >= 0"),
        ([[1, 2], [3]], "non-rectangular Python sequence"),
        ([2**72], "out-of-range integer"),
        (object(), "unsupported type"),
    ],
)
def test_what_is_refused(value, told):
    with pytest.raises(ValueError, match=told):
        tf.constant(value)


def test_types_that_are_asked_for():
    assert tf.constant(2**54 + 1, tf.float64).numpy() == 2**54
    with pytest.raises(ValueError, match="out-of-range integer"):
        tf.constant(10**310, tf.float64)
    with pytest.raises(ValueError, match="non-rectangular"):
        tf.constant([[1, 2], [3]], tf.int32)
    with pytest.raises(TypeError, match="to EagerTensor of dtype int32"):
        tf.constant(1.5, tf.int32)


def test_shapes_are_filled_with_one_value_alone():
    np.testing.assert_array_equal(tf.constant(7, shape=[2]).numpy(), [7, 7])
    with pytest.raises(TypeError, match=r"value has 2 elements, shape is \(3,\) with 3 elements"):
        tf.constant([1, 2], shape=[3])


def test_kernels_tell_what_a_fill_needs():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"dims must be a vector.*\[2,2\]"):
        tf.fill([[0, 1], [2, 3]], 1.0)
