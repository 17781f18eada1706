"""Rich text, commands, menus, settings and values of the debugger's command line, as tfdbg's."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.debugger import array_lines, parse_debug_node_name, screens
from penstock.debugger.command_lines import ReadlineUI, get_ui
from penstock.debugger.command_registry import (
    EXPLICIT_USER_EXIT,
    CommandHandlerRegistry,
    CommandHistory,
    CommandLineExit,
    TabCompletionRegistry,
)
from penstock.debugger.menus import Menu, MenuItem
from penstock.debugger.rich_text import (
    RichLine,
    RichTextLines,
    regex_find,
    rich_text_lines_from_rich_line_list,
    wrap_rich_text_lines,
)
from penstock.debugger.settings import CLIConfig


@pytest.fixture(autouse=True)
def _plain_arrays():
    with np.printoptions(threshold=1000, edgeitems=3, linewidth=75):
        yield


def _poem():
    return RichTextLines(
        ["Roses are red", "Violets are blue"],
        font_attr_segs={0: [(0, 5, "red")], 1: [(0, 7, "blue")]},
        annotations={0: "first", "all": 1},
    )


def test_a_slice_keeps_what_belongs_to_its_lines():
    part = _poem().slice(1, 2)
    assert part.lines == ["Violets are blue"]
    assert part.font_attr_segs == {0: [(0, 7, "blue")]}
    assert part.annotations == {"all": 1}
    with pytest.raises(ValueError, match="Encountered negative index"):
        _poem().slice(-1, 1)


def test_lines_are_put_before_and_behind():
    text = RichTextLines("x", annotations={0: 1})
    text.extend(_poem())
    text.prepend("new", [(0, 2, "bold")])
    text.append_rich_line(RichLine("foo", "bold") + " bar" + RichLine("x", "red"))
    assert text.lines == ["new", "x", "Roses are red", "Violets are blue", "foo barx"]
    assert text.font_attr_segs[0] == [(0, 2, "bold")]
    assert text.font_attr_segs[2] == [(0, 5, "red")]
    assert text.font_attr_segs[4] == [(0, 3, "bold"), (7, 8, "red")]
    assert text.annotations == {1: 1, 2: "first", "all": 1}


def test_what_a_regular_expression_matches_is_marked():
    found = regex_find(_poem(), "are", "yellow")
    assert found.font_attr_segs[0] == [(0, 5, "red"), (6, 9, "yellow")]
    assert found.annotations["regex_match_lines"] == [0, 1]
    with pytest.raises(ValueError, match="Invalid regular expression"):
        regex_find(_poem(), "[", "yellow")


def test_long_lines_are_wrapped_with_their_attributes():
    wrapped, starts = wrap_rich_text_lines(_poem(), 6)
    assert wrapped.lines == ["Roses ", "are re", "d", "Violet", "s are ", "blue"]
    assert starts == [0, 3]
    assert wrapped.font_attr_segs == {0: [(0, 5, "red")], 3: [(0, 6, "blue")], 4: [(0, 1, "blue")]}
    assert wrapped.annotations == {0: "first", "all": 1}


def test_rich_lines_join_with_text_alone():
    with pytest.raises(TypeError, match="cannot be concatenated with a RichLine"):
        RichLine("a") + 3
    assert rich_text_lines_from_rich_line_list([RichLine("a", "b"), "c"]).lines == ["a", "c"]


def _registry():
    registry = CommandHandlerRegistry()

    def echo(argv, screen_info=None):
        return RichTextLines(list(argv))

    def fail(argv, screen_info=None):
        raise ValueError("no luck")

    def stop(argv, screen_info=None):
        raise SystemExit

    def leave(argv, screen_info=None):
        raise CommandLineExit("token")

    for handler in (echo, fail, stop, leave):
        name = handler.__name__
        registry.register_command_handler(name, handler, f"help of {name}", [name[0]])
    return registry


def test_commands_are_handled_by_prefix_or_alias():
    registry = _registry()
    assert registry.dispatch_command("e", ["1", "2"]).lines == ["1", "2"]
    told = registry.dispatch_command("fail", ["x"]).lines
    assert told[:2] == [
        "Error occurred during handling of command: fail x:",
        "<class 'ValueError'>: no luck",
    ]
    assert registry.dispatch_command("stop", []).lines[0] == "Syntax error for command: stop"
    with pytest.raises(CommandLineExit) as ended:
        registry.dispatch_command("leave", [])
    assert ended.value.exit_token == "token"
    with pytest.raises(ValueError, match='No handler is registered for command prefix "nope"'):
        registry.dispatch_command("nope", [])


def test_help_of_commands():
    registry = _registry()
    assert registry.get_help("echo").lines == ["echo", "  Aliases: e", "", "  help of echo"]
    assert registry.get_help("nope").lines == ['Invalid command prefix: "nope"']
    registry.set_help_intro(RichTextLines(["intro"]))
    assert registry.dispatch_command("help", []).lines[:3] == ["intro", "echo", "  Aliases: e"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("", print, ""), "Empty command prefix"),
        (("echo", print, ""), "already registered"),
        (("new", 3, ""), "handler is not callable"),
        (("new", print, 3), "help_info is not a str"),
        (("new", print, "", ["help"]), "clashes with existing prefixes or aliases"),
    ],
)
def test_what_a_registry_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        _registry().register_command_handler(*arguments)


def test_completions():
    registry = TabCompletionRegistry()
    registry.register_tab_comp_context(["w"], ["node_b", "node_a1", "node_a2"])
    assert registry.get_completions("w", "node_a") == (["node_a1", "node_a2"], "node_a")
    assert registry.get_completions("other", "node_a") == (None, None)
    registry.extend_comp_items("w", ["aa"])
    assert registry.get_completions("w", "")[1] == ""
    registry.remove_comp_items("w", ["aa"])
    assert registry.get_completions("w", "")[1] == "node_"
    with pytest.raises(KeyError, match="Cannot deregister unregistered context word"):
        registry.deregister_context(["w", "other"])


def test_the_history_is_kept_in_a_file(tmp_path):
    path = str(tmp_path / "history")
    history = CommandHistory(3, path)
    for command in ("a1", "a1", "b", "a2", "a3"):
        history.add_command(command)
    assert history.most_recent_n(2) == ["a2", "a3"]
    assert history.lookup_prefix("a", 5) == ["a2", "a3"]
    assert CommandHistory(2, path).most_recent_n(9) == ["a2", "a3"]


def test_a_menu_in_one_line():
    menu = Menu()
    menu.append(MenuItem("water", "w"))
    menu.append(MenuItem("air", "a", enabled=False))
    line = menu.format_as_single_line("M: ", " / ", "underline", "blue")
    assert line.lines == ["M: water / air / "]
    assert line.font_attr_segs[0] == [
        (3, 8, [menu.caption_to_item("water"), "underline"]),
        (11, 14, ["blue"]),
    ]
    with pytest.raises(LookupError, match='no menu item with the caption "fire"'):
        menu.caption_to_item("fire")


def test_settings_keep_their_types_and_are_kept(tmp_path):
    path = str(tmp_path / "settings")
    config = CLIConfig(path)
    told = []
    config.set_callback("mouse_mode", lambda settings: told.append(settings["mouse_mode"]))
    config.set("mouse_mode", "off")
    config.set("graph_recursion_depth", "7")
    assert told == [False]
    assert CLIConfig(path).get("graph_recursion_depth") == 7
    assert config.summarize().lines[2:] == ["  graph_recursion_depth: 7", "  mouse_mode: False"]
    with pytest.raises(ValueError, match="Invalid string value for bool type: maybe"):
        config.set("mouse_mode", "maybe")
    with pytest.raises(KeyError, match="x is not a valid property name"):
        config.get("x")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, "None"),
        (0, "0"),
        (1023, "1023"),
        (5120, "5.00k"),
        (3157353, "3.01M"),
        (2**30, "1.00G"),
    ],
)
def test_sizes(size, text):
    assert screens.bytes_to_readable_str(size) == text


@pytest.mark.parametrize(
    ("time", "text"), [(0, "0"), (40, "40us"), (40000, "40ms"), (3.5e9, "3.5e+03s")]
)
def test_times(time, text):
    assert screens.time_to_readable_str(time) == text


def test_what_is_shown_around_a_run():
    with tf.Graph().as_default():
        x, y = tf.placeholder(tf.float32, [], name="x"), tf.constant(1.0, name="y")
        told = screens.get_run_short_description(3, y, {x: 1.0})
        assert told == "run #3: 1 fetch (y:0); 1 feed (x:0)"
        assert screens.get_run_short_description(3, [x, y], None) == "run #3: 2 fetches; 0 feeds"
        intro = screens.get_run_start_intro(12, [y], {x: 1.0}, {"has_nan": None})
        assert intro.lines[1:8] == [
            "Session.run() call #12:",
            "",
            "Fetch(es):",
            "  y:0",
            "",
            "Feed dict:",
            "  x:0",
        ]
        assert intro.annotations["mm:"].captions() == ["run", "exit"]
        told = screens.get_error_intro(tf.errors.InternalError(None, y.op, "broken"))
        assert "  ni -a -d -t y:" in told.lines
        assert "Op name:    y" in told.lines


def test_a_value_under_its_name():
    lines = array_lines.format_tensor(
        np.zeros([2, 2]), "foo:0:DebugIdentity", include_metadata=True
    )
    assert lines.lines == [
        'Tensor "foo:0:DebugIdentity":',
        "  dtype: float64",
        "  shape: (2, 2)",
        "",
        "array([[0., 0.],",
        "       [0., 0.]])",
    ]
    assert lines.font_attr_segs == {0: [(8, 13, "bold"), (14, 27, "yellow")]}
    assert lines.annotations[5] == {"i0": [1, 0]}


def test_where_an_element_is_shown():
    options = {"threshold": 1000, "edgeitems": 2, "linewidth": 40}
    array = np.arange(2000.0).reshape(20, 100) + 0.5
    lines = array_lines.format_tensor(array, "a:0", np_printoptions=options)
    omitted, row, start, end = array_lines.locate_tensor_element(lines, [0, 1])
    assert not omitted
    assert lines.lines[row][start:end] == "1.5000e+00"
    assert array_lines.locate_tensor_element(lines, [7, 3])[0]
    for place, message in (
        ([20, 0], "Indices exceed tensor dimensions."),
        ([0], "Dimensions mismatch: requested: 1; actual: 2"),
        ([-1, 0], "Indices contain negative value"),
        ([[1, 0], [0, 0]], "not in ascending order"),
    ):
        with pytest.raises(ValueError, match=message):
            array_lines.locate_tensor_element(lines, place)


def test_highlighted_elements():
    options = screens.parse_ranges_highlight("[[-3,-2],[4,inf]]")
    array = np.array([[1.5, -2.5], [3.5, 4.5]])
    lines = array_lines.format_tensor(array, "a:0", highlight_options=options)
    told = 'Tensor "a:0": Highlighted([[-3,-2],[4,inf]]): 2 of 4 element(s) (50.00%)'
    assert lines.lines[0] == told
    assert [
        lines.lines[row][segments[-1][0] : segments[-1][1]]
        for row, segments in lines.font_attr_segs.items()
        if row
    ] == ["-2.5", "4.5"]


@pytest.mark.parametrize(
    ("array", "lines"),
    [
        (
            np.array([1.0, -2.0, 0.0, np.nan, np.inf, -np.inf, 3.0]),
            [
                "|  nan -inf    -    0    + +inf | total |",
                "|    1    1    1    1    2    1 |     7 |",
                "|               min               max              mean               std |",
                "|              -2.0               3.0               0.5 1.8027756377319946 |",
            ],
        ),
        (np.array([True, False, True]), ["| False  True | total |", "|     1     2 |     3 |"]),
        (np.array([], float), ["No numeric summary available due to empty tensor."]),
        (np.array(["a"]), ["No numeric summary available due to tensor dtype: <U1."]),
    ],
)
def test_numeric_summaries(array, lines):
    found = array_lines.numeric_summary(array).lines
    assert [" ".join(line.split()) for line in found] == [" ".join(line.split()) for line in lines]


def test_commands_are_read_until_one_ends_the_loop(tmp_path, capsys):
    window = get_ui("readline", config=CLIConfig(str(tmp_path / "settings")))
    assert isinstance(window, ReadlineUI)
    window.register_command_handler(
        "echo", lambda argv, screen_info=None: RichTextLines(list(argv)), "says it again"
    )
    output = tmp_path / "output"
    commands = iter(['echo 1 "2 3"', "nope", f"echo x > {output}", "exit"])
    window._input = lambda prompt: next(commands)
    assert window.run_ui(title="Debugger") == EXPLICIT_USER_EXIT
    shown = capsys.readouterr().out.split("\n")
    assert [line for line in shown if line][:4] == [
        "Debugger",
        "1",
        "2 3",
        'ERROR: Invalid command prefix "nope"',
    ]
    assert output.read_text() == "x\n"
    assert window._analyze_tab_complete_input("pt a b") == ("pt", "b", "pt a ")
    with pytest.raises(ValueError, match="Invalid ui_type: 'other'"):
        get_ui("other")


def test_names_of_debug_nodes():
    assert parse_debug_node_name("__dbg_a/b:1_0_DebugIdentity") == ("a/b", 1, 0, "DebugIdentity")
    for name, message in (
        ("a:1_0_DebugIdentity", "Invalid prefix in debug node name"),
        ("__dbg_a:1", "Invalid debug node name"),
        ("__dbg_a_0_DebugIdentity", "Invalid tensor name in debug node name"),
    ):
        with pytest.raises(ValueError, match=message):
            parse_debug_node_name(name)
