"""Functions: bodies, captures, calls, gradients, and graphs with functions from TensorFlow."""

import pathlib

import numpy as np
import pytest

import penstock as tf
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ops.functions import Defun

RECORDED = pathlib.Path(__file__).parent / "functions"


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def _run(fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.pb")))
def test_graphs_of_tensorflow_give_its_values(name):
    recorded = np.load(RECORDED / f"{name}.npz")
    names = recorded["names"].tolist()
    graph_def = tf.GraphDef.FromString((RECORDED / f"{name}.pb").read_bytes())
    found = tf.import_graph_def(graph_def, name="", return_elements=names)
    with tf.Session() as session:
        session.run(found[-1])
        values = session.run(found[:-1])
    for index, value in enumerate(values):
        np.testing.assert_allclose(value, recorded[f"v{index}"], rtol=1e-6)


def test_a_call_is_a_node_of_the_functions_type():
    @Defun(tf.float32, tf.float32, func_name="MulAdd")
    def multiply_add(x, y):
        return x * y + 1.0

    z = multiply_add(tf.constant([1.0, 2.0]), 3.0)
    assert z.op.type == "MulAdd" and z.dtype == tf.float32
    library = tf.get_default_graph().as_graph_def().library
    (definition,) = library.function
    assert [arg.name for arg in definition.signature.input_arg] == ["x", "y"]
    assert [node.op for node in definition.node_def] == ["Mul", "Const", "AddV2"]
    assert dict(definition.ret) == {"add": "add:z:0"}
    np.testing.assert_array_equal(_run(z), [4.0, 7.0])


def test_what_a_body_uses_of_its_graph_becomes_an_argument():
    weight = tf.Variable(3.0)

    @Defun(tf.float32)
    def scaled(x):
        return x * weight

    y = scaled(2.0)
    assert len(y.op.inputs) == 2 and scaled.captured_inputs[0].op.name == "Variable/read"
    (gradient,) = tf.gradients(y, [weight])
    assert gradient.op.type == "SymbolicGradient"
    assert _run([y, gradient]) == [6.0, 2.0]


def test_gradients_of_its_own():
    @Defun(tf.float32, python_grad_func=lambda op, grad: grad * 100.0)
    def identity(x):
        return tf.identity(x)

    @Defun(tf.float32, tf.float32)
    def derivative(x, grad):
        return grad * 7.0

    @Defun(tf.float32, grad_func=derivative)
    def other(x):
        return x + 0.0

    x = tf.constant(1.0)
    assert _run([*tf.gradients(identity(x), x), *tf.gradients(other(x), x)]) == [100.0, 7.0]


def test_functions_survive_a_round_trip():
    @Defun(tf.int32)
    def double(x):
        return x + x

    result = double(21)
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        (imported,) = tf.import_graph_def(graph_def, return_elements=[result.name])
        assert imported.shape == result.shape
        assert _run(imported) == 42


def test_the_same_name_with_another_body_is_refused():
    def make(factor):
        @Defun(tf.float32, func_name="Scale")
        def scale(x):
            return x * factor

        return scale

    make(2.0)(1.0)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="different function with the same name"
    ):
        make(3.0)(1.0)


def test_function_traces_once_for_each_signature():
    traces = []

    @tf.function
    def square(x, power=2):
        traces.append(x)
        return {"y": x**power}

    first = square(tf.constant(2.0))
    square(tf.constant(3.0))
    square(tf.constant([1.0]))
    assert len(traces) == 2 and first["y"].op.type == "PartitionedCall"
    assert _run([first["y"], square(tf.constant(5.0))["y"]]) == [4.0, 25.0]


def test_effects_in_a_function_happen():
    total = tf.Variable(1.0, use_resource=True)

    @tf.function
    def add(x):
        total.assign_add(x)
        return tf.identity(x)

    call = add(tf.constant(4.0))
    assert call.op.type == "StatefulPartitionedCall"
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(call) == 4.0
        assert session.run(total) == 5.0


def test_a_failure_inside_names_the_call():
    @Defun(tf.int32, tf.int32)
    def divide(x, y):
        return x // y

    with pytest.raises(tf.errors.InvalidArgumentError, match="divide"):
        _run(divide(1, 0))


def test_wrong_numbers_of_arguments_are_named():
    @Defun(tf.float32)
    def one(x):
        return x

    with pytest.raises(ValueError, match="Expected number of arguments: 1, received: 2"):
        one(1.0, 2.0)
    with pytest.raises(
        ValueError, match="fewer arguments than the number of specified input types"
    ):

        @Defun(tf.float32)
        def two(x, y):
            return x + y


def _named(function):
    return FunctionName(function.name, {})


@pytest.mark.parametrize(
    "types", [("If", "Case", "While"), ("StatelessIf", "StatelessCase", "StatelessWhile")]
)
def test_functional_branches_and_loops(types):
    @Defun(tf.float32)
    def double(x):
        return x * 2.0

    @Defun(tf.float32)
    def negate(x):
        return -x

    @Defun(tf.float32)
    def is_small(x):
        return x < 100.0

    conditional, case, loop = (getattr(tf.raw_ops, name) for name in types)
    for function in (double, negate, is_small):
        function.add_to_graph(tf.get_default_graph())
    branches = {"then_branch": _named(double), "else_branch": _named(negate)}
    results = [
        conditional(cond=cond, input=[3.0], Tout=[tf.float32], **branches)[0]
        for cond in (True, False, "text", "", 0.0, [1, 2], tf.zeros([0]))
    ]
    for index in (0, 1, 7, -1):
        chosen = [_named(double), _named(negate)]
        results += case(branch_index=index, input=[3.0], Tout=[tf.float32], branches=chosen)
    results += loop(input=[3.0], cond=_named(is_small), body=_named(double))
    assert _run(results) == [6.0, -3.0, 6.0, -3.0, -3.0, 6.0, -3.0, 6.0, -3.0, -3.0, -3.0, 192.0]


def test_a_functional_for_loop_and_a_fake_parameter():
    @Defun(tf.int32, tf.int32)
    def add(index, total):
        return total + index

    add.add_to_graph(tf.get_default_graph())
    (total,) = tf.raw_ops.For(start=1, limit=10, delta=3, input=[100], body=_named(add))
    empty = tf.raw_ops.FakeParam(dtype=tf.float32, shape=[0, 2])
    assert _run(total) == 112 and _run(empty).shape == (0, 2)
