"""Collective ops in the order of a step.

The members of an instance wait for each other. If they come one right after the other in the order
of the step, and each device keeps that order, then no two devices ever wait for each other at
different instances, nor at an instance and for a value.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from penstock.ir.registry import MEETS
from penstock.ir.step_graph import Node

_KEYS = ("group_key", "instance_key", "shared_name")


def instance_of(node: Node) -> Hashable | None:
    """Which collective instance a node is a member of, where its keys are known."""
    if MEETS not in node.spec.traits:
        return None
    keys: list[object] = [node.attrs.get(key) for key in _KEYS]
    for arg, edge in zip(node.spec.inputs, node.inputs, strict=False):
        if arg.name in _KEYS:
            if edge.node.type != "Const":
                return None
            keys.append(int(edge.node.attrs["value"]))
    return tuple(keys)


class Meetings:
    """The members of a step's instances: none is ready before all are."""

    def __init__(self, nodes: Iterable[Node]):
        self._members: dict[Hashable, list[Node]] = {}
        self._instance: dict[Node, Hashable] = {}
        for node in nodes:
            instance = instance_of(node)
            if instance is not None:
                self._members.setdefault(instance, []).append(node)
                self._instance[node] = instance
        self._come: dict[Hashable, list[Node]] = {}

    def come(self, node: Node) -> Node | None:
        """A node is ready: who stands for those that may run now, if any may."""
        instance = self._instance.get(node)
        if instance is None:
            return node
        present = self._come.setdefault(instance, [])
        present.append(node)
        return present[0] if len(present) == len(self._members[instance]) else None

    def together(self, node: Node) -> list[Node]:
        """The nodes that a node stands for, in the order in which they came."""
        instance = self._instance.get(node)
        return [node] if instance is None else self._come.pop(instance)

    def give_up(self) -> list[Node]:
        """The nodes that wait for members which wait for them: the step will say so, not we."""
        present = [node for nodes in self._come.values() for node in nodes]
        for instance in self._come:
            for node in self._members.pop(instance):
                del self._instance[node]
        self._come.clear()
        return present
