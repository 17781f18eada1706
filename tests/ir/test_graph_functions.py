"""`tf.function`, `defun` and `wrap_function` inside a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from penstock.python.eager import function as eager_function
from penstock.python.framework import function_def_to_graph

import penstock as tf


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_effects_are_in_the_order_of_the_program() -> None:
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)

    @tf.function
    def update(x: Any) -> Any:
        variable.assign_add(x)
        first = variable.read_value()
        variable.assign(first * 10.0)
        return first, variable.read_value()

    assert run(update(tf.constant(3.0))) == (4.0, 40.0)


def test_effects_of_loops_run_though_nobody_uses_them() -> None:
    variable = tf.get_variable("v", initializer=0.0, use_resource=True)

    @tf.function
    def count() -> Any:
        def body(i: Any) -> Any:
            variable.assign_add(1.0)
            return i + 1

        tf.while_loop(lambda i: i < 3, body, [0])
        return variable.read_value()

    assert run(count()) == 3.0


def test_effects_of_branches_run_though_nobody_uses_them() -> None:
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)

    def assign() -> Any:
        variable.assign(5.0, read_value=False)
        return tf.constant(0)

    @tf.function
    def update(condition: Any) -> Any:
        tf.cond(condition, lambda: tf.constant(1), assign)
        return variable.read_value()

    assert run(update(tf.constant(True))) == 1.0
    assert run(update(tf.constant(False))) == 5.0


def test_control_flow_inside_calls_functions() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def squares(x: Any) -> Any:
        return tf.while_loop(
            lambda i, total: i < tf.shape(x)[0],
            lambda i, total: (i + 1, total + x[i] * x[i]),
            [0, 0.0],
        )[1]

    x = tf.constant([1.0, 2.0, 3.0])
    total = squares(x)
    types = [op.type for op in squares.get_concrete_function().graph.get_operations()]
    assert "While" in types
    value, grad = run([total, tf.gradients(total, x)[0]])
    assert (value, grad.tolist()) == (14.0, [2.0, 4.0, 6.0])


def test_one_function_for_calls_of_one_signature() -> None:
    built = []

    @eager_function.defun
    def double(x: Any, factor: float = 2.0) -> Any:
        built.append(factor)
        return {"result": x * factor, "nothing": None}

    results = [double(tf.constant(1.0)), double(tf.constant(2.0)), double(tf.constant(3.0), 5.0)]
    results.append(double(np.array([1.0, 2.0], np.float32)))
    assert built == [2.0, 5.0, 2.0]
    assert results[0]["nothing"] is None
    found = run([each["result"] for each in results])
    assert found[:3] == [2.0, 4.0, 15.0]
    assert found[3].tolist() == [2.0, 4.0]


def test_variables_as_arguments() -> None:
    table = tf.get_variable("t", initializer=[1.0, 2.0, 3.0], use_resource=True)

    @tf.function
    def rows(variable: Any, places: Any) -> Any:
        return variable.sparse_read(places)

    assert run(rows(table, tf.constant([2, 0]))).tolist() == [3.0, 1.0]


def test_a_signature_is_kept_to() -> None:
    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def total(x: Any) -> Any:
        return tf.reduce_sum(x)

    with pytest.raises(ValueError, match="Python inputs incompatible with input_signature"):
        total(tf.constant([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="does not match input_signature"):
        total()


def test_wrapped() -> None:
    wrapped = tf.wrap_function(lambda x: x * 2.0, [tf.TensorSpec([], tf.float32)])
    assert [tensor.shape.as_list() for tensor in wrapped.inputs] == [[]]
    assert run(wrapped(tf.constant(4.0))) == 8.0


def test_a_body_from_its_message() -> None:
    @tf.function
    def product(x: Any, y: Any) -> Any:
        return x * y

    concrete = product.get_concrete_function(
        tf.TensorSpec([2, 3], tf.float32), tf.TensorSpec([3], tf.float32)
    )
    message = concrete.function_def
    graph = function_def_to_graph.function_def_to_graph(message, [[4, 3], None])
    assert [tensor.shape.ndims for tensor in graph.inputs] == [2, None]
    assert graph.name == message.signature.name
    with pytest.raises(ValueError, match="Length of input_shapes must match"):
        function_def_to_graph.function_def_to_graph(message, [[4, 3]])
    nodes, names = function_def_to_graph.function_def_to_graph_def(message)
    assert "Mul" in [node.op for node in nodes.node]
    assert any(key.endswith(":z:0") for key in names)


def test_gradients_through_captured_values() -> None:
    x = tf.constant(5.0)
    square = tf.square(x)

    @tf.function
    def slope() -> Any:
        return tf.gradients(square * 3.0, x)[0]

    assert run(slope()) == 30.0


def test_the_nodes_of_a_definition_say_which_results_they_take():
    @tf.function
    def scaled(x):
        return 2.0 * x + x

    message = scaled.get_concrete_function(tf.TensorSpec([3], tf.float32)).function_def
    message.arg_attr[0].attr["_note"].s = b"first"
    graph_def, names = function_def_to_graph.function_def_to_graph_def(message)
    argument = graph_def.node[0]
    assert "shape" not in argument.attr
    assert argument.attr["_note"].s == b"first"
    assert all(":" in text for node in graph_def.node for text in node.input)
    assert names["x"] == "x:0"
    assert names["^x"] == "^x"
    graph_def, _ = function_def_to_graph.function_def_to_graph_def(message, [tf.TensorShape([3])])
    assert graph_def.node[0].attr["shape"].shape.dim[0].size == 3


def test_lists_of_another_class_are_the_same_argument():
    class Own(list):
        pass

    @tf.function
    def first(values):
        return values[0] + 1.0

    plain = first.get_concrete_function([tf.constant(1.0)])
    assert first.get_concrete_function(Own([tf.constant(2.0)])) is plain
    assert first.get_concrete_function((tf.constant(2.0),)) is not plain


def test_device_functions_are_asked_for_nodes_alone():
    asked = []

    def place(op):
        asked.append(op.type)
        return "/cpu:0" if op.node_def.op else None

    @tf.function
    def added(x):
        return x + 1.0

    with tf.device(place):
        x = tf.placeholder(tf.float32, [])
        first = added.get_concrete_function(x)
        assert added.get_concrete_function(x) is first
        added(x)
    assert "" not in asked
    with tf.device("/cpu:0"):
        second = added.get_concrete_function(x)
    assert second is not first
    with tf.device("/device:CPU:0"):
        assert added.get_concrete_function(x) is second


def _places_of_body():
    (written,) = tf.get_default_graph().as_graph_def().library.function
    return [node.device for node in written.node_def if node.op in ("Mul", "AddV2")]


def _halves(x):
    with tf.device("/cpu:0"):
        twice = x * 2.0
    return twice + x


# Places as TensorFlow 1.15.5 and 2.21.0 write them into the functions of these graphs.


def test_device_names_around_a_call_are_those_of_the_call_alone():
    function = tf.function(_halves)
    with tf.device("/job:worker/task:1"):
        called = function(tf.constant(1.0))
    assert _places_of_body() == ["/device:CPU:0", ""]
    assert called.device == "/job:worker/task:1"


def test_a_device_function_around_a_call_and_names_beside_it_place_the_body():
    function = tf.function(_halves)
    with tf.device("/job:worker"), tf.device(lambda op: op.device or "/task:1"):
        function(tf.constant(1.0))
    assert _places_of_body() == ["/job:worker/device:CPU:0", "/job:worker/task:1"]


def test_functions_are_traced_under_a_replica_device_setter():
    cluster = {"ps": ["localhost:1", "localhost:2"], "worker": ["localhost:3"]}
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        first = tf.get_variable("first", initializer=1.0, use_resource=True)
        tf.function(lambda x: x + first)(tf.constant(1.0))
        second = tf.get_variable("second", initializer=1.0, use_resource=True)
    assert first.device == "/job:ps/task:0"
    assert second.device == "/job:ps/task:1"
