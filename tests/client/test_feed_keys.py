"""Tensors that are named more than once among feeds, and the ends of partial runs."""

import pytest

import penstock as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_the_last_of_several_keys_feeds_a_tensor(session):
    a = tf.placeholder(tf.float32, [], name="a")
    y = a + 1.0
    assert session.run(y, {a: 1.0, "a:0": 2.0}) == 3.0
    assert session.run([a, y], {"a:0": 2.0, a: 1.0}) == [1.0, 2.0]
    assert session.make_callable(y, [a, a])(1.0, 2.0) == 3.0


def test_a_part_of_a_sparse_feed_is_fed_by_itself(session):
    sparse = tf.sparse_placeholder(tf.float32)
    whole = ([[1]], [1.0], [2])
    assert session.run(sparse.values, {sparse: whole, sparse.values: [5.0]}) == [5.0]
    assert session.run(sparse.values, {sparse.values: [5.0], sparse: whole}) == [1.0]


def test_what_a_partial_run_may_not_name(session):
    a, b = tf.placeholder(tf.float32, [], name="a"), tf.placeholder(tf.float32, [], name="b")
    y = a + b
    with pytest.raises(tf.errors.InvalidArgumentError, match="a:0 is both fed and fetched."):
        session.partial_run_setup([y, a], [a, b])
    with pytest.raises(tf.errors.InvalidArgumentError, match='Endpoint "a:0" fed more than once.'):
        session.partial_run_setup([y], [a, b, a])


def test_a_partial_run_ends_with_its_last_feed_and_fetch(session):
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    y = a + 1.0
    handle = session.partial_run_setup([y], [a, b])
    assert session.partial_run(handle, y, {a: 1.0}) == 2.0
    assert session.partial_run(handle, [], {b: 1.0}) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup' before"):
        session.partial_run(handle, [], {})
    assert session.partial_run_setup([y], [a, b]) != handle
    session.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        session.partial_run_setup([y], [a])


def test_feeds_are_a_dictionary_also_of_a_step_that_ran_before(session):
    x = tf.placeholder(tf.float32, [])
    y = x + 1.0
    assert session.run(y, {x: 1.0}) == 2.0
    with pytest.raises(TypeError, match="feed_dict must be a dictionary"):
        session.run(y, [x])
