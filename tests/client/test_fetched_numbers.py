"""Scalars that a session gives: NumPy's numbers of the tensor's type, the value to the bit."""

import numpy as np
import pytest

import penstock as tf

VALUES = [
    *(np.float32(x) for x in (1.5, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3.4028235e38)),
    *(np.float64(x) for x in (0.1, -0.0, np.inf, np.nan, 5e-324, 1.7976931348623157e308)),
    *(np.int32(x) for x in (0, -1, 2**31 - 1, -(2**31))),
    *(np.int64(x) for x in (0, -1, 2**63 - 1, -(2**63))),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{value.dtype}-{value}")
def test_fed_and_computed_scalars(value):
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.as_dtype(value.dtype), [])
        variable = tf.Variable(value)
        session.run(variable.initializer)
        for found in (
            session.run(tf.identity(fed), {fed: value}),
            session.run(variable),
            session.make_callable(tf.identity(fed), [fed])(np.asarray(value)),
        ):
            assert type(found) is type(value) and found.tobytes() == value.tobytes()
