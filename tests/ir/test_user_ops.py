"""The op of docs/adding-an-op.md, as printed there: registered, run and differentiated."""

import pathlib
import re

import numpy as np
import pytest

import penstock as tf
from penstock.ir import registry
from penstock.ir.registry import op
from penstock.kernels import registry as kernels

DOC = pathlib.Path(__file__).parents[2] / "docs" / "adding-an-op.md"


@pytest.fixture
def cube():
    text = re.search(r"```python\n(.*?)```", DOC.read_text(), re.DOTALL)[1]
    with tf.Graph().as_default():
        namespace = {}
        exec(text, namespace)
        yield namespace
    registry.unregister("Cube")
    for device in kernels.TORCH_DEVICES:
        kernels._kernels.pop(("Cube", device))


def test_the_documented_op(cube):
    y = cube["y"]
    x = y.op.inputs[0]
    (gradient,) = tf.gradients(y, x)
    with tf.Session() as session:
        assert session.run([y, gradient])[0].tolist() == [1.0, 8.0]
        assert session.run(gradient).tolist() == [3.0, 12.0]
    assert y.op.type == "Cube" and y.shape.as_list() == [2]


def test_it_travels_as_a_graph_def(cube):
    definition = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        (y,) = tf.import_graph_def(definition, return_elements=["Cube:0"])
        with tf.Session() as session:
            assert session.run(y).tolist() == [1.0, 8.0]


def test_types_outside_of_the_declared_ones_are_refused(cube):
    with pytest.raises(TypeError, match="not in list of allowed values: float32, float64"):
        cube["Cube"](tf.constant([1]))


def test_registering_twice_is_refused(cube):
    with pytest.raises(ValueError, match="registered already"):
        op("Cube(x: T) -> y: T")


def test_an_op_without_kernel_says_so():
    op("Kernelless(x: T) -> y: T")
    try:
        with tf.Graph().as_default(), tf.Session() as session:
            y = registry.find("Kernelless")(tf.placeholder(tf.float32, [1], name="x"))
            with pytest.raises(tf.errors.UnimplementedError, match="no kernel for Kernelless"):
                session.run(y, {"x:0": [1.0]})
    finally:
        registry.unregister("Kernelless")


def test_signatures_that_make_no_sense():
    for text in ("NoParens", "Bad(x) -> y: T", "Bad(x: T -> y: T"):
        with pytest.raises(ValueError):
            op(text)
    with pytest.raises(TypeError, match="can't tell its kind"):
        op("Odd(x: T) -> y: T", size=[1, 2])


def test_raw_ops_take_keywords_only():
    with tf.Graph().as_default(), tf.Session() as session:
        y = tf.raw_ops.Add(x=[1.0], y=[2.0], name="sum")
        assert y.op.name == "sum" and session.run(y).tolist() == [3.0]
        with pytest.raises(TypeError, match="only takes keyword args"):
            tf.raw_ops.Add([1.0], [2.0])
        with pytest.raises(TypeError, match="missing required keyword"):
            tf.raw_ops.Add(x=[1.0])
        with pytest.raises(AttributeError, match="no op 'NoSuchOp'"):
            tf.raw_ops.NoSuchOp  # noqa: B018
        assert "MatMul" in dir(tf.raw_ops)


def test_overridden_gradient():
    registry.register_gradient("HalfGradient", lambda op, grad: grad * 0.5)
    try:
        with tf.Graph().as_default() as graph, tf.Session() as session:
            x = tf.constant(3.0)
            with graph.gradient_override_map({"Identity": "HalfGradient"}):
                y = tf.identity(x) * 2.0
            assert session.run(tf.gradients(y, x)) == [1.0]
    finally:
        registry.unregister("HalfGradient")


def test_register_gradient_twice_is_refused():
    with pytest.raises(KeyError):
        tf.RegisterGradient("MatMul")(lambda op, grad: None)
    with pytest.raises(TypeError):
        tf.RegisterGradient(3)


def test_custom_gradient():
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.log(1.0 + e), lambda dy: dy * (1.0 - 1.0 / (1.0 + e))

    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(100.0)
        assert session.run(tf.gradients(log1pexp(x), x)) == [1.0]


def test_custom_gradient_of_several_and_with_variables():
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", initializer=3.0, use_resource=True)

        @tf.custom_gradient
        def scaled(x, y):
            def grad(dx, dy, variables=None):
                assert variables == [w]
                return [dx * 10.0, dy * 20.0], [dx * 7.0]

            return [x * w, y + 0.0], grad

        x, y = tf.constant(1.0), tf.constant(2.0)
        a, b = scaled(x, y)
        session.run(w.initializer)
        assert session.run([a, b]) == [3.0, 2.0]
        assert session.run(tf.gradients([a, b], [x, y, w])) == [10.0, 20.0, 7.0]

        @tf.custom_gradient
        def forgets(x):
            return x * w, lambda dy: dy

        with pytest.raises(TypeError, match="keyword argument 'variables'"):
            forgets(x)


def test_py_func():
    calls = []

    def host(a, b):
        calls.append(a.dtype)
        return a + b, np.array([b"x", b"y"], dtype=object)

    with tf.Graph().as_default(), tf.Session() as session:
        total, names = tf.py_func(host, [tf.constant([1.0]), 2.0], [tf.float32, tf.string])
        assert session.run(total).tolist() == [3.0] and calls == [np.float32]
        assert session.run(names).tolist() == [b"x", b"y"]
        wrong = tf.py_func(lambda: np.float64(1), [], tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="is double, but expects float"):
            session.run(wrong)
        missing = tf.py_func(lambda: 1, [], [tf.int64, tf.int64])
        with pytest.raises(tf.errors.InvalidArgumentError, match="returns 1 values"):
            session.run(missing)
        assert total.op.type == "PyFunc"
        pure = tf.py_func(lambda: np.float32(1), [], tf.float32, stateful=False)
        assert pure.op.type == "PyFuncStateless" and session.run(pure) == 1.0
        nothing = tf.py_func(lambda: calls.append("ran"), [], [])
        assert session.run(nothing) is None and calls[-1] == "ran"
        for raised, expected in (
            (ValueError("v"), tf.errors.InvalidArgumentError),
            (StopIteration(), tf.errors.OutOfRangeError),
            (NotImplementedError(), tf.errors.UnimplementedError),
            (KeyError("k"), tf.errors.UnknownError),
        ):

            def fail(error=raised):
                raise error

            with pytest.raises(expected):
                session.run(tf.py_func(fail, [], tf.float32))


def test_py_functions_do_not_travel():
    with tf.Graph().as_default():
        tf.py_func(lambda: np.float32(1), [], tf.float32, name="host")
        definition = tf.get_default_graph().as_graph_def()
    definition.node[0].attr["token"].s = b"pyfunc_of_somebody_else"
    with tf.Graph().as_default(), tf.Session() as session:
        (y,) = tf.import_graph_def(definition, return_elements=["host:0"])
        with pytest.raises(tf.errors.InvalidArgumentError, match="don't travel"):
            session.run(y)


def test_functions_that_ask_for_numpy():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.0, 2.0])
        doubled = tf.py_function(lambda a: a.numpy() * 2 + a[0], [x], tf.float32)
        assert doubled.op.type == "EagerPyFunc"
        assert session.run(doubled).tolist() == [3.0, 5.0]
        number = tf.py_function(lambda a: int(a.numpy()) + 1, [tf.constant(4)], tf.int32)
        assert session.run(number) == 5
        plain = tf.numpy_function(lambda a: a + 1, [x], tf.float32)
        assert session.run(plain).tolist() == [2.0, 3.0]
