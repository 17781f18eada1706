"""Lines of text with font attributes and notes, as the debugger's commands give them.

Attributes of a line are segments: where one begins, where it ends, and what it is (a colour, a
menu item, or a list of such).
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from penstock.platform.file_io import FileIO

__all__ = [
    "REGEX_MATCH_LINES_KEY",
    "RichLine",
    "RichTextLines",
    "get_tensorflow_version_lines",
    "regex_find",
    "rich_text_lines_from_rich_line_list",
    "wrap_rich_text_lines",
]

REGEX_MATCH_LINES_KEY = "regex_match_lines"

Segment = tuple[int, int, Any]


class RichLine:
    """One line: its text, and the segments of its attributes."""

    def __init__(self, text: str = "", font_attr: Any = None):
        self.text = text
        self.font_attr_segs: list[Segment] = [(0, len(text), font_attr)] if font_attr else []

    def __add__(self, other: Any) -> RichLine:
        if isinstance(other, str):
            other = RichLine(other)
        if not isinstance(other, RichLine):
            raise TypeError(f"{other!r} cannot be concatenated with a RichLine")
        joined = RichLine(self.text + other.text)
        joined.font_attr_segs = [*self.font_attr_segs, *_moved(other.font_attr_segs, len(self))]
        return joined

    def __len__(self) -> int:
        return len(self.text)


def _moved(segments: Sequence[Segment], by: int) -> list[Segment]:
    return [(start + by, end + by, attribute) for start, end, attribute in segments]


def _shifted(notes: Mapping[Any, Any], by: int) -> dict[Any, Any]:
    """Notes of lines that move down; keys that are no numbers belong to the whole text."""
    return {key + by if isinstance(key, int) else key: note for key, note in notes.items()}


class RichTextLines:
    """Lines, the attributes of some of them by number, and notes by number or by name."""

    def __init__(self, lines: Any, font_attr_segs: Any = None, annotations: Any = None):
        if isinstance(lines, str):
            lines = [lines]
        if not isinstance(lines, list):
            raise ValueError(f"Unexpected type in lines: {type(lines)}")
        self._lines: list[str] = lines
        self._font_attr_segs: dict[int, list[Segment]] = font_attr_segs or {}
        self._annotations: dict[Any, Any] = annotations or {}

    @property
    def lines(self) -> list[str]:
        return self._lines

    @property
    def font_attr_segs(self) -> dict[int, list[Segment]]:
        return self._font_attr_segs

    @property
    def annotations(self) -> dict[Any, Any]:
        return self._annotations

    def num_lines(self) -> int:
        return len(self._lines)

    def slice(self, begin: int, end: int) -> RichTextLines:
        """The lines from `begin` to before `end`."""
        if begin < 0 or end < 0:
            raise ValueError("Encountered negative index.")
        attributes = {
            key - begin: segments
            for key, segments in self._font_attr_segs.items()
            if begin <= key < end
        }
        kept = {
            key: note
            for key, note in self._annotations.items()
            if not isinstance(key, int) or begin <= key < end
        }
        return RichTextLines(self._lines[begin:end], attributes, _shifted(kept, -begin))

    def extend(self, other: RichTextLines) -> None:
        """Puts other lines behind these."""
        start = self.num_lines()
        self._lines.extend(other.lines)
        self._font_attr_segs.update(_shifted(other.font_attr_segs, start))
        self._annotations.update(_shifted(other.annotations, start))

    def append(self, line: str, font_attr_segs: Any = None) -> None:
        """Adds a line behind the last."""
        self._lines.append(line)
        if font_attr_segs:
            self._font_attr_segs[len(self._lines) - 1] = font_attr_segs

    def append_rich_line(self, rich_line: RichLine) -> None:
        """Adds a line with its attributes behind the last."""
        self.append(rich_line.text, rich_line.font_attr_segs)

    def prepend(self, line: str, font_attr_segs: Any = None) -> None:
        """Adds a line before the first."""
        self._lines = [line, *self._lines]
        self._font_attr_segs = _shifted(self._font_attr_segs, 1)
        self._annotations = _shifted(self._annotations, 1)
        if font_attr_segs:
            self._font_attr_segs[0] = font_attr_segs

    def write_to_file(self, file_path: str) -> None:
        """Writes the text of the lines."""
        with FileIO(file_path, "w") as file:
            for line in self._lines:
                file.write(line + "\n")


def rich_text_lines_from_rich_line_list(
    rich_text_list: Sequence[Any], annotations: Any = None
) -> RichTextLines:
    """Lines of `RichLine`s and of plain strings."""
    found = RichTextLines([], annotations=annotations)
    for line in rich_text_list:
        if isinstance(line, RichLine):
            found.append_rich_line(line)
        else:
            found.append(line)
    return found


def get_tensorflow_version_lines(include_dependency_versions: bool = False) -> RichTextLines:
    """The version of TensorFlow that programs see, and of NumPy if asked for."""
    from penstock.version import VERSION

    lines = [f"TensorFlow version: {VERSION}", ""]
    if include_dependency_versions:
        lines += ["Dependency version(s):", f"  numpy: {np.__version__}", ""]
    return RichTextLines(lines)


def regex_find(orig_screen_output: RichTextLines, regex: str, font_attr: Any) -> RichTextLines:
    """The same lines with an attribute where a regular expression matches."""
    try:
        pattern = re.compile(regex)
    except re.error:
        raise ValueError(f'Invalid regular expression: "{regex}"') from None
    found = RichTextLines(
        orig_screen_output.lines,
        font_attr_segs=copy.deepcopy(orig_screen_output.font_attr_segs),
        annotations=orig_screen_output.annotations,
    )
    matching = []
    for number, line in enumerate(found.lines):
        segments = [(each.start(), each.end(), font_attr) for each in pattern.finditer(line)]
        if segments:
            before = found.font_attr_segs.get(number, [])
            found.font_attr_segs[number] = sorted([*before, *segments], key=lambda each: each[0])
            matching.append(number)
    found.annotations[REGEX_MATCH_LINES_KEY] = matching
    return found


def wrap_rich_text_lines(inp: RichTextLines, cols: int) -> tuple[RichTextLines, list[int]]:
    """Lines cut to a width, and for each line of before the number of its first part."""
    if not isinstance(inp, RichTextLines):
        raise ValueError("Invalid type of input screen_output")
    if not isinstance(cols, int):
        raise ValueError("Invalid type of input cols")
    out = RichTextLines([])
    starts = []
    for number, line in enumerate(inp.lines):
        starts.append(out.num_lines())
        if number in inp.annotations:
            out.annotations[out.num_lines()] = inp.annotations[number]
        segments = inp.font_attr_segs.get(number, [])
        if len(line) <= cols:
            out.append(line, segments)
            continue
        for begin in range(0, len(line), cols):
            end = min(begin + cols, len(line))
            out.append(line[begin:end], list(_within(segments, begin, end)))
    out.annotations.update(
        {key: note for key, note in inp.annotations.items() if not isinstance(key, int)}
    )
    return out, starts


def _within(segments: Sequence[Segment], begin: int, end: int) -> Iterator[Segment]:
    """The parts of segments between two places of a line, from the first place on."""
    for start, stop, attribute in segments:
        first, last = max(start, begin), min(stop, end)
        if first < last:
            yield first - begin, last - begin, attribute
