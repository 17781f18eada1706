"""Conditions that are constants of a step: only the side that is taken is left."""

import numpy as np
import pytest

import penstock as tf
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ops.functions import Defun
from penstock.passes.dead_branches import remove_dead_branches
from penstock.passes.pipeline import PassOptions, compile_step
from penstock.passes.prune import prune


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def types_of(fetches, feeds=(), *, branches=True):
    with tf.Session() as sess:
        sess._runtime.options = PassOptions(branches=branches)
        step = sess._runtime.compile(list(feeds), list(fetches), [])
    return [node.type for node in step.placed.nodes]


def run(fetches, feed_dict=None, *, branches=True):
    with tf.Session() as sess:
        sess._runtime.options = PassOptions(branches=branches)
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feed_dict)


def both(fetches, feed_dict=None):
    with_pass = run(fetches, feed_dict)
    without = run(fetches, feed_dict, branches=False)
    np.testing.assert_array_equal(with_pass, without)
    return with_pass


@pytest.mark.parametrize("taken", [True, False])
def test_only_the_taken_branch_is_left(taken):
    x = tf.placeholder(tf.float32, [2])
    y = tf.cond(tf.constant(taken), lambda: tf.exp(x), lambda: tf.log(x))
    found = types_of([y], [x])
    assert ("Exp" in found) == taken and ("Log" in found) != taken
    assert not {"Switch", "Merge"} & set(found)
    assert both(y, {x: [1.0, 2.0]}).shape == (2,)


def test_predicate_through_identity_and_not():
    x = tf.placeholder(tf.float32, [])
    predicate = tf.logical_not(tf.identity(tf.identity(tf.constant(False))))
    y = tf.cond(predicate, lambda: x + 1.0, lambda: x - 1.0)
    step = prune([x], [y], [])
    assert remove_dead_branches(step)
    step.verify("test")
    assert "Sub" not in [node.type for node in step.nodes]
    assert both(y, {x: 3.0}) == 4.0


def test_nested_conditions_decide_each_other():
    x = tf.placeholder(tf.float32, [])

    def outer():
        return tf.cond(tf.constant(2) > 1, lambda: x * 2.0, lambda: x * 3.0)

    y = tf.cond(tf.constant(True), outer, lambda: x * 5.0)
    assert types_of([y], [x]).count("Mul") == 1
    assert both(y, {x: 7.0}) == 14.0


def test_a_condition_within_a_loop():
    n = tf.placeholder(tf.int32, [])

    def body(i, total):
        return i + 1, tf.cond(tf.constant(False), lambda: total * 100, lambda: total + i)

    _, total = tf.while_loop(lambda i, _: i < n, body, [0, 0])
    found = types_of([total], [n])
    assert found.count("Merge") == 2 and "Mul" not in found  # those of the loop's variables
    assert both(total, {n: 5}) == 10


def test_what_is_undecided_stays():
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    y = tf.cond(p, lambda: x + 1.0, lambda: x - 1.0)
    assert {"Switch", "Merge"} <= set(types_of([y], [p, x]))
    assert run(y, {p: True, x: 1.0}) == 2.0 and run(y, {p: False, x: 1.0}) == 0.0


def test_a_fed_constant_is_no_constant():
    p = tf.constant(True)
    y = tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2))
    assert run(y, {p: False}) == 2


def test_which_side_was_taken():
    sides = tf.raw_ops.Switch(data=tf.placeholder_with_default(1.0, []), pred=tf.constant(True))
    value, index = tf.raw_ops.Merge(inputs=[sides.output_false, sides.output_true])
    assert tuple(both([value, index])) == (1.0, 1)


def test_updates_of_the_dead_branch_do_not_run():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    update = tf.cond(tf.constant(False), lambda: v.assign_add(1.0), lambda: v.assign_add(10.0))
    assert both(update) == 11.0


def test_what_the_predicate_waits_for_still_runs_first():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    with tf.control_dependencies([v.assign(5.0)]):
        predicate = tf.constant(True)
    y = tf.cond(predicate, lambda: v.read_value() * 2.0, lambda: v.read_value())
    assert both(y) == 10.0


def test_a_dead_fetch_is_an_error_as_ever():
    dead, _ = tf.raw_ops.Switch(data=tf.constant(1.0), pred=tf.constant(True))
    for branches in (True, False):
        with pytest.raises(tf.errors.InvalidArgumentError, match="dead"):
            run(tf.identity(dead, name=f"dead_{branches}"), branches=branches)


def test_a_dead_target_is_left_out():
    sides = tf.raw_ops.Switch(data=tf.constant(1.0), pred=tf.constant(True))
    assert run([tf.identity(sides.output_false).op, tf.identity(sides.output_true)])[1] == 1.0


def test_a_loop_that_never_runs(graph):
    x = tf.placeholder(tf.float32, [3])
    out = tf.while_loop(lambda i, _: tf.constant(False), lambda i, v: (i + 1, tf.exp(v)), [0, x])
    found = types_of(out, [x])
    assert not {"Enter", "LoopCond", "Exp"} & set(found)
    assert run(out[1], {x: [1.0, 2.0, 3.0]}).tolist() == [1.0, 2.0, 3.0]
    (grad,) = tf.gradients(out[1], x)
    assert both(grad, {x: [1.0, 2.0, 3.0]}).tolist() == [1.0, 1.0, 1.0]


def test_a_loop_whose_condition_has_an_effect_is_kept():
    v = tf.get_variable("v", initializer=0, use_resource=True)

    def condition(i):
        with tf.control_dependencies([v.assign_add(1)]):
            return tf.constant(False)

    out = tf.while_loop(condition, lambda i: i + 1, [0])
    with tf.control_dependencies([out]):
        after = v.read_value()
    assert both(after) == 1


class TestFunctions:
    @pytest.fixture
    def double(self, graph):
        @Defun(tf.float32)
        def double(x):
            return x * 2.0

        return _in_graph(double, graph)

    @pytest.fixture
    def negate(self, graph):
        @Defun(tf.float32)
        def negate(x):
            return -x

        return _in_graph(negate, graph)

    @pytest.mark.parametrize(("value", "expected"), [(True, 8.0), (0, -4.0)])
    @pytest.mark.parametrize("kind", ["If", "StatelessIf"])
    def test_if(self, kind, value, expected, double, negate):
        x = tf.placeholder(tf.float32, [])
        conditional = getattr(tf.raw_ops, kind)
        (y,) = conditional(
            cond=tf.constant(value),
            input=[x],
            Tout=[tf.float32],
            then_branch=double,
            else_branch=negate,
        )
        found = types_of([y], [x])
        assert kind not in found and any(each.endswith("PartitionedCall") for each in found)
        assert both(y, {x: 4.0}) == expected

    @pytest.mark.parametrize(("index", "expected"), [(0, 8.0), (1, -4.0), (7, -4.0), (-1, -4.0)])
    def test_case(self, index, expected, double, negate):
        x = tf.placeholder(tf.float32, [])
        (y,) = tf.raw_ops.Case(
            branch_index=tf.constant(index),
            input=[x],
            Tout=[tf.float32],
            branches=[double, negate],
        )
        assert "Case" not in types_of([y], [x])
        assert both(y, {x: 4.0}) == expected

    def test_while(self, graph, double):
        @Defun(tf.float32)
        def never(x):
            return tf.constant(False)

        x = tf.placeholder(tf.float32, [])
        (y,) = tf.raw_ops.While(input=[x], cond=_in_graph(never, graph), body=double)
        assert "While" not in types_of([y], [x])
        assert both(y, {x: 3.0}) == 3.0


def _in_graph(function, graph):
    function.add_to_graph(graph)
    return FunctionName(function.name, {})


def test_explain_tells_what_passes_did():
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(tf.constant(True), lambda: x + 1.0, lambda: x - 1.0)
    lines = str(tf.explain(y, [x])).splitlines()
    (line,) = [line for line in lines if "remove_dead_branches" in line]
    assert "removed" in line and "changed" in line


def test_the_switch_of_the_pass():
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(tf.constant(True), lambda: x + 1.0, lambda: x - 1.0)
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.loop_optimization = 2  # OFF
    with tf.Session(config=config) as sess:
        text = str(tf.explain(y, [x], sess))
        assert "remove_dead_branches" not in text and sess.run(y, {x: 1.0}) == 2.0


def test_compile_step_says_what_each_pass_did():
    x = tf.placeholder(tf.float32, [])
    y = tf.cond(tf.constant(True), lambda: x + 1.0, lambda: x - 1.0)
    step = compile_step([x], [y], [], lambda node, values: None, PassOptions())
    by_name = {rewrite.name: rewrite for rewrite in step.rewrites}
    assert by_name["remove_dead_branches"].removed >= 2
    assert by_name["merge_equal"].added == 0
