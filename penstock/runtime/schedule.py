"""Steps with several waits: regions as plans, run as the waits between them end."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penstock import dtypes
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.kernels.values import fetcher
from penstock.passes.regions import Part, regions
from penstock.runtime.binding import BoundNode
from penstock.runtime.diagnosis import read_fetched
from penstock.runtime.plan import Plan, make_plan
from penstock.runtime.step import Step
from penstock.runtime.waits import Waits


@dataclass
class _PlannedPart:
    part: Part
    plan: Plan
    releases: list[int]
    #: Whether it may be called to see if it has to wait: not a loop, which has done some of its
    #: iterations by then.
    can_be_tried: bool


class Schedule:
    """A compiled step like a `Plan`, made of one plan for each of its parts.

    Regions run first, then the waits, in the order of the step; what has to wait lets the others
    go on (`runtime/waits.py`).
    """

    def __init__(
        self,
        step: StepGraph,
        bound: list[BoundNode],
        *,
        checked: bool = False,
        inner: bool = False,
        traced: bool = False,
    ):
        self._feeds = [Edge(feed, 0) for feed in step.feeds]
        self._fetches = step.fetches
        entries = {entry.node: entry for entry in bound}
        parts = regions(step)
        self._parts = [
            _PlannedPart(part, _plan(part, entries, checked, traced), [], not _has_loop(part))
            for part in parts
        ]
        for number, part in enumerate(parts):
            for earlier in part.after:
                self._parts[earlier].releases.append(number)
        self._give: list[Callable[[Any], Any]] = [
            _unchanged if inner else fetcher(edge.dtype.base_dtype, None, copy=True)
            for edge in step.fetches
        ]
        # A fetched constant or feed belongs to no part.
        self._constants = {
            edge: entry.constant
            for edge in step.fetches
            if (entry := entries.get(edge.node)) is not None and entry.is_constant
        }

    @property
    def source(self) -> str:
        """The plans of all parts, for `tf.explain`."""
        texts = []
        for number, planned in enumerate(self._parts):
            after = ", ".join(str(earlier) for earlier in sorted(planned.part.after))
            kind = "may wait" if planned.part.waits else "region"
            texts.append(f"# part {number}: {kind}, after {after or 'nothing'}")
            texts.append(planned.plan.source)
        return "\n".join(texts)

    def run(self, step: Step | None, feeds: Sequence[Any]) -> tuple[Any, ...]:
        assert step is not None  # who may wait needs to know for whom
        values: dict[Edge, Any] = dict(self._constants)
        values.update(zip(self._feeds, feeds, strict=True))
        with Waits(step) as waits:
            self._run(step, values, waits)
        results = []
        for edge, give in zip(self._fetches, self._give, strict=True):
            value = values[edge]
            results.append(give(read_fetched(edge, value) if edge.dtype.is_ref_dtype else value))
        return tuple(results)

    def _run(self, step: Step, values: dict[Edge, Any], waits: Waits) -> None:
        missing = [len(planned.part.after) for planned in self._parts]
        ready = [self._rank(number) for number, count in enumerate(missing) if count == 0]
        heapq.heapify(ready)

        def done(number: int, results: Sequence[Any]) -> None:
            planned = self._parts[number]
            values.update(zip(planned.part.outputs, results, strict=True))
            for later in planned.releases:
                missing[later] -= 1
                if missing[later] == 0:
                    heapq.heappush(ready, self._rank(later))

        while ready or waits:
            if not ready:
                done(*waits.next())
                continue
            number = heapq.heappop(ready)[1]
            planned = self._parts[number]
            given = [values[edge] for edge in planned.part.inputs]
            if not planned.part.waits:
                done(number, planned.plan.run(step, given))
                continue
            call = _call(planned.plan, given)
            if not planned.can_be_tried:
                waits.put_aside(number, call)
                continue
            result = waits.attempt(number, call)
            if result is not None:
                done(number, result[0])

    def _rank(self, number: int) -> tuple[bool, int]:
        return self._parts[number].part.waits, number


def _has_loop(part: Part) -> bool:
    return any("loop" in node.attrs for node in part.graph.nodes)


def _unchanged(value: Any) -> Any:
    return value


def _call(plan: Plan, given: list[Any]) -> Any:
    return lambda step: plan.run(step, given)


def _plan(part: Part, bound: dict[Node, BoundNode], checked: bool, traced: bool) -> Plan:
    entries = [
        replace(bound[part.originals[node]], node=node)
        for node in part.graph.nodes
        if node.type != "_Feed"
    ]
    references = [
        i
        for i, edge in enumerate(part.graph.fetches)
        if edge.dtype.is_ref_dtype or edge.dtype is dtypes.resource
    ]
    return make_plan(
        part.graph, entries, checked=checked, inner=True, references=references, traced=traced
    )
