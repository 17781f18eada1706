"""Conditionals and loops as users build them; the recorded snapshots compare the built nodes."""

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


class TestCond:
    def test_only_the_taken_branch_runs(self, session):
        pred = tf.placeholder(tf.bool, [])
        variable = tf.Variable(0.0)
        session.run(variable.initializer)
        result = tf.cond(
            pred, lambda: tf.assign_add(variable, 1.0), lambda: tf.assign_sub(variable, 10.0)
        )
        assert session.run(result, {pred: True}) == 1.0
        assert session.run(result, {pred: False}) == -9.0

    def test_structures(self, session):
        pred = tf.placeholder(tf.bool, [])
        x = tf.constant([1.0, 2.0])
        result = tf.cond(pred, lambda: {"a": x, "b": [x * 2.0]}, lambda: {"a": -x, "b": [x]})
        assert session.run(result, {pred: True})["b"][0].tolist() == [2.0, 4.0]
        assert session.run(result, {pred: False})["a"].tolist() == [-1.0, -2.0]
        assert tf.cond(pred, lambda: [x], lambda: [x]).shape.as_list() == [2]
        assert isinstance(tf.cond(pred, lambda: [x], lambda: [x], strict=True), list)
        assert tf.cond(pred, lambda: [x], lambda: x).shape.as_list() == [2]

    def test_gradients(self, session):
        x = tf.placeholder(tf.float32, [])
        y = tf.cond(x > 0, lambda: x * x, lambda: tf.cond(x > -5, lambda: 3.0 * x, lambda: x + 1.0))
        (gradient,) = tf.gradients(y, x)
        assert [session.run(gradient, {x: v}) for v in (4.0, -1.0, -9.0)] == [8.0, 3.0, 1.0]

    @pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
    def test_slices(self, session):
        pred = tf.placeholder(tf.bool, [])
        table = tf.Variable(np.ones((4, 2), np.float32))
        y = tf.cond(pred, lambda: tf.reduce_sum(tf.gather(table, [1])), lambda: tf.constant(0.0))
        (gradient,) = tf.gradients(y, table)
        session.run(table.initializer)
        with pytest.warns(UserWarning, match="IndexedSlices"):
            dense = tf.convert_to_tensor(gradient)
        assert session.run(dense, {pred: True})[:, 0].tolist() == [0.0, 1.0, 0.0, 0.0]
        assert session.run(dense, {pred: False})[:, 0].tolist() == [0.0, 0.0, 0.0, 0.0]

    def test_refused(self, session):
        x = tf.constant(1.0)
        with pytest.raises(TypeError, match="Python bool"):
            tf.cond(True, lambda: x, lambda: x)
        with pytest.raises(TypeError, match="callable"):
            tf.cond(x > 0, x, lambda: x)
        with pytest.raises(TypeError, match="true_fn argument required"):
            tf.cond(x > 0, None, lambda: x)
        with pytest.raises(TypeError, match="true_fn and fn1 may not be set simultaneously"):
            tf.cond(x > 0, lambda: x, lambda: x, fn1=lambda: x)
        with pytest.raises(ValueError, match="same type"):
            tf.cond(x > 0, lambda: x, lambda: tf.constant(1))
        with pytest.raises(ValueError, match="return value"):
            tf.cond(x > 0, lambda: None, lambda: None)
        for one, other in (([x, x], [x]), ({"a": x}, {"b": x}), ([x, [x]], [[x], x])):
            with pytest.raises(ValueError, match="Incompatible return values"):
                tf.cond(x > 0, lambda one=one: one, lambda other=other: other)
        with pytest.raises(TypeError, match="Incompatible return types"):
            tf.cond(x > 0, lambda: [x, x], lambda: (x, x))
        with pytest.raises(ValueError, match="same nested structure"):
            tf.cond(x > 0, lambda: [x], lambda: x, strict=True)
        inner = []
        tf.cond(x > 0, lambda: inner.append(x + 1.0) or inner[0], lambda: x)
        with pytest.raises(ValueError, match="not fetchable"):
            session.run(inner[0])

    def test_case(self, session):
        x = tf.placeholder(tf.int32, [])
        pairs = [(x < 0, lambda: tf.constant("neg")), (x > 10, lambda: tf.constant("big"))]
        y = tf.case(pairs, default=lambda: tf.constant("mid"))
        assert [session.run(y, {x: v}) for v in (-1, 20, 5)] == [b"neg", b"big", b"mid"]
        overlapping = [(x < 5, lambda: x), (x < 10, lambda: -x)]
        first = tf.case(overlapping, default=lambda: x * 0)
        assert [session.run(first, {x: v}) for v in (3, 7, 12)] == [3, -7, 0]
        exclusive = tf.case(overlapping, default=lambda: x * 0, exclusive=True)
        assert session.run(exclusive, {x: 7}) == -7
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
            session.run(exclusive, {x: 3})
        no_default = tf.case(overlapping)
        assert session.run(no_default, {x: 7}) == -7
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input error: None of conditions"):
            session.run(no_default, {x: 50})
        with pytest.raises(TypeError):
            tf.case([(1, lambda: x)])


class TestWhile:
    def test_counts_and_sums(self, session):
        n = tf.placeholder(tf.int32, [])
        i, total = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t + i), [0, 0])
        assert session.run([i, total], {n: 5}) == [5, 10]
        assert session.run([i, total], {n: 0}) == [0, 0]

    def test_structures_and_limits(self, session):
        result = tf.while_loop(
            lambda s: tf.constant(True),
            lambda s: {"a": s["a"] + 1, "b": (s["b"][0] * 2.0,)},
            [{"a": tf.constant(0), "b": (tf.constant(1.0),)}],
            maximum_iterations=4,
        )
        assert session.run(result) == {"a": 4, "b": (16.0,)}
        single = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        assert session.run(single) == 3
        kept = tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], return_same_structure=True)
        assert session.run(kept) == [3]

    def test_nested_loops_and_branches(self, session):
        def body(i, total):
            inner = tf.while_loop(lambda j: j < i, lambda j: j + 1, [0])
            return i + 1, tf.cond(inner > 2, lambda: total + inner, lambda: total - 1)

        _, total = tf.while_loop(lambda i, t: i < 6, body, [0, 0])
        assert session.run(total) == -3 + 3 + 4 + 5

    def test_variables_change_inside(self, session):
        variable = tf.Variable(0.0)
        session.run(variable.initializer)

        def body(i):
            with tf.control_dependencies([tf.assign_add(variable, 2.0)]):
                return i + 1

        session.run(tf.while_loop(lambda i: i < 5, body, [0]))
        assert session.run(variable) == 10.0

    def test_shape_invariants(self, session):
        grown = tf.while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, tf.concat([x, x], 0)),
            [0, tf.constant([1.0])],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
        )[1]
        assert grown.shape.as_list() == [None] and session.run(grown).shape == (8,)
        with pytest.raises(ValueError, match="shape_invariants"):
            tf.while_loop(
                lambda i, x: i < 3,
                lambda i, x: (i + 1, tf.concat([x, x], 0)),
                [0, tf.constant([1.0])],
            )
        with pytest.raises(ValueError, match="not compatible"):
            tf.while_loop(lambda x: True, lambda x: x, [tf.zeros([2])], [tf.TensorShape([3])])

    def test_refused(self, session):
        with pytest.raises(TypeError, match="cond must be callable"):
            tf.while_loop(1, lambda i: i, [0])
        with pytest.raises(TypeError, match="body must be callable"):
            tf.while_loop(lambda i: i < 1, 1, [0])
        with pytest.raises(ValueError, match="No loop variables"):
            tf.while_loop(lambda: True, lambda: None, [])
        with pytest.raises(ValueError, match="structure"):
            tf.while_loop(lambda i, j: i < 1, lambda i, j: i, [0, 0])
        with pytest.raises(TypeError, match="type"):
            tf.while_loop(lambda i: i < 1, lambda i: tf.cast(i, tf.float32), [0])

    def test_an_endless_loop_ends_at_its_timeout(self, session):
        endless = tf.while_loop(lambda i: i >= 0, lambda i: i * 0, [0])
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(endless, options=tf.RunOptions(timeout_in_ms=100))


class TestLoopGradients:
    def test_of_variable_and_invariant(self, session):
        x, w = tf.constant(2.0), tf.constant(3.0)
        _, y = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * w), [0, x])
        assert session.run(tf.gradients(y, [x, w])) == [81.0, 4 * 2.0 * 27.0]

    def test_of_unknown_shapes(self, session):
        x = tf.placeholder(tf.float32, [None])
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.tanh(y) * x), [0, x])
        (gradient,) = tf.gradients(y, x)
        value = np.array([0.5, -0.3], np.float32)
        epsilon = 1e-3
        for k in range(2):
            step = np.zeros(2, np.float32)
            step[k] = epsilon
            up, down = (session.run(y, {x: value + s})[k] for s in (step, -step))
            numeric = (up - down) / (2 * epsilon)
            np.testing.assert_allclose(session.run(gradient, {x: value})[k], numeric, rtol=1e-2)

    def test_no_iterations(self, session):
        x, w = tf.constant(2.0), tf.constant(3.0)
        _, y = tf.while_loop(lambda i, y: i < 0, lambda i, y: (i + 1, y * w), [0, x])
        assert session.run(tf.gradients(y, [x, w])) == [1.0, 0.0]

    def test_nested(self, session):
        x = tf.constant(1.5)

        def outer(i, y):
            _, z = tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, z * y), [0, x])
            return i + 1, z

        _, y = tf.while_loop(lambda i, y: i < 2, outer, [0, x])
        # The inner loop gives x y^2, twice: x (x x^2)^2 = x^7.
        np.testing.assert_allclose(session.run(y), 1.5**7, rtol=1e-5)
        np.testing.assert_allclose(session.run(tf.gradients(y, x)), [7 * 1.5**6], rtol=1e-5)

    def test_a_branch_inside(self, session):
        x = tf.placeholder(tf.float32, [])

        def body(i, y):
            return i + 1, tf.cond(i < 2, lambda: y * x, lambda: y + x)

        _, y = tf.while_loop(lambda i, y: i < 4, body, [0, x])
        (gradient,) = tf.gradients(y, x)
        # x^3 + 2x
        np.testing.assert_allclose(session.run(gradient, {x: 2.0}), 3 * 4.0 + 2)

    def test_rows_of_a_table(self, session):
        table = tf.constant(np.arange(8, dtype=np.float32).reshape(4, 2))
        _, y = tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, y + tf.reduce_sum(tf.gather(table, [i]) ** 2)),
            [0, 0.0],
        )
        (gradient,) = tf.gradients(y, table)
        assert isinstance(gradient, tf.IndexedSlices)
        expected = 2 * np.arange(8, dtype=np.float32).reshape(4, 2)
        expected[3] = 0
        dense = np.zeros((4, 2), np.float32)
        rows = session.run(gradient)
        np.add.at(dense, rows.indices, rows.values)
        np.testing.assert_allclose(dense, expected)

    def test_back_prop_off(self, session):
        x = tf.constant(2.0)
        _, y = tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x], back_prop=False
        )
        assert tf.gradients(y, x) == [None]

    def test_shape_invariants_of_a_dict_go_by_key(self, session):
        start = {"b": tf.zeros([0, 3]), "a": tf.zeros([2])}
        shapes = {"b": tf.TensorShape([None, 3]), "a": tf.TensorShape([2])}

        def body(i, state):
            return i + 1, {"b": tf.pad(state["b"], [[1, 0], [0, 0]]), "a": state["a"] + 1}

        _, found = tf.while_loop(
            lambda i, _: i < 2, body, [0, start], shape_invariants=[tf.TensorShape([]), shapes]
        )
        assert found["b"].shape.as_list() == [None, 3]
        assert session.run(found["b"]).shape == (2, 3)


class TestPredicates:
    """What decides is converted where it is used: for the Switch, then for the branches."""

    @staticmethod
    def _nodes_of(pred):
        tf.cond(pred, lambda: tf.constant(1), lambda: tf.constant(2))
        graph = tf.get_default_graph()
        return [op.name for op in graph.get_operations() if op.name.startswith("cond/")]

    def test_a_resource_variable_is_read_where_it_is_used(self, session):
        flag = tf.get_variable("flag", initializer=True, use_resource=True)
        assert self._nodes_of(flag)[:7] == [
            "cond/Switch/Read/ReadVariableOp",
            "cond/Switch/Identity",
            "cond/Switch/ReadVariableOp",
            "cond/Switch",
            "cond/switch_t",
            "cond/switch_f",
            "cond/pred_id/ReadVariableOp",
        ]

    def test_a_value_becomes_constants(self):
        assert self._nodes_of(np.array(True))[:3] == [
            "cond/Switch/data",
            "cond/Switch/pred",
            "cond/Switch",
        ]

    @pytest.mark.parametrize("use_resource", [True, False])
    def test_a_variable_decides(self, session, use_resource):
        flag = tf.get_variable("flag", initializer=True, use_resource=use_resource)
        count = tf.get_variable("count", initializer=0, use_resource=use_resource)
        step = tf.cond(flag, lambda: tf.assign_add(count, 1), lambda: tf.assign_sub(count, 10))
        session.run(tf.global_variables_initializer())
        assert session.run(step) == 1
        session.run(tf.assign(flag, False))
        assert session.run(step) == -9

    def test_a_variable_by_reference_is_what_was_read(self, session):
        flag = tf.get_variable("flag", initializer=True, use_resource=True)
        read = tf.python.framework.ops.internal_convert_to_tensor(flag, as_ref=True)
        assert (read.op.type, read.dtype) == ("ReadVariableOp", tf.bool)

    def test_the_check_of_exclusive_cases_shows_all_predicates(self):
        preds = [tf.placeholder(tf.bool, []) for _ in range(4)]
        pairs = [(pred, lambda: tf.constant(1)) for pred in preds]
        tf.case(pairs, default=lambda: tf.constant(0), exclusive=True)
        (check,) = (op for op in tf.get_default_graph().get_operations() if op.type == "Assert")
        assert check.get_attr("summarize") == 4

    def test_branches_without_summaries_make_no_collection(self):
        self._nodes_of(tf.placeholder(tf.bool, []))
        assert tf.get_default_graph().get_all_collection_keys() == ["cond_context"]

    def test_cases_of_another_conditional(self, session):
        """As libraries build them that decide while building what they can."""

        def decided(pred, true_fn, false_fn):
            if isinstance(pred, bool):
                return true_fn() if pred else false_fn()
            return tf.cond(pred, true_fn, false_fn)

        helper = tf.python.ops.control_flow_ops._case_helper
        open_pred = tf.placeholder(tf.bool, [])
        pairs = [(False, lambda: tf.constant(1)), (open_pred, lambda: tf.constant(2))]
        result = helper(
            decided, pairs, lambda: tf.constant(3), False, "cases", allow_python_preds=True
        )
        assert result.op.name == "cases/cond/Merge"
        assert session.run(result, {open_pred: False}) == 3
        with pytest.raises(TypeError, match="pred must be a Tensor, got: False"):
            helper(decided, pairs, None, False, "cases")
