"""The arguments of the commands about a profiled run."""

from __future__ import annotations

import argparse

from penstock.debugger.screens import TIME_UNIT_US, TIME_UNITS

SORT_OPS_BY_OP_NAME = "node"
SORT_OPS_BY_OP_TYPE = "op_type"
SORT_OPS_BY_OP_TIME = "op_time"
SORT_OPS_BY_EXEC_TIME = "exec_time"
SORT_OPS_BY_START_TIME = "start_time"
SORT_OPS_BY_LINE = "line"

#: The columns' keys, in the order of the columns.
SORT_KEYS = (
    SORT_OPS_BY_OP_NAME,
    SORT_OPS_BY_OP_TYPE,
    SORT_OPS_BY_START_TIME,
    SORT_OPS_BY_OP_TIME,
    SORT_OPS_BY_EXEC_TIME,
    SORT_OPS_BY_LINE,
)

#: Filters that both commands take, and that their links pass on to each other.
FILTERS = ("device_name_filter", "node_name_filter", "op_type_filter")

_INTERVAL = "an interval in s, ms or us: '>100s', '<100', '[100us,1000ms]'"


def parsers() -> dict[str, argparse.ArgumentParser]:
    """A parser for each command."""
    return {"list_profile": _list_profile(), "print_source": _print_source()}


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)
    for flag, name in zip(("-d", "-n", "-t"), FILTERS, strict=True):
        what = name.removesuffix("_filter").replace("_", " ")
        parser.add_argument(flag, f"--{name}", default="", help=f"a regular expression of {what}s")
    units = " | ".join(TIME_UNITS)
    parser.add_argument("--time_unit", default=TIME_UNIT_US, help=f"unit of times: {units}")
    return parser


def _list_profile() -> argparse.ArgumentParser:
    parser = _parser("Lists the times of nodes.")
    add = parser.add_argument
    add("-f", "--file_path_filter", default="", help="a regular expression of source files")
    add("--min_lineno", type=int, default=-1, help="the first line of a file that counts")
    add("--max_lineno", type=int, default=-1, help="the line behind the last that counts")
    add("-e", "--execution_time", default="", help=f"of the time in all: {_INTERVAL}")
    add("-o", "--op_time", default="", help=f"of the time of the computation: {_INTERVAL}")
    keys = " | ".join(SORT_KEYS)
    add("-s", "--sort_by", default=SORT_OPS_BY_START_TIME, help=f"by what to sort: {keys}")
    add("-r", "--reverse", action="store_true", help="sort downwards")
    return parser


def _print_source() -> argparse.ArgumentParser:
    parser = _parser("Shows a source file with the times of what its lines made.")
    add = parser.add_argument
    add("source_file_path", help="path of the file")
    add("--cost_type", choices=["exec_time", "op_time"], default="exec_time", help="which times")
    add("--init_line", type=int, default=0, help="the line to begin at")
    return parser


def passed_on(given: argparse.Namespace) -> str:
    """The filters of a command as flags of another one."""
    return "".join(f" --{name} {getattr(given, name)}" for name in FILTERS if getattr(given, name))
