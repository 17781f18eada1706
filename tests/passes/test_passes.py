"""Each pass on small graphs: what it removes, merges and orders, and what it must leave alone."""

import numpy as np
import pytest

import penstock as tf
from penstock.ir.step_graph import Edge
from penstock.passes.dead_ends import remove_dead_ends
from penstock.passes.fold import fold_constants
from penstock.passes.merge import merge_equal
from penstock.passes.order import order_step
from penstock.passes.prune import prune


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def types(step):
    return sorted(node.type for node in step.nodes)


def position(step, name):
    return [node.name for node in step.nodes].index(name)


def refuse(node, values):
    return None


class TestPrune:
    def test_only_what_is_needed(self):
        a = tf.constant(1.0)
        b = tf.exp(a)
        tf.log(b)
        step = prune([], [b], [])
        assert types(step) == ["Const", "Exp"]
        step.verify("test")

    def test_cut_at_feeds(self):
        a = tf.constant(1.0)
        b = tf.exp(a)
        c = tf.log(b)
        assert types(prune([b], [c], [])) == ["Log", "_Feed"]

    def test_other_outputs_of_a_fed_node_still_run(self):
        first, second = tf.split(tf.zeros([4]) + tf.placeholder(tf.float32, [4]), 2)
        step = prune([first], [first, second], [])
        assert "Split" in types(step) and step.fetches[0].node.type == "_Feed"

    def test_waiting_for_a_fed_placeholder(self):
        x = tf.placeholder(tf.float32, [])
        with tf.control_dependencies([x]):
            op = tf.no_op()
        assert types(prune([x], [], [op])) == ["NoOp", "_Feed"]

    def test_the_users_graph_is_not_changed(self, graph):
        c = tf.constant(1.0) + 2.0
        before = graph.as_graph_def()
        with tf.Session() as session:
            session.run(c)
        assert graph.as_graph_def() == before


class TestFold:
    def run(self, *fetches, feeds=()):
        with tf.Session() as session:
            runtime = session._runtime
            from penstock.runtime.binding import evaluator

            step = prune(list(feeds), list(fetches), [])
            fold_constants(step, evaluator(runtime.devices[0]))
            step.verify("fold")
            return step

    def test_arithmetic_of_constants(self):
        step = self.run(tf.reduce_sum(tf.exp([1.0, 2.0]) * 2.0))
        assert types(step) == ["Const"]

    def test_known_shapes(self):
        x = tf.placeholder(tf.float32, [2, 3])
        step = self.run(tf.shape(x)[0] * 2, tf.size(x))
        assert types(step) == ["Const", "Const"]
        assert [int(edge.node.attrs["value"]) for edge in step.fetches] == [4, 6]

    def test_unknown_shapes_stay(self):
        x = tf.placeholder(tf.float32, [None, 3])
        assert "Shape" in types(self.run(tf.shape(x)[0], feeds=[x]))

    def test_random_and_state_stay(self):
        variable = tf.Variable(1.0)
        step = self.run(tf.random_uniform([2]), variable.value())
        assert {"RandomUniform", "VariableV2", "Identity"} <= set(types(step))

    def test_large_results_stay(self):
        assert "Fill" in types(self.run(tf.fill([4096, 4096], 1.0)))

    def test_an_error_is_raised_by_the_step_not_by_folding(self):
        bad = tf.check_numerics(tf.log(tf.constant(-1.0)), "bad log")
        with (
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match="bad log"),
        ):
            session.run(bad)

    def test_control_inputs_survive(self):
        variable = tf.Variable(0.0)
        with tf.control_dependencies([tf.assign_add(variable, 1.0)]):
            c = tf.constant(2.0) * 3.0
        with tf.Session() as session:
            session.run(variable.initializer)
            assert session.run(c) == 6.0
            assert session.run(variable) == 1.0


class TestMerge:
    def merged(self, *fetches):
        step = prune([], list(fetches), [])
        merge_equal(step)
        step.verify("merge")
        return step

    def test_equal_nodes(self):
        x = tf.placeholder(tf.float32, [2])
        step = self.merged(tf.exp(x), tf.exp(x), tf.log(x))
        assert types(step) == ["Exp", "Log", "Placeholder"]
        assert step.fetches[0] == step.fetches[1]

    def test_commutative_inputs(self):
        x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [2])
        step = self.merged(tf.multiply(x, y), tf.multiply(y, x), x - y, y - x)
        assert types(step).count("Mul") == 1 and types(step).count("Sub") == 2

    def test_constants_by_value_type_and_sign(self):
        values = [0.0, -0.0, 0, 0.0, [0.0], np.float64(0)]
        step = self.merged(*[tf.constant(v) for v in values])
        assert len(step.nodes) == 5

    def test_random_nodes_and_reads_stay_apart(self):
        variable = tf.Variable(1.0)
        step = self.merged(
            tf.random_uniform([2]),
            tf.random_uniform([2]),
            variable.read_value(),
            variable.read_value(),
        )
        assert types(step).count("RandomUniform") == 2 and types(step).count("Identity") == 2

    def test_other_attrs_other_controls(self):
        x = tf.placeholder(tf.float32, [2, 2])
        with tf.control_dependencies([tf.no_op()]):
            late = tf.matmul(x, x)
        step = self.merged(tf.matmul(x, x), tf.matmul(x, x, transpose_a=True), late)
        assert types(step).count("MatMul") == 3


class TestOrder:
    def ordered(self, fetches=(), targets=()):
        step = prune([], list(fetches), list(targets))
        order_step(step)
        step.verify("order")
        return step

    def test_reads_before_writes(self):
        variable = tf.Variable(1.0, name="v")
        write = tf.assign(variable, 2.0, name="write")
        read = tf.negative(variable, name="read")
        step = self.ordered([read], [write.op])
        assert position(step, "read") < position(step, "write")
        writer = step.nodes[position(step, "write")]
        assert step.nodes[position(step, "read")] in writer.producers()

    def test_a_read_that_waits_for_a_write_comes_after_it(self):
        variable = tf.Variable(1.0, name="v")
        write = tf.assign(variable, 2.0, name="write")
        with tf.control_dependencies([write]):
            read = tf.identity(variable._ref(), name="read")
        step = self.ordered([read])
        assert position(step, "read") > position(step, "write")

    def test_writes_in_the_order_of_creation(self):
        variable = tf.Variable(1.0)
        with tf.Session() as session:
            session.run(variable.initializer)
            slow = tf.exp(tf.exp(tf.zeros([])))
            first = tf.assign(variable, slow * 0.0 + 5.0)
            second = tf.assign_add(variable, 1.0)
            session.run([second.op, first.op])
            assert session.run(variable) == 6.0

    def test_resource_variables_too(self):
        variable = tf.Variable(1.0, name="v", use_resource=True)
        write = variable.assign_add(1.0)
        before = variable.read_value()
        with tf.Session() as session:
            session.run(variable.initializer)
            assert session.run([before, write.op if hasattr(write, "op") else write])[0] == 1.0
            assert session.run(variable) == 2.0

    def test_updates_run_early(self):
        """An update goes ahead once its variable has been read: its gradient is freed then."""
        a, b = tf.Variable(tf.ones([2]), name="a"), tf.Variable(tf.ones([2]), name="b")
        loss = tf.reduce_sum(tf.exp(a) * tf.exp(b))
        ga, gb = tf.gradients(loss, [a, b])
        one = tf.assign_sub(a, ga, name="one")
        more = tf.tanh(tf.tanh(gb), name="more")
        step = self.ordered([more], [one.op])
        assert position(step, "one") < position(step, "more")

    def test_writers_that_wait_for_each_other(self):
        """Swapping: each write depends on the read of the other variable."""
        a, b = tf.Variable(1.0, use_resource=True), tf.Variable(2.0, use_resource=True)
        with tf.Session() as session:
            session.run([a.initializer, b.initializer])
            session.run([tf.assign(a, b.read_value()).op, tf.assign(b, a.read_value()).op])
            assert session.run([a, b]) == [2.0, 1.0]

    @pytest.mark.parametrize(("use_resource", "seen"), [(True, [1.0, 2.0]), (False, [5.0, 6.0])])
    def test_a_value_read_before_a_write_and_used_after_it(self, use_resource, seen):
        """A resource is read when it is read; a reference when its value is used."""
        variable = tf.Variable([1.0, 2.0], use_resource=use_resource)
        old = tf.reshape(variable.read_value(), [2, 1])
        transposed = tf.transpose(old)  # a view here, but a computation for TensorFlow
        with tf.control_dependencies([old, transposed]):
            write = variable.assign([5.0, 6.0])
        with tf.control_dependencies([write.op]):
            late, computed = old * 1.0, transposed * 1.0
        with tf.Session() as session:
            session.run(variable.initializer)
            late, computed = session.run([late, computed])
        assert late.ravel().tolist() == seen
        assert computed.ravel().tolist() == [1.0, 2.0]

    def test_a_fetched_reference_has_its_last_value(self):
        variable = tf.Variable(1.0)
        with tf.Session() as session:
            session.run(variable.initializer)
            fetched = session.run([variable, tf.assign_add(variable, 1.0).op, variable * 1.0])
            assert fetched == [2.0, None, 1.0]


def test_a_broken_pass_is_found_by_name():
    a = tf.constant(1.0)
    step = prune([], [tf.exp(a)], [])
    step.nodes.reverse()
    with pytest.raises(AssertionError, match="after reversing"):
        step.verify("reversing")
    step = prune([], [a], [])
    step.fetches = [Edge(prune([], [tf.exp(a)], []).nodes[-1], 0)]
    with pytest.raises(AssertionError, match="is gone"):
        step.verify("dropping")


class TestDeadEnds:
    def cut(self, fetches=(), targets=()):
        step = prune([], list(fetches), list(targets))
        remove_dead_ends(step)
        step.verify("dead ends")
        return step

    def test_what_only_a_gate_asks_for(self):
        x = tf.placeholder(tf.float32, [2])
        wanted, unwanted = tf.exp(x), tf.log(tf.sin(x))
        first, _ = tf.tuple([wanted, unwanted])
        step = self.cut([first])
        assert {"Log", "Sin"}.isdisjoint(types(step)) and "Exp" in types(step)

    def test_effects_stay_and_stay_in_order(self):
        variable = tf.Variable(0.0)
        x = tf.placeholder_with_default(1.0, [])
        with tf.control_dependencies([tf.assign(variable, 2.0)]):
            pure = tf.exp(tf.identity(x))
        with tf.control_dependencies([pure]):
            read = variable * 1.0
        step = self.cut([read])
        assert "Exp" not in types(step)
        with tf.Session() as session:
            session.run(variable.initializer)
            assert session.run(read) == 2.0

    def test_targets_and_fetches_stay(self):
        x = tf.placeholder(tf.float32, [])
        y, z = tf.exp(x), tf.sin(x)
        assert {"Exp", "Sin"} <= set(types(self.cut([y], [z.op])))

    def test_updates_are_effects(self):
        variable = tf.Variable([1.0, 2.0])
        loss = tf.reduce_sum(variable * variable)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        assert "ApplyGradientDescent" in types(self.cut([], [train]))


class TestFuse:
    @pytest.mark.parametrize("use_resource", [False, True])
    def test_the_factor_of_a_row_update(self, use_resource):
        table = tf.Variable(np.zeros((4, 2), np.float32), use_resource=use_resource)
        rows = tf.placeholder(tf.float32, [3, 2])
        update = table.scatter_sub(tf.IndexedSlices(rows * 0.5, tf.constant([1, 3, 1])))
        with tf.Session() as session:
            session.run(table.initializer)
            session.run(update, {rows: np.ones((3, 2))})
            assert session.run(table)[:, 0].tolist() == [0.0, -1.0, 0.0, -0.5]
            runtime = session._runtime
            step, _ = runtime.prepare([rows], [], [update.op])
            assert "Mul" not in types(step)

    def test_a_product_that_others_use_stays(self):
        table = tf.Variable(np.zeros((4, 2), np.float32))
        rows = tf.placeholder(tf.float32, [1, 2])
        scaled = rows * 0.5
        update = tf.scatter_add(table, [1], scaled)
        with tf.Session() as session:
            session.run(table.initializer)
            product, _ = session.run([scaled, update.op], {rows: [[2.0, 4.0]]})
            assert product.tolist() == [[1.0, 2.0]]
            assert session.run(table)[1].tolist() == [1.0, 2.0]
