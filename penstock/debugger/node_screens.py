"""What a dump's graph says of a node: its neighbours, attributes, dumps, and where it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from penstock.debugger.dumped_graph import get_node_name
from penstock.debugger.menus import MenuItem
from penstock.debugger.rich_text import (
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)

HANG_UNFINISHED = "|  "  # before a node whose later siblings are still to come
HANG_FINISHED = "   "
HANG_SUFFIX = "|- "

DEPTH_TEMPLATE = "(%d) "
OP_TYPE_TEMPLATE = "[%s] "

CTRL_LABEL = "(Ctrl) "
ELLIPSIS = "..."

_PLUMBING = frozenset({"_Send", "_Recv", "_HostSend", "_HostRecv", "_Retval"})


def no_such_node(node_name: str) -> str:
    return f'There is no node named "{node_name}" in the partition graphs'


def visible(dump: Any, names: Iterable[str]) -> list[str]:
    """The nodes that a user's graph has: all but those that carry values between devices."""
    return [name for name in names if dump.node_op_type(get_node_name(name)) not in _PLUMBING]


def summary(dump: Any, node_name: str) -> RichTextLines:
    """A node's op type, device, inputs and recipients."""
    title = f"Node {node_name}"
    out = RichTextLines(
        [
            title,
            "",
            f"  Op: {dump.node_op_type(node_name)}",
            f"  Device: {dump.node_device(node_name)}",
        ],
        font_attr_segs={0: [(len(title) - len(node_name), len(title), "bold")]},
    )
    for kind, neighbours in (("input", dump.node_inputs), ("recipient", dump.node_recipients)):
        _add_neighbours(
            out,
            dump,
            kind,
            visible(dump, neighbours(node_name)),
            visible(dump, neighbours(node_name, is_control=True)),
        )
    return out


def _add_neighbours(
    out: RichTextLines, dump: Any, kind: str, names: list[str], controls: list[str]
) -> None:
    out.append("")
    out.append(f"  {len(names)} {kind}(s) + {len(controls)} control {kind}(s):")
    out.append(f"    {len(names)} {kind}(s):")
    _add_links(out, dump, names)
    if controls:
        out.append("")
        out.append(f"    {len(controls)} control {kind}(s):")
        _add_links(out, dump, controls)


def _add_links(out: RichTextLines, dump: Any, names: list[str]) -> None:
    for name in names:
        label = f"      [{dump.node_op_type(get_node_name(name))}] "
        link = MenuItem("", f"ni -a -d -t {name}")
        out.append(label + name, [(len(label), len(label) + len(name), link)])


def attributes(dump: Any, node_name: str) -> RichTextLines:
    """A node's attributes."""
    out = RichTextLines(["", "Node attributes:"])
    for key, value in dump.node_attributes(node_name).items():
        out.append(f"  {key}:")
        out.append("    " + repr(value).strip().replace("\n", " "))
        out.append("")
    return out


def dumps(dump: Any, node_name: str) -> RichTextLines:
    """What a node has dumped."""
    data = [
        datum for key in dump.debug_watch_keys(node_name) for datum in dump.watch_key_to_data(key)
    ]
    out = RichTextLines([f"{len(data)} dumped tensor(s):", ""])
    for number, datum in enumerate(data):
        ms = (datum.timestamp - dump.t0) / 1000.0
        line = f"  Slot {datum.output_slot} @ {datum.debug_op} @ {ms:.3f} ms"
        link = MenuItem("", f"pt {node_name}:{datum.output_slot} -n {number}")
        out.append(line, [(2, len(line), link)])
    return out


def traceback(dump: Any, node_name: str) -> RichTextLines:
    """The lines of the program that made a node."""
    lines: list[Any] = ["", "", RichLine("Traceback of node construction:", "bold")]
    try:
        frames = dump.node_traceback(node_name)
    except KeyError:
        lines.append("(Node unavailable in the loaded Python graph)")
        frames = ()
    except LookupError:
        lines.append("(Unavailable because no Python graph has been loaded)")
        frames = ()
    for depth, frame in enumerate(frames):
        path, number, function, text = tuple(frame)[:4]
        link = MenuItem("", f"ps {path} -b {number}") if text else None
        lines += [
            f"{depth}: {path}",
            RichLine("  ") + RichLine(f"Line:     {number}", link),
            f"  Function: {function}",
            "  Text:     " + (f'"{text}"' if text else "None"),
            "",
        ]
    return rich_text_lines_from_rich_line_list(lines)


class NeighbourTree:
    """The inputs of a node, or its recipients, theirs, and so on, as an indented list.

    Args:
      dump: the dump with the graph.
      neighbours: the dump's method that gives a node's inputs or its recipients.
      command: the command that shows the same for another node.
      max_depth: how deep to go.
      control: whether control edges count.
      op_type: whether op types are shown.
    """

    def __init__(
        self,
        dump: Any,
        neighbours: Callable[..., list[str]],
        command: str,
        max_depth: int,
        control: bool,
        op_type: bool,
    ):
        self._dump = dump
        self._neighbours = neighbours
        self._command = command
        self._max_depth = max_depth
        self._control = control
        self._op_type = op_type

    def lines(self, node_name: str, title: str, plural: str) -> RichTextLines:
        """The tree with a title line and a legend."""
        start = f'{title} node "'
        limit = f"(Depth limit = {self._max_depth}"
        limit += f", control {plural} included):" if self._control else "):"
        out = RichTextLines([])
        name = (len(start), len(start) + len(node_name), "bold")
        out.append(f'{start}{node_name}" {limit}', [name])
        before = out.num_lines()
        self._add(out, node_name, "", 1)
        if out.num_lines() == before:
            out.append("  [None]")
        for line in ("", "Legend:", "  (d): recursion depth = d."):
            out.append(line)
        if self._control:
            out.append("  (Ctrl): Control input.")
        if self._op_type:
            out.append("  [Op]: Input node has op type Op.")
        return out

    def _add(self, out: RichTextLines, node_name: str, hang: str, depth: int) -> None:
        """Adds what is behind a node; `hang` are the lines that lead past it."""
        found = [(name, "") for name in self._visible(node_name, is_control=False)]
        if self._control:
            controls = sorted(self._visible(node_name, is_control=True))
            found += [(name, CTRL_LABEL) for name in controls]
        if found and depth > self._max_depth:
            out.append(hang + HANG_SUFFIX + ELLIPSIS)
            return
        for number, (name, label) in enumerate(found, 1):
            start = hang + HANG_SUFFIX + DEPTH_TEMPLATE % depth + label
            if self._op_type:
                start += OP_TYPE_TEMPLATE % self._dump.node_op_type(get_node_name(name))
            link = MenuItem("", f"{self._command} -c -r {name}")
            out.append(start + name, [(len(start), len(start) + len(name), link)])
            passing = HANG_FINISHED if number == len(found) else HANG_UNFINISHED
            self._add(out, get_node_name(name), hang + passing, depth + 1)

    def _visible(self, node_name: str, is_control: bool) -> list[str]:
        return visible(self._dump, self._neighbours(node_name, is_control=is_control))
