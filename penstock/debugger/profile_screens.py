"""`ProfileAnalyzer`: the commands about a profiled run, as the command-line debugger calls them."""

from __future__ import annotations

import argparse
import math
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from penstock.debugger import command_lines, command_words, profile_arguments, source_annotations
from penstock.debugger.menus import INIT_SCROLL_POS_KEY, MenuItem
from penstock.debugger.profile_arguments import (
    SORT_KEYS,
    SORT_OPS_BY_EXEC_TIME,
    SORT_OPS_BY_LINE,
    SORT_OPS_BY_OP_NAME,
    SORT_OPS_BY_OP_TIME,
    SORT_OPS_BY_OP_TYPE,
    SORT_OPS_BY_START_TIME,
)
from penstock.debugger.profile_data import AggregateProfile, ProfileDatum
from penstock.debugger.rich_text import RichLine as RL
from penstock.debugger.rich_text import RichTextLines, rich_text_lines_from_rich_line_list
from penstock.debugger.screens import (
    COLOR_CYAN,
    COLOR_YELLOW,
    TIME_UNIT_US,
    time_to_readable_str,
)

__all__ = [
    "RL",
    "SORT_OPS_BY_EXEC_TIME",
    "SORT_OPS_BY_LINE",
    "SORT_OPS_BY_OP_NAME",
    "SORT_OPS_BY_OP_TIME",
    "SORT_OPS_BY_OP_TYPE",
    "SORT_OPS_BY_START_TIME",
    "ProfileAnalyzer",
    "ProfileDataTableView",
    "create_profiler_ui",
]

_SCREEN_COLUMNS = 80
_MARGIN = 2
_BAR_LENGTH = 10
_COUNTS_WIDTH = len("(#execs)") + 1

_SORT_KEYS: dict[str, Callable[[ProfileDatum], Any]] = {
    SORT_OPS_BY_OP_NAME: lambda datum: datum.node_exec_stats.node_name,
    SORT_OPS_BY_OP_TYPE: lambda datum: datum.op_type,
    SORT_OPS_BY_LINE: lambda datum: datum.file_line_func,
    SORT_OPS_BY_OP_TIME: lambda datum: datum.op_time,
    SORT_OPS_BY_EXEC_TIME: lambda datum: datum.node_exec_stats.all_end_rel_micros,
}


class ProfileDataTableView:
    """Times of nodes as cells of a table.

    Args:
      profile_datum_list: a `ProfileDatum` for each row.
      time_unit: the unit of durations.
      filters: flags that the links to sources pass on.
    """

    def __init__(
        self,
        profile_datum_list: Sequence[ProfileDatum],
        time_unit: str = TIME_UNIT_US,
        filters: str = "",
    ):
        self._data = profile_datum_list
        self._filters = filters

        def times(values: Iterator[int]) -> list[str]:
            return [time_to_readable_str(value, force_time_unit=time_unit) for value in values]

        self.formatted_start_time = [datum.start_time for datum in profile_datum_list]
        self.formatted_op_time = times(datum.op_time for datum in profile_datum_list)
        self.formatted_exec_time = times(
            datum.node_exec_stats.all_end_rel_micros for datum in profile_datum_list
        )
        self._heads = [
            "Node",
            "Op Type",
            "Start Time (us)",
            f"Op Time ({time_unit})",
            f"Exec Time ({time_unit})",
            "Filename:Lineno(function)",
        ]

    def value(
        self,
        row: int,
        col: int,
        device_name_filter: str | None = None,
        node_name_filter: str | None = None,
        op_type_filter: str | None = None,
    ) -> RL:
        """A cell; the last of a row links to the line that made the node."""
        datum = self._data[row]
        cells = (
            lambda: datum.node_exec_stats.node_name,
            lambda: datum.op_type,
            lambda: str(self.formatted_start_time[row]),
            lambda: self.formatted_op_time[row],
            lambda: self.formatted_exec_time[row],
            lambda: datum.file_line_func,
        )
        if not 0 <= col < len(cells):
            raise IndexError(f"Invalid column index {col}.")
        if col < len(cells) - 1:
            return RL(cells[col]())
        asked = argparse.Namespace(
            device_name_filter=device_name_filter,
            node_name_filter=node_name_filter,
            op_type_filter=op_type_filter,
        )
        flags = self._filters or profile_arguments.passed_on(asked)
        place = f"{datum.file_path} --init_line {datum.line_number}"
        return RL(cells[col](), MenuItem("", f"ps{flags} {place}"))

    def row_count(self) -> int:
        return len(self._data)

    def column_count(self) -> int:
        return len(self._heads)

    def column_names(self) -> list[str]:
        return self._heads

    def column_sort_id(self, col: int) -> str:
        """The key of `list_profile -s` for a column."""
        return SORT_KEYS[col]


class ProfileAnalyzer:
    """Handlers of the commands about one profiled run: each takes words and gives lines.

    Args:
      graph: the graph that was run.
      run_metadata: the `RunMetadata` with the times of its nodes.
    """

    def __init__(self, graph: Any, run_metadata: Any):
        if not run_metadata:
            raise ValueError("No RunMetadata passed for profile analysis.")
        self._graph = graph
        self._run_metadata = run_metadata
        self._arg_parsers = profile_arguments.parsers()

    def get_help(self, handler_name: str) -> str:
        """The help text of a command."""
        return self._arg_parsers[handler_name].format_help()

    def _devices(self, pattern: str) -> Iterator[tuple[int, Any, list[ProfileDatum]]]:
        """The devices of a pattern with their numbers and data."""
        places = {op.name: (*_place(op), op.type) for op in self._graph.get_operations()}
        for number, row in enumerate(self._run_metadata.step_stats.dev_stats, 1):
            if re.match(pattern, row.device):
                data = [
                    ProfileDatum(row.device, stats, *places.get(stats.node_name, ("", 0, "", "")))
                    for stats in row.node_stats
                    if stats.node_name not in ("_SOURCE", "_SINK")
                ]
                yield number, row.device, data

    def list_profile(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """The times of nodes, device by device."""
        given = self._arg_parsers["list_profile"].parse_args(args)
        columns = (screen_info or {}).get("cols", _SCREEN_COLUMNS)
        count = len(self._run_metadata.step_stats.dev_stats)
        is_wanted = _predicate(given)
        lines: list[RL] = [RL()]
        for number, device, data in self._devices(given.device_name_filter):
            wanted = [datum for datum in data if is_wanted(datum)]
            wanted.sort(key=_SORT_KEYS.get(given.sort_by, _start), reverse=given.reverse)
            lines += [RL("-" * columns), RL(f"Device {number} of {count}: {device}"), RL()]
            lines += _table(wanted, given)
        return rich_text_lines_from_rich_line_list(lines)

    def print_source(self, args: list[str], screen_info: Any = None) -> RichTextLines:
        """A source file with the times of what its lines made."""
        given = self._arg_parsers["print_source"].parse_args(args)
        costs = source_annotations.annotate_source_against_profile(
            [datum for *_, data in self._devices(given.device_name_filter) for datum in data],
            os.path.expanduser(given.source_file_path),
            node_name_filter=given.node_name_filter,
            op_type_filter=given.op_type_filter,
        )
        if not costs:
            return RichTextLines(
                [
                    f"The source file {given.source_file_path} does not contain any profile "
                    "information for the previous Session run under the following filters:",
                    *(f"  --{name}: {getattr(given, name)}" for name in profile_arguments.FILTERS),
                ]
            )
        return _CostlySource(costs, given).lines()


def _place(op: Any) -> tuple[str, int, str]:
    """Where the program made a node: the innermost frame that is not the library's."""
    frames = [tuple(frame)[:3] for frame in op.traceback]
    own = [f for f in frames if not source_annotations.guess_is_tensorflow_py_library(f[0])]
    path, number, function = (own[-1:] or frames[:1] or [("", 0, "")])[0]
    return path, number, function


def _start(datum: ProfileDatum) -> Any:
    return datum.node_exec_stats.all_start_micros


def _predicate(given: argparse.Namespace) -> Callable[[ProfileDatum], bool]:
    """What the filters of `list_profile` ask of a datum."""

    def interval(text: str) -> Any:
        return command_words.parse_time_interval(text) if text else None

    op_time, execution_time = interval(given.op_time), interval(given.execution_time)

    def is_wanted(datum: ProfileDatum) -> bool:
        stats, line = datum.node_exec_stats, datum.line_number
        return bool(
            re.match(given.node_name_filter, stats.node_name)
            and (not given.file_path_filter or datum.file_path)
            and re.match(given.file_path_filter, datum.file_path or "")
            and (given.min_lineno <= 0 or not line or line >= given.min_lineno)
            and (given.max_lineno <= 0 or not line or line < given.max_lineno)
            and (datum.op_type is None or re.match(given.op_type_filter, datum.op_type))
            and (op_time is None or op_time.contains(datum.op_time))
            and (execution_time is None or execution_time.contains(stats.all_end_rel_micros))
        )

    return is_wanted


def _table(data: Sequence[ProfileDatum], given: argparse.Namespace) -> list[RL]:
    """The rows of a device, with a head whose columns are links, and the sums."""
    view = ProfileDataTableView(data, given.time_unit, profile_arguments.passed_on(given))
    columns = range(view.column_count())
    head = []
    for col in columns:
        turn = " -r" if given.sort_by == view.column_sort_id(col) and not given.reverse else ""
        link = MenuItem("", f"list_profile -s {view.column_sort_id(col)}{turn}")
        head.append(RL(view.column_names()[col], [link, "bold"]))
    rows = [[view.value(row, col) for col in columns] for row in range(view.row_count())]
    sums = (
        sum(datum.op_time for datum in data),
        sum(datum.node_exec_stats.all_end_rel_micros for datum in data),
    )
    total = [
        "Device Total",
        "",
        *(time_to_readable_str(value, force_time_unit=given.time_unit) for value in sums),
    ]
    padded = [*total, *[""] * (len(columns) - len(total))]
    widths = [
        max(len(cell) for cell in column) + _MARGIN
        for column in zip(head, padded, *rows, strict=True)
    ]
    last = "".join(text.ljust(width) for text, width in zip(total, widths, strict=False))
    return [_row(head, widths), *(_row(row, widths) for row in rows), RL(), RL(last)]


def _row(cells: Sequence[RL], widths: Sequence[int]) -> RL:
    line = RL()
    for cell, width in zip(cells, widths, strict=True):
        line = line + cell + " " * (width - len(cell))
    return line


class _CostlySource:
    """A source file whose lines have bars and numbers of their costs before them."""

    def __init__(self, costs: dict[int, AggregateProfile], given: argparse.Namespace):
        self._costs = costs
        self._given = given
        self._most = max(map(self._cost, costs.values()))
        self._source, self._number_width = source_annotations.load_source(given.source_file_path)
        self._bar_width = _BAR_LENGTH + 3
        self._cost_width = len(given.cost_type) + 3

    def _cost(self, profile: AggregateProfile) -> Any:
        return getattr(profile, f"total_{self._given.cost_type}")

    def lines(self) -> RichTextLines:
        lines = self._heads()
        annotations = {}
        for number, text in enumerate(self._source, 1):
            label = RL(f" L{number}", COLOR_YELLOW)
            label += " " * (self._number_width - len(label))
            lines.append(self._before(number) + label + text)
            if number == self._given.init_line:
                annotations[INIT_SCROLL_POS_KEY] = len(lines) - 1
        return rich_text_lines_from_rich_line_list(lines, annotations=annotations)

    def _heads(self) -> list[RL]:
        cost = self._given.cost_type.ljust(self._cost_width)
        first = " " * self._bar_width + cost + "#nodes".ljust(_COUNTS_WIDTH)
        second = " " * (self._bar_width + self._cost_width) + "(#execs)".ljust(_COUNTS_WIDTH)
        return [
            RL(first, COLOR_CYAN) + RL("lineno", COLOR_YELLOW),
            RL(second + " " * self._number_width, COLOR_CYAN) + RL("source", "bold"),
        ]

    def _before(self, number: int) -> RL:
        """What stands before a line: its cost and the number of its nodes, if it made any."""
        if number not in self._costs:
            return RL(" " * (self._bar_width + self._cost_width + _COUNTS_WIDTH))
        profile, given = self._costs[number], self._given
        cost = self._cost(profile)
        path = re.escape(given.source_file_path) + "$"
        command = f"lp --file_path_filter {path} --min_lineno {number} --max_lineno {number + 1}"
        link = MenuItem("", command + profile_arguments.passed_on(given))
        time = RL(time_to_readable_str(cost, force_time_unit=given.time_unit), COLOR_CYAN)
        counts = RL(f"{profile.node_count}({profile.node_exec_count})", [COLOR_CYAN, link])
        cells = (self._bar(cost), time, counts)
        return _row(cells, (self._bar_width, self._cost_width, _COUNTS_WIDTH))

    def _bar(self, cost: float) -> RL:
        ticks = math.ceil(cost / self._most * _BAR_LENGTH) or 1
        inside = RL(("|" * ticks).ljust(_BAR_LENGTH), ["bold", COLOR_CYAN])
        return RL("[", COLOR_CYAN) + inside + RL("]", COLOR_CYAN)


def create_profiler_ui(
    graph: Any,
    run_metadata: Any,
    ui_type: str = "curses",
    on_ui_exit: Callable[[], Any] | None = None,
    config: Any = None,
) -> Any:
    """A command line with the commands about a profiled run.

    Args:
      graph: the graph that was run.
      run_metadata: the `RunMetadata` with the times of its nodes.
      ui_type: which command line: "curses" or "readline".
      on_ui_exit: called when the command line is left.
      config: has no effect.
    """
    analyzer = ProfileAnalyzer(graph, run_metadata)
    ui = command_lines.get_ui(ui_type, on_ui_exit=on_ui_exit)
    for command, handler, alias in (
        ("list_profile", analyzer.list_profile, "lp"),
        ("print_source", analyzer.print_source, "ps"),
    ):
        ui.register_command_handler(
            command, handler, analyzer.get_help(command), prefix_aliases=[alias]
        )
    return ui
