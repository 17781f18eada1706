"""`tf.test.TestCase`: its sessions, seeds and assertions, used as tests use them."""

from __future__ import annotations

import collections
import random
import sys
import threading
import unittest

import numpy as np
import pytest

import penstock as tf
from penstock import errors, proto
from penstock.testing import test_util

Pair = collections.namedtuple("Pair", ["x", "y"])


class SessionTest(tf.test.TestCase):
    def testGraphsAndSeedsAreFreshAndFixed(self) -> None:
        assert tf.get_default_graph().get_operations() == []
        assert tf.get_default_graph().seed == 87654321
        drawn = random.random(), np.random.rand()  # noqa: NPY002
        tf.constant(1)
        self.setUp()
        assert (random.random(), np.random.rand()) == drawn  # noqa: NPY002
        assert tf.get_default_graph().get_operations() == []

    def testAGraphThatWasNeverLeftIsLeftBehind(self) -> None:
        forgotten = tf.Graph()
        forgotten.as_default().__enter__()
        self.setUp()
        assert tf.get_default_graph() is not forgotten

    def testAWriterOfAnotherTestIsForgotten(self) -> None:
        writer = tf.contrib.summary.create_file_writer(self.get_temp_dir())
        writer.set_as_default()
        self.setUp()
        assert tf.compat.v2.summary.write("tag", 1.0, step=1).op.type == "Const"

    def testCachedSessionIsOne(self) -> None:
        with self.test_session() as first, self.cached_session() as second:
            assert first is second is tf.get_default_session()
            with pytest.raises(ValueError, match="The graph used to get the cached session"):
                self.cached_session(graph=tf.Graph()).__enter__()
            with pytest.raises(ValueError, match="The config used"):
                self.cached_session(config=tf.ConfigProto()).__enter__()
            with pytest.raises(ValueError, match="The force_gpu value"):
                self.cached_session(force_gpu=True).__enter__()
        assert not first._closed
        with self.session() as own:
            assert own is not first
        assert own._closed

    def testNodesAreOnTheCpuUnlessAGpuIsWanted(self) -> None:
        with self.cached_session():
            assert tf.constant(1).device == "/device:CPU:0"
        with self.cached_session(use_gpu=True):
            assert tf.constant(1).device == ""

    def testSessionOfAnotherGraph(self) -> None:
        graph = tf.Graph()
        with self.session(graph=graph) as session:
            x = tf.constant([1, 2])
            assert x.graph is graph is session.graph
            self.assertAllEqual([1, 2], x)

    def testEvaluate(self) -> None:
        nest = {"a": tf.constant(1), "b": [tf.constant([2.0]), (tf.constant("c"),)]}
        assert self.evaluate(nest) == {"a": 1, "b": [[2.0], (b"c",)]}
        v = tf.Variable([1, 2])
        self.evaluate(tf.global_variables_initializer())
        self.assertAllEqual([1, 2], v)  # the session is still the same
        assert tf.get_default_session() is None

    def testErrorsAreLogged(self) -> None:
        check = tf.Assert(tf.constant(False), ["it is false"])
        refused = pytest.raises(errors.InvalidArgumentError)
        with self.assertLogs("tensorflow", "ERROR") as logs, refused:
            self.evaluate(check)
        assert "it is false" in logs.output[0]

    def testTempDir(self) -> None:
        assert self.get_temp_dir() == self.get_temp_dir()
        assert self.get_temp_dir().startswith(tf.test.get_temp_dir())

    def testCheckedThreads(self) -> None:
        done = threading.Event()
        thread = self.checkedThread(target=done.set)
        thread.start()
        thread.join()
        assert done.is_set() and not thread.is_alive()
        failing = self.checkedThread(target=lambda x: 1 // x, args=(0,))
        failing.start()
        with self.assertRaisesRegex(AssertionError, "by zero"):
            failing.join()
        forgotten = test_util.TensorFlowTestCase._CheckedThread(self, target=done.set)
        with self.assertRaisesRegex(AssertionError, "was not joined"):
            forgotten.check_termination()

    def testCapturedWrites(self) -> None:
        with open(f"{self.get_temp_dir()}/stream", "w") as stream:
            with self.captureWritesToStream(stream) as captured:
                stream.write("captured")
            stream.write("after")
            assert captured.contents() == "captured"


class AssertionTest(tf.test.TestCase):
    def fails(self, pattern: str, error: type[Exception] = AssertionError) -> object:
        return self.assertRaisesRegex(error, pattern)

    def testAllClose(self) -> None:
        a = tf.constant([[1, 2], [3, 4]])
        self.assertAllClose(a, [[1, 2], [3, 4]])
        self.assertAllClose({"k": a}, {"k": a + 0})
        self.assertAllClose([a, a], [[[1, 2], [3, 4]], a])
        self.assertAllClose(7, 7 + 1e-8)
        self.assertAllClose(np.nan, np.nan)
        with self.fails("Not equal to tolerance"):
            self.assertAllClose(7, 7 + 1e-4)
        with self.fails("not close dif"):
            self.assertAllClose([0], [1])
        with self.fails(r"Shape mismatch: expected \(2,\), got \(3,\) with contents"):
            self.assertAllClose([1, 2], [1, 2, 3])
        with self.fails("Can't compare dict to non-dict", ValueError):
            self.assertAllClose(1, {"a": 1})

    def testAllCloseOfNests(self) -> None:
        nest = {"x": np.ones((2, 3)), "y": (2, [{"deep": {"m": 3, "n": 4}}])}
        self.assertAllClose(nest, nest)
        other = {"x": np.ones((2, 3)), "y": (2, [{"deep": {"m": 3, "n": 4.2}}])}
        with self.fails(r"\[y\]\[1\]\[0\]\[deep\]\[n\]"):
            self.assertAllClose(nest, other)
        with self.fails("mismatched keys"):
            self.assertAllClose({"a": 1}, {"b": 1})
        self.assertAllClose(Pair(1, [2]), {"x": 1, "y": [2]})
        self.assertAllClose([Pair(np.ones(2), np.zeros(2))], [([1, 1], [0, 0])])
        with self.fails("Mismatched length", ValueError):
            self.assertAllClose([[1], [2, 3]], [[1], [2, 3], [4]])

    def testTolerancesByType(self) -> None:
        close = self.assertAllCloseAccordingToType
        close(np.float32([1]), np.float64([1 + 1e-6]), rtol=1e-8, atol=1e-8)
        close(np.float16([1]), np.float16([1.001]), rtol=1e-8, atol=1e-8)
        close(tf.constant([1.0], tf.bfloat16), [1.01])
        with self.fails("not close"):
            close(np.float64([1]), np.float64([1 + 1e-6]), rtol=1e-8, atol=1e-8)

    def testNotAllClose(self) -> None:
        self.assertNotAllClose([0.1], [0.2])
        with self.fails("close at all elements"):
            self.assertNotAllClose([1.1], tf.constant([1.0]), rtol=0.2)

    def testAllEqual(self) -> None:
        self.assertAllEqual([np.nan, 1.0], np.array([np.nan, 1.0]))
        self.assertAllEqual(tf.constant([b"a", b"b"]), [b"a", b"b"])
        self.assertAllEqual([], np.zeros([0]))
        with self.fails("not equal lhs = \\[1\\]"):
            self.assertAllEqual([0, 1], [0, 2])
        with self.fails("Shape mismatch"):
            self.assertAllEqual([0], 0)
        with self.fails("not equal"):
            self.assertAllEqual([1], ["1"])
        self.assertNotAllEqual([1], [2])
        with self.fails("two values are equal at all elements.*why"):
            self.assertNotAllEqual([1], [1], msg="why")

    def testNear(self) -> None:
        self.assertNear(1.0, 1.05, 0.1)
        self.assertNear(np.inf, np.inf, 0.1)
        self.assertNear(np.array([1.0]), np.array([[1.05]]), 0.1)
        self.assertArrayNear([1, 2], [1.05, 2], 0.1)
        self.assertNDArrayNear(np.ones(2), np.ones(2), 1e-5)
        with self.fails(r"1.000000 != 2.000000 \+/- 0.100000 \(why\)"):
            self.assertNear(1.0, 2.0, 0.1, "why")
        with self.assertRaises(AssertionError):
            self.assertArrayNear([1], [1, 2], 0.1)
        with self.assertRaises(AssertionError):
            self.assertNDArrayNear(np.ones(2), np.zeros(2), 0.1)

    def testBounds(self) -> None:
        x = tf.constant([100.0, 110.0])
        self.assertAllGreater(x, 95)
        self.assertAllLess(x, 115)
        self.assertAllGreaterEqual(x, 100)
        self.assertAllLessEqual(x, 110)
        for assertion, bound in (
            (self.assertAllGreater, 100),
            (self.assertAllLess, 110),
            (self.assertAllGreaterEqual, 101),
            (self.assertAllLessEqual, 109),
        ):
            with self.assertRaises(AssertionError):
                assertion(x, bound)

    def testRangesAndSets(self) -> None:
        x = tf.constant([[10.0, 15.0]] * 12)
        self.assertAllInRange(x, 10, 15)
        self.assertAllInRange(tf.constant(10.0), 5, 15)
        with self.fails(r"12 of the 24 element\(s\) are outside the range \(10, 15\](.|\n)*\.\.\."):
            self.assertAllInRange(x, 10, 15, open_lower_bound=True)
        with self.fails(r"1 of the 1 element\(s\) are NaN"):
            self.assertAllInRange(np.nan, 0, 1)
        for value in ("text", [True], [1j]):
            with self.fails("ordered numeric type"):
                self.assertAllInRange(tf.constant(value), 0, 1)
        self.assertAllInSet(tf.constant([True, False]), {False, True})
        with self.fails("not in the set"):
            self.assertAllInSet([13, 37], (13,))

    def testTypesShapesDevices(self) -> None:
        self.assertDTypeEqual(np.float32(1), np.float32)
        self.assertShapeEqual(np.zeros([2, 3]), tf.zeros([2, 3]))
        with self.assertRaises(AssertionError):
            self.assertShapeEqual(np.zeros([2, 3]), tf.zeros([3, 2]))
        with self.fails("np_array must be", TypeError):
            self.assertShapeEqual([1], tf.zeros([1]))
        self.assertDeviceEqual("/job:a/gpu:0", tf.DeviceSpec("a", None, None, "GPU", 0))
        with self.fails("are not equal"):
            self.assertDeviceEqual("/cpu:0", "/cpu:1")
        self.assertStartsWith("penstock", "pen")
        with self.fails("does not start with"):
            self.assertStartsWith("penstock", "stock")

    def testProtos(self) -> None:
        node = proto.NodeDef(name="n", op="Op")
        self.assertProtoEquals("name: 'n' op: 'Op'", node)
        self.assertProtoEquals(node, node)
        with self.fails('name: "n"'):
            self.assertProtoEquals("name: 'other'", node)
        value = proto.AttrValue(f=1.0)
        self.assertProtoEquals(proto.AttrValue(f=1.0 + 1e-7), value)
        with self.assertRaises(AssertionError):
            self.assertProtoEquals(proto.AttrValue(f=1.1), value)
        floats = proto.AttrValue.ListValue(f=[1.0, 2.0])
        self.assertProtoEquals("list { f: 1.0000001 f: 2.0000001 }", proto.AttrValue(list=floats))
        with self.fails("Can't compare protos"):
            self.assertProtoEquals(node, value)
        with tf.Graph().as_default() as graph:
            tf.no_op(name="x")
        self.assertProtoEqualsVersion("node { name: 'x' op: 'NoOp' }", graph.as_graph_def())

    def testOpErrors(self) -> None:
        with self.cached_session():
            bad = tf.Assert(tf.constant(False), ["why"], name="named")
            with self.assertRaisesOpError("why"):
                bad.run()
            with self.assertRaisesOpError("named"):
                bad.run()
            with self.fails("Exception of type"), self.assertRaisesOpError("something else"):
                bad.run()
        silent = self.assertRaisesWithPredicateMatch(ValueError, "x")
        with self.fails("ValueError not raised"), silent:
            pass
        with self.assertRaisesWithPredicateMatch(ValueError, lambda error: error.args == (1,)):
            raise ValueError(1)

    def testOldNames(self) -> None:
        self.assertItemsEqual([1, 2], [2, 1])
        self.assertEquals(1, 1)
        self.assertNotEquals(1, 2)
        self.assertAlmostEquals(1.0, 1.0 + 1e-9)
        self.assertNotAlmostEquals(1.0, 2.0)
        self.assertRegexpMatches("abc", "b")
        self.assertNotRegexpMatches("abc", "x")
        self.assert_(True)
        with self.assertRaisesRegexp(ValueError, "text"):
            raise ValueError("some text")
        self.assertDictContainsSubset({"a": 1}, {"a": 1, "b": 2})
        with self.assertRaises(AssertionError):
            self.assertDictContainsSubset({"a": 2}, {"a": 1})


def test_test_session_is_not_a_test() -> None:
    class Empty(tf.test.TestCase):
        pass

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Empty).run(result)
    assert [reason for _, reason in result.skipped] == ["Not a test."]
    assert not result.errors and not result.failures


def test_an_unjoined_thread_fails_its_test() -> None:
    class Forgetful(tf.test.TestCase):
        def testThread(self) -> None:
            self.checkedThread(target=lambda: None)

    result = unittest.TestResult()
    Forgetful("testThread").run(result)
    assert "was not joined" in result.failures[0][1]


def test_main_runs_the_tests_of_a_program(tmp_path: object) -> None:
    import subprocess

    program = """
import penstock as tf
tf.flags.DEFINE_integer("n", 1, "")
class T(tf.test.TestCase):
    def testIt(self):
        self.assertAllEqual(tf.constant([tf.flags.FLAGS.n]), [3])
class B(tf.test.Benchmark):
    def benchmarkIt(self):
        with tf.Session() as sess:
            self.run_op_benchmark(sess, tf.constant(1), min_iters=3)
if __name__ == "__main__":
    tf.test.main()
"""
    path = f"{tmp_path}/program_test.py"
    with open(path, "w") as file:
        file.write(program)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, path, *arguments], capture_output=True, text=True, check=False
        )

    passed = run("--n=3")
    assert passed.returncode == 0, passed.stderr
    assert "OK" in passed.stderr
    assert run("--n=4").returncode == 1
    measured = run("--benchmarks=all")
    assert measured.returncode == 0, measured.stderr
    assert 'name: "B.benchmarkIt"' in measured.stdout and "iters: 3" in measured.stdout


def test_almost_equal_numbers_of_different_precision() -> None:
    case = tf.test.TestCase()
    third = np.float32(0.6666666)  # one step of float32 below 2/3: 4e-8
    case.assertAlmostEqual(2 / 3, third)
    case.assertNotAlmostEqual(2 / 3, third, places=9)
