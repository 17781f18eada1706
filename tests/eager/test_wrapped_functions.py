"""`tf.wrap_function`: code of 1.x as a function, parts of it, and several in one graph."""

import pytest

import penstock as tf
from penstock.internal_paths.graph_mode import eager_mode
from penstock.wrapped_functions import VariableHolder, WrappedGraph, function_from_graph_def

INT = tf.TensorSpec([], tf.int32)


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_each_has_variables_of_its_own():
    def count(x, up):
        v = tf.Variable(5.0)
        with tf.control_dependencies([v.assign_add(x) if up else v.assign_sub(x)]):
            return v.read_value()

    signature = tf.TensorSpec([], tf.float32)
    up, down = (tf.wrap_function(count, [signature, which]) for which in (True, False))
    assert [float(f(1.0)) for f in (up, up, down)] == [6.0, 7.0, 4.0]
    with pytest.raises(NotImplementedError, match="Keyword arguments"):
        up(x=1.0)


def test_only_what_is_asked_for_runs():
    v = tf.Variable(0)

    def f(x):
        v.assign_add(1, name="step", read_value=False)
        return tf.identity(x * 2, "doubled")

    wrapped = tf.wrap_function(f, [INT])
    assert (int(wrapped(3)), int(v.numpy())) == (6, 0)
    graph = wrapped.graph
    stepping = wrapped.prune([], [graph.get_operation_by_name("step")])
    assert (stepping(), int(v.numpy())) == ([None], 1)
    both = wrapped.prune(wrapped.inputs, {"y": "doubled:0", "op": "step"})
    found = both(tf.constant(4))
    assert (int(found["y"]), found["op"], int(v.numpy())) == (8, None, 2)
    with pytest.raises(ValueError, match="from this graph"):
        wrapped.prune([], tf.wrap_function(f, [INT]).graph.get_tensor_by_name("doubled:0"))


def test_gradients_of_a_part():
    v = tf.Variable(2.0)
    wrapped = tf.wrap_function(
        lambda x: tf.identity(v * x * x, "y"), [tf.TensorSpec([], tf.float32)]
    )
    part = wrapped.prune(wrapped.inputs, "y:0")
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = part(x)
    assert [float(each) for each in tape.gradient(y, [x, v])] == [12.0, 9.0]


def test_functions_of_one_graph_share_variables_and_collections():
    def variable(initial):
        with tf.variable_scope("shared", reuse=tf.AUTO_REUSE):
            return tf.get_variable("v", [], tf.int32, tf.constant_initializer(initial))

    def add(x):
        return variable(3) + x

    def increase(x):
        return tf.assign_add(variable(6), x).op

    graph = WrappedGraph()
    functions = [graph.wrap_function(each, [INT]) for each in (add, increase)]
    seven = tf.constant(7)
    assert (int(functions[0](seven)), functions[1](seven)) == (10, None)
    assert int(functions[0](seven)) == 17
    assert list(graph.variables) == ["shared/v"]
    assert len(graph.graph.get_collection("trainable_variables")) == 1
    assert list(graph.functions) == ["add", "increase"]


def test_holders_share_by_name():
    holder = VariableHolder(share_variables=True)

    def of(initial):
        made = WrappedGraph(variable_holder=holder)
        return made.wrap_function(lambda x: tf.Variable(initial, name="v") + x, [INT], name="add")

    assert [int(of(initial)(tf.constant(1))) for initial in (3, 4)] == [4, 4]


def test_a_function_of_a_graph_def():
    with tf.Graph().as_default() as graph:
        tf.identity(tf.placeholder(tf.float32, name="x") + 1.0, "y")
    assert (
        float(function_from_graph_def(graph.as_graph_def(), "x:0", "y:0")(tf.constant(1.0))) == 2.0
    )
