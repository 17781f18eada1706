"""What a checkpoint has and a program did not take: told when nothing can take it any more."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from penstock.platform import logging


def node_paths(object_graph_proto: Any) -> dict[int, str]:
    """The way to each object of a checkpoint, for messages."""
    nodes = object_graph_proto.nodes
    paths = {0: "(root)"}
    to_visit = deque([0])
    while to_visit:
        number = to_visit.popleft()
        for child in nodes[number].children:
            if child.node_id not in paths:
                paths[child.node_id] = f"{paths[number]}.{child.local_name}"
                to_visit.append(child.node_id)
    for number, node in enumerate(nodes):
        for slot in node.slot_variables:
            of = paths.get(slot.original_variable_node_id)
            paths[slot.slot_variable_node_id] = (
                f"{paths.get(number)}'s state '{slot.slot_name}' for {of}"
            )
    return paths


class UnusedValues:
    """Warns when it is freed, with the restore that it belongs to, of what was not restored.

    Args:
      object_graph_proto: the objects of the checkpoint.
      unused_attributes: values that objects of the program do not have, by object.
    """

    def __init__(self, object_graph_proto: Any, unused_attributes: Mapping[int, list[str]]):
        self._object_graph_proto = object_graph_proto
        self._unused_attributes = unused_attributes
        self.matched: set[int] = set()
        self.is_expected = False

    def __del__(self) -> None:
        unmatched = set(range(len(self._object_graph_proto.nodes))) - self.matched
        if self.is_expected or not (unmatched or self._unused_attributes):
            return
        paths = node_paths(self._object_graph_proto)
        for number in sorted(unmatched):
            logging.warning("Unresolved object in checkpoint: %s", paths[number])
        for number, names in self._unused_attributes.items():
            logging.warning("Unused attribute in object %s: %s", paths[number], names)
        logging.warning(
            "A checkpoint was restored, but not all of its values were used: see above. Call "
            "expect_partial() on what restore() returns if this is meant, or "
            "assert_consumed() to make it an error."
        )
