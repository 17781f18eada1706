"""Branches and bodies that are functions, and the gradients of functions by what they capture."""

import pytest

import penstock as tf
from penstock.internal_paths import functional_calls as calls
from penstock.ops.functions import Defun


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@Defun(tf.float32)
def doubled(x):
    return x * 2.0


@Defun(tf.float32)
def increased(x):
    return x + 1.0


@Defun(tf.int32, tf.float32)
def positive(n, x):
    return n > 0


@pytest.mark.parametrize(("condition", "expected"), [(True, 6.0), (0, 4.0), ("", 4.0), ("a", 6.0)])
def test_if(session, condition, expected):
    (result,) = calls.If(tf.constant(condition), [tf.constant(3.0)], doubled, increased)
    assert session.run(result) == expected


def test_while_takes_what_its_body_captures_round(session):
    addend = tf.placeholder_with_default(3.0, [])

    @Defun(tf.int32, tf.float32)
    def body(n, x):
        return n - 1, x + addend

    results = calls.While([tf.constant(5), tf.constant(0.0)], positive, body)
    assert [result.shape.as_list() for result in results] == [[], []]
    assert session.run(results) == [0, 15.0]


def test_while_refuses_conditions_that_capture_and_other_signatures():
    bound = tf.placeholder_with_default(3, [])

    @Defun(tf.int32)
    def capturing(n):
        return n > bound

    with pytest.raises(ValueError, match="without implicitly captured inputs"):
        calls.While([tf.constant(5)], capturing, capturing)
    with pytest.raises(ValueError, match="signatures do not match"):
        calls.While([tf.constant(5)], positive, capturing)


@pytest.mark.parametrize("as_while", [False, True])
def test_for_counts_down_too(session, as_while):
    @Defun(tf.int32, tf.float32)
    def body(i, x):
        return x * 10.0 + tf.cast(i, tf.float32)

    (result,) = calls.For(9, 0, -4, [tf.constant(0.0)], body, rewrite_with_while=as_while)
    assert result.op.type == ("While" if as_while else "For")
    assert session.run(result) == 951.0


def test_gradient_of_a_function(session):
    @Defun(tf.float32, tf.float32)
    def product(x, y):
        return x * y

    gradients = calls.Gradient([tf.constant(2.0), tf.constant(3.0), tf.constant(5.0)], product)
    assert session.run(gradients) == [15.0, 10.0]


class TestCapturedVariables:
    def test_their_gradients_add_up_with_those_of_other_uses(self, session):
        v = tf.Variable(3.0, use_resource=True)
        f = tf.function(lambda x: x * v * v)
        y = f(tf.constant(2.0)) * v
        (gradient,) = tf.gradients(y, [v])
        assert gradient.dtype == tf.float32 and gradient.shape.as_list() == []
        session.run(tf.global_variables_initializer())
        assert session.run(gradient) == 54.0

    def test_in_a_loop(self, session):
        v = tf.Variable(2.0, use_resource=True)
        f = tf.function(lambda x: x * v)
        power = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, f(x)), [0, 1.0])[1]
        gradient = tf.gradients(power, v)
        session.run(tf.global_variables_initializer())
        assert session.run([power, gradient]) == [8.0, [12.0]]

    def test_beside_a_variable_without_gradient_and_a_table(self, session):
        v, unused = (tf.Variable(value, use_resource=True) for value in (3.0, [1.0, 2.0]))
        pairs = tf.lookup.KeyValueTensorInitializer(["a"], [4.0], tf.string, tf.float32)
        table = tf.lookup.StaticHashTable(pairs, 0.0)

        @tf.function
        def f(x):
            return x * v * table.lookup(tf.constant("a")) + tf.cast(tf.size(unused), tf.float32)

        y = f(tf.constant(2.0))
        gradients = tf.gradients(y, [v, unused])
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        by_v, by_unused = gradients
        assert session.run(by_v) == 8.0 and by_unused is None


def test_switch_case_wants_numbers_without_gaps():
    with pytest.raises(ValueError, match=r"contiguous range of \[0 to 2\) but found \{0,2\}"):
        tf.switch_case(tf.constant(1), {0: lambda: 1, 2: lambda: 2})
    with pytest.raises(TypeError, match="must a Tensor"):
        tf.switch_case(1, [lambda: 1])
    with pytest.raises(TypeError, match="integer Tensor"):
        tf.switch_case(tf.constant(1.0), [lambda: 1])


def test_switch_case_takes_the_last_branch_for_other_numbers(session):
    branches = {1: lambda: tf.constant(7), 0: lambda: tf.constant(5)}
    chosen = [tf.switch_case(tf.constant(number), branches) for number in (0, 1, -1)]
    assert session.run(chosen) == [5, 7, 7]
