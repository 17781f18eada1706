"""`tf.contrib.graph_editor`: a small graph looked at, rewired and copied."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import penstock as tf

ge = tf.contrib.graph_editor


@pytest.fixture
def g() -> Any:
    """`bar/e = (a + b) * (b + d)`, and `f = e + a`, which waits for `d`."""
    with tf.Graph().as_default() as graph:
        a = tf.constant([1.0, 1.0], name="a")
        with tf.name_scope("foo"):
            b = tf.constant([2.0, 2.0], name="b")
            c = tf.add(a, b, name="c")
            d = tf.constant([3.0, 3.0], name="d")
            with tf.name_scope("bar"):
                sum_ = tf.add(b, d, name="sum")
                e = tf.multiply(c, sum_, name="e")
        with tf.control_dependencies([d.op]):
            f = tf.add(e, a, name="f")
        yield SimpleNamespace(graph=graph, a=a, b=b, c=c, d=d, sum=sum_, e=e, f=f)


def ops(*tensors: Any) -> list[Any]:
    return [tensor.op for tensor in tensors]


def value(tensor: Any, feeds: Any = None) -> Any:
    with tf.Session(graph=(tensor[0] if isinstance(tensor, list) else tensor).graph) as session:
        return session.run(tensor, feeds)


def test_lists_of_elements(g: Any) -> None:
    assert ge.make_list_of_op(g.graph) == g.graph.get_operations()
    assert ge.make_list_of_op(g.a.op) == [g.a.op]
    assert ge.make_list_of_op([g.a, g.b.op], ignore_ts=True) == [g.b.op]
    assert ge.make_list_of_t(g.graph) == ge.get_tensors(g.graph)
    assert ge.get_consuming_ops(g.a) == ops(g.c, g.f)
    assert ge.get_generating_ops([g.a, g.f]) == ops(g.a, g.f)
    with pytest.raises(TypeError, match="Expected a type in"):
        ge.make_list_of_op(g.a)
    with pytest.raises(TypeError, match="allow_graph is False"):
        ge.make_list_of_op(g.graph, allow_graph=False)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="does not belong"):
        ge.make_list_of_op([g.a.op, tf.constant(1).op])
    assert ge.util.concatenate_unique([1, 2, 3], [3, 4, 2]) == [1, 2, 3, 4]
    assert ge.util.flatten_tree({"x": [1, (2, 3)]}) == [1, 2, 3]
    assert ge.util.transform_tree([1, (2, {"x": 3})], lambda x: -x) == [-1, (-2, {"x": -3})]


def test_selection_by_name(g: Any) -> None:
    assert ge.filter_ops_from_regex(g.graph, r"\b(a|b)$") == ops(g.a, g.b)
    assert ge.filter_ts_from_regex(g.graph, re.compile("^foo/bar/.*:0$")) == [g.sum, g.e]
    assert ge.get_name_scope_ops(g.graph, "foo/bar/") == ops(g.sum, g.e)
    assert ge.select_ops("^foo/", graph=g.graph, positive_filter=lambda op: op.type == "Const") == (
        ops(g.b, g.d)
    )
    assert ge.select_ops_and_ts("^foo/bar", "(?#ts)^f:0", graph=g.graph) == (ops(g.sum, g.e), [g.f])
    assert ge.select_ts("^f:0", g.a, graph=g.graph) == [g.f, g.a]
    with pytest.raises(ValueError, match="keyword argument 'graph'"):
        ge.select_ops("^foo")
    with pytest.raises(ValueError, match="Wrong keywords argument: other"):
        ge.select_ops(other=1)


def test_walks(g: Any) -> None:
    assert set(ge.get_forward_walk_ops(g.d.op)) == set(ops(g.d, g.sum, g.e, g.f))
    assert set(ge.get_forward_walk_ops([g.d], stop_at_ts=[g.e])) == set(ops(g.sum, g.e))
    assert set(ge.get_backward_walk_ops(g.c)) == set(ops(g.c, g.a, g.b))
    backward = ge.get_backward_walk_ops(g.f.op, inclusive=False, within_ops=ops(g.f, g.e, g.c))
    assert set(backward) == set(ops(g.e, g.c))
    assert set(ge.get_walks_intersection_ops(g.b, g.e)) == set(ops(g.c, g.sum, g.e))
    assert set(ge.get_walks_union_ops(g.e, g.c)) == set(ops(g.f, g.a, g.b, g.c))
    waiting = ge.ControlOutputs(g.graph)
    assert waiting.get(g.d.op) == [g.f.op]
    assert set(ge.get_forward_walk_ops([g.d.op], within_ops=ops(g.d, g.f), control_outputs=waiting)
               ) == set(ops(g.d, g.f))  # fmt: skip
    assert set(ge.get_ops_ios(g.c.op)) == set(ops(g.a, g.b, g.e))
    assert set(ge.get_ops_ios(g.d.op, control_ios=waiting)) == set(ops(g.sum, g.f))


def test_boundaries(g: Any) -> None:
    inputs, outputs, inside = ge.compute_boundary_ts(ops(g.b, g.c, g.e))
    assert (inputs, outputs, inside) == ([g.a, g.sum], [g.b, g.e], [g.b, g.c])
    within = ge.get_within_boundary_ops(g.graph, g.c.op, ops(g.a, g.e))
    assert within == ops(g.a, g.b, g.c, g.d, g.sum, g.e)
    within = ge.get_within_boundary_ops(g.graph, g.c.op, ops(g.a, g.b, g.e), inclusive=False)
    assert within == ops(g.c)
    with pytest.raises(ValueError, match="intersecting with the seeds"):
        ge.get_within_boundary_ops(g.graph, g.c.op, g.c.op)


def test_views(g: Any) -> None:
    view = ge.sgv(ops(g.c, g.e), g.e)
    assert list(view.inputs) == [g.a, g.b, g.sum]
    assert list(view.outputs) == [g.e]
    passing = ge.SubGraphView(g.c.op, [g.d, g.a])
    assert list(passing.passthroughs) == [g.d]
    assert list(passing.inputs) == [g.a, g.b, g.d]
    assert list(view.remap_inputs([2, g.a]).inputs) == [g.sum, g.a]
    assert list(view.remap([0], [0, 0]).remap_default().inputs) == [g.a, g.b, g.sum]
    assert list(ge.sgv(g.a.op).remap_outputs_to_consumers().outputs) == [g.a, g.a]
    assert view.consumers() == [g.f.op]
    assert view.find_op_by_name("foo/c") is g.c.op
    assert (view.input_index(g.sum), view.output_index(g.e)) == (2, 0)
    assert ge.sgv_scope("foo/bar", graph=g.graph).ops == ops(g.sum, g.e)
    assert not ge.SubGraphView()
    assert "** inputs[3]:\n  a:0" in str(view)
    with pytest.raises(ValueError, match="Found repetition in mapping"):
        view.remap_inputs([0, 0])
    with pytest.raises(ValueError, match="range: 3"):
        view.remap_outputs([3])
    with pytest.raises(ValueError, match="Graph mismatch"):
        ge.make_view(view, graph=tf.Graph())


def test_rerouted_tensors(g: Any) -> None:
    with tf.Session(graph=g.graph) as session:
        np.testing.assert_array_equal(session.run(g.f), [16.0, 16.0])
        assert ge.reroute_ts([g.d], [g.a], can_modify=g.c.op) == 1
        np.testing.assert_array_equal(session.run(g.f), [26.0, 26.0])
        assert ge.swap_ts(g.a, g.d) == 3  # a: f; d: c and sum
        np.testing.assert_array_equal(session.run(g.f), [12.0, 12.0])
    with pytest.raises(ValueError, match="different sizes"):
        ge.swap_ts([g.a], [g.b, g.d])
    with g.graph.as_default(), pytest.raises(ValueError, match="are not compatible"):
        ge.swap_ts([g.a], [tf.constant([1, 2, 3])])


def test_rerouted_views(g: Any) -> None:
    negative, other = tf.negative(g.a), tf.negative(g.d)
    first, second = ge.swap_inputs(negative.op, other.op)
    assert (negative.op.inputs, other.op.inputs) == ((g.d,), (g.a,))
    assert (list(first.inputs), list(second.inputs)) == ([g.d], [g.a])
    ge.reroute_inputs(negative.op, other.op)
    assert other.op.inputs == (g.d,)
    ge.swap_outputs(g.c.op, g.sum.op)
    assert g.e.op.inputs == (g.sum, g.sum)  # one after the other: who took both takes one twice
    first, second = ge.sgv(g.a.op), ge.sgv(g.b.op)
    ge.reroute_ios(first, second)
    assert g.c.op.inputs == (g.a, g.a)


def test_control_inputs(g: Any) -> None:
    ge.add_control_inputs(g.c.op, g.d.op)
    assert g.c.op.control_inputs == [g.d.op]
    with pytest.raises(ValueError, match="is already a control_input"):
        ge.add_control_inputs(g.c.op, g.d.op)
    ge.remove_control_inputs(g.c.op, g.d.op)
    assert g.c.op.control_inputs == []
    with pytest.raises(ValueError, match="is not a control_input"):
        ge.remove_control_inputs(g.c.op, g.d.op)
    ge.detach_control_outputs(g.d.op, ge.ControlOutputs(g.graph))
    assert g.f.op.control_inputs == []


def test_detached_and_joined(g: Any) -> None:
    view, inputs = ge.detach_inputs(ge.sgv(g.c.op))
    assert [each.op.name for each in inputs] == ["geph__a_0", "foo/geph__b_0"]
    assert list(view.inputs) == inputs
    np.testing.assert_array_equal(
        value(g.f, {inputs[0]: [0.0, 1.0], inputs[1]: [1.0, 1.0]}), [6.0, 11.0]
    )
    _, outputs = ge.detach_outputs(g.c.op)
    assert outputs[0].op.name == "foo/geph__c_0"
    np.testing.assert_array_equal(value(g.f, {outputs[0]: [2.0, 0.0]}), [11.0, 1.0])
    ge.connect(ge.sgv(g.d.op), ge.sgv(g.e.op).remap_inputs([0]))
    np.testing.assert_array_equal(value(g.f), [16.0, 16.0])


def test_bypassed(g: Any) -> None:
    negative = tf.negative(g.e)
    ge.reroute_ts(negative, g.e, cannot_modify=negative.op)
    np.testing.assert_array_equal(value(g.f), [-14.0, -14.0])
    ge.bypass(negative.op)
    np.testing.assert_array_equal(value(g.f), [16.0, 16.0])


def test_copies(g: Any) -> None:
    tf.add_to_collection("mine", g.c)
    view, info = ge.copy(ops(g.c, g.e), dst_scope="twin")
    names = ["twin/foo/c", "twin/foo/bar/e"]
    assert [op.name for op in view.ops] == names
    assert [tensor.op.name for op in view.ops for tensor in op.inputs] == [
        "twin/geph__a_0",
        "twin/geph__b_0",
        "twin/foo/c",
        "twin/geph__sum_0",
    ]
    assert info.transformed(g.c.op).name == names[0]
    assert info.original(view.outputs[0]) is g.e
    assert info.transformed(g.f) is None
    assert tf.get_collection("twin/mine") == [info.transformed(g.c)]
    assert ge.copy(g.c.op, dst_scope="twin")[0].ops[0].name == "twin_1/foo/c"
    other = tf.Graph()
    ge.copy(g.graph, other, src_scope="", dst_scope="here")
    np.testing.assert_array_equal(value(other.get_tensor_by_name("here/f:0")), [16.0, 16.0])
    assert other.get_operation_by_name("here/f").control_inputs[0].name == "here/foo/d"
    relative, _ = ge.copy(ops(g.sum, g.e), dst_scope="x", src_scope="foo/bar")
    assert relative.ops[0].name == "x/sum"
    with pytest.raises(ValueError, match="does not belong to source scope"):
        ge.copy(g.c.op, src_scope="elsewhere")


def test_copies_with_other_inputs(g: Any) -> None:
    with g.graph.as_default():
        new = tf.constant([10.0, 20.0])
        view, _ = ge.copy_with_input_replacements(
            ops(g.c, g.e), {g.a: new}, dst_scope="twin", reuse_dst_scope=True
        )
        again = ge.graph_replace([g.f, (g.e,)], {g.a: new}, dst_scope="again")
        unused = tf.constant(1.0)
    np.testing.assert_array_equal(value(view.outputs[0]), [60.0, 110.0])
    f, (e,) = value(again)
    np.testing.assert_array_equal(e, [60.0, 110.0])
    np.testing.assert_array_equal(f, [70.0, 130.0])
    np.testing.assert_array_equal(value(g.f), [16.0, 16.0])
    with pytest.raises(ValueError, match="Targets and replacements are not connected"):
        ge.graph_replace(g.f, {unused: new})


def test_a_copied_loop() -> None:
    with tf.Graph().as_default() as graph:
        start = tf.constant(1.0)
        power = tf.while_loop(lambda i, _: i < 4, lambda i, x: (i + 1, x * 2.0), [0, start])[1]
        result = power + 1.0
        replaced = ge.graph_replace(result, {start: tf.constant(3.0)})
    with tf.Session(graph=graph) as session:
        assert session.run([result, replaced]) == [17.0, 49.0]


def test_changed_node_defs(g: Any) -> None:
    def as_subtraction(node_def: Any) -> Any:
        node_def.attr["_note"].s = b"changed"
        return node_def

    transformer = ge.Transformer()
    transformer.transform_op_handler = lambda info, op, inputs: ge.copy_op_handler(
        info, op, inputs, nodedef_fn=as_subtraction
    )
    view, info = transformer(g.c.op, g.graph, "noted")
    assert view.ops[0].get_attr("_note") == b"changed"
    assert "foo/c => noted/foo/c" in str(info)
