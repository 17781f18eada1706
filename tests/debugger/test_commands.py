"""Words of the debugger's commands, names of runs, and sums of times."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from penstock.python.debug.cli import command_parser as parser
from penstock.python.debug.lib import common, profiling

import penstock as tf


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("", []),
        ("  help  ", ["help"]),
        ("pt a[0, :] -r '[1, 2]'", ["pt", "a[0, :]", "-r", "[1, 2]"]),
        ('lt "a b" c', ["lt", "a b", "c"]),
    ],
)
def test_words(command: str, words: list[str]) -> None:
    assert parser.parse_command(command) == words


@pytest.mark.parametrize(
    ("words", "rest", "path"),
    [
        ([], [], None),
        (["pt", "a"], ["pt", "a"], None),
        (["pt", "a", ">", "f"], ["pt", "a"], "f"),
        (["pt", "a", ">f"], ["pt", "a"], "f"),
        (["pt", "a>f"], ["pt", "a"], "f"),
        (["pt", "a>", "f"], ["pt", "a"], "f"),
        (["lp", "-o", ">10us"], ["lp", "-o", ">10us"], None),
        (["lp", "x=>3"], ["lp", "x=>3"], None),
    ],
)
def test_redirections(words: list[str], rest: list[str], path: str | None) -> None:
    assert parser.extract_output_file_path(words) == (rest, path)


def test_a_redirection_needs_a_path() -> None:
    with pytest.raises(SyntaxError, match="path is empty"):
        parser.extract_output_file_path(["a", ">"])


def test_slices() -> None:
    assert parser.parse_tensor_name_with_slicing("a:0[1, :]") == ("a:0", "[1, :]")
    assert parser.parse_tensor_name_with_slicing("a:0") == ("a:0", "")
    array = np.arange(12).reshape(3, 4)
    assert parser.evaluate_tensor_slice(array, "[1, ::2]").tolist() == [4, 6]
    with pytest.raises(ValueError, match="Invalid tensor-slicing"):
        parser.evaluate_tensor_slice(array, "[a]")
    assert parser.parse_indices("[1, 2, -3]") == [1, 2, -3]
    assert parser.parse_ranges("[-0.1, inf]")[0][1] > 1e300 and parser.parse_ranges(" ") == []
    with pytest.raises(ValueError, match="Incorrect number"):
        parser.parse_ranges("[1, 2, 3]")


def test_intervals() -> None:
    sizes = parser.parse_memory_interval("[1.5k, 2MB)")
    assert sizes == parser.Interval(1536, True, 2 << 20, False)
    assert sizes.contains(1536) and not sizes.contains(2 << 20)
    times = parser.parse_time_interval(">= 2ms")
    assert times.contains(2000) and not times.contains(1999.5)
    assert parser.parse_readable_time_str("1.5s") == 1_500_000
    for text, message in (
        ("[2k, 1k]", "less than or equal"),
        ("<= a", "after <="),
        ("1, 2", "Invalid interval format"),
        ("[1]", "should specify two values"),
        ("[x, 2]", "Invalid first item"),
    ):
        with pytest.raises(ValueError, match=message):
            parser.parse_memory_interval(text)
    with pytest.raises(ValueError, match="must be positive"):
        parser.parse_readable_time_str("-5us")
    with pytest.raises(ValueError, match="Failed to parsed"):
        parser.parse_readable_size_str("5x")


def test_arguments_of_print_tensor() -> None:
    found = parser.get_print_tensor_argparser("d").parse_args(["a:0", "-n", "2", "-a"])
    assert (found.tensor_name, found.number, found.print_all, found.ranges) == ("a:0", 2, True, "")


def test_names_of_runs() -> None:
    with tf.Graph().as_default():
        a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
        assert common.get_flattened_names([a, {"x": (b, "c:0")}]) == ["a:0", "b:0", "c:0"]
        assert common.get_run_key({"f": a}, b.op) == '[["a:0"], ["b"]]'


def test_sums_of_times() -> None:
    def datum(name: str, start: int) -> Any:
        stats = SimpleNamespace(
            node_name=name,
            all_start_micros=start,
            op_start_rel_micros=1,
            op_end_rel_micros=4,
            all_end_rel_micros=5,
        )
        return profiling.ProfileDatum("cpu", stats, "/a/b.py", 7, "f", "Add")

    first = datum("x", 10)
    assert (first.file_line_func, first.op_time, first.exec_time) == ("b.py:7(f)", 3, 5)
    total = profiling.AggregateProfile(first)
    total.add(datum("x", 20))
    total.add(datum("y", 30))
    assert (total.total_op_time, total.total_exec_time) == (9, 15)
    assert (total.node_count, total.node_exec_count) == (2, 3)
