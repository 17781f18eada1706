"""Expressions of dumped tensors, lines of programs that made them, and the history of commands."""

import inspect

import numpy as np
import pytest

import penstock as tf
from penstock.debugger import DebugDumpDir, watch_graph
from penstock.debugger import source_annotations as sources
from penstock.debugger.expressions import ExpressionEvaluator, _parse_debug_tensor_name
from penstock.debugger.navigation import CursesNavigationHistory
from penstock.testing.screen_lines import (
    assert_array_lines_close,
    assert_lines_equal_ignoring_whitespace,
)


def line_above():
    return inspect.currentframe().f_back.f_lineno - 1


class Dumped:
    """A run of w = u v, and the lines that made its nodes."""

    def __init__(self, folder):
        self.u = tf.constant([[5.0, 3.0], [-1.0, 0.0]], name="u")
        self.u_line = line_above()
        v = tf.Variable([[2.0], [-1.0]], name="v")
        self.w = tf.matmul(self.u, v, name="w")
        self.w_line = line_above()
        with tf.Session() as session:
            session.run(v.initializer)
            options = tf.RunOptions(output_partition_graphs=True)
            watch_graph(options, session.graph, debug_urls=[f"file://{folder}"])
            metadata = tf.RunMetadata()
            session.run(self.w, options=options, run_metadata=metadata)
            self.dump = DebugDumpDir(str(folder), partition_graphs=metadata.partition_graphs)
            self.dump.set_python_graph(session.graph)


@pytest.fixture
def dumped(tmp_path):
    return Dumped(tmp_path / "dump")


def test_tensors_between_backquotes_are_values(dumped):
    evaluator = ExpressionEvaluator(dumped.dump)
    assert evaluator.evaluate("np.sum(` w:0 `)") == 5.0
    np.testing.assert_allclose(evaluator.evaluate("`w:0[0]`.T + `w:0:DebugIdentity`.T"), [[14, -4]])
    with pytest.raises(ValueError, match="value of w:1:DebugIdentity being unavailable"):
        evaluator.evaluate("`w:1`")
    with pytest.raises(SyntaxError):
        evaluator.evaluate("`w:0` + `w:0")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("foo:1", (None, "foo", 1, "DebugIdentity", 0)),
        ("a/b:0:DebugNanCount", (None, "a/b", 0, "DebugNanCount", 0)),
        ("foo:1[20]", (None, "foo", 1, "DebugIdentity", 20)),
        (
            "/job:ps/replica:0/task:2/cpu:0:foo:1",
            ("/job:ps/replica:0/task:2/cpu:0", "foo", 1, "DebugIdentity", 0),
        ),
    ],
)
def test_parts_of_names(name, parts):
    assert _parse_debug_tensor_name(name) == parts


@pytest.mark.parametrize("name", ["foo", "foo:1:Op:2", "foo:1[]", "foo:1[Op]"])
def test_malformed_names(name):
    with pytest.raises(ValueError):
        _parse_debug_tensor_name(name)


def test_lines_are_annotated_with_the_nodes_that_they_made(dumped):
    nodes = sources.annotate_source(dumped.dump, __file__)
    assert nodes[dumped.u_line] == ["u"]
    assert nodes[dumped.w_line] == ["w"]
    tensors = sources.annotate_source(dumped.dump, __file__, do_dumped_tensors=True)
    assert tensors[dumped.w_line] == ["w:0"]
    some = sources.annotate_source(dumped.dump, __file__, min_line=dumped.w_line)
    assert list(some) == [dumped.w_line]
    dumped.dump.set_python_graph(None)
    with pytest.raises(ValueError, match="lack of set Python graph"):
        sources.annotate_source(dumped.dump, __file__)


def test_files_are_listed_with_what_they_made(dumped):
    (listed,) = sources.list_source_files_against_dump(
        dumped.dump, node_name_regex_whitelist="[uw]$"
    )
    assert listed[0] == __file__
    assert listed[1:4] == (False, 2, 2)
    assert listed[5] == dumped.u_line
    assert sources.list_source_files_against_dump(dumped.dump, path_regex_whitelist="/no") == []


def test_files_of_the_library_are_guessed():
    assert sources.guess_is_tensorflow_py_library(sources.__file__)
    assert not sources.guess_is_tensorflow_py_library(__file__)
    assert not sources.guess_is_tensorflow_py_library("bin/train")
    with pytest.raises(ValueError, match="not a Python source file"):
        sources.guess_is_tensorflow_py_library("foo.cc")


def test_a_file_is_loaded_with_the_width_of_its_numbers(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("\n" * 99)
    lines, width = sources.load_source(str(path))
    assert len(lines) == 100
    assert width == 5


def test_going_back_and_forward():
    history = CursesNavigationHistory(2)
    with pytest.raises(ValueError, match="Empty"):
        history.go_back()
    for command in ("first", "second", "third"):
        history.add_item(command, None, 0)
    assert history.size() == 2
    assert history.go_back().command == "second"
    assert not history.can_go_back()
    shown = history.render(30, "prev", "next")
    assert shown.lines == ["| <-- --> | (-1) second"]
    history.add_item("other", None, 3)
    assert history.go_forward().command == "other"
    assert not history.can_go_forward()
    assert history.render(14, "prev", "next").lines == ["| <-- --> | ot"]


def test_lines_without_their_spaces():
    test = tf.test.TestCase()
    assert_lines_equal_ignoring_whitespace(test, ["a b", "c"], ["ab", " c"])
    with pytest.raises(AssertionError):
        assert_lines_equal_ignoring_whitespace(test, ["a"], ["b"])
    assert_array_lines_close(test, [[1.0, 2.0]], ["array([[ 1.0,", "2.0 ]])"])
    with pytest.raises(AssertionError):
        assert_array_lines_close(test, [1.0], ["array([2.0])"])
