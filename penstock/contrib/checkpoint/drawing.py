"""The objects of a checkpoint as a picture."""

from __future__ import annotations

from typing import Any

from penstock.checkpoint.reader import NewCheckpointReader
from penstock.ir.trackable import VARIABLE_VALUE_KEY
from penstock.train.tracking import object_metadata


def dot_graph_from_checkpoint(save_path: Any) -> str:
    """The objects of a checkpoint as a graph in the DOT language."""
    reader = NewCheckpointReader(save_path)
    nodes = object_metadata(save_path).nodes
    slots = {slot.slot_variable_node_id for node in nodes for slot in node.slot_variables}
    lines = ["digraph {"]
    for number, node in enumerate(nodes):
        look = ""
        if [each.name for each in node.attributes] == [VARIABLE_VALUE_KEY]:
            color, kind = ("orange", "Slot variable") if number in slots else ("blue", "Variable")
            value = node.attributes[0]
            shape = reader.get_variable_to_shape_map()[value.checkpoint_key]
            dtype = reader.get_variable_to_dtype_map()[value.checkpoint_key].name
            what = f"{kind} {_quoted(value.full_name)} shape={shape} {dtype}"
            look = f' color={color} tooltip="{what}"'
        elif node.slot_variables:
            look = ' color=red tooltip="Optimizer"'
        lines.append(f'N_{number} [shape=point label="" width=.25{look}]')
        for child in node.children:
            lines.append(f'N_{number} -> N_{child.node_id} [label="{_quoted(child.local_name)}"]')
        for slot in node.slot_variables:
            target = f"N_{slot.slot_variable_node_id}"
            name = _quoted(slot.slot_name)
            lines.append(f'N_{number} -> {target} [label="{name}" style=dotted]')
            lines.append(f"N_{slot.original_variable_node_id} -> {target} [style=dotted]")
    return "\n".join([*lines, "}\n"])


def _quoted(name: str) -> str:
    return name.replace('"', '\\"')
