"""tf.map_fn, tf.scan, tf.foldl and tf.foldr when a step runs; snapshots compare the nodes."""

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.mark.parametrize("function", [tf.map_fn, tf.scan, tf.foldl, tf.foldr])
def test_what_is_not_a_function_is_refused(function):
    with pytest.raises(TypeError, match="fn must be callable"):
        function(3, tf.constant([1, 2]))


class TestMap:
    def test_rows(self, session):
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.map_fn(lambda row: tf.reduce_sum(row) * 2.0, x)
        assert y.shape.as_list() == [None]
        assert session.run(y, {x: [[1, 2], [3, 4]]}).tolist() == [6, 14]

    def test_structures(self, session):
        elems = {"a": tf.constant([1, 2]), "b": [tf.constant([[1.0], [2.0]])]}
        dtype = {"sum": tf.float32, "same": tf.int32}
        found = tf.map_fn(
            lambda t: {"sum": t["b"][0][0] + tf.cast(t["a"], tf.float32), "same": t["a"]},
            elems,
            dtype=dtype,
        )
        found = session.run(found)
        assert found["sum"].tolist() == [2, 4]
        assert found["same"].tolist() == [1, 2]

    def test_nothing_to_map(self, session):
        empty = tf.constant([])
        assert session.run(tf.map_fn(lambda x: tf.zeros([3, 2]), empty)).shape == (0, 3, 2)
        assert session.run(tf.map_fn(lambda x: 1, empty)).shape == (0,)

    def test_gradients(self, session):
        x, w = tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)
        y = tf.map_fn(lambda a: a * a * w, x)
        found = session.run(tf.gradients(y, [x, w]))
        assert found[0].tolist() == [4, 8, 12]
        assert found[1] == 14

    def test_variables_are_made_once(self, session):
        def scaled(x):
            return x * tf.get_variable("scale", [], initializer=tf.constant_initializer(3.0))

        with tf.variable_scope("outer") as scope:
            y = tf.map_fn(scaled, tf.constant([1.0, 2.0]))
            assert scope.caching_device is None
        assert [v.name for v in tf.global_variables()] == ["outer/scale:0"]
        session.run(tf.global_variables_initializer())
        assert session.run(y).tolist() == [3, 6]

    def test_strings(self, session):
        words = tf.constant(["a", "b"])
        assert session.run(tf.map_fn(lambda w: w, words)).tolist() == [b"a", b"b"]

    def test_refused(self):
        x = tf.constant([1, 2])
        with pytest.raises(ValueError, match="not a scalar"):
            tf.map_fn(lambda a: a, 1)
        with pytest.raises(ValueError, match="not scalars"):
            tf.map_fn(lambda a: a, [1, 2])
        with pytest.raises(TypeError, match="two structures don't have the same nested structure"):
            tf.map_fn(lambda a: ((a + 3) * 2, -a), x, dtype=[tf.int32, tf.int32])
        with pytest.raises(TypeError, match="SparseTensor"):
            tf.map_fn(lambda a: a, tf.SparseTensor([[0, 0]], [1], [2, 2]))


class TestScan:
    def test_states(self, session):
        x = tf.constant([1.0, 2.0, 3.0, 4.0])
        assert session.run(tf.scan(lambda a, b: a * b, x)).tolist() == [1, 2, 6, 24]
        assert session.run(tf.scan(lambda a, b: a * b, x, 2.0)).tolist() == [2, 4, 12, 48]
        backwards = tf.scan(lambda a, b: a * b, x, reverse=True)
        assert session.run(backwards).tolist() == [24, 24, 12, 4]

    def test_structures(self, session):
        elems = np.array([1, 0, 0, 0, 0, 0])
        fibonacci = tf.scan(lambda a, _: (a[1], a[0] + a[1]), elems, (np.array(0), np.array(1)))
        first, second = session.run(fibonacci)
        assert first.tolist() == [1, 1, 2, 3, 5, 8]
        assert second.tolist() == [1, 2, 3, 5, 8, 13]

    def test_states_of_changing_shape(self, session):
        x = tf.placeholder(tf.float32, [3])
        start = tf.placeholder_with_default(np.float32([5]), [None])
        y = tf.scan(lambda a, b: a + b, x, start, infer_shape=False)
        assert session.run(y, {x: [1, 2, 3]}).tolist() == [[6], [8], [11]]

    def test_gradients(self, session):
        x, start = tf.constant([1.0, 2.0, 3.0]), tf.constant(2.0)
        y = tf.scan(lambda a, b: a * b, x, start)
        found = session.run(tf.gradients(y, [x, start]))
        assert found[0].tolist() == [18, 8, 4]
        assert found[1] == 9

    def test_refused(self):
        x = tf.constant([1, 2])
        with pytest.raises(ValueError, match="two structures don't have the same nested structure"):
            tf.scan(lambda a, b: (a, b), x)


class TestFolds:
    def test_order(self, session):
        x = tf.constant([1, 2, 3, 4, 5, 6])
        assert session.run(tf.foldl(lambda a, b: (a + b) * 2, x)) == 208
        assert session.run(tf.foldl(lambda a, b: (a + b) * 2, x, initializer=10)) == 880
        assert session.run(tf.foldr(lambda a, b: (a + b) * 2, x)) == 450
        assert session.run(tf.foldr(lambda a, b: (a + b) * 2, x, initializer=10)) == 1282

    def test_structures(self, session):
        x = tf.constant([1, 2, 3])
        total = tf.foldl(lambda a, b: (a[0] + b[0], a[1] * b[1]), (x, x), (0, 1))
        assert session.run(total) == (6, 6)

    def test_gradients(self, session):
        x = tf.constant([1.0, 2.0, 3.0])
        left, right = tf.foldl(lambda a, b: a * b, x), tf.foldr(lambda a, b: a * b * b, x)
        assert session.run(tf.gradients(left, x))[0].tolist() == [6, 3, 2]
        assert session.run(tf.gradients(right, x))[0].tolist() == [24, 12, 4]
