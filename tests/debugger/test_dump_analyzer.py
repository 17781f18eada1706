"""The commands about a dump: lists of tensors, values, nodes, sources, expressions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from penstock.python import debug as tfdbg
from penstock.python.debug.cli import analyzer_cli, cli_config
from penstock.python.debug.cli.debugger_cli_common import (
    INIT_SCROLL_POS_KEY,
    MAIN_MENU_KEY,
    MenuItem,
    RichTextLines,
)

import penstock as tf


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> tfdbg.DebugDumpDir:
    folder = str(tmp_path_factory.mktemp("dumps") / "run")
    config = tf.ConfigProto(device_count={"GPU": 0})  # where nodes are copied to other memory
    with tf.Graph().as_default() as graph, tf.Session(config=config) as sess:
        u = tf.Variable([[2.0, 1.0]], name="u")
        product = tf.matmul(u, [[3.0], [4.0]], name="product")
        with tf.control_dependencies([product]):
            last = tf.log(product - 10.0, name="last")
        loop = tf.while_loop(lambda i: i < 3, lambda i: tf.add(i, 1, name="next"), [0])
        parts = tf.split(u, 2, axis=1, name="parts")
        sess.run(u.initializer)
        options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
        tfdbg.watch_graph(options, graph, debug_urls=[f"file://{folder}"])
        sess.run([last, loop, parts], options=options, run_metadata=metadata)
    found = tfdbg.DebugDumpDir(folder, partition_graphs=metadata.partition_graphs)
    found.set_python_graph(graph)
    return found


@pytest.fixture
def analyzer(dump: tfdbg.DebugDumpDir, tmp_path: Path) -> Any:
    config = cli_config.CLIConfig(config_file_path=str(tmp_path / "settings"))
    made = analyzer_cli.DebugAnalyzer(dump, config)
    made.add_tensor_filter("has_inf_or_nan", tfdbg.has_inf_or_nan)
    return made


def links(lines: RichTextLines) -> Iterator[str]:
    """The commands behind the links of a text."""
    for segments in lines.font_attr_segs.values():
        for _, _, attribute in segments:
            for each in attribute if isinstance(attribute, list) else [attribute]:
                if isinstance(each, MenuItem):
                    yield each.content


def enabled(lines: RichTextLines) -> list[str]:
    menu = lines.annotations[MAIN_MENU_KEY]
    return [name for name in menu.captions() if menu.caption_to_item(name).is_enabled()]


def listed(lines: RichTextLines) -> list[str]:
    """The tensors of `list_tensors`: the rows begin with a time in brackets."""
    return [line.split()[-1] for line in lines.lines if line.startswith("[")]


def test_tensors_are_listed_in_columns(analyzer: Any, dump: Any) -> None:
    out = analyzer.list_tensors([])
    assert out.lines[0] == f"{dump.size} dumped tensor(s):"
    assert out.lines[2].split("  ")[0].startswith("t (ms)")
    column = out.lines[2].index("Tensor name")
    assert {len(line[:column].rstrip()) < column for line in out.lines[3:]} == {True}
    assert out.lines[3][column:] == listed(out)[0]
    commands = list(links(out))
    assert commands[0] == "list_tensors -s timestamp -r"
    assert f"pt {listed(out)[-1]}" in commands
    assert "list_tensors" not in enabled(out)


def test_filters_of_names_and_types_are_told(analyzer: Any) -> None:
    out = analyzer.list_tensors(["-n", "pro.*", "-t", "MatMul"])
    assert out.lines[:4] == [
        "1 dumped tensor(s):",
        'Op type regex filter: "MatMul"',
        'Node name regex filter: "pro.*"',
        "",
    ]
    assert listed(out) == ["product:0"]
    assert "list_tensors -t MatMul -n pro.* -s op_type" in links(out)


def test_tensors_that_pass_a_filter(analyzer: Any) -> None:
    out = analyzer.list_tensors(["-f", "has_inf_or_nan"])
    assert out.lines[0] == '1 dumped tensor(s) passing filter "has_inf_or_nan":'
    assert listed(out) == ["last:0"]
    none = analyzer.list_tensors(["-f", "has_inf_or_nan", "-fenn", "la.*"])
    assert listed(none) == []
    assert analyzer.list_tensors(["-f", "other"]).lines == [
        'ERROR: There is no tensor filter named "other".'
    ]
    with pytest.raises(ValueError, match="valid only when the flag -f"):
        analyzer.list_tensors(["-fenn", "x"])


@pytest.mark.parametrize(
    ("key", "of"),
    [
        ("tensor_name", lambda dump, datum: datum.tensor_name),
        ("dump_size", lambda dump, datum: datum.dump_size_bytes),
        ("op_type", lambda dump, datum: dump.node_op_type(datum.node_name)),
    ],
)
def test_tensors_are_sorted(analyzer: Any, dump: Any, key: str, of: Any) -> None:
    for flags, reverse in (([], False), (["-r"], True)):
        expected = sorted(
            dump.dumped_tensor_data, key=lambda datum: of(dump, datum), reverse=reverse
        )
        found = listed(analyzer.list_tensors(["-s", key, *flags]))
        assert found == [datum.tensor_name for datum in expected]


def test_an_unknown_order_is_an_error(analyzer: Any) -> None:
    with pytest.raises(ValueError, match="Unsupported key to sort tensors by: colour"):
        analyzer.list_tensors(["-s", "colour"])


@pytest.mark.parametrize(
    ("name", "predicate", "error"),
    [("", len, ValueError), (3, len, TypeError), ("name", "no function", TypeError)],
)
def test_filters_are_checked(analyzer: Any, name: Any, predicate: Any, error: Any) -> None:
    with pytest.raises(error, match="Input argument"):
        analyzer.add_tensor_filter(name, predicate)


def test_a_node_with_its_neighbours(analyzer: Any) -> None:
    out = analyzer.node_info(["sub/y:0"])
    assert out.lines[0] == "Node sub/y"
    assert out.lines[2] == "  Op: Const"
    text = "\n".join(out.lines)
    assert "  0 input(s) + 1 control input(s):" in text
    assert "    1 control input(s):\n      [MatMul] product" in text
    assert "    1 recipient(s):\n      [Sub] sub" in text
    assert "ni -a -d -t sub" in links(out)
    assert enabled(out)[:3] == ["list_tensors", "print_tensor", "list_inputs"]


def test_a_node_with_all_that_is_known(analyzer: Any) -> None:
    out = analyzer.node_info(["-a", "-d", "-t", "product"])
    assert "  transpose_a:" in out.lines
    assert "1 dumped tensor(s):" in out.lines
    assert "Traceback of node construction:" in out.lines
    assert any(__file__ in line for line in out.lines)
    assert "pt product:0 -n 0" in links(out)


def test_no_such_node(analyzer: Any) -> None:
    text = 'ERROR: There is no node named "nobody" in the partition graphs'
    for command in (analyzer.node_info, analyzer.list_inputs, analyzer.list_outputs):
        assert command(["nobody"]).lines == [text]


def test_inputs_as_a_tree(analyzer: Any) -> None:
    out = analyzer.list_inputs(["-c", "-r", "-t", "last"])
    assert out.lines == [
        'Inputs to node "last" (Depth limit = 20, control inputs included):',
        "|- (1) [Sub] sub",
        "   |- (2) [MatMul] product",
        "   |  |- (3) [Identity] u/read",
        "   |  |  |- (4) [VariableV2] u",
        "   |  |- (3) [Const] product/b",
        "   |- (2) [Const] sub/y",
        "      |- (3) (Ctrl) [MatMul] product",
        "         |- (4) [Identity] u/read",
        "         |  |- (5) [VariableV2] u",
        "         |- (4) [Const] product/b",
        "",
        "Legend:",
        "  (d): recursion depth = d.",
        "  (Ctrl): Control input.",
        "  [Op]: Input node has op type Op.",
    ]
    assert next(links(out)) == "li -c -r sub"


def test_a_tree_ends_at_its_depth(analyzer: Any) -> None:
    out = analyzer.list_inputs(["-r", "-d", "1", "last"])
    assert out.lines[1:4] == ["|- (1) sub", "   |- ...", ""]
    assert analyzer.list_inputs(["u"]).lines[1] == "  [None]"


def test_recipients(analyzer: Any) -> None:
    out = analyzer.list_outputs(["product"])
    assert out.lines[:2] == ['Recipients of node "product" (Depth limit = 1):', "|- (1) sub"]


def test_the_depth_follows_the_settings(dump: Any, tmp_path: Path) -> None:
    config = cli_config.CLIConfig(config_file_path=str(tmp_path / "settings"))
    analyzer = analyzer_cli.DebugAnalyzer(dump, config)
    config.set("graph_recursion_depth", 1)
    assert "   |- ..." in analyzer.list_inputs(["-r", "last"]).lines


def test_a_tensor_s_value(analyzer: Any, tmp_path: Path) -> None:
    out = analyzer.print_tensor(["product"])
    assert out.lines[:4] == [
        'Tensor "product:0:DebugIdentity":',
        "  dtype: float32",
        "  shape: (1, 1)",
        "",
    ]
    part = analyzer.print_tensor(["product:0[0, :]", "-s", "-w", str(tmp_path / "value.npy")])
    assert part.lines[0] == 'Tensor "product:0:DebugIdentity[0, :]":'
    assert "Numeric summary:" in part.lines
    assert np.load(tmp_path / "value.npy").tolist() == [10.0]


def test_a_tensor_of_several_dumps(analyzer: Any) -> None:
    out = analyzer.print_tensor(["while/next:0"])
    assert out.lines[0] == 'Tensor "while/next:0" generated 3 dumps:'
    assert list(links(out))[1] == "print_tensor while/next:0 -n 1"
    one = analyzer.print_tensor(["while/next:0", "-n", "1"])
    assert one.lines[0] == 'Tensor "while/next:0:DebugIdentity (dump #1)":'
    assert one.lines[-1] == "array(2, dtype=int32)"
    assert "exceeds the number" in analyzer.print_tensor(["while/next:0", "-n", "9"]).lines[0]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["product", "-n", "1"], "Invalid number (1) for tensor product"),
        (["nobody:0"], 'Node "nobody" does not exist'),
        (["product:1"], 'Tensor "product:1" did not generate any dumps.'),
        (["parts"], 'Node "parts" generated debug dumps from 2 output slots:'),
    ],
)
def test_tensors_that_are_not_there(analyzer: Any, words: list[str], told: str) -> None:
    assert told in analyzer.print_tensor(words).lines[0]


def test_an_expression(analyzer: Any) -> None:
    out = analyzer.evaluate_expression(["np.sum(`product:0`) * 2"])
    assert out.lines[0] == "Tensor \"from eval of expression 'np.sum(`product:0`) * 2'\":"
    assert any("20.0" in line for line in out.lines)


def test_source_files(analyzer: Any) -> None:
    out = analyzer.list_source(["-p", ".*test_dump_analyzer.py", "-n", "product"])
    assert out.lines[:3] == [
        "List of source files that created nodes in this run",
        'File path regex filter: ".*test_dump_analyzer.py"',
        'Node name regex filter: "product"',
    ]
    assert any(line.split()[:1] == [__file__] for line in out.lines)
    assert out.lines[-3:] == ["TensorFlow Python library file(s):", "[No files.]", ""]
    assert analyzer.list_source(["-p", "nowhere"]).lines[-1] == "[No source file information.]"


def test_a_source_with_what_it_made(analyzer: Any) -> None:
    out = analyzer.print_source([__file__, "-m", "1", "-b", "30"])
    number = next(i for i, line in enumerate(out.lines) if 'name="product")' in line)
    assert out.lines[number].startswith("L")
    assert out.lines[number + 1] == "    product"
    assert out.lines[number + 2] == "    (... Omitted 1 of 2 op(s) ...) +5"
    begin = out.annotations[INIT_SCROLL_POS_KEY]
    assert out.lines[begin].startswith("L30 ")
    tensors = analyzer.print_source([__file__, "-t"])
    assert "    product:0" in tensors.lines


def test_a_command_line_has_all_commands(
    dump: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = cli_config.CLIConfig(config_file_path=str(tmp_path / "settings"))
    ui = analyzer_cli.create_analyzer_ui(
        dump, {"has_inf_or_nan": tfdbg.has_inf_or_nan}, ui_type="readline", config=config
    )
    ui._dispatch_command("lt -f has_inf_or_nan")
    ui._dispatch_command("ni last")
    printed = capsys.readouterr().out
    assert '1 dumped tensor(s) passing filter "has_inf_or_nan":' in printed
    assert "  Op: Log" in printed
    completions, _ = ui._tab_completion_registry.get_completions("pt", "prod")
    assert "product:0" in completions
