"""The commands about a profiled run: times of nodes and of source lines."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from penstock.python.debug.cli import profile_analyzer_cli
from penstock.python.debug.cli.debugger_cli_common import INIT_SCROLL_POS_KEY, MenuItem

import penstock as tf
from penstock.proto import NodeExecStats


def node(name: str, start: int, op_time: int, time: int) -> Any:
    return NodeExecStats(
        node_name=name, all_start_micros=start, op_end_rel_micros=op_time, all_end_rel_micros=time
    )


@pytest.fixture
def source(tmp_path: Path) -> str:
    path = tmp_path / "model.py"
    path.write_text("first\nsecond\nthird\n")
    return str(path)


@pytest.fixture
def analyzer(source: str) -> Any:
    library = (tf.__file__, 7, "add", "")
    operations = [
        SimpleNamespace(name="sum", type="Add", traceback=[(source, 1, "build", ""), library]),
        SimpleNamespace(name="times", type="Mul", traceback=[(source, 3, "build", "")]),
    ]
    metadata = tf.RunMetadata()
    first = metadata.step_stats.dev_stats.add(device="/cpu:0")
    first.node_stats.extend([node("_SOURCE", 1, 1, 1), node("sum", 20, 3, 4)])
    first.node_stats.extend([node("times", 10, 1000, 2000), node("times", 30, 500, 600)])
    second = metadata.step_stats.dev_stats.add(device="/gpu:0")
    second.node_stats.extend([node("copy", 5, 0, 1)])
    graph = SimpleNamespace(get_operations=lambda: operations)
    return profile_analyzer_cli.ProfileAnalyzer(graph, metadata)


def rows(out: Any) -> list[str]:
    return [line.split()[0] for line in out.lines if line.startswith(("sum", "times", "copy"))]


def links(out: Any, line: int) -> list[str]:
    return [
        each.content
        for _, _, attribute in out.font_attr_segs.get(line, ())
        for each in (attribute if isinstance(attribute, list) else [attribute])
        if isinstance(each, MenuItem)
    ]


def test_metadata_is_needed() -> None:
    with pytest.raises(ValueError, match="No RunMetadata"):
        profile_analyzer_cli.ProfileAnalyzer(tf.Graph(), None)


def test_devices_have_tables_with_sums(analyzer: Any, source: str) -> None:
    out = analyzer.list_profile([], {"cols": 40})
    assert out.lines[1] == "-" * 40
    assert out.lines[2] == "Device 1 of 2: /cpu:0"
    assert rows(out) == ["times", "sum", "times", "copy"]
    total = next(line for line in out.lines if line.startswith("Device Total"))
    assert total.split() == ["Device", "Total", "1503us", "2604us"]
    assert links(out, 4)[:3] == [
        "list_profile -s node",
        "list_profile -s op_type",
        "list_profile -s start_time -r",
    ]
    assert links(out, 5) == [f"ps {source} --init_line 3"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["-d", "/gpu"], ["copy"]),
        (["-n", "s.*"], ["sum"]),
        (["-t", "Mul", "-d", "/cpu"], ["times", "times"]),
        (["-e", ">1ms"], ["times"]),
        (["-o", "[1us,600us]"], ["sum", "times"]),
        (["-f", ".*model.py", "--min_lineno", "2"], ["times", "times"]),
        (["-f", ".*model.py", "--max_lineno", "2"], ["sum"]),
        (["-s", "exec_time", "-d", "/cpu"], ["sum", "times", "times"]),
        (["-s", "node", "-r", "-d", "/cpu"], ["times", "times", "sum"]),
        (["-s", "line", "-d", "/cpu"], ["sum", "times", "times"]),
    ],
)
def test_nodes_are_chosen_and_sorted(analyzer: Any, words: list[str], names: list[str]) -> None:
    assert rows(analyzer.list_profile(words)) == names


def test_units_and_filters_are_passed_on(analyzer: Any, source: str) -> None:
    out = analyzer.list_profile(["-t", "Mul", "-d", "/cpu", "--time_unit", "ms"])
    assert "Exec Time (ms)" in out.lines[4]
    assert out.lines[5].split()[3:5] == ["1ms", "2ms"]
    assert links(out, 5) == [
        f"ps --device_name_filter /cpu --op_type_filter Mul {source} --init_line 3"
    ]


def test_lines_of_a_source_have_bars(analyzer: Any, source: str) -> None:
    out = analyzer.print_source([source, "--init_line", "2"])
    assert [line.split() for line in out.lines[:2]] == [
        ["exec_time", "#nodes", "lineno"],
        ["(#execs)", "source"],
    ]
    assert out.lines[2].startswith("[|         ] 4us ")
    assert out.lines[3].strip() == "L2 second"
    assert out.lines[4].startswith("[||||||||||] 2600us")
    assert "1(2)" in out.lines[4]
    assert out.annotations[INIT_SCROLL_POS_KEY] == 3
    assert "--min_lineno 3 --max_lineno 4" in links(out, 4)[0]


def test_a_source_without_nodes_says_so(analyzer: Any, source: str) -> None:
    out = analyzer.print_source([source, "-n", "nobody"])
    assert "does not contain any profile information" in out.lines[0]
    assert out.lines[2] == "  --node_name_filter: nobody"


def test_cells_are_checked(analyzer: Any) -> None:
    view = profile_analyzer_cli.ProfileDataTableView([])
    assert (view.row_count(), view.column_count()) == (0, 6)
    with pytest.raises(IndexError):
        view.value(0, 0)
