"""`tensorflow.python.framework.error_interpolation`: where the nodes of a message were made."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.proto import GraphDebugInfo

__all__ = ["create_graph_debug_info_def", "interpolate", "parse_message"]

_NAME = r"[A-Za-z0-9_.][A-Za-z0-9_.\-/]*?"
_TAG = re.compile(f"{{{{(?P<type>{_NAME}) (?P<name>{_NAME})}}}}")

#: Parts of file names that no line of a user's program has. Looked up at each use: it may be set.
_BAD_FILE_SUBSTRINGS = [
    os.path.join("tensorflow", "python"),
    os.path.join("tensorflow", "contrib"),
    "<embedded",
]
LIVE_NAMES = ("_BAD_FILE_SUBSTRINGS",)


class _ParseTag(NamedTuple):
    type: str
    name: str


def parse_message(message: str) -> tuple[list[str], list[_ParseTag]]:
    """The text around the tags `{{node name}}` of an error message, and the tags."""
    tags = [_ParseTag(match["type"], match["name"]) for match in _TAG.finditer(message)]
    return _TAG.split(message)[:: _TAG.groups + 1], tags


def interpolate(error_message: str, graph: Graph) -> str:
    """An error message whose tags tell where the nodes that they name were made.

    `{{node name}}` becomes the node's line; its inputs' lines follow the message.
    `{{colocation_node name}}` tells of the `with` blocks that say where the node is placed.
    """
    parts, tags = parse_message(error_message)
    found = [graph._nodes_by_name.get(tag.name) for tag in tags]
    groups = [None if op is None else [op, *_sources(op)] for op in found]
    prefix = traceback_files_common_prefix(groups)
    text, behind = parts[0], []
    for tag, op, part in zip(tags, found, parts[1:], strict=True):
        text += _described(tag, op, prefix) + part
        if op is not None:
            behind.append(_appendix(tag, op, prefix))
    return text + "\n".join(filter(None, behind))


def _described(tag: _ParseTag, op: Operation | None, prefix: str) -> str:
    if tag.type == "function_node":
        return ""
    if op is None or tag.type not in ("node", "colocation_node"):
        return f"{{{{{tag.type} {tag.name}}}}}"
    fields = compute_field_dict(op, prefix)
    placed = f" placed on device {fields['devices']}" if tag.type == "colocation_node" else ""
    return f"node {op.name}{fields['defined_at']}{placed} "


def _appendix(tag: _ParseTag, op: Operation, prefix: str) -> str:
    if tag.type == "colocation_node":
        return "\n" + compute_field_dict(op, prefix)["devs_and_colocs"]
    if tag.type != "node":
        return ""
    lines = {compute_field_dict(each, prefix)["defined_at"]: each.name for each in _sources(op)}
    lines.pop(compute_field_dict(op, prefix)["defined_at"], None)
    if not lines:
        return ""
    sources = "\t\n".join(f" {name}{place}" for place, name in lines.items())
    return (
        "\n\nErrors may have originated from an input operation.\n"
        f"Input Source operations connected to node {op.name}:\n{sources}"
    )


def _sources(op: Operation) -> list[Operation]:
    return list(dict.fromkeys([*(t.op for t in op.inputs), *op.control_inputs]))


def compute_field_dict(op: Operation, strip_file_prefix: str = "") -> dict[str, Any]:
    """What a message may tell of a node: its line, and the blocks that say where it is placed."""
    frame = _get_defining_frame_from_op(op)
    filename = frame[0].removeprefix(strip_file_prefix)
    devices = _compute_device_assignment_summary_from_op(op)
    colocations = _compute_colocation_summary_from_op(op)
    return {
        "file": filename,
        "line": frame[1],
        "defined_at": f" (defined at {filename}:{frame[1]})",
        "colocations": colocations,
        "devices": devices,
        "devs_and_colocs": f"{colocations}\n{devices}",
    }


def traceback_files_common_prefix(all_ops: Iterable[Sequence[Operation] | None]) -> str:
    """The folder that the files of all the nodes' lines have in common."""
    files = {
        frame[0]
        for ops in all_ops
        for op in ops or ()
        for frame in op.traceback
        if "<embedded" not in frame[0]
    }
    shared = os.path.commonprefix(list(files))  # noqa: RUF071 - cut at a folder in the next line
    return os.path.split(shared)[0]


def _find_index_of_defining_frame_for_op(op: Operation) -> int:
    """Which of a node's frames is the innermost that is the user's; 0 if none is."""
    frames = op.traceback
    for index in reversed(range(len(frames))):
        if not any(part in frames[index][0] for part in _BAD_FILE_SUBSTRINGS):
            return index
    return 0


def _get_defining_frame_from_op(op: Operation) -> Any:
    return op.traceback[_find_index_of_defining_frame_for_op(op)]


def _compute_useful_frames(op: Operation, num: int) -> Any:
    """At most `num` frames, of which the innermost are just inside the user's own."""
    end = min(_find_index_of_defining_frame_for_op(op) + 3, len(op.traceback))
    return op.traceback[max(end - num, 0) : end]


def _compute_device_summary_from_list(
    name: str, device_assignment_list: Sequence[Any], prefix: str = ""
) -> str:
    """The `with tf.device` blocks around a node, one line each."""
    if not device_assignment_list:
        return f"{prefix}No device assignments were active during op '{name}' creation."
    lines = [f"Device assignments active during op '{name}' creation:"]
    for each in device_assignment_list:
        lines.append(f"  with tf.device({each.obj}): <{each.filename}:{each.lineno}>")
    return "\n".join(prefix + line for line in lines)


def _compute_device_assignment_summary_from_op(op: Operation, prefix: str = "") -> str:
    return _compute_device_summary_from_list(op.name, op._device_assignments, prefix)


def _compute_colocation_summary_from_dict(
    name: str, colocation_dict: dict[str, Any], prefix: str = ""
) -> str:
    """The `with tf.colocate_with` blocks around a node, one line each."""
    if not colocation_dict:
        return f"{prefix}No node-device colocations were active during op '{name}' creation."
    lines = [f"Node-device colocations active during op '{name}' creation:"]
    for other, place in colocation_dict.items():
        lines.append(f"  with tf.colocate_with({other}): <{place.filename}:{place.lineno}>")
    return "\n".join(prefix + line for line in lines)


def _compute_colocation_summary_from_op(op: Operation, prefix: str = "") -> str:
    return _compute_colocation_summary_from_dict(op.name, op._colocation_dict, prefix)


def create_graph_debug_info_def(operations: Iterable[tuple[str, Operation]]) -> Any:
    """A GraphDebugInfo message: the line of the program that made each of the nodes.

    Args:
      operations: pairs of a function's name ("" for a graph's own nodes) and an operation.
    """
    message = GraphDebugInfo()
    files: dict[str, int] = {}
    for function, op in operations:
        trace = message.traces[function + op.name]
        for frame in op.traceback:
            index = files.setdefault(frame[0], len(files))
            trace.file_line_cols.add(file_index=index, line=frame[1])
    message.files.extend(files)
    return message
