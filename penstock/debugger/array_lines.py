"""Arrays as lines of text that know which elements they show, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.debugger.dumped_tensors import InconvertibleTensorProto
from penstock.debugger.number_table import numeric_summary
from penstock.debugger.rich_text import RichTextLines

__all__ = [
    "BEGIN_INDICES_KEY",
    "DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR",
    "OMITTED_INDICES_KEY",
    "HighlightOptions",
    "format_tensor",
    "locate_tensor_element",
    "numeric_summary",
]

#: Notes of lines: the indices of the first element that a line shows, or of the first left out.
BEGIN_INDICES_KEY = "i0"
OMITTED_INDICES_KEY = "omitted"
DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR = "bold"

_METADATA = "tensor_metadata"
_OMISSION = "...,"  # how NumPy writes that rows are left out
_EDGE_ITEMS = 3
_NUMBER = re.compile(r"[-+]?([0-9][-+0-9eE\.]+|nan|inf)(\s|,|\])")


class HighlightOptions:
    """Which elements are highlighted: a function of the array that gives an array of booleans."""

    def __init__(
        self,
        criterion: Callable[[Any], Any],
        description: str | None = None,
        font_attr: Any = DEFAULT_TENSOR_ELEMENT_HIGHLIGHT_FONT_ATTR,
    ):
        self.criterion, self.description, self.font_attr = criterion, description, font_attr


def format_tensor(
    tensor: Any,
    tensor_label: str | None,
    include_metadata: bool = False,
    auxiliary_message: RichTextLines | None = None,
    include_numeric_summary: bool = False,
    np_printoptions: Any = None,
    highlight_options: HighlightOptions | None = None,
) -> RichTextLines:
    """The lines of a value, under a line with its name.

    Args:
      include_metadata: whether its type and shape are told.
      auxiliary_message: lines that come before the value.
      np_printoptions: arguments of `np.set_printoptions`, which stay in force.
    """
    text = _heading(tensor_label)
    if not isinstance(tensor, np.ndarray):
        told = str(tensor) if isinstance(tensor, InconvertibleTensorProto) else repr(tensor)
        return RichTextLines([*text.lines, *([""] if text.lines else []), *told.split("\n")])
    if include_metadata:
        text.append(f"  dtype: {tensor.dtype}")
        text.append(f"  shape: {tensor.shape}")
    if text.lines:
        text.append("")
    if auxiliary_message:
        text.extend(auxiliary_message)
    if include_numeric_summary:
        text.append("Numeric summary:")
        text.extend(numeric_summary(tensor))
        text.append("")
    if np_printoptions is not None:
        np.set_printoptions(**np_printoptions)
    rows = repr(tensor).split("\n")
    edge = (np_printoptions or {}).get("edgeitems", _EDGE_ITEMS)
    notes = None if tensor.dtype.type is np.bytes_ else _notes(rows, tensor, edge)
    text.extend(RichTextLines(rows, annotations=notes))
    if highlight_options is not None:
        _highlight(text, tensor, highlight_options)
    return text


def _heading(label: str | None) -> RichTextLines:
    if label is None:
        return RichTextLines([])
    start, end = 8, 8 + len(label)
    segments = [(start, end, "bold")]
    suffix = label.split(":")[-1]
    if not suffix.isdigit():  # the debug op
        middle = end - len(suffix) - 1
        segments = [(start, middle, "bold"), (middle + 1, end, "yellow")]
    return RichTextLines([f'Tensor "{label}":'], font_attr_segs={0: segments})


def _notes(rows: Sequence[str], tensor: np.ndarray, edge_items: int) -> dict[Any, Any]:
    """What each line of an array's text begins with; brackets tell how deep it is."""
    notes: dict[Any, Any] = {_METADATA: {"dtype": tensor.dtype, "shape": tensor.shape}}
    sizes = tensor.shape
    place, depth = [0] * len(sizes), 0
    for number, row in enumerate(map(str.strip, rows)):
        if not sizes or not row:
            continue
        if row == _OMISSION:
            notes[number] = {OMITTED_INDICES_KEY: list(place)}
            place[depth - 1] = sizes[depth - 1] - edge_items
            continue
        closed = row.count("]")
        depth += row.count("[") - closed
        notes[number] = {BEGIN_INDICES_KEY: list(place)}
        if not closed:
            place[depth - 1] += row[row.rfind("[") + 1 :].count(",")
        elif depth > 0:
            place[depth - 1] += 1
            place[depth:] = [0] * (len(sizes) - depth)
    return notes


def _highlight(text: RichTextLines, tensor: np.ndarray, options: HighlightOptions) -> None:
    found = [list(map(int, place)) for place in np.argwhere(options.criterion(tensor))]
    told = f"({options.description})" if options.description else ""
    share = len(found) / tensor.size * 100.0
    text.lines[0] += f" Highlighted{told}: {len(found)} of {tensor.size} element(s) ({share:.2f}%)"
    if not found:
        return
    for omitted, row, start, end in zip(*locate_tensor_element(text, found), strict=True):
        if not omitted and start is not None and end is not None:
            text.font_attr_segs.setdefault(row, []).append((start, end, options.font_attr))


def locate_tensor_element(formatted: RichTextLines, indices: Any) -> Any:
    """Where the text of an array shows elements.

    Args:
      indices: the indices of an element, or a list of such in ascending order.

    Returns:
      Whether it is left out, its line, and the columns where it begins and ends (None where that
      is not known); lists of these for several elements.
    """
    several = isinstance(indices[0], list)
    wanted: list[list[int]] = indices if several else [indices]
    if _METADATA not in formatted.annotations:
        raise AttributeError("tensor_metadata is not available in annotations.")
    _check_places(wanted, formatted.annotations[_METADATA]["shape"])
    found = [_located(formatted, row, wanted) for row in _rows_of(formatted, wanted)]
    answers = [answer for answers_of_row in found for answer in answers_of_row]
    columns = tuple(list(column) for column in zip(*answers, strict=True))
    return columns if several else tuple(column[0] for column in columns)


class _Row:
    """A line with the indices that it begins with, and which of the wanted elements are in it."""

    def __init__(self, number: int, begin: list[int], is_omitted: bool):
        self.number, self.begin, self.is_omitted = number, begin, is_omitted
        self.wanted: list[list[int]] = []


def _rows_of(formatted: RichTextLines, wanted: Sequence[list[int]]) -> list[_Row]:
    rows = []
    for number in range(formatted.num_lines()):
        note = formatted.annotations.get(number)
        if note is not None:
            omitted = BEGIN_INDICES_KEY not in note
            key = OMITTED_INDICES_KEY if omitted else BEGIN_INDICES_KEY
            rows.append(_Row(number, note[key], omitted))
    if not rows:
        rows = [_Row(0, [], False)]
    for place in wanted:
        # The last line that begins at or before the element.
        owner = max((i for i, row in enumerate(rows) if row.begin <= place), default=0)
        rows[owner].wanted.append(place)
    return [row for row in rows if row.wanted]


def _located(formatted: RichTextLines, row: _Row, wanted: Any) -> list[tuple[Any, ...]]:
    """The answers for the wanted elements of one line."""
    line = formatted.lines[row.number]
    end = line.find(_OMISSION) if _OMISSION in line else len(line)
    numbers = [match for match in _NUMBER.finditer(line) if match.start() <= end]
    answers = []
    for place in row.wanted:
        offset = place[-1] - row.begin[-1] if place else 0
        match = numbers[offset] if offset < len(numbers) else None
        columns = (None, None) if match is None else (match.start(), match.end() - 1)
        answers.append((row.is_omitted, row.number, *columns))
    return answers


def _check_places(wanted: Sequence[list[int]], sizes: Sequence[int]) -> None:
    before: list[int] | None = None
    for place in wanted:
        if len(place) != len(sizes):
            raise ValueError(f"Dimensions mismatch: requested: {len(place)}; actual: {len(sizes)}")
        if any(index >= size for index, size in zip(place, sizes, strict=True)):
            raise ValueError("Indices exceed tensor dimensions.")
        if any(index < 0 for index in place):
            raise ValueError("Indices contain negative value(s).")
        if before and place < before:
            raise ValueError("Input indices sets are not in ascending order.")
        before = place
