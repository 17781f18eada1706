"""Whether the nodes of a graph can run on the devices of a session at all."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.ir.graph import Graph
from penstock.placement.placer import check_placeable


class WholeGraphCheck:
    """Refuses a graph in which some node asks for a device that the session does not have.

    A session places the whole graph before its first step, as TensorFlow does, so that a wrong
    device is found even at nodes that no step needs. Each node is looked at once.
    """

    def __init__(self, names: Sequence[str], *, soft: bool):
        self._names = list(names)
        self._soft = soft
        self._seen = 0
        self._possible = {""}

    def check(self, graph: Graph) -> None:
        """Looks at the nodes that were added since the last time."""
        added = graph.get_operations()[self._seen :]
        for op in added:
            if op.device not in self._possible:
                check_placeable(op, self._names, soft=self._soft)
                self._possible.add(op.device)
        self._seen += len(added)
