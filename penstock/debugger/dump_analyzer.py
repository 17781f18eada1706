"""`DebugAnalyzer`: the commands about a dump, as the command-line debugger calls them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from penstock.debugger import (
    analyzer_arguments,
    command_lines,
    command_words,
    node_screens,
    screens,
    source_screens,
)
from penstock.debugger.dumped_graph import get_node_name, parse_node_or_tensor_name
from penstock.debugger.expressions import ExpressionEvaluator
from penstock.debugger.menus import MAIN_MENU_KEY, Menu, MenuItem
from penstock.debugger.rich_text import RichTextLines
from penstock.debugger.settings import CLIConfig
from penstock.debugger.tensor_table import TensorTable

__all__ = [
    *("CTRL_LABEL", "DEPTH_TEMPLATE", "ELLIPSIS", "HANG_FINISHED", "HANG_SUFFIX"),
    *("HANG_UNFINISHED", "OP_TYPE_TEMPLATE", "RL", "SORT_TENSORS_BY_DUMP_SIZE"),
    *("SORT_TENSORS_BY_OP_TYPE", "SORT_TENSORS_BY_TENSOR_NAME", "SORT_TENSORS_BY_TIMESTAMP"),
    *("DebugAnalyzer", "create_analyzer_ui"),
]

TensorFilter = Callable[[Any, Any], bool]

_OF_A_NODE = {
    "node_info": "node_info -a -d -t",
    "print_tensor": "print_tensor",
    "list_inputs": "list_inputs -c -r",
    "list_outputs": "list_outputs -c -r",
}


def _add_main_menu(out: RichTextLines, node_name: str | None = None, without: str = "") -> None:
    """Gives a screen the menu of all commands; the one that made the screen is disabled."""
    menu = Menu()
    menu.append(MenuItem("list_tensors", "list_tensors", enabled=without != "list_tensors"))
    for caption, command in _OF_A_NODE.items():
        content = f"{command} {node_name}" if node_name else ""
        menu.append(MenuItem(caption, content, enabled=bool(node_name) and caption != without))
    menu.append(MenuItem("run_info", "run_info"))
    menu.append(MenuItem("help", "help"))
    out.annotations[MAIN_MENU_KEY] = menu


class DebugAnalyzer:
    """Handlers of the commands about one dump: each takes words and gives lines.

    Args:
      debug_dump: a `DebugDumpDir`.
      config: a `CLIConfig`; its `graph_recursion_depth` is the default depth of trees.
    """

    def __init__(self, debug_dump: Any, config: CLIConfig):
        self._debug_dump = debug_dump
        self._evaluator = ExpressionEvaluator(debug_dump)
        self._tensor_filters: dict[str, TensorFilter] = {}
        self._build_argument_parsers(config)
        config.set_callback("graph_recursion_depth", self._build_argument_parsers)

    def _build_argument_parsers(self, config: Any) -> None:
        self._arg_parsers = analyzer_arguments.parsers(config.get("graph_recursion_depth"))

    def _parsed(self, command: str, args: list[str]) -> argparse.Namespace:
        return self._arg_parsers[command].parse_args(args)

    def get_help(self, handler_name: str) -> str:
        """The help text of a command."""
        return self._arg_parsers[handler_name].format_help()

    # Filters ------------------------------------------------------------------------------------

    def add_tensor_filter(self, filter_name: str, filter_callable: TensorFilter) -> None:
        """Names a predicate of a dumped tensor's datum and value for `list_tensors -f`."""
        if not isinstance(filter_name, str):
            raise TypeError("Input argument filter_name is expected to be str, but is not.")
        if not filter_name:
            raise ValueError("Input argument filter_name cannot be empty.")
        if not callable(filter_callable):
            raise TypeError(
                "Input argument filter_callable is expected to be callable, but is not."
            )
        self._tensor_filters[filter_name] = filter_callable

    def get_tensor_filter(self, filter_name: str) -> TensorFilter:
        """The predicate of a name."""
        if filter_name not in self._tensor_filters:
            raise ValueError(f'There is no tensor filter named "{filter_name}"')
        return self._tensor_filters[filter_name]

    # Tensors ------------------------------------------------------------------------------------

    def list_tensors(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """The dumped tensors, or those that pass filters."""
        given = self._parsed("list_tensors", args)
        if given.filter_exclude_node_names and not given.tensor_filter:
            raise ValueError(
                "The flag --filter_exclude_node_names is valid only when the flag -f or "
                "--tensor_filter is used."
            )
        data = self._debug_dump.dumped_tensor_data
        passing = ""
        if given.tensor_filter:
            if given.tensor_filter not in self._tensor_filters:
                text = f'There is no tensor filter named "{given.tensor_filter}".'
                return self._refused(text, without="list_tensors")
            passing = f' passing filter "{given.tensor_filter}"'
            data = self._debug_dump.find(
                self._tensor_filters[given.tensor_filter],
                exclude_node_names=given.filter_exclude_node_names,
            )
        table, count = TensorTable(self._debug_dump, data).lines(given)
        out = RichTextLines([f"{count} dumped tensor(s){passing}:"])
        if given.op_type_filter:
            out.append(f'Op type regex filter: "{given.op_type_filter}"')
        if given.node_name_filter:
            out.append(f'Node name regex filter: "{given.node_name_filter}"')
        out.append("")
        out.extend(table)
        _add_main_menu(out, without="list_tensors")
        return out

    def print_tensor(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """A dumped tensor's value, or part of it."""
        given = self._parsed("print_tensor", args)
        options = screens.numpy_printoptions_from_screen_info(screen_info)
        highlight = screens.parse_ranges_highlight(given.ranges)
        name, part = command_words.parse_tensor_name_with_slicing(given.tensor_name)
        node_name, slot = parse_node_or_tensor_name(name)
        dump = self._debug_dump
        if dump.loaded_partition_graphs() and not dump.node_exists(node_name):
            text = f'Node "{node_name}" does not exist in partition graphs'
            return self._refused(text, without="print_tensor")
        data = [d for key in dump.debug_watch_keys(node_name) for d in dump.watch_key_to_data(key)]
        slots = {datum.output_slot for datum in data}
        if slot is None and len(slots) != 1:
            out = RichTextLines(
                [
                    f'Node "{node_name}" generated debug dumps from {len(slots)} output slots:',
                    f"Please specify the output slot: {node_name}:x.",
                ]
            )
        else:
            slot = slots.pop() if slot is None else slot
            data = [datum for datum in data if datum.output_slot == slot]
            out = self._values(data, given, part, options, highlight)
            if not data:  # as in TensorFlow, this screen has no menu
                return out
        _add_main_menu(out, node_name, without="print_tensor")
        return out

    def _values(
        self, data: list[Any], given: Any, part: str, options: dict[str, Any], highlight: Any
    ) -> RichTextLines:
        """The value that is asked for, or what there is to ask for."""
        name, number = given.tensor_name, given.number
        if not data:
            return screens.error(f'Tensor "{name}" did not generate any dumps.')
        if len(data) == 1 and number > 0:
            return screens.error(
                f"Invalid number ({number}) for tensor {name}, which generated one dump."
            )
        if number >= len(data):
            return screens.error(
                f"Specified number ({number}) exceeds the number of available dumps "
                f"({len(data)}) for tensor {name}"
            )
        if len(data) > 1 and number < 0:
            return self._choice(name, data)
        datum = data[max(number, 0)]
        return screens.format_tensor(
            datum.get_tensor(),
            datum.watch_key + (f" (dump #{number})" if len(data) > 1 else ""),
            options,
            print_all=given.print_all,
            tensor_slicing=part,
            highlight_options=highlight,
            include_numeric_summary=given.numeric_summary and len(data) == 1,
            write_path=given.write_path,
        )

    def _choice(self, name: str, data: list[Any]) -> RichTextLines:
        """The dumps of a tensor of several."""
        out = RichTextLines([f'Tensor "{name}" generated {len(data)} dumps:'])
        for number, datum in enumerate(data):
            ms = (datum.timestamp - self._debug_dump.t0) / 1000.0
            line = f"#{number} [{ms:.3f} ms] {datum.watch_key}"
            link = MenuItem("", f"print_tensor {name} -n {number}")
            out.append(line, [(len(line) - len(datum.watch_key), len(line), link)])
        for line in (
            "",
            "You can use the -n (--number) flag to specify which dump to print.",
            "For example:",
            f"  print_tensor {name} -n 0",
        ):
            out.append(line)
        return out

    def evaluate_expression(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """The value of an expression of dumped tensors."""
        given = self._parsed("eval", args)
        return screens.format_tensor(
            self._evaluator.evaluate(given.expression),
            f"from eval of expression '{given.expression}'",
            screens.numpy_printoptions_from_screen_info(screen_info),
            print_all=given.print_all,
            include_numeric_summary=True,
            write_path=given.write_path,
        )

    # Nodes --------------------------------------------------------------------------------------

    def node_info(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """What is known of a node."""
        given = self._parsed("node_info", args)
        node_name, _ = parse_node_or_tensor_name(given.node_name)
        if not self._debug_dump.node_exists(node_name):
            return self._refused(node_screens.no_such_node(node_name))
        out = node_screens.summary(self._debug_dump, node_name)
        if given.attributes:
            out.extend(node_screens.attributes(self._debug_dump, node_name))
        if given.dumps:
            out.extend(node_screens.dumps(self._debug_dump, node_name))
        if given.traceback:
            out.extend(node_screens.traceback(self._debug_dump, node_name))
        _add_main_menu(out, node_name, without="node_info")
        return out

    def list_inputs(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """A node's inputs, theirs, and so on."""
        return self._neighbours("list_inputs", args, "Inputs to", "inputs", "li")

    def list_outputs(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """The nodes that use a node, those that use them, and so on."""
        return self._neighbours("list_outputs", args, "Recipients of", "recipients", "lo")

    def _neighbours(
        self, command: str, args: list[str], title: str, plural: str, alias: str
    ) -> RichTextLines:
        given = self._parsed(command, args)
        node_name = get_node_name(given.node_name)
        if self._debug_dump.node_exists(node_name):
            tree = node_screens.NeighbourTree(
                self._debug_dump,
                getattr(self._debug_dump, f"node_{plural}"),
                alias,
                given.depth if given.recursive else 1,
                given.control,
                given.op_type,
            )
            out = tree.lines(node_name, title, plural)
        else:
            out = screens.error(node_screens.no_such_node(node_name))
        _add_main_menu(out, node_name, without=command)
        return out

    # Sources ------------------------------------------------------------------------------------

    def print_source(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """A source file with what its lines made."""
        given = self._parsed("print_source", args)
        out = source_screens.annotated_source(self._debug_dump, given)
        _add_main_menu(out)
        return out

    def list_source(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """The source files that made the nodes of the run."""
        out, has_files = source_screens.source_files(
            self._debug_dump, self._parsed("list_source", args)
        )
        if has_files:
            _add_main_menu(out)
        return out

    def _refused(self, text: str, without: str = "") -> RichTextLines:
        out = screens.error(text)
        _add_main_menu(out, without=without)
        return out


def create_analyzer_ui(
    debug_dump: Any,
    tensor_filters: Mapping[str, TensorFilter] | None = None,
    ui_type: str = "curses",
    on_ui_exit: Callable[[], Any] | None = None,
    config: CLIConfig | None = None,
) -> Any:
    """A command line with the commands about a dump, and completion of its tensors' names.

    Args:
      debug_dump: a `DebugDumpDir`.
      tensor_filters: predicates by name, for `list_tensors -f`.
      ui_type: which command line: "curses" or "readline".
      on_ui_exit: called when the command line is left.
      config: the settings of the command line.
    """
    settings = CLIConfig() if config is None else config
    analyzer = DebugAnalyzer(debug_dump, settings)
    for name, predicate in (tensor_filters or {}).items():
        analyzer.add_tensor_filter(name, predicate)
    ui = command_lines.get_ui(ui_type, on_ui_exit=on_ui_exit, config=settings)
    for command, handler, alias in (
        ("list_tensors", analyzer.list_tensors, "lt"),
        ("node_info", analyzer.node_info, "ni"),
        ("list_inputs", analyzer.list_inputs, "li"),
        ("list_outputs", analyzer.list_outputs, "lo"),
        ("print_tensor", analyzer.print_tensor, "pt"),
        ("print_source", analyzer.print_source, "ps"),
        ("list_source", analyzer.list_source, "ls"),
        ("eval", analyzer.evaluate_expression, "ev"),
    ):
        ui.register_command_handler(
            command, handler, analyzer.get_help(command), prefix_aliases=[alias]
        )
    names = [f"{datum.node_name}:{datum.output_slot}" for datum in debug_dump.dumped_tensor_data]
    ui.register_tab_comp_context(["print_tensor", "pt"], names)
    return ui
