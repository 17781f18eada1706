"""Texts that the debugger's command line shows before, after and between commands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock import gfile
from penstock.debugger import array_lines, command_words
from penstock.debugger.menus import MAIN_MENU_KEY, Menu, MenuItem
from penstock.debugger.rich_text import (
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from penstock.debugger.run_keys import get_flattened_names, get_graph_element_name
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.variables import Variable

__all__ = [
    *("COLOR_BLACK", "COLOR_BLUE", "COLOR_CYAN", "COLOR_GRAY", "COLOR_GREEN", "COLOR_MAGENTA"),
    *("COLOR_RED", "COLOR_WHITE", "COLOR_YELLOW", "DEFAULT_NDARRAY_DISPLAY_THRESHOLD"),
    *("TIME_UNITS", "TIME_UNIT_MS", "TIME_UNIT_S", "TIME_UNIT_US"),
    *("bytes_to_readable_str", "error", "format_tensor", "get_error_intro"),
    *("get_run_short_description", "get_run_start_intro", "get_tfdbg_logo"),
    *("numpy_printoptions_from_screen_info", "parse_ranges_highlight", "time_to_readable_str"),
]

DEFAULT_NDARRAY_DISPLAY_THRESHOLD = 2000

COLOR_BLACK = "black"
COLOR_BLUE = "blue"
COLOR_CYAN = "cyan"
COLOR_GRAY = "gray"
COLOR_GREEN = "green"
COLOR_MAGENTA = "magenta"
COLOR_RED = "red"
COLOR_WHITE = "white"
COLOR_YELLOW = "yellow"

TIME_UNIT_US = "us"
TIME_UNIT_MS = "ms"
TIME_UNIT_S = "s"
TIME_UNITS = [TIME_UNIT_US, TIME_UNIT_MS, TIME_UNIT_S]

_BAR = "=" * 38
_RULE = "-" * 38
_LOGO = """
TTTTTT FFFF DDD  BBBB   GGG\x20
  TT   F    D  D B   B G   \x20
  TT   FFF  D  D BBBB  G  GG
  TT   F    D  D B   B G   G
  TT   F    DDD  BBBB   GGG\x20
"""


def bytes_to_readable_str(num_bytes: int | None, include_b: bool = False) -> str:
    """A size in bytes, or in k, M or G of them."""
    if num_bytes is None:
        return str(num_bytes)
    order = min(int(math.log2(num_bytes)) // 10, 3) if num_bytes >= 1024 else 0
    text = f"{num_bytes / 1024.0**order:.2f}{'kMG'[order - 1]}" if order else f"{num_bytes}"
    return text + "B" if include_b else text


def time_to_readable_str(value_us: float, force_time_unit: str | None = None) -> str:
    """A number of microseconds in the unit that suits it, or in the one that is asked for."""
    if not value_us:
        return "0"
    if force_time_unit:
        if force_time_unit not in TIME_UNITS:
            raise ValueError(f"Invalid time unit: {force_time_unit}")
        return f"{value_us / 1000.0 ** TIME_UNITS.index(force_time_unit):.10g}{force_time_unit}"
    order = min(len(TIME_UNITS) - 1, int(math.log(value_us, 10) / 3))
    return f"{value_us / 1000.0**order:.3g}{TIME_UNITS[order]}"


def parse_ranges_highlight(ranges_string: str | None) -> array_lines.HighlightOptions | None:
    """Highlights the numbers that are in ranges such as [[-1, 0], [1, inf]]."""
    if not ranges_string:
        return None
    ranges = command_words.parse_ranges(ranges_string)

    def in_ranges(array: np.ndarray) -> Any:
        inside = np.zeros(array.shape, bool)
        for low, high in ranges:
            inside |= (array >= low) & (array <= high)
        return inside

    return array_lines.HighlightOptions(in_ranges, description=ranges_string)


def numpy_printoptions_from_screen_info(screen_info: Any) -> dict[str, Any]:
    """The options by which an array is as wide as the screen."""
    return {"linewidth": screen_info["cols"]} if screen_info and "cols" in screen_info else {}


def format_tensor(
    tensor: Any,
    tensor_name: str,
    np_printoptions: dict[str, Any],
    print_all: bool = False,
    tensor_slicing: str | None = None,
    highlight_options: Any = None,
    include_numeric_summary: bool = False,
    write_path: str | None = None,
) -> RichTextLines:
    """The lines of a value or of a slice of it, which may be written to a file as well."""
    value = tensor
    if tensor_slicing:
        value = command_words.evaluate_tensor_slice(tensor, tensor_slicing)
        tensor_name += tensor_slicing
    np_printoptions["threshold"] = value.size if print_all else DEFAULT_NDARRAY_DISPLAY_THRESHOLD
    return array_lines.format_tensor(
        value,
        tensor_name,
        include_metadata=True,
        include_numeric_summary=include_numeric_summary,
        auxiliary_message=_saved(value, write_path) if write_path else None,
        np_printoptions=np_printoptions,
        highlight_options=highlight_options,
    )


def _saved(value: Any, path: str) -> RichTextLines:
    with gfile.Open(path, "wb") as file:
        np.save(file, value)
    size = bytes_to_readable_str(gfile.Stat(path).length)
    line = RichLine("Saved value to: ") + RichLine(path, font_attr="bold") + f" ({size}B)"
    return rich_text_lines_from_rich_line_list([line, RichLine("")])


def error(msg: str) -> RichTextLines:
    """A red line."""
    return rich_text_lines_from_rich_line_list([RichLine("ERROR: " + msg, COLOR_RED)])


def _recommended(command: str, description: str, is_link: bool = False) -> RichTextLines:
    attribute: Any = [MenuItem("", command), "bold"] if is_link else "bold"
    lines = [RichLine("  ") + RichLine(command, attribute) + ":", f"    {description}"]
    return rich_text_lines_from_rich_line_list(lines)


def get_tfdbg_logo() -> RichTextLines:
    """The debugger's name in large letters."""
    return RichTextLines(_LOGO.split("\n"))


def get_run_start_intro(
    run_call_count: int,
    fetches: Any,
    feed_dict: Any,
    tensor_filters: Any,
    is_callable_runner: bool = False,
) -> RichTextLines:
    """What is shown before a run: what it fetches and feeds, and what to do next."""
    out = RichTextLines(_BAR)
    if is_callable_runner:
        out.append("Running a runner returned by Session.make_callable()")
    else:
        _tell_run(out, run_call_count, fetches, feed_dict)
    for line in (_BAR, "", "Select one of the following commands to proceed ---->"):
        out.append(line)
    for command, description, is_link in (
        ("run", "Execute the run() call with debug tensor-watching", True),
        ("run -n", "Execute the run() call without debug tensor-watching", True),
        (
            "run -t <T>",
            "Execute run() calls (T - 1) times without debugging, then execute run() once more "
            "with debugging and drop back to the CLI",
            False,
        ),
        (
            "run -f <filter_name>",
            "Keep executing run() calls until a dumped tensor passes a given, registered filter "
            "(conditional breakpoint mode)",
            False,
        ),
    ):
        out.extend(_recommended(command, description, is_link))
    out.append("    Registered filter(s):")
    for name in tensor_filters or ():
        link = MenuItem("", f"run -f {name}")
        out.append_rich_line(RichLine("        * ") + RichLine(name, link))
    if not tensor_filters:
        out.append("        (None)")
    out.append("")
    out.append_rich_line(
        RichLine("For more details, see ") + RichLine("help.", MenuItem("", "help")) + "."
    )
    out.append("")
    menu = Menu()
    menu.append(MenuItem("run", "run"))
    menu.append(MenuItem("exit", "exit"))
    out.annotations[MAIN_MENU_KEY] = menu
    return out


def _tell_run(out: RichTextLines, number: int, fetches: Any, feed_dict: Any) -> None:
    out.append(f"Session.run() call #{number}:")
    for line in ("", "Fetch(es):", *(f"  {name}" for name in get_flattened_names(fetches))):
        out.append(line)
    out.append("")
    out.append("Feed dict:")
    for key in feed_dict or ():
        name = get_graph_element_name(key)
        out.append_rich_line(RichLine("  ") + RichLine(name, MenuItem("", f"pf '{name}'")))
    if not feed_dict:
        out.append("  (Empty)")


def get_run_short_description(
    run_call_count: int, fetches: Any, feed_dict: Any, is_callable_runner: bool = False
) -> str:
    """A run in one line."""
    if is_callable_runner:
        return "runner from make_callable()"
    if isinstance(fetches, Tensor | Operation | Variable):
        fetched = f"1 fetch ({get_graph_element_name(fetches)})"
    else:
        number = len(get_flattened_names(fetches))
        fetched = f"{number} fetches" if number > 1 else f"{number} fetch"
    fed = f"{len(feed_dict or ())} feeds"
    if feed_dict and len(feed_dict) == 1:
        (key,) = feed_dict
        fed = f"1 feed ({getattr(key, 'name', key)})"
    return f"run #{run_call_count}: {fetched}; {fed}"


def get_error_intro(tf_error: Any) -> RichTextLines:
    """What is shown after a run that failed."""
    name = getattr(getattr(tf_error, "op", None), "name", None)
    told = RichLine("!!! An error occurred during the run !!!", "blink")
    out = rich_text_lines_from_rich_line_list([_RULE, told, ""])
    if name is None:
        out.append("WARNING: Cannot determine the name of the op that caused the error.")
    else:
        out.append("You may use the following commands to debug:")
        for command, description in (
            (f"ni -a -d -t {name}", "Inspect information about the failing op."),
            (f"li -r {name}", "List inputs to the failing op, recursively."),
            ("lt", "List all tensors dumped during the failing run() call."),
        ):
            out.extend(_recommended(command, description, is_link=True))
    kind = f"Error type: {type(tf_error)}"
    rest = ["", f"Op name:    {name}", kind, "", "Details:", str(tf_error), "", _RULE, ""]
    out.extend(RichTextLines(rest))
    return out
