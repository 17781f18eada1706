"""Frames and iterations: where a value lives while loops run.

A frame is one activation of a loop; the root frame is the step itself. Each iteration of a frame
has values and counters of its own, so that several iterations can be in flight at once.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from penstock import errors
from penstock.ir.step_graph import Edge, Node, StepGraph

ENTER = ("Enter", "RefEnter")
EXIT = ("Exit", "RefExit")
MERGE = ("Merge", "RefMerge")
NEXT_ITERATION = ("NextIteration", "RefNextIteration")


class Iteration:
    """The state of one iteration: values that have arrived, and what nodes still wait for."""

    __slots__ = (
        "dead",
        "dead_inputs",
        "live_input",
        "outstanding",
        "scheduled",
        "values",
        "waiting",
    )

    def __init__(self, waiting: dict[Node, int]):
        self.values: dict[Edge, Any] = {}
        self.waiting = waiting
        self.dead: set[Node] = set()  # nodes with a dead input
        self.dead_inputs: dict[Node, int] = defaultdict(int)  # of merges
        self.live_input: dict[Node, int] = {}  # of merges: the first input that is alive
        self.scheduled: set[Node] = set()
        self.outstanding = 0  # nodes scheduled and frames opened, but not done


class Frame:
    """One activation of a loop; `limit` iterations may be in flight at once."""

    __slots__ = (
        "children",
        "exited",
        "invariants",
        "iterations",
        "limit",
        "name",
        "newest",
        "parent",
        "parent_iteration",
        "postponed",
        "waiting_enters",
    )

    def __init__(
        self,
        name: tuple[str, ...],
        parent: Frame | None = None,
        parent_iteration: int = 0,
        limit: int = 1,
        waiting_enters: int = 0,
    ):
        self.name = name
        self.parent = parent
        self.parent_iteration = parent_iteration
        self.limit = limit
        self.waiting_enters = waiting_enters
        self.iterations: dict[int, Iteration] = {}
        self.newest = -1
        self.children: dict[tuple[int, str], Frame] = {}
        self.invariants: list[tuple[Node, Any]] = []
        self.postponed: list[tuple[Node, Any]] = []  # values for an iteration past the limit
        self.exited: set[Node] = set()


class Structure:
    """What is known of a step's frames ahead: which frame each node runs in."""

    def __init__(self, step: StepGraph):
        self.frame_of: dict[Node, tuple[str, ...]] = {}
        self.members: dict[tuple[str, ...], list[Node]] = defaultdict(list)
        self.enters: dict[tuple[str, ...], int] = defaultdict(int)
        self.exits: dict[tuple[str, ...], list[Node]] = defaultdict(list)
        for node in step.nodes:
            frame = self._frame(node)
            self.frame_of[node] = frame
            self.members[frame].append(node)
            if node.type in ENTER:
                self.enters[self.frame_after(node)] += 1
            elif node.type in EXIT:
                self.exits[frame].append(node)

    def _frame(self, node: Node) -> tuple[str, ...]:
        """The frame that a node's inputs arrive in; they must all agree."""
        found: tuple[str, ...] | None = None
        for producer in node.producers():
            if producer not in self.frame_of:
                continue  # a loop's back edge
            frame = self.frame_after(producer)
            if found is not None and frame != found:
                raise errors.InvalidArgumentError(
                    node.origin and node.origin.node_def,
                    node.origin,
                    f"{node.type} '{node.name}' has inputs from different frames: "
                    f"'{producer.name}' is in {_named(frame)}, another input in {_named(found)}",
                )
            found = frame
        return found or ()

    def frame_after(self, node: Node) -> tuple[str, ...]:
        """The frame that a node's outputs arrive in."""
        frame = self.frame_of[node]
        if node.type in ENTER:
            return (*frame, node.attrs["frame_name"])
        if node.type in EXIT:
            if not frame:
                raise errors.InvalidArgumentError(
                    node.origin and node.origin.node_def,
                    node.origin,
                    f"{node.type} '{node.name}' is outside of every frame",
                )
            return frame[:-1]
        return frame


def _named(frame: tuple[str, ...]) -> str:
    return f"frame '{'/'.join(frame)}'" if frame else "the root frame"
