"""What generators may yield: anything that NumPy makes an array of the declared type."""

import numpy as np
import pytest

import penstock as tf


def first_of(value, dtype):
    data = tf.data.Dataset.from_generator(lambda: iter([value]), dtype)
    with tf.Session() as session:
        return session.run(data.make_one_shot_iterator().get_next())


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (np.array([1, 2], np.int64), tf.int32, np.array([1, 2], np.int32)),
        (np.array([1.75, -2.5]), tf.int32, np.array([1, -2], np.int32)),
        (np.float64(1.5), tf.float32, np.float32(1.5)),
        (np.float32(3), tf.float64, np.float64(3)),
        (np.array([0, 2], np.uint8), tf.bool, np.array([False, True])),
        ([[1], [2]], tf.uint8, np.array([[1], [2]], np.uint8)),
        (np.array(["a", "bc"]), tf.string, np.array([b"a", b"bc"], object)),
    ],
)
def test_elements_become_the_declared_type(value, dtype, expected):
    got = first_of(value, dtype)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("value", ["one", [[1], [2, 3]]])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(tf.errors.InvalidArgumentError, match="The expected type was int32"):
        first_of(value, tf.int32)
