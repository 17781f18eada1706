"""What TensorFlow 1.15's kernels and checks say, where programs and tests look for it."""

import numpy as np
import pytest
from penstock.python.framework import test_ops

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode


def test_static_tables_have_entries():
    table = tf.contrib.lookup.index_table_from_tensor(np.array([], dtype=np.str_), 1)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="keys and values cannot be empty"),
    ):
        session.run(tf.tables_initializer())
    assert table.name


def test_a_negative_number_of_values_shows_all():
    with eager_mode():
        x = tf.range(6.0)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"0\. +1\. +2\. +3\. +4\. +5\."):
            tf.assert_none_equal(x, x, summarize=-1)


def test_an_axis_to_add_is_one_number():
    with (
        eager_mode(),
        pytest.raises(tf.errors.InvalidArgumentError, match="tensor with a single value"),
    ):
        tf.expand_dims(1, axis=[0, 1])


def test_what_is_no_tensor_is_shown():
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="as TensorProto: 'bogus'"),
    ):
        session.run(tf.parse_tensor("bogus", tf.uint16))


def test_stacked_handles_are_handles():
    first = test_ops.stub_resource_handle_op(container="a", shared_name="b")
    second = test_ops.stub_resource_handle_op(container="a", shared_name="c")
    created = test_ops.resource_create_op(tf.stack([first, second])[1:2])
    with tf.Session() as session:
        session.run(created)
        session.run(test_ops.resource_create_op(first))
        with pytest.raises(tf.errors.AlreadyExistsError):
            session.run(test_ops.resource_create_op(second))


@pytest.mark.parametrize(
    ("point", "told"), [(0x110000, "out of valid Unicode range"), (0xD800, "surrogate")]
)
def test_code_points_that_are_no_characters(point, told):
    encoded = tf.strings.unicode_encode(tf.constant([[65, point]]), "UTF-8", "strict")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=told):
        session.run(encoded)
