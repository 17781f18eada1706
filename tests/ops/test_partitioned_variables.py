"""Variables in parts: the graphs they make, their values, partitioners."""

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_parts_make_up_the_whole(use_resource, axis, count):
    whole = np.arange(20, dtype=np.float32).reshape(4, 5)
    w = tf.get_variable(
        "w",
        initializer=tf.constant(whole),
        partitioner=tf.fixed_size_partitioner(count, axis=axis),
        use_resource=use_resource,
    )
    doubled = w.assign_add(tf.constant(whole))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(w.as_tensor()), whole)
        for part, expected in zip(w, np.array_split(whole, count, axis), strict=True):
            np.testing.assert_array_equal(session.run(part), expected)
        session.run(doubled)
        np.testing.assert_array_equal(session.run(tf.identity(w)), whole * 2)
        assert session.run(tf.matmul(tf.ones([1, 4]), w)).shape == (1, 5)


def test_parts_are_assigned_from_lists_and_from_other_parts():
    by_two = tf.fixed_size_partitioner(2)
    v = tf.get_variable("v", initializer=tf.constant([1.0, 2.0, 3.0]), partitioner=by_two)
    w = tf.get_variable("w", [3], initializer=tf.zeros_initializer(), partitioner=by_two)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(w.assign(v))
        assert session.run(w.as_tensor()).tolist() == [1.0, 2.0, 3.0]
        session.run(w.assign_sub([tf.ones([2]), tf.ones([1])]))
        assert session.run(w.as_tensor()).tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="2 parts, got 1"):
        w.assign([tf.ones([3])])


def test_a_part_knows_its_slice():
    w = tf.get_variable("w", [7, 2], partitioner=tf.fixed_size_partitioner(3))
    infos = [part._get_save_slice_info() for part in w]
    assert [info.spec for info in infos] == ["7 2 0,3:0,2", "7 2 3,2:0,2", "7 2 5,2:0,2"]
    assert {info.full_name for info in infos} == {"w"}


def _get(name="w", shape=(4, 4), partitions=(2, 1), **kwargs):
    return tf.get_variable(name, shape, partitioner=lambda **_: partitions, **kwargs)


def _sharing(**kwargs):
    _get(partitions=[2, 1])
    with tf.variable_scope("", reuse=True):
        _get(**kwargs)


@pytest.mark.parametrize(
    ("make", "phrase"),
    [
        (lambda: _get(partitions=None), "must return a sequence"),
        (lambda: _get(partitions=[2]), "does not match the Variable's rank"),
        (lambda: _get(partitions=[0, 1]), "zero partitions"),
        (lambda: _get(partitions=[2, 2]), "only slice a variable along one dimension"),
        (lambda: _get(shape=[None, 4]), "must be fully defined"),
        (lambda: tf.get_variable("w", [2], partitioner=3), "must be callable"),
        (lambda: [_get() for _ in range(2)], "Partitioned variable with name w already exists"),
        (lambda: [_get(), tf.get_variable("w", [4, 4])], "No partitioner was provided"),
        (lambda: [tf.get_variable("w", [4, 4]), _get()], "unpartitioned version"),
        (lambda: _sharing(shape=[5, 4]), r"specified shape \(5, 4\)"),
        (lambda: _sharing(dtype=tf.int32), "specified dtype int32"),
        (lambda: _sharing(partitions=[4, 1]), r"specified partitions \[4, 1\]"),
        (lambda: _sharing(name="v"), "PartitionedVariable v does not exist"),
        (lambda: tf.variable_axis_size_partitioner(0), "must be positive"),
        (
            lambda: tf.create_partitioned_variables([4], [1, 2], tf.zeros_initializer()),
            "must have the length",
        ),
        (
            lambda: tf.create_partitioned_variables([4], [5], tf.zeros_initializer()),
            "Expected 0 <= offset < shape",
        ),
    ],
)
def test_refused(make, phrase):
    with pytest.raises(ValueError, match=phrase):
        make()


def test_a_list_as_initializer_is_cut_into_the_parts():
    rows = [[0.5], [1.0], [1.5], [2.0]]
    made = tf.get_variable(
        "rows", shape=[4, 1], initializer=rows, partitioner=lambda shape, dtype: [2, 1]
    )
    parts = list(made)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [part.tolist() for part in session.run(parts)] == [rows[:2], rows[2:]]
    assert parts[0].initial_value.op.name == "rows/part_0/PartitionedInitializer/Slice"
