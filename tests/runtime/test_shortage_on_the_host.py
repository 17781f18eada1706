"""Memory that the host can't give."""

import pytest

import penstock as tf


def test_the_error_names_node_and_shape():
    size = tf.placeholder(tf.int64, [])
    large = tf.fill(tf.stack([size]), 1.0, name="large")
    with tf.Session() as session:
        with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
            session.run(tf.reduce_sum(large), {size: 1 << 46})  # more than there are addresses
        assert caught.value.op is large.op
        assert f"shape[{1 << 46}] and type float32" in caught.value.message
        assert session.run(tf.reduce_sum(large), {size: 3}) == 3.0
