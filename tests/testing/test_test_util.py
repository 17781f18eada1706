"""Decorators, comparisons of graphs and the rest of `test_util`, as TensorFlow's tests use them."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np
import pytest
from absl.testing import parameterized

import penstock as tf
from penstock import proto
from penstock.testing import graph_compare, test_util


def run(cls: type[unittest.TestCase]) -> unittest.TestResult:
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
    return result


def outcomes(cls: type[unittest.TestCase]) -> dict[str, str]:
    """What became of each test of a class: a reason to skip, or "failed"; those that pass miss."""
    result = run(cls)
    found = {test._testMethodName: reason for test, reason in result.skipped}
    assert found.pop("test_session", "Not a test.") == "Not a test."
    failed = {test._testMethodName: "failed" for test, _ in result.failures + result.errors}
    return found | failed


# Modes ------------------------------------------------------------------------------------------


def test_modes_run_as_graphs_and_eagerly() -> None:
    ran: list[str] = []

    class Modes(test_util.TensorFlowTestCase):
        @test_util.run_in_graph_and_eager_modes
        def testBoth(self) -> None:
            assert (tf.get_default_session() is None) == tf.executing_eagerly()
            assert self.evaluate(tf.constant([1]) + 1) == [2]
            ran.append("eager" if tf.executing_eagerly() else "both")

        @test_util.run_in_graph_and_eager_modes(use_gpu=False)
        def testBothOnTheCpu(self) -> None:
            ran.append(tf.constant(1).device)

        @test_util.run_deprecated_v1
        def testV1(self) -> None:
            ran.append("v1")

        @test_util.deprecated_graph_mode_only
        def testGraph(self) -> None:
            ran.append("graph")

        @test_util.run_v1_only("b/1")
        def testV1Only(self) -> None:
            ran.append("v1 only")

        @test_util.run_v2_only
        def testV2Only(self) -> None:
            ran.append("never")

        @test_util.run_gpu_only
        def testGpu(self) -> None:
            ran.append("never")

        @test_util.disable_xla("why")
        def testXla(self) -> None:
            ran.append("xla")

        @test_util.skip_if(lambda: True)
        def testLeftOut(self) -> None:
            ran.append("never")

    assert outcomes(Modes) == {
        "testV2Only": "Test is only compatible with v2",
        "testGpu": "Test requires GPU",
    }
    eager_device = "/job:localhost/replica:0/task:0/device:CPU:0"
    plain = ["/device:CPU:0", eager_device, "both", "eager", "graph", "v1", "v1 only", "xla"]
    assert sorted(ran) == plain


def test_decorators_of_classes() -> None:
    sessions: list[Any] = []

    @test_util.run_all_in_graph_and_eager_modes
    class All(test_util.TensorFlowTestCase):
        def testIt(self) -> None:
            sessions.append(tf.get_default_session())

        def testSkipEagerIt(self) -> None:
            sessions.append(tf.get_default_session())

    assert outcomes(All) == {}
    assert [session is None for session in sessions] == [False, True, True]

    with pytest.raises(ValueError, match="only supports test methods. Did you mean"):
        test_util.run_in_graph_and_eager_modes(All)
    with pytest.raises(ValueError, match="`run_v2_only` only supports test methods"):
        test_util.run_v2_only(All)
    with pytest.raises(ValueError, match="'reason' should be string"):
        test_util.run_v1_only(3)
    assert test_util.run_v1_only("why")(All) is All
    assert test_util.run_deprecated_v1(All) is All


def test_control_flow_variants() -> None:
    @test_util.with_control_flow_v2
    class Flow(test_util.TensorFlowTestCase):
        def testLoop(self) -> None:
            self.assertAllEqual(4, tf.while_loop(lambda i: i < 4, lambda i: i + 1, [0]))

        @test_util.disable_control_flow_v2("b/2")
        def testPlain(self) -> None:
            pass

    names = unittest.defaultTestLoader.getTestCaseNames(Flow)
    assert set(names) == {"testLoop", "testLoopWithControlFlowV2", "testPlain", "test_session"}
    assert outcomes(Flow) == {}


def test_parameters() -> None:
    seen: list[Any] = []

    class Parameters(test_util.TensorFlowTestCase, parameterized.TestCase):
        @parameterized.named_parameters(("one", 1), ("two", 2))
        @test_util.run_in_graph_and_eager_modes
        def testNumber(self, number: int) -> None:
            seen.append(number)

        @test_util.build_as_function_and_v1_graph
        def testGraph(self) -> None:
            seen.append(tf.get_default_graph().building_function)

    assert outcomes(Parameters) == {}
    # In a graph, and in the body of a function; both numbers in a graph, and in eager mode.
    assert sorted(seen) == [False, True, 1, 1, 2, 2]
    found = test_util.generate_combinations_with_testcase_name(b=[True, False], a="x")
    assert [list(each.items()) for each in found] == [
        [("a", "x"), ("b", True), ("testcase_name", "_test_a_x_b_True")],
        [("a", "x"), ("b", False), ("testcase_name", "_test_a_x_b_False")],
    ]


def test_all_methods_of_a_class() -> None:
    def doubling(times: int) -> Any:
        return lambda test: lambda self: [test(self) for _ in range(times)]

    calls: list[int] = []

    @test_util.for_all_test_methods(doubling, 2)
    class Doubled(test_util.TensorFlowTestCase):
        def testIt(self) -> None:
            calls.append(1)

    Doubled("testIt").testIt()
    assert calls == [1, 1]


def test_horizons_and_errors_to_skip() -> None:
    seen: list[bool] = []

    @test_util.with_forward_compatibility_horizons(None, [2051, 1, 1])
    def check(self: Any) -> None:
        seen.append(tf.compat.forward_compatible(2050, 1, 1))

    check(None)
    assert seen == [False, True]
    case = test_util.TensorFlowTestCase()
    with pytest.raises(unittest.SkipTest), test_util.skip_if_error(case, ValueError, ["a", "b"]):
        raise ValueError("b")
    with pytest.raises(ValueError, match="other"), test_util.skip_if_error(case, ValueError, "a"):
        raise ValueError("other")


# Leaks ------------------------------------------------------------------------------------------

kept: list[Any] = []


def test_leaks_are_found() -> None:
    class Leaks(test_util.TensorFlowTestCase):
        @test_util.assert_no_new_tensors
        def testLeak(self) -> None:
            kept.append(tf.constant(1))

        @test_util.assert_no_new_tensors
        def testNoLeak(self) -> None:
            tf.constant(1) + tf.constant(2)

        @test_util.assert_no_garbage_created
        def testCycle(self) -> None:
            cycle: list[Any] = []
            cycle.append(cycle)

        @test_util.assert_no_garbage_created
        def testNoCycle(self) -> None:
            [1, 2, 3].reverse()

    assert outcomes(Leaks) == {"testLeak": "failed", "testCycle": "failed"}
    kept.clear()


# Graphs -----------------------------------------------------------------------------------------


def graph_def(*names: str, value: Any = 1.0) -> Any:
    with tf.Graph().as_default() as graph:
        for name in names:
            tf.constant(value, name=name)
    return graph.as_graph_def()


def test_graphs_are_equal_in_any_order() -> None:
    equal = test_util.assert_equal_graph_def
    equal(graph_def("a", "b"), graph_def("b", "a"))
    equal(graph_def("a", value=["x"]), graph_def("a", value=["x"]))
    with pytest.raises(AssertionError, match=r"^Found unexpected node '{{node b}}"):
        equal(graph_def("a", "b"), graph_def("a"))
    with pytest.raises(AssertionError, match=r"^Did not find expected node '{{node b}}"):
        equal(graph_def("a"), graph_def("a", "b"))
    with pytest.raises(AssertionError, match="Node named 'a' has attr 'value'"):
        equal(graph_def("a"), graph_def("a", value=2.0))
    with pytest.raises(TypeError, match="Expected tf.GraphDef for actual, got str"):
        equal("", graph_def())


def test_what_differs_between_serialized_graphs() -> None:
    compare = graph_compare.EqualGraphDefWrapper
    one = graph_def("a").SerializeToString()
    assert compare(one, graph_def("a").SerializeToString()) == b""
    assert compare(one, graph_def("b").SerializeToString()).startswith(b"Found unexpected node")


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        ("op: 'A'", "op: 'B'", "has op 'A' that is not expected 'B'"),
        ("device: '/d'", "", "has device '/d' that is not expected ''"),
        ("input: 'x'", "", "has 1 inputs that does not match expected 0 inputs"),
        ("input: 'x'", "input: 'y'", "has input 0 'x' that doesn't match expected 'y'"),
        ("input: '^x'", "input: '^y'", "missing expected control input '\\^y'"),
        ("attr { key: 'k' value { i: 1 } }", "", "has unexpected attr 'k'"),
        ("", "attr { key: 'k' value { i: 1 } }", "missing expected attr 'k'"),
        ("attr { key: 'k' value { i: 1 } }", "attr { key: 'k' value { i: 2 } }", "attr 'k'"),
    ],
)
def test_differences_of_nodes(actual: str, expected: str, message: str) -> None:
    from google.protobuf import text_format

    graphs = [
        text_format.Parse(f"node {{ name: 'n' {text} }}", proto.GraphDef())
        for text in (actual, expected)
    ]
    with pytest.raises(AssertionError, match=message):
        test_util.assert_equal_graph_def(*graphs)


def test_what_does_not_count() -> None:
    from google.protobuf import text_format

    pairs = [
        ("input: 'x:0' input: '^b' input: '^a'", "input: 'x' input: '^a' input: '^b'"),
        ("attr { key: '_note' value { i: 1 } }", ""),
        (
            "attr { key: 'v' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } "
            "int_val: 1 } } }",
            "attr { key: 'v' value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 2 } } "
            "int_val: [1, 1] } } }",
        ),
    ]
    for pair in pairs:
        graphs = [
            text_format.Parse(f"node {{ name: 'n' {text} }}", proto.GraphDef()) for text in pair
        ]
        test_util.assert_equal_graph_def(*graphs)


def test_random_names_can_be_left_out() -> None:
    graphs = []
    for name in (b"hash_table_1-2", b"hash_table_3-4"):
        graph = proto.GraphDef()
        graph.node.add(name="t", op="HashTableV2").attr["shared_name"].s = name
        save = graph.node.add(name="s", op="Const")
        save.attr["value"].tensor.dtype = tf.string.as_datatype_enum
        save.attr["value"].tensor.string_val.append(b"_temp_" + name[-1:] * 32 + b"/part")
        graphs.append(graph)
    with pytest.raises(AssertionError, match="_temp_"):
        test_util.assert_equal_graph_def(*graphs)
    test_util.assert_equal_graph_def_v2(*graphs)


def test_ops_in_a_graph() -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="hello")
    assert test_util.assert_ops_in_graph({"hello": "Const"}, graph)["hello"].op == "Const"
    for wrong in ({"bye": "Const"}, {"hello": "Variable"}):
        with pytest.raises(ValueError):
            test_util.assert_ops_in_graph(wrong, graph)
    nodes = graph.as_graph_def()
    assert test_util.get_node_def_from_graph("hello", nodes) is nodes.node[0]
    assert test_util.get_node_def_from_graph("bye", nodes) is None


# Layouts and devices ----------------------------------------------------------------------------


def test_layouts() -> None:
    assert test_util.NHWCToNCHW([1, 2, 3, 4]) == [1, 4, 2, 3]
    assert test_util.NCHWToNHWC([1, 4, 2, 3]) == [1, 2, 3, 4]
    assert test_util.NHWCToNCHW_VECT_C([1, 2, 3, 8]) == [1, 2, 2, 3, 4]
    assert test_util.NCHW_VECT_CToNHWC([1, 2, 2, 3, 4]) == [1, 2, 3, 8]
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.constant(np.arange(96).reshape(2, 2, 3, 8))
        back = test_util.NCHW_VECT_CToNHWC(test_util.NHWCToNCHW_VECT_C(images))
        again = test_util.NCHWToNHWC(test_util.NHWCToNCHW(images))
        assert test_util.NHWCToNCHW(images).shape.as_list() == [2, 8, 2, 3]
        for result in session.run([back, again]):
            np.testing.assert_array_equal(result, np.arange(96).reshape(2, 2, 3, 8))
    with pytest.raises(ValueError, match="divisible by 4"):
        test_util.NHWCToNCHW_VECT_C([1, 2, 3, 6])
    with pytest.raises(ValueError, match="must be 4"):
        test_util.NCHW_VECT_CToNHWC([1, 2, 3, 4, 5])


def test_devices() -> None:
    has_gpu = tf.test.is_gpu_available()
    assert bool(tf.test.gpu_device_name()) == has_gpu == tf.test.is_built_with_cuda()
    with tf.Graph().as_default():
        with test_util.use_gpu():
            device = tf.constant(1).device
        assert device == ("/device:GPU:0" if has_gpu else "/device:CPU:0")
        with test_util.force_gpu():
            assert tf.constant(1).device == "/device:GPU:0"
        with test_util.force_cpu():
            assert tf.constant(1).device == "/device:CPU:0"


def test_a_local_cluster() -> None:
    workers, servers = tf.test.create_local_cluster(num_workers=1, num_ps=2)
    with tf.Graph().as_default(), tf.device("/job:ps/task:1"):
        value = tf.constant([1, 2]) * 2
        with tf.Session(workers[0].target) as sess:
            assert len(sess.list_devices()) == 3
            assert sess.run(value).tolist() == [2, 4]
    for server in [*workers, *servers]:
        server.stop()
