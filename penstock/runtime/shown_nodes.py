"""Nodes of a plan that somebody sees: behind each is one that shows its outputs to the observer.

The executor shows an observer each node by itself. A plan has no place for that: there the outputs
are shown by nodes of their own, which only steps with an observer have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.dtypes import DType
from penstock.ir.registry import READS, OpSpec
from penstock.ir.signature import Arg, Signature
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.runtime.step import Step


def _show_spec(dtype: DType) -> OpSpec:
    """`_Show(value)`, of a type or reference."""
    value = Arg("value", dtype.base_dtype, is_ref=dtype.is_ref_dtype)
    return OpSpec(Signature("_Show", (value,), (), {}), frozenset([READS]))


def show_function(node: Node, device: Any) -> Callable[[Step, Any], None]:
    """Shows one output of a node to the observer of the step."""
    shown, slot = node.attrs["shown"], node.attrs["slot"]

    def show(step: Step, value: Any) -> None:
        step.observer.see(shown, slot, value)

    return show


def show_nodes(part: StepGraph, device: str, written: Mapping[str, Node]) -> dict[str, Node]:
    """Has a device's part of a step show what it computes, in place; the nodes that it shows.

    Args:
      part: loops and branches in it are structure.
      device: that of the part. Constants are there wherever they are used.
      written: the nodes to be shown, by name, as they were before the step had structure.
    """
    showing = _Showing(device, written)
    showing.show(part)
    return showing.shown


class _Showing:
    """One part on its way.

    1. A node is shown as it is written, but on the device of the part.
    2. A constant that several regions of the part have a copy of is shown once, outside of loops;
       one that is placed here is shown even if no node here takes it.
    """

    def __init__(self, device: str, written: Mapping[str, Node]):
        self.shown: dict[str, Node] = {}
        self._device = device
        self._written = written
        self._in_loops: set[str] = set()  # constants

    def show(self, part: StepGraph) -> None:
        self._show(part, is_loop=False)
        for name, node in self._written.items():
            is_here = name in self._in_loops or node.device == self._device
            if _is_free(node) and is_here and name not in self.shown:
                copy = node.copy()
                copy.device = self._device
                part.nodes[:0] = [copy, *self._nodes_for(copy, node)]

    def _show(self, region: StepGraph, *, is_loop: bool) -> None:
        nodes: list[Node] = []
        for node in region.nodes:
            nodes.append(node)
            if (loop := node.attrs.get("loop")) is not None:
                self._show(loop.header, is_loop=True)
                self._show(loop.body, is_loop=True)
                continue
            written = self._written.get(node.name)
            # What the two sides of a condition have become of a Merge has its name.
            if written is None or node.type not in (written.type, "_Choose"):
                continue
            if is_loop and _is_free(written):
                self._in_loops.add(node.name)
            elif node.name not in self.shown:
                nodes += self._nodes_for(node, written)
        region.nodes = nodes

    def _nodes_for(self, node: Node, written: Node) -> list[Node]:
        shown = self.shown[node.name] = written.copy()
        shown.device = self._device
        # Constants have no guard: each part has them at once, whichever branch they are of.
        guard = node.guard or next((each.guard for each in node.controls if each.guard), ())
        made = []
        for slot, dtype in enumerate(node.dtypes):
            attrs = {"shown": shown, "slot": slot}
            name = f"{node.name}/show_{slot}"
            show = Node(_show_spec(dtype), name, attrs, [], [], node.origin, node.order)
            show.device, show.guard = node.device, guard
            show.inputs = [Edge(node, slot)]
            made.append(show)
        return made


def _is_free(node: Node) -> bool:
    """Whether a node is a constant that waits for nothing: of no branch, and in no loop."""
    return node.type == "Const" and not node.controls
