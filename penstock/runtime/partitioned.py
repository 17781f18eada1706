"""Steps on several devices: each device has a part with a plan of its own, and all run at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any

from penstock.ir.step_graph import StepGraph
from penstock.kernels.values import fetcher
from penstock.partition.split import Partition
from penstock.runtime import thread_pools
from penstock.runtime.binding import BoundNode
from penstock.runtime.crew import Crew
from penstock.runtime.plan import Plan, make_plan
from penstock.runtime.rendezvous import Aborted, Rendezvous
from penstock.runtime.resumable import Stretches
from penstock.runtime.step import Step
from penstock.state.gates import taken
from penstock.state.turns import Turns
from penstock.state.waiting import Cancellation

Bound = list[tuple[Partition, list[BoundNode]]]


class PartitionedPlan:
    """A compiled step like a `Plan`, with one plan for each device.

    The largest part runs in the calling thread, the others in the crew's. When one fails, those
    that wait for its values end, and its error is the step's.
    """

    def __init__(
        self,
        step: StepGraph,
        bound: Bound,
        crew: Crew,
        *,
        checked: bool = False,
        inner: bool = False,
        traced: bool = False,
        resumable: bool = False,
    ):
        self._crew = crew
        plan_of = partial(
            make_plan, checked=checked, inner=inner, traced=traced, resumable=resumable
        )
        self._parts: list[tuple[Partition, Plan]] = [
            (part, plan_of(part.graph, entries)) for part, entries in bound
        ]
        self._parts.sort(key=lambda part: -len(part[0].graph.nodes))
        self._count = len(step.fetches)
        self._fed = {  # a fetched feed is computed nowhere
            i: (step.feeds.index(edge.node), _fetcher(edge, inner))
            for i, edge in enumerate(step.fetches)
            if edge.node.type == "_Feed"
        }

    @property
    def source(self) -> str:
        texts = [f"# on {part.device}\n{plan.source}" for part, plan in self._parts]
        return "\n\n".join(texts)

    def run(self, step: Step | None, feeds: Sequence[Any]) -> tuple[Any, ...]:
        assert step is not None
        if len(self._parts) == 1 and step.rendezvous is not None:
            return self._run_alone(step, feeds)
        meeting = step.rendezvous or Rendezvous()  # parts in other tasks meet in theirs
        cancellation = step.cancellation.child()
        cancellation.add(meeting, lambda: meeting.abort(_cancelled()))
        results: list[Any] = [None] * self._count
        for i, (number, give) in self._fed.items():
            results[i] = give(feeds[number])
        ended: SimpleQueue[BaseException | None] = SimpleQueue()
        jobs: list[Callable[[], None]] = []
        try:
            for part, plan in self._parts:
                own = step.view(cancellation=cancellation)
                own.rendezvous = meeting
                jobs.append(_job(part, plan, own, feeds, results, ended, len(self._parts)))
            turns = thread_pools.chosen() or self._crew.turns
            if turns is not None:
                jobs = [_in_turn(job, turns) for job in jobs]
            for job in jobs[1:]:
                self._crew.start(job)
            jobs[0]()
            failures = _gathered(ended, len(self._parts), cancellation)
        finally:
            cancellation.close()
        if failures:
            # Those that were only waiting say nothing of the cause.
            raise min(failures, key=lambda error: isinstance(error, Aborted))
        return tuple(results)

    def _run_alone(self, step: Step, feeds: Sequence[Any]) -> tuple[Any, ...]:
        part, _ = self._parts[0]
        values = self.run_only_part(step, [feeds[i] for i in part.feeds])
        results: list[Any] = [None] * self._count
        for i, value in zip(part.fetches, values, strict=True):
            results[i] = value
        for i, (number, give) in self._fed.items():
            results[i] = give(feeds[number])
        return tuple(results)

    def run_only_part(self, step: Step, feeds: Sequence[Any]) -> tuple[Any, ...]:
        """Runs the only part that a task has of a step, on its own feeds; gives its own fetches.

        Here nobody waits for it. Who ends the step aborts its rendezvous, and that the waits of the
        part.
        """
        plan = self._parts[0][1]
        turns = thread_pools.chosen() or self._crew.turns
        if turns is None:
            return plan.run(step, feeds)
        with turns.taken():
            return plan.run(step, feeds)

    def stretches_of_only_part(self, step: Step, feeds: Sequence[Any]) -> Stretches | None:
        """The same without a thread for its waits; None if it needs one."""
        plan = self._parts[0][1]
        if not plan.is_resumable or thread_pools.chosen() or self._crew.turns:
            return None
        return plan.stretches(step, feeds)


def _in_turn(job: Callable[[], None], turns: Turns) -> Callable[[], None]:
    def run() -> None:
        with turns.taken():
            job()

    return run


def _gathered(
    ended: SimpleQueue[BaseException | None], count: int, cancellation: Cancellation
) -> list[BaseException]:
    failures: list[BaseException] = []
    left = count
    while left:
        try:
            error = taken(ended)
        except BaseException as interrupt:  # Ctrl-C: the parts are told, and then waited for
            cancellation.cancel()
            failures.append(interrupt)
            continue
        left -= 1
        if error is not None:
            failures.append(error)
    return failures


def _job(
    part: Partition,
    plan: Plan,
    step: Step,
    feeds: Sequence[Any],
    results: list[Any],
    ended: SimpleQueue[BaseException | None],
    count: int,
) -> Callable[[], None]:
    def run() -> None:
        try:
            values = plan.run(step, [feeds[i] for i in part.feeds])
            if ended.qsize() < count - 1:  # the last one's goes with the answer of them all
                step.rendezvous.flush()
        except BaseException as error:
            step.rendezvous.abort(error)
            step.cancellation.cancel()  # what the other parts wait for: queues, too
            ended.put(error)
            return
        for i, value in zip(part.fetches, values, strict=True):
            results[i] = value
        ended.put(None)

    return run


def _cancelled() -> BaseException:
    from penstock import errors

    return errors.CancelledError(None, None, "the step was cancelled")


def _fetcher(edge: Any, inner: bool) -> Callable[[Any], Any]:
    return (lambda value: value) if inner else fetcher(edge.dtype.base_dtype, None, copy=True)
