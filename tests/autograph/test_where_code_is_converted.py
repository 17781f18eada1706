"""Functions of a program are converted where the graph calls them; those of libraries are not."""

import functools

import numpy as np
import pytest

import penstock as tf
from penstock.autograph import convertible
from penstock.autograph.calls import converted_call, tf_convert
from penstock.autograph.options import STANDARD_OPTIONS, ConversionOptions
from penstock.ir.conversion_status import ControlStatusCtx, Status, control_status_ctx


def values_of(dataset):
    batch = tf.data.make_one_shot_iterator(dataset.batch(100)).get_next()
    with tf.Session() as session:
        return session.run(batch).tolist()


def test_functions_of_datasets():
    def doubled_if_large(x):
        if x > 2:
            return x * 2
        return x

    numbers = tf.data.Dataset.range(6)
    assert values_of(numbers.map(doubled_if_large)) == [0, 1, 2, 6, 8, 10]
    assert values_of(numbers.map(lambda x: -x if x < 2 else x)) == [0, -1, 2, 3, 4, 5]
    assert values_of(numbers.filter(lambda x: x > 1 and x < 4)) == [2, 3]
    first, second = lambda x: x if x > 3 else -x, lambda x: x if x > 1 else -x
    assert values_of(numbers.map(first).map(second)) == [0, 1, 2, 3, 4, 5]


def test_several_lambdas_in_a_line():
    a, b = (lambda x: 1 if x > 0 else 2), (lambda x: (lambda x: 3 if x > 0 else 4)(x))
    with tf.Session() as session:
        assert session.run([tf.function(a)(tf.constant(1)), tf.function(b)(tf.constant(1))]) == [
            1,
            3,
        ]


@pytest.mark.parametrize("base", [tf.keras.layers.Layer, tf.layers.Layer])
def test_layers_of_a_program(base):
    class Clipped(base):
        def call(self, x):
            if tf.reduce_sum(x) > 1.0:
                return x / tf.reduce_sum(x)
            return x

    with tf.Session() as session:
        assert session.run(Clipped()(tf.constant([1.0, 3.0]))).tolist() == [0.25, 0.75]
        assert session.run(Clipped()(tf.constant([0.5, 0.25]))).tolist() == [0.5, 0.25]


def test_functions_of_strategies_are_converted_in_converted_code():
    strategy = tf.distribute.OneDeviceStrategy("/cpu:0")

    def step(x):
        if x > 0:
            return x
        return -x

    @tf.function
    def run(x):
        return strategy.experimental_run_v2(step, args=(x,))

    with tf.Session() as session:
        assert session.run(run(tf.constant(-2))) == 2


def test_state_in_converted_branches():
    v = tf.Variable(0, use_resource=True)

    @tf.function
    def add_even(n):
        for i in tf.range(n):
            if i % 2 < 1:
                v.assign_add(i)
        return v.read_value()

    total = add_even(tf.constant(7))
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run(total) == 12


def test_what_is_of_a_library():
    class Wrapped(tf.keras.layers.Dense):
        pass

    as_it_is = convertible.runs_as_it_is
    assert as_it_is(tf.matmul)
    assert as_it_is(np.arange)
    assert as_it_is(tf.function(values_of))
    assert as_it_is(Wrapped(3).call)
    assert not as_it_is(values_of)
    assert not as_it_is(functools.partial(tf.matmul))
    assert convertible.is_of_library("json.decoder")
    assert not convertible.is_of_library("jsonish")


def test_code_without_decisions_is_left_alone():
    nothing = convertible.has_nothing_to_convert
    assert nothing((lambda x, y: (x + 1, y[0], -x < 3)).__code__)
    assert not nothing((lambda x: 1 if x else 2).__code__)
    assert not nothing((lambda x: not x).__code__)
    assert not nothing((lambda x: x and 1).__code__)
    assert not nothing((lambda x: len(x)).__code__)
    assert not nothing((lambda xs: [x + 1 for x in xs]).__code__)


def test_built_in_functions():
    def f(x):
        return len(x), abs(x), int(x[0]), float(x[1]), list(zip([1], [2], strict=True))

    with tf.Session() as session:
        length, *tensors, pairs = tf.autograph.to_graph(f)(tf.constant([-1.5, 2.0]))
        assert (length, pairs) == (2, [(1, 2)])
        assert [each.tolist() for each in session.run(tensors)] == [[1.5, 2.0], -1, 2.0]


def test_functions_that_look_at_their_caller():
    def f(x):
        y = x + 1
        if x > 0:
            return sorted(locals()), eval("y"), globals()["__name__"]  # noqa: S307
        return None

    names, value, module = tf.autograph.to_graph(f)(1)
    assert {"x", "y"} <= set(names)
    assert (value, module) == (2, __name__)


def test_what_was_said_of_conversion_holds_inside():
    def status():
        return control_status_ctx().status

    assert tf.function(status, autograph=False) is not None
    assert tf.autograph.to_graph(status)() is Status.ENABLED
    assert tf.autograph.experimental.do_not_convert(status)() is Status.DISABLED
    disabled, unspecified = ControlStatusCtx(Status.DISABLED), ControlStatusCtx(Status.UNSPECIFIED)
    assert tf_convert(status, disabled)() is Status.DISABLED
    assert tf_convert(status, unspecified, convert_by_default=False)() is Status.UNSPECIFIED
    assert status() is Status.UNSPECIFIED


def test_functions_that_are_called_are_converted_if_asked_for():
    def inner(x):
        return 1 if x > 0 else 2

    def outer(x):
        return inner(x)

    with tf.Session() as session:
        assert session.run(tf.autograph.to_graph(outer)(tf.constant(1))) == 1
    with pytest.raises(TypeError, match="bool"):
        tf.autograph.to_graph(outer, recursive=False)(tf.constant(1))
    only_built_in = ConversionOptions(internal_convert_user_code=False)
    assert converted_call(len, only_built_in, (tf.constant([1, 2]),), None) == 2
    with pytest.raises(TypeError, match="bool"):
        converted_call(inner, only_built_in, (tf.constant(1),), None)
    assert converted_call(inner, STANDARD_OPTIONS, (5,), {}) == 1


def test_conversion_is_kept_for_functions_that_share_code():
    def make(k):
        def scaled(x):
            return x * k if x > 0 else x

        return scaled

    two, three = (tf.autograph.to_graph(make(k)) for k in (2, 3))
    assert (two(1), three(1)) == (2, 3)
    assert two.ag_module is three.ag_module


def test_the_code_can_be_read():
    def f(x):
        while x > 0:
            x -= 1
        return x

    text = tf.autograph.to_code(f)
    assert text.startswith("def tf__f(x):")
    assert "ag__.run_while(loop_test, loop_body, ('x',))" in text


def test_defaults_keywords_and_stars():
    def f(a, /, b=2, *rest, c=3, **more):
        if a > 0:
            return a + b + c + sum(rest) + sum(more.values())
        return 0

    def g(x):
        return f(x) + f(x, 5, *[6, 7], c=8, d=x)

    assert tf.autograph.to_graph(g)(1) == g(1)
    with tf.Session() as session:
        assert session.run(tf.autograph.to_graph(g)(tf.constant(1))) == g(1)
