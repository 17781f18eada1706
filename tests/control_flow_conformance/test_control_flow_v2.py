"""Conditionals, loops and arrays that are nodes which call functions (`enable_control_flow_v2`).

Values, names and messages are those of TensorFlow 1.15.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def functional_graph() -> Iterator[None]:
    tf.enable_control_flow_v2()
    try:
        with tf.Graph().as_default():
            yield
    finally:
        tf.disable_control_flow_v2()


def run(fetches: Any, feed_dict: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed_dict)


def nodes_of(graph: Any) -> dict[str, str]:
    return {op.name: op.type for op in graph.get_operations()}


class TestConditionals:
    def test_nodes(self) -> None:
        x = tf.constant(1.0, name="x")
        result = tf.cond(tf.constant(True), lambda: x * 2.0, lambda: x, name="c")
        node = result.op.inputs[0].op
        assert (result.name, node.name, node.type) == ("c/Identity:0", "c", "StatelessIf")
        assert node.get_attr("_lower_using_switch_merge") is True
        assert node.get_attr("then_branch").name.startswith("c_true_")
        with pytest.raises(ValueError, match="marked as not fetchable"):
            run(node.outputs[0])

    @pytest.mark.parametrize(
        ("taken", "expected"), [(True, [27.0, 27.0, 18.0]), (False, [3, 1, 0])]
    )
    def test_derivatives(self, taken: bool, expected: list[float]) -> None:
        x, chosen = tf.constant(3.0), tf.placeholder(tf.bool)
        result = tf.cond(chosen, lambda: tf.pow(x, 3), lambda: x)
        first = tf.gradients(result, x)[0]
        second = tf.gradients(first, x)[0]
        assert run([result, first, second], {chosen: taken}) == pytest.approx(expected)

    def test_inside_another(self) -> None:
        x, y = tf.constant(1.0), tf.constant(2.0)
        outer, inner = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])

        def otherwise() -> Any:
            return tf.cond(inner, lambda: x * y * 2.0, lambda: x * 5.0)

        result = tf.cond(outer, lambda: tf.constant(2.0), otherwise)
        grads = tf.gradients(result, [x, y])
        assert run(grads, {outer: True, inner: True}) == [0.0, 0.0]
        assert run(grads, {outer: False, inner: True}) == [4.0, 2.0]
        assert run(grads, {outer: False, inner: False}) == [5.0, 0.0]

    def test_gradients_inside_a_branch_reach_out_of_it(self) -> None:
        x = tf.constant(10.0)
        y = 7.0 * x
        result = tf.cond(tf.constant(True), lambda: tf.gradients(y * y, x)[0], lambda: x * 3.0)
        assert run(result) == 980.0

    def test_structures_and_shapes(self) -> None:
        x = tf.constant(2.0)
        result = tf.cond(x > 1.0, lambda: {"a": [x, (x,)]}, lambda: {"a": [-x, (-x,)]})
        assert run(result) == {"a": [2.0, (2.0,)]}
        joined = tf.cond(x > 1.0, lambda: tf.ones([2, 3]), lambda: tf.ones([4, 3]))
        assert joined.shape.as_list() == [None, 3]

    def test_only_what_is_asked_for_runs(self) -> None:
        first, second = (
            tf.get_variable(name, initializer=0.0, use_resource=True) for name in ("a", "b")
        )

        def branch() -> Any:
            first.assign_add(1.0)
            return tf.constant(1.0), second.assign_add(1.0)

        one, other = tf.cond(
            tf.constant(True), branch, lambda: (tf.constant(0.0), tf.constant(0.0))
        )
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(one)
            assert session.run([first, second]) == [0.0, 0.0]
            session.run(other)
            assert session.run([first, second]) == [0.0, 1.0]

    def test_variables_made_inside_are_those_of_the_graph(self) -> None:
        result = tf.cond(
            tf.constant(True), lambda: tf.get_variable("v", initializer=3.0) * 2.0, lambda: 1.0
        )
        (variable,) = tf.global_variables()
        assert variable.name == "v:0"
        assert run([result, tf.gradients(result, variable)[0]]) == [6.0, 2.0]

    def test_rows(self) -> None:
        table = tf.get_variable("t", initializer=np.eye(3, dtype=np.float32), use_resource=True)
        result = tf.cond(
            tf.constant(False), lambda: tf.gather(table, [0]), lambda: tf.gather(table, [2]) * 3.0
        )
        grad = tf.gradients(result, table)[0]
        assert isinstance(grad, tf.IndexedSlices)
        values, indices = run([grad.values, grad.indices])
        assert (values.tolist(), indices.tolist()) == ([[3.0] * 3], [2])

    def test_numbered(self) -> None:
        x, index = tf.constant(2.0), tf.placeholder(tf.int32, [])
        result = tf.switch_case(index, [lambda: x, lambda: x**3, lambda: tf.constant(1.0)])
        assert result.op.inputs[0].op.type == "Case"
        grad = tf.gradients(result, x)[0]
        found = [run([result, grad], {index: number}) for number in (0, 1, 2, 7, -1)]
        assert found == [[2, 1], [8, 12], [1, 0], [1, 0], [1, 0]]

    def test_misuse(self) -> None:
        kept: list[Any] = []

        def keeps() -> Any:
            kept.append(tf.constant(1.0) * 2.0)
            return kept[0]

        with pytest.raises(ValueError, match=r"in true_fn is accessed from false_fn"):
            tf.cond(tf.constant(True), keeps, lambda: kept[0] + 1.0)
        with pytest.raises(TypeError, match=r"must have the same number, type, and overall"):
            tf.cond(tf.constant(True), lambda: 1.0, lambda: 1)
        with pytest.raises(TypeError, match="pred must not be a Python bool"):
            tf.cond(True, lambda: 1.0, lambda: 1.0)


class TestLoops:
    def test_nodes(self) -> None:
        x, y = tf.constant(1.0, name="x"), tf.constant(2.0, name="y")
        result = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * y), [0, x])
        assert isinstance(result, list)
        node = result[1].op.inputs[0].op
        assert (result[1].name, node.type) == ("while/Identity_3:0", "While")
        assert [tensor.op.name for tensor in node.inputs] == [
            *("while/loop_counter", "while/maximum_iterations", "Const", "x", "y")
        ]
        grads = tf.gradients(result[1], [x, y])
        assert [grad.name for grad in grads] == [
            "gradients/while_grad/Identity_3:0",
            "gradients/while_grad/Identity_4:0",
        ]
        assert node.inputs[-1].name == "gradients/while_grad/Placeholder_1_0/accumulator:0"
        assert run([result, grads]) == [[3, 8.0], [8.0, 12.0]]

    def test_three_derivatives(self) -> None:
        x = tf.constant(2.0)
        value = tf.while_loop(lambda v: v < 8.0, lambda v: v**2, [x])
        found = [value]
        for _ in range(3):
            found.append(tf.gradients(found[-1], x)[0])
        assert run(found) == pytest.approx([16.0, 32.0, 48.0, 48.0])

    def test_inside_another(self) -> None:
        x = tf.constant(3.0)

        def outer(i: Any, total: Any) -> Any:
            inner = tf.while_loop(lambda j, s: j < 2, lambda j, s: (j + 1, s * x), [0, total])[1]
            return i + 1, inner + x

        result = tf.while_loop(lambda i, s: i < 3, outer, [0, tf.constant(1.0)])[1]
        first = tf.gradients(result, x)[0]
        second = tf.gradients(first, x)[0]
        assert run([result, first, second]) == pytest.approx([1002.0, 1891.0, 2988.0])

    def test_with_a_conditional(self) -> None:
        x = tf.constant(3.0)

        def body(i: Any, s: Any) -> Any:
            return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: s * x, lambda: tf.square(s) / x)

        result = tf.while_loop(lambda i, s: i < 4, body, [0, tf.constant(1.1)])[1]
        first = tf.gradients(result, x)[0]
        second = tf.gradients(first, x)[0]
        assert run([result, first, second]) == pytest.approx([39.5307, 39.5307, 26.3538], rel=1e-5)

    @pytest.mark.parametrize("taken", [True, False])
    def test_a_condition_that_no_iteration_changes(self, taken: bool) -> None:
        chosen, x = tf.placeholder(tf.bool, []), tf.constant(1.0)
        result = tf.while_loop(
            lambda i, v: i < 3,
            lambda i, v: (i + 1, tf.cond(chosen, lambda: v * 2.0, lambda: 10.0)),
            [0, x],
        )[1]
        grad = tf.gradients(result, x)[0]
        assert run([result, grad], {chosen: taken}) == ([8.0, 8.0] if taken else [10.0, 0.0])

    def test_variables(self) -> None:
        factor = tf.get_variable("factor", initializer=2.0, use_resource=True)
        count = tf.get_variable("count", initializer=0.0, use_resource=True)

        def body(i: Any, v: Any) -> Any:
            with tf.control_dependencies([count.assign_add(1.0)]):
                return i + 1, v * factor

        result = tf.while_loop(lambda i, v: i < 3, body, [0, tf.constant(1.0)])[1]
        grad = tf.gradients(result, factor)[0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            assert session.run([result, grad]) == [8.0, 12.0]
            assert session.run(count) == 3.0

    def test_waits_for_what_its_body_waits_for(self) -> None:
        count = tf.get_variable("count", initializer=1.0, use_resource=True)
        update = count.assign_add(1.0).op

        def body(i: Any) -> Any:
            with tf.control_dependencies([update]):
                return i + 1

        loop = tf.while_loop(lambda i: i < 1, body, [0])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(loop.op)
            assert session.run(count) == 2.0

    def test_at_most(self) -> None:
        x = tf.constant(2.0)
        result = tf.while_loop(lambda v: True, lambda v: v * x, [x], maximum_iterations=4)
        assert run([result, tf.gradients(result, x)[0]]) == [32.0, 80.0]

    def test_a_list_that_the_loop_fills_already_is_not_filled_twice(self) -> None:
        from penstock.ops.list_functions import empty_tensor_list
        from penstock.ops.tensor_lists import TensorListPushBack

        x = tf.constant(2.0)
        result = tf.while_loop(
            lambda v, _: v < 5.0,
            lambda v, values: (v**2.0, TensorListPushBack(values, v)),
            [x, empty_tensor_list([], tf.float32)],
        )[0]
        node = result.op.inputs[0].op
        before = len(node.outputs)
        assert run(tf.gradients(result, x)) == [32.0]
        assert len(node.outputs) <= before + 1  # the power itself, not its base

    def test_misuse(self) -> None:
        with pytest.raises(ValueError, match=r"but has shape \(2, 2\) after one iteration"):
            tf.while_loop(
                lambda i, a: i < 2, lambda i, a: (i + 1, tf.concat([a, a], 0)), [0, tf.ones([1, 2])]
            )
        with pytest.raises(TypeError, match=r"<dtype: 'int32'> but has type <dtype: 'float32'>"):
            tf.while_loop(lambda i: i < 2, lambda i: tf.cast(i, tf.float32), [0])
        with pytest.raises(ValueError, match="same nested structure"):
            tf.while_loop(lambda i, j: i < 2, lambda i, j: (i + 1,), [0, 1])


class TestArrays:
    def test_is_a_list(self) -> None:
        array = tf.TensorArray(tf.float32, 3).write(0, 1.0)
        assert array.handle is None
        assert array.flow.dtype == tf.variant
        assert array.flow.name == "TensorArrayV2Write/TensorListSetItem:0"
        assert run(array.stack()).tolist() == [1.0, 0.0, 0.0]

    def test_in_a_loop_that_makes_it_grow(self) -> None:
        x = tf.constant(2.0)
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        filled = tf.while_loop(
            lambda i, a: i < 4,
            lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32))),
            [0, array],
        )[1]
        stacked = filled.stack()
        found = run([stacked, tf.gradients(stacked, x)[0], filled.size()])
        assert (found[0].tolist(), found[1:]) == ([0.0, 2.0, 4.0, 6.0], [6.0, 4])

    def test_gradients_of_parts(self) -> None:
        x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        rows = tf.TensorArray(tf.float32, 3).unstack(x)
        parts = tf.TensorArray(tf.float32, 2).split(x, [2, 1])
        grads = [tf.gradients(y**2, x)[0] for y in (rows.gather([0, 2]), parts.read(0))]
        of_rows, of_parts = run(grads)
        assert of_rows.tolist() == [[2.0, 4.0], [0.0, 0.0], [10.0, 12.0]]
        assert of_parts.tolist() == [[2.0, 4.0], [6.0, 8.0], [0.0, 0.0]]

    def test_strings(self) -> None:
        words = tf.TensorArray(tf.string, 2).unstack(tf.constant(["a", "b"]))
        assert run(words.read(1)) == b"b"

    @pytest.mark.parametrize(
        ("use", "message"),
        [
            (lambda a: a.write(3, 1.0).flow.op, "Trying to modify element 3 in a list with 3"),
            (lambda a: a.read(-1), "Trying to access element -1 in a list with 3 elements"),
            (lambda a: a.read(0), "Trying to read an uninitialized tensor but element_shape"),
        ],
    )
    def test_misuse(self, use: Any, message: str) -> None:
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(use(tf.TensorArray(tf.float32, 3, infer_shape=False)))

    def test_in_libraries(self) -> None:
        x = tf.constant([1.0, 2.0, 3.0])
        mapped = tf.map_fn(lambda row: row * row * 2.0, x)
        scanned = tf.scan(lambda total, row: total * row + 1.0, x)
        cell = tf.nn.rnn_cell.BasicRNNCell(2)
        inputs = tf.reshape(x, [1, 3, 1])
        with tf.variable_scope("rnn", initializer=tf.constant_initializer(0.5)):
            outputs, _ = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32)
        assert "While" in nodes_of(tf.get_default_graph()).values()
        found = run([mapped, tf.gradients(mapped, x)[0], scanned, tf.gradients(outputs, inputs)[0]])
        assert found[0].tolist() == [2.0, 8.0, 18.0]
        assert found[1].tolist() == [4.0, 8.0, 12.0]
        assert found[2].tolist() == [1.0, 3.0, 10.0]
        assert found[3].shape == (1, 3, 1)


class TestFiles:
    def test_gradients_of_an_imported_graph(self) -> None:
        x = tf.constant(3.0)
        chosen = tf.placeholder(tf.bool)
        branch = tf.cond(chosen, lambda: tf.pow(x, 3), lambda: x)
        loop = tf.while_loop(lambda v: v < 20.0, lambda v: v * x, [x])
        for tensor in (x, chosen, branch, loop, tf.gradients(loop, x)[0]):
            tf.add_to_collection("kept", tensor)
        message = tf.train.export_meta_graph()
        with tf.Graph().as_default():
            tf.train.import_meta_graph(message)
            x, chosen, branch, loop, slope = tf.get_collection("kept")
            found = [tf.gradients(y, x)[0] for y in (branch, loop, slope)]
            found.append(tf.gradients(found[0], x)[0])
            assert run(found, {chosen: True}) == pytest.approx([27.0, 27.0, 18.0, 18.0])


class TestModes:
    def test_switches(self) -> None:
        assert tf.control_flow_v2_enabled()
        tf.disable_control_flow_v2()
        assert not tf.control_flow_v2_enabled()
        assert tf.cond(tf.constant(True), lambda: 1.0, lambda: 2.0).op.type == "Merge"

    def test_the_switch_under_tensorflows_path(self) -> None:
        from penstock.python.ops import control_flow_util

        assert control_flow_util.ENABLE_CONTROL_FLOW_V2
        control_flow_util.ENABLE_CONTROL_FLOW_V2 = False
        assert not tf.control_flow_v2_enabled()
        assert not control_flow_util.ENABLE_CONTROL_FLOW_V2

    def test_the_plan_has_the_loop_itself(self) -> None:
        loop = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [0])
        options = tf.RunOptions(output_partition_graphs=True)
        metadata = tf.RunMetadata()
        with tf.Session() as session:
            session.run(loop, options=options, run_metadata=metadata)
        types = {node.op for graph in metadata.partition_graphs for node in graph.node}
        assert "While" not in types
        assert {"Enter", "LoopCond", "Exit"} <= types
