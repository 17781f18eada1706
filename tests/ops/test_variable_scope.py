"""Variable scopes: names, sharing, inherited settings, getters, errors."""

import threading

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def _layer(x):
    w = tf.get_variable("w", [2, 2], initializer=tf.constant_initializer([[1.0, 2.0], [3.0, 4.0]]))
    return tf.matmul(x, w)


def test_shared_weights_are_one_variable():
    x, y = tf.ones([1, 2]), tf.zeros([1, 2])
    with tf.variable_scope("layer"):
        first = _layer(x)
    with tf.variable_scope("layer", reuse=True):
        second = _layer(y + 1.0)
        w = tf.get_variable("w")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(w.assign(w * 2.0))
        np.testing.assert_array_equal(session.run(first), session.run(second))
        assert session.run(first).tolist() == [[8.0, 12.0]]
    assert tf.global_variables() == [w]


def test_auto_reuse_makes_a_variable_once():
    def weights():
        with tf.variable_scope("layer", reuse=tf.AUTO_REUSE):
            return tf.get_variable("w", [2])

    assert weights() is weights()


def test_a_scope_is_closed_after_an_error():
    with pytest.raises(KeyError), tf.variable_scope("a"):
        raise KeyError
    assert tf.get_variable_scope().name == ""
    assert tf.get_default_graph().get_name_scope() == ""


def test_a_scope_object_can_be_entered_twice():
    scope = tf.variable_scope("a")
    with scope:
        with scope:
            inner = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        outer = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    assert (inner.name, outer.name) == ("a/a/w:0", "a/w:0")


def test_each_thread_has_scopes_of_its_own(graph):
    names = []

    def build():
        with graph.as_default():
            names.append(tf.get_variable_scope().name)
            with tf.variable_scope("other"):
                names.append(tf.get_variable("w", [1]).name)

    with tf.variable_scope("main"):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
        names.append(tf.get_variable("w", [1]).name)
    assert names == ["", "other/w:0", "main/w:0"]


def test_regularizers_are_called_once_per_variable():
    calls = []

    def regularizer(weights):
        calls.append(weights.op.name)
        return tf.reduce_sum(weights)

    with tf.variable_scope("s", regularizer=regularizer, reuse=tf.AUTO_REUSE):
        for _ in range(2):
            tf.get_variable("a", initializer=[1.0, 2.0])
            tf.get_variable("b", initializer=[3.0], regularizer=tf.no_regularizer)
    assert calls == ["s/a"]
    (loss,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(loss) == 3.0


def test_getters_written_before_constraints_get_none():
    def getter(
        getter,
        name,
        shape,
        dtype,
        initializer,
        regularizer,
        reuse,
        trainable,
        collections,
        caching_device,
        partitioner,
        validate_shape,
        use_resource,
        synchronization,
        aggregation,
    ):
        return getter(name, shape=shape, dtype=dtype, initializer=initializer)

    with tf.variable_scope("s", custom_getter=getter, constraint=abs):
        assert tf.get_variable("w", [1]).constraint is None


def test_moving_weights_by_a_getter():
    averages = {}

    def use_average(getter, name, *args, **kwargs):
        variable = getter(name, *args, **kwargs)
        return averages.get(variable.op.name, variable)

    def build():
        return tf.get_variable("w", [1], initializer=tf.zeros_initializer())

    w = build()
    averages["w"] = tf.constant([5.0])
    with tf.variable_scope(tf.get_variable_scope(), reuse=True, custom_getter=use_average):
        averaged = build()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([w, averaged]) == [[0.0], [5.0]]


# Errors ---------------------------------------------------------------------------------------


def _enter(*args, **kwargs):
    with tf.variable_scope(*args, **kwargs):
        pass


def _sharing(*args, **kwargs):
    tf.get_variable("w", [2])
    with tf.variable_scope("", reuse=True):
        tf.get_variable(*args, **kwargs)


@pytest.mark.parametrize(
    ("make", "error", "phrase"),
    [
        (
            lambda: [tf.get_variable("w", [2]) for _ in range(2)],
            ValueError,
            "already exists, disal",
        ),
        (lambda: _sharing("x", [2]), ValueError, "Variable x does not exist, or was not created"),
        (lambda: _sharing("w", [3]), ValueError, r"specified shape \(3,\) and found shape \(2,\)"),
        (lambda: _sharing("w", [2], tf.int32), ValueError, "dtype int32 and found dtype float32"),
        (lambda: tf.get_variable("w"), ValueError, "The initializer passed is not valid"),
        (lambda: tf.get_variable("w", [None]), ValueError, "should be fully defined"),
        (lambda: tf.get_variable("w", [1], initializer=[1.0]), ValueError, "do not specify shape"),
        (
            lambda: tf.get_variable("w", initializer=[1.0], dtype=tf.int32),
            ValueError,
            "explicit dtype .* don't match",
        ),
        (lambda: tf.get_variable("w", [1], dtype=tf.complex64), ValueError, "is required"),
        (lambda: tf.get_variable("w", [1], custom_getter=3), ValueError, "not callable"),
        (lambda: _enter(None), TypeError, "name_or_scope is required"),
        (lambda: _enter(3), TypeError, "must be a string or VariableScope"),
        (lambda: _enter("a", auxiliary_name_scope=1), TypeError, "auxiliary_name_scope"),
        (lambda: _enter(None, "a", reuse=True), ValueError, "without a name_or_scope"),
    ],
)
def test_refused(make, error, phrase):
    with pytest.raises(error, match=phrase):
        make()


def test_the_error_says_where_the_variable_was_made():
    tf.get_variable("w", [2])
    with pytest.raises(ValueError, match=r"Originally defined at: .*test_variable_scope\.py:\d+"):
        tf.get_variable("w", [2])


def test_an_empty_regularizer_is_none():
    tf.get_variable("w", [2], regularizer={})
    assert tf.losses.get_regularization_losses() == []
