"""tf.assert_equal and its kind when a step runs; recorded snapshots compare the built nodes."""

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.mark.parametrize(
    ("function", "holds", "fails"),
    [
        (tf.assert_equal, (1, 1), (1, 2)),
        (tf.assert_none_equal, (1, 2), (1, 1)),
        (tf.assert_less, (1, 2), (2, 2)),
        (tf.assert_less_equal, (2, 2), (3, 2)),
        (tf.assert_greater, (3, 2), (2, 2)),
        (tf.assert_greater_equal, (2, 2), (1, 2)),
        (tf.assert_near, (1, 1), (1, 1.1)),
    ],
)
def test_comparisons(session, function, holds, fails):
    x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
    check = function(x, y, message="said before", summarize=2)
    session.run(check, {x: holds[0], y: holds[1]})
    session.run(check, {x: [], y: []})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)said before.*x:0.*y:0"):
        session.run(check, {x: fails[0], y: fails[1]})


@pytest.mark.parametrize(
    ("function", "holds", "fails"),
    [
        (tf.assert_positive, [1, 2], [1, 0]),
        (tf.assert_negative, [-1, -2], [0, -1]),
        (tf.assert_non_negative, [0, 1], [-1, 0]),
        (tf.assert_non_positive, [0, -1], [1, 0]),
    ],
)
def test_signs(session, function, holds, fails):
    x = tf.placeholder(tf.int32, [None], name="x")
    with tf.control_dependencies([function(x)]):
        y = tf.identity(x)
    assert session.run(y, {x: holds}).tolist() == holds
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold element-wise"):
        session.run(y, {x: fails})


def test_what_is_known_is_checked_at_once():
    small, big = tf.constant([1, 2], name="small"), tf.constant([3, 4], name="big")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)fail.*big.*\[3 4\].*small"):
        tf.assert_equal(big, small, message="fail")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)fail.*\[ *1 -2\]"):
        tf.assert_positive(tf.constant([1, -2]), message="fail")
    with pytest.raises(ValueError, match=r"fail.*small.*must have rank 0.*\(2,\)"):
        tf.assert_rank(small, 0, message="fail")
    with pytest.raises(ValueError, match="Rank must be a scalar"):
        tf.assert_rank(small, [1])
    with pytest.raises(ValueError, match=r"rank in \(0, 2\)"):
        tf.assert_rank_in(small, (0, 2))
    with pytest.raises(TypeError, match="must be of type <dtype: 'float32'>"):
        tf.assert_type(small, tf.float32)
    with pytest.raises(TypeError, match="fail.*Expected .x. to be integer"):
        tf.assert_integer(tf.constant(1.5), message="fail")
    with pytest.raises(ValueError, match="Expected scalar"):
        tf.assert_scalar(small)
    with pytest.raises(ValueError, match="Expected floating"):
        tf.assert_same_float_dtype([small])


@pytest.mark.parametrize(
    ("function", "rank", "holds", "fails"),
    [
        (tf.assert_rank, 1, [1.0], 1.0),
        (tf.assert_rank_at_least, 1, [[1.0]], 1.0),
        (tf.assert_rank_in, (0, 2), 1.0, [1.0]),
    ],
)
def test_ranks(session, function, rank, holds, fails):
    x = tf.placeholder(tf.float32, name="my_tensor")
    check = function(x, rank)
    session.run(check, {x: holds})
    with pytest.raises(tf.errors.InvalidArgumentError, match="my_tensor.*rank"):
        session.run(check, {x: fails})


def test_a_rank_given_by_a_tensor_must_be_a_scalar(session):
    x, rank = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    check = tf.assert_rank(x, rank)
    session.run(check, {x: [1.0], rank: 1})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Rank must be a scalar"):
        session.run(check, {x: [1.0], rank: [1, 2]})


def test_shapes(session):
    x, y = tf.placeholder(tf.float32, name="x"), tf.placeholder(tf.float32, name="y")
    check = tf.debugging.assert_shapes([(x, ("N", "Q")), (y, (..., "Q"))], message="said")
    session.run(check, {x: np.ones((2, 3)), y: np.ones((5, 4, 3))})
    with pytest.raises(tf.errors.InvalidArgumentError, match="Specified by tensor x:0 dimension 1"):
        session.run(check, {x: np.ones((2, 3)), y: np.ones(4)})
    with pytest.raises(tf.errors.InvalidArgumentError, match="x:0 must have rank"):
        session.run(check, {x: np.ones(3), y: np.ones(3)})


@pytest.mark.parametrize(
    ("values", "strictly", "weakly"),
    [([], True, True), ([5], True, True), ([1, 1], False, True), ([[1, 2], [3, 4]], True, True)],
)
def test_order(session, values, strictly, weakly):
    x = tf.placeholder(tf.float32)
    found = session.run([tf.is_strictly_increasing(x), tf.is_non_decreasing(x)], {x: values})
    assert found == [strictly, weakly]


def test_check_numerics_ops(session):
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.log(x, name="taken")
    check = tf.add_check_numerics_ops()
    session.run(check, {x: [1, 2]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="taken:0"):
        session.run(check, {x: [1, 0]})
