"""`v[1:3].assign(x)`: the value has the shape of the slice, as in TensorFlow 1.15."""

import numpy as np
import pytest

import penstock as tf

_START = np.arange(12, dtype=np.float32).reshape(3, 4)


def _assigned(use_resource, part, value):
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(_START, use_resource=use_resource)
        session.run(variable.initializer)
        session.run(variable[part].assign(value))
        return session.run(variable)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    ("part", "value", "place", "given"),
    [
        (slice(1, 3), 7.0, "[2,4]", "[]"),
        (slice(1, 3), [1.0, 2.0, 3.0, 4.0], "[2,4]", "[4]"),
        (slice(1, 3), [[7.0], [8.0]], "[2,4]", "[2,1]"),
        (1, [[7.0, 8.0, 9.0, 10.0]], "[4]", "[1,4]"),
        ((1, 2), [5.0], "[]", "[1]"),
    ],
)
def test_values_are_not_broadcast(use_resource, part, value, place, given):
    with pytest.raises(tf.errors.UnimplementedError) as raised:
        _assigned(use_resource, part, value)
    told = f"sliced l-value shape {place} does not match r-value shape {given}. Automatic"
    assert told in str(raised.value)


@pytest.mark.parametrize("use_resource", [False, True])
def test_an_empty_slice_takes_anything(use_resource):
    np.testing.assert_array_equal(_assigned(use_resource, slice(1, 1), 5.0), _START)


def test_rows_in_reverse():
    np.testing.assert_array_equal(_assigned(True, slice(None, None, -1), _START), _START[::-1])


def test_strings_are_not_broadcast():
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(["a", "b", "c"])
        session.run(variable.initializer)
        with pytest.raises(tf.errors.UnimplementedError, match="sliced l-value shape"):
            session.run(variable[1:].assign("x"))
        np.testing.assert_array_equal(
            session.run(variable[1:].assign(["x", "y"])), [b"a", b"x", b"y"]
        )
