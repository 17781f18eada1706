"""Source files beside a dump: which made its nodes, and what each of their lines made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.debugger import source_annotations
from penstock.debugger.dumped_graph import get_node_name
from penstock.debugger.menus import INIT_SCROLL_POS_KEY, MenuItem
from penstock.debugger.rich_text import (
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from penstock.debugger.screens import COLOR_BLUE, COLOR_GRAY, COLOR_WHITE, COLOR_YELLOW

_MORE_ELEMENTS = 5
_HEADS = ("Source file path", "#(nodes)", "#(tensors)", "#(tensor dumps)")


def annotated_source(dump: Any, given: Any) -> RichTextLines:
    """A file with the nodes or tensors below the lines that made them."""
    made = source_annotations.annotate_source(
        dump, given.source_file_path, do_dumped_tensors=given.tensors
    )
    source, width = source_annotations.load_source(given.source_file_path)
    lines: list[RichLine] = []
    scroll_to = 0
    for number, text in enumerate(source, 1):
        if number == given.line_begin:
            scroll_to = len(lines)
        label = RichLine(f"L{number}", COLOR_YELLOW)
        lines.append(label + " " * (width - len(label)) + text)
        lines += _elements(dump, sorted(made.get(number, ())), number, given)
    return rich_text_lines_from_rich_line_list(lines, {INIT_SCROLL_POS_KEY: scroll_to})


def _elements(dump: Any, names: Sequence[str], number: int, given: Any) -> list[RichLine]:
    most = given.max_elements_per_line
    lines = []
    for name in names[:most]:
        is_dumped = dump.debug_watch_keys(get_node_name(name))
        attribute = MenuItem("", f"pt {name}") if is_dumped else COLOR_BLUE
        lines.append(RichLine("    ") + RichLine(name, attribute))
    if len(names) > most:
        kind = "tensor(s)" if given.tensors else "op(s)"
        flag = "-t" if given.tensors else ""
        more = f"ps {given.source_file_path} {flag} -b {number} -m {most + _MORE_ELEMENTS}"
        note = f"    (... Omitted {len(names) - most} of {len(names)} {kind} ...) "
        lines.append(RichLine(note) + RichLine(f"+{_MORE_ELEMENTS}", MenuItem("", more)))
    return lines


def source_files(dump: Any, given: Any) -> tuple[RichTextLines, bool]:
    """The files that made the nodes of a dump, and whether there are any."""
    found = source_annotations.list_source_files_against_dump(
        dump,
        path_regex_whitelist=given.path_filter,
        node_name_regex_whitelist=given.node_name_filter,
    )
    lines: list[Any] = [RichLine("List of source files that created nodes in this run", "bold")]
    if given.path_filter:
        lines.append(f'File path regex filter: "{given.path_filter}"')
    if given.node_name_filter:
        lines.append(f'Node name regex filter: "{given.node_name_filter}"')
    lines.append("")
    if not found:
        lines.append("[No source file information.]")
    else:
        own = [each for each in found if not each[1]]
        library = [each for each in found if each[1]]
        lines += _table("File(s) outside TensorFlow Python library:", own, COLOR_WHITE)
        lines += _table("TensorFlow Python library file(s):", library, COLOR_GRAY)
    return rich_text_lines_from_rich_line_list(lines), bool(found)


def _table(title: str, files: Sequence[Any], colour: str) -> list[RichLine]:
    lines = [RichLine(title, colour)]
    if not files:
        return [*lines, RichLine("[No files.]"), RichLine()]
    rows = [(each[0], *(str(count) for count in each[2:5])) for each in files]
    widths = [max(map(len, column)) + 1 for column in zip(_HEADS, *rows, strict=True)][:-1]
    lines.append(_row(RichLine(_HEADS[0], colour), _HEADS[1:], widths, colour))
    for row, each in zip(rows, files, strict=True):
        attributes: list[Any] = [colour]
        if source_annotations.is_extension_uncompiled_python_source(each[0]):
            attributes.append(MenuItem("", f"ps {each[0]} -b {each[5]}"))
        lines.append(_row(RichLine(row[0], attributes), row[1:], widths, colour))
    return [*lines, RichLine()]


def _row(path: RichLine, texts: Sequence[str], widths: Sequence[int], colour: str) -> RichLine:
    line = path + " " * (widths[0] - len(path))
    for text, width in zip(texts, (*widths[1:], 0), strict=True):
        line += RichLine(text.ljust(width), colour)
    return line
