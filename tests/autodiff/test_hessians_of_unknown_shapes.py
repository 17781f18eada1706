"""Second derivatives by a tensor whose shape only a step knows."""

import numpy as np

import penstock as tf


def test_hessian_by_a_fed_matrix():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float64)
        (hessian,) = tf.hessians(tf.reduce_sum(x**3) + x[0, 0] * x[0, 1], x)
        point = np.array([[1.0, 2.0, 3.0]])
        expected = np.diag(6 * point[0])
        expected[0, 1] = expected[1, 0] = 1
        found = session.run(hessian, {x: point})
    assert found.shape == (1, 3, 1, 3)
    np.testing.assert_allclose(found.reshape(3, 3), expected)
