"""`debug.cli.command_parser`: words of commands, slices of tensors, ranges of sizes and times."""

from __future__ import annotations

import argparse
import ast
import re
import sys
from typing import Any, NamedTuple

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")
#: What belongs together: text in brackets or quotes, and anything else without spaces.
_WORD = re.compile(r"""(?:\[[^\]]*\]|"[^"]*"|'[^']*'|\S)+""")
_BYTES = {"k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MICROSECONDS = (("us", 1.0), ("ms", 1e3), ("s", 1e6))


class Interval(NamedTuple):
    """Numbers between two ends, each of which may belong to them."""

    start: Any
    start_included: bool
    end: Any
    end_included: bool

    def contains(self, value: Any) -> bool:
        above = value > self.start or (value == self.start and self.start_included)
        below = value < self.end or (value == self.end and self.end_included)
        return bool(above and below)


def parse_command(command: str) -> list[str]:
    """The words of a command; brackets and quotes keep spaces, quotes around a word are dropped."""
    words = _WORD.findall(command)
    return words if len(words) == 1 and " " not in words[0] else [_unquoted(word) for word in words]


def _unquoted(word: str) -> str:
    is_quoted = len(word) > 1 and word[0] == word[-1] and word[0] in "\"'"
    return word[1:-1] if is_quoted else word


def extract_output_file_path(args: list[str]) -> tuple[list[str], str | None]:
    """A command's words without a redirection (`> path`, in any spacing), and its path."""
    if not args:
        return args, None
    *before, last = args
    if last.endswith(">"):
        raise SyntaxError("Redirect file path is empty")
    if last.startswith(">"):
        is_option_value = bool(before) and before[-1].startswith("-") and _is_interval(last)
        return (args, None) if is_option_value else (before, last[1:])
    if before and before[-1] == ">":
        return before[:-1], last
    if last.count(">") == 1:
        word, path = last.split(">")
        return (args, None) if word.endswith("=") else ([*before, word], path)
    if before and before[-1].endswith(">"):
        return [*before[:-1], before[-1][:-1]], last
    return args, None


def parse_tensor_name_with_slicing(in_str: str) -> tuple[str, str]:
    """A tensor's name, and the slices in brackets behind it."""
    if in_str.count("[") == 1 and in_str.endswith("]"):
        name, slices = in_str.split("[")
        return name, f"[{slices}"
    return in_str, ""


def validate_slicing_string(slicing_string: str) -> bool:
    """Whether a text is slices in brackets."""
    return re.fullmatch(r"\[[\d,\s:]+\]", slicing_string) is not None


def _parse_slices(slicing_string: str) -> tuple[Any, ...]:
    parsed: list[Any] = []
    for part in slicing_string[1:-1].split(","):
        places = [int(place) if place.strip() else None for place in part.split(":")]
        if len(places) > 3:
            raise ValueError("Invalid tensor-slicing string.")
        parsed.append(int(part) if len(places) == 1 else slice(*places))
    return tuple(parsed)


def evaluate_tensor_slice(tensor: Any, tensor_slicing: str) -> Any:
    """The slices of an array that a text says."""
    if not validate_slicing_string(tensor_slicing):
        raise ValueError("Invalid tensor-slicing string.")
    return tensor[_parse_slices(tensor_slicing)]


def parse_indices(indices_string: str) -> list[int]:
    """The integers of a list, with or without brackets."""
    text = re.sub(r"\s+", "", indices_string)
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return [int(each) for each in text.split(",")]


def parse_ranges(range_string: str) -> list[Any]:
    """Pairs of numbers; `inf` is the largest float."""
    text = range_string.strip().replace("inf", repr(sys.float_info.max))
    if not text:
        return []
    ranges: Any = ast.literal_eval(text)
    if isinstance(ranges, list) and not isinstance(ranges[0], list):
        ranges = [ranges]
    for each in ranges:
        if len(each) != 2:
            raise ValueError("Incorrect number of elements in range")
        for place, number in zip(("1st", "2nd"), each, strict=True):
            if not isinstance(number, (int, float)):
                raise ValueError(f"Incorrect type in the {place} element of range: {type(number)}")
    return list(ranges)


def parse_memory_interval(interval_str: str) -> Interval:
    """A range of sizes in bytes: "[1k, 2MB)", ">=100"."""
    found = _parse_interval(interval_str)
    start = parse_readable_size_str(found.start) if found.start else 0
    end = parse_readable_size_str(found.end) if found.end else float("inf")
    if start > end:
        raise ValueError(
            f"Invalid interval {interval_str}. Start of interval must be less than or equal to end "
            "of interval."
        )
    return Interval(start, found.start_included, end, found.end_included)


def parse_time_interval(interval_str: str) -> Interval:
    """A range of times in microseconds: "[1ms, 2s)", "<100us"."""
    found = _parse_interval(interval_str)
    start = parse_readable_time_str(found.start) if found.start else 0
    end = parse_readable_time_str(found.end) if found.end else float("inf")
    if start > end:
        raise ValueError(f"Invalid interval {interval_str}. Start must be before end of interval.")
    return Interval(start, found.start_included, end, found.end_included)


def _is_interval(text: str) -> bool:
    try:
        _parse_interval(text)
    except ValueError:
        return False
    return True


def _parse_interval(interval_str: str) -> Interval:
    """The ends of a range as texts; None where it has no end."""
    text = interval_str.strip()
    for sign in ("<=", "<", ">=", ">"):
        if text.startswith(sign):
            value = text[len(sign) :].strip()
            if not _NUMBER.match(value):
                raise ValueError(f"Invalid value string after {sign} in '{text}'")
            is_included = sign.endswith("=")
            if sign.startswith("<"):
                return Interval(None, False, value, is_included)
            return Interval(value, is_included, None, False)
    if not text.startswith(("[", "(")) or not text.endswith(("]", ")")):
        raise ValueError(
            f"Invalid interval format: {text}. Valid formats are: [min, max], (min, max), <max, "
            ">min"
        )
    items = [item.strip() for item in text[1:-1].split(",")]
    if len(items) != 2:
        raise ValueError(
            f"Incorrect interval format: {text}. Interval should specify two values: [min, max] or "
            "(min, max)."
        )
    for place, item in zip(("first", "second"), items, strict=True):
        if not _NUMBER.match(item):
            raise ValueError(f"Invalid {place} item in interval: '{item}'")
    return Interval(items[0], text[0] == "[", items[1], text[-1] == "]")


def parse_readable_size_str(size_str: str) -> int:
    """A size in bytes: "1024", "2k", "1.5MB"."""
    text = size_str.strip().removesuffix("B")
    if text.isdigit():
        return int(text)
    if text[-1:] in _BYTES:
        return int(float(text[:-1]) * _BYTES[text[-1]])
    raise ValueError(f'Failed to parsed human-readable byte size str: "{text}"')


def parse_readable_time_str(time_str: str) -> int:
    """A time in microseconds: "100", "20us", "1.5ms", "2s"."""
    text, factor = time_str.strip(), 1.0
    for unit, microseconds in _MICROSECONDS:
        if text.endswith(unit):
            text, factor = text.removesuffix(unit), microseconds
            break
    value = float(text)
    if value < 0:
        raise ValueError(f"Invalid time {text}. Time value must be positive.")
    return int(value * factor)


def get_print_tensor_argparser(description: str) -> argparse.ArgumentParser:
    """The parser of the arguments of `print_tensor`."""
    parser = argparse.ArgumentParser(description=description, usage=argparse.SUPPRESS)
    add = parser.add_argument
    add("tensor_name", help="the tensor, perhaps with slices: hidden/MatMul:0[1, :]")
    add("-n", "--number", type=int, default=-1, help="which dump of the tensor, from 0")
    add("-r", "--ranges", default="", help='values to highlight: "[[-inf, -0.1], [0.1, inf]]"')
    add("-a", "--all", dest="print_all", action="store_true", help="leave nothing out")
    add("-s", "--numeric_summary", action="store_true", help="say how many values are what")
    add("-w", "--write_path", default="", help="a file to save the tensor into, as NumPy does")
    return parser
