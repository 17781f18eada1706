"""What `tf.cast` makes of variables that have the asked type already."""

from __future__ import annotations

import penstock as tf


def test_a_resource_variable_of_that_type_comes_back_itself() -> None:
    rate = tf.get_variable("rate", initializer=1.0, use_resource=True)
    assert tf.cast(rate, tf.float32) is rate
    assert tf.to_float(rate) is rate


def test_another_type_is_a_tensor() -> None:
    rate = tf.get_variable("rate", initializer=1.0, use_resource=True)
    assert tf.is_tensor(tf.cast(rate, tf.float64))
    assert tf.cast(rate, tf.float64).dtype is tf.float64


def test_a_reference_variable_is_read() -> None:
    rate = tf.get_variable("rate", initializer=1.0, use_resource=False)
    assert tf.cast(rate, tf.float32).name == "rate/read:0"


def test_the_result_follows_later_assignments() -> None:
    rate = tf.get_variable("rate", initializer=1.0, use_resource=True)
    rate_as_float = tf.cast(rate, tf.float32)
    with tf.control_dependencies([rate.assign(3.0)]):
        doubled = rate_as_float * 2.0
    with tf.Session() as sess:
        sess.run(rate.initializer)
        assert sess.run(doubled) == 6.0
