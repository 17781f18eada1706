"""The table of a dump's tensors: when each came, how large it is, what made it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.debugger.analyzer_arguments import (
    SORT_TENSORS_BY_DUMP_SIZE,
    SORT_TENSORS_BY_OP_TYPE,
    SORT_TENSORS_BY_TENSOR_NAME,
    SORT_TENSORS_BY_TIMESTAMP,
)
from penstock.debugger.menus import MenuItem
from penstock.debugger.rich_text import RichTextLines
from penstock.debugger.screens import bytes_to_readable_str

_HEADS = (
    (SORT_TENSORS_BY_TIMESTAMP, "t (ms)"),
    (SORT_TENSORS_BY_DUMP_SIZE, "Size (B)"),
    (SORT_TENSORS_BY_OP_TYPE, "Op type"),
    (SORT_TENSORS_BY_TENSOR_NAME, "Tensor name"),
)


class TensorTable:
    """Rows of tensors of a dump; columns are as wide as the widest of all `data`."""

    def __init__(self, dump: Any, data: Sequence[Any]):
        self._dump = dump
        self._data = data
        self._widths = self._measured()

    def lines(self, given: Any) -> tuple[RichTextLines, int]:
        """The head and the rows that the arguments of `list_tensors` ask for, and their number."""
        out = self._head(given)
        count = 0
        for datum in sorted(self._data, key=self._key(given.sort_by), reverse=given.reverse):
            if self._is_wanted(datum, given):
                self._add_row(out, datum)
                count += 1
        return out, count

    def _measured(self) -> list[int]:
        """The widths of all columns but the last."""
        # The data come in the order of their times: the last has the longest.
        times = [f"[{self._milliseconds(datum):.3f}] " for datum in self._data[-1:]]
        sizes = [bytes_to_readable_str(datum.dump_size_bytes) for datum in self._data]
        types = [self._dump.node_op_type(datum.node_name) for datum in self._data]
        heads = [head for _, head in _HEADS]
        columns = zip(heads, (times, sizes, types), strict=False)
        return [max(len(text) for text in (head, *texts)) + 1 for head, texts in columns]

    def _milliseconds(self, datum: Any) -> float:
        return float(datum.timestamp - self._dump.t0) / 1000.0

    def _key(self, sort_by: str) -> Callable[[Any], Any]:
        keys: dict[str, Callable[[Any], Any]] = {
            SORT_TENSORS_BY_TIMESTAMP: lambda datum: datum.timestamp,
            SORT_TENSORS_BY_DUMP_SIZE: lambda datum: datum.dump_size_bytes,
            SORT_TENSORS_BY_OP_TYPE: lambda datum: self._dump.node_op_type(datum.node_name),
            SORT_TENSORS_BY_TENSOR_NAME: _name,
        }
        if sort_by not in keys:
            raise ValueError(f"Unsupported key to sort tensors by: {sort_by}")
        return keys[sort_by]

    def _is_wanted(self, datum: Any, given: Any) -> bool:
        kind = self._dump.node_op_type(datum.node_name)
        return bool(
            re.match(given.node_name_filter, datum.node_name)
            and re.match(given.op_type_filter, kind)
        )

    def _padded(self, texts: Iterable[str]) -> tuple[str, list[int]]:
        """A line of texts in columns, and where each of them begins."""
        line = ""
        starts = []
        for text, end in zip(texts, (*self._ends(), 0), strict=True):
            starts.append(len(line))
            line = (line + text).ljust(end)
        return line, starts

    def _ends(self) -> list[int]:
        return [sum(self._widths[: count + 1]) for count in range(len(self._widths))]

    def _head(self, given: Any) -> RichTextLines:
        """The column heads, each a link to the list sorted by it."""
        command = "list_tensors"
        for flag, value in (
            ("-f", given.tensor_filter),
            ("-t", given.op_type_filter),
            ("-n", given.node_name_filter),
        ):
            if value:
                command += f" {flag} {value}"
        line, starts = self._padded(head for _, head in _HEADS)
        segments = []
        for (key, head), start in zip(_HEADS, starts, strict=True):
            turn = " -r" if key == given.sort_by and not given.reverse else ""
            link = MenuItem("", f"{command} -s {key}{turn}")
            segments.append((start, start + len(head), [link, "bold"]))
        return RichTextLines([line], font_attr_segs={0: segments})

    def _add_row(self, out: RichTextLines, datum: Any) -> None:
        name = _name(datum)
        line, starts = self._padded(
            (
                f"[{self._milliseconds(datum):.3f}]",
                bytes_to_readable_str(datum.dump_size_bytes),
                self._dump.node_op_type(datum.node_name),
                name,
            )
        )
        out.append(line, [(starts[-1], len(line), MenuItem("", f"pt {name}"))])


def _name(datum: Any) -> str:
    return f"{datum.node_name}:{datum.output_slot}"
