"""`tf.explain`: what a run would do, in words, as a schedule and as the source of its plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from penstock.ir import defaults
from penstock.ir.step_graph import StepGraph
from penstock.shapes import text

if TYPE_CHECKING:  # loaded when something is explained, not with the package
    from penstock.placement.simulate import Schedule


class Explanation(str):
    """What `tf.explain` says; `svg` and `html` have the schedule of the step as a picture."""

    schedule: Schedule

    @property
    def svg(self) -> str:
        """The simulated execution: a row per device, a bar per node."""
        from penstock.placement.picture import as_svg

        return as_svg(self.schedule)

    @property
    def html(self) -> str:
        """A page with the picture and this text; nothing has to be loaded for it."""
        from penstock.placement.picture import as_html

        return as_html(self.schedule, self)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self.svg


def explain(
    fetches: Any, feeds: Any = (), session: Any = None, run_metadata: Any = None
) -> Explanation:
    """Compiles a run without running it: its nodes, devices, schedule and generated source.

    `feeds` are the tensors that would be fed (a feed dict does as well). The schedule is a
    simulated execution, with the times that were measured in `run_metadata` (of a traced run), or
    with estimates. Prints nothing: print what is returned, or write its `html` to a file.
    """
    from penstock.client.session import Session

    session = session or defaults.get_default_session()
    if session is None:
        with Session() as temporary:
            return explain(fetches, feeds, temporary, run_metadata)
    run = session._prepare(None, fetches, feeds)
    step = run.step
    schedule, picture = _schedule(step.placed, run_metadata)
    lines = [*_rewrites(step.placed), "", *_nodes(step.graph), "", *picture, ""]
    if step.plan is None:
        lines.append("run by the dataflow executor: it has control-flow primitives")
    else:
        lines += [*_fused(step.fused), *_beside(step.fused), "plan:", step.plan.source]
    explanation = Explanation("\n".join(lines))
    explanation.schedule = schedule
    return explanation


def _schedule(graph: StepGraph, run_metadata: Any) -> tuple[Schedule, list[str]]:
    from penstock.placement.cost_model import CostModel
    from penstock.placement.picture import as_text, duration
    from penstock.placement.simulate import placed_schedule

    measured = run_metadata is not None
    costs = CostModel.from_step_stats(run_metadata.step_stats) if measured else CostModel()
    schedule = placed_schedule(graph, costs)
    kind = "measured" if measured else "estimated"
    title = f"schedule: {duration(schedule.makespan)}, simulated with {kind} times"
    return schedule, [title, as_text(schedule)]


def _rewrites(graph: StepGraph) -> list[str]:
    """How many nodes each pass took out, put in or changed."""
    lines = [f"{len(graph.rewrites)} passes:"]
    for name, *counts in graph.rewrites:
        done = [
            f"{count} {what}"
            for count, what in zip(counts, ("removed", "added", "changed"), strict=True)
            if count
        ]
        lines.append(f"  {name}: {', '.join(done) or 'nothing to do'}")
    return lines


def _fused(graphs: Sequence[StepGraph]) -> list[str]:
    """What each compiled region of a step consists of, those in loops too."""
    lines = []
    for node in (node for graph in graphs for node in graph.nodes):
        if node.type == "_Fused":
            region = node.attrs["region"]
            names = [f"{each.type} '{each.name}'" for each in region.nodes if each.type != "_Feed"]
            lines.append(f"  {node.name}: {', '.join(names)}")
        elif node.attrs.get("native") is not None:
            lines.append(f"  {node.name}: all of the loop")
        elif node.type in ("_While", "_WhileBeside"):
            lines += _fused([node.attrs["loop"].body])
    return ["compiled regions:", *lines, ""] if lines and lines[0] != "compiled regions:" else lines


def _beside(graphs: Sequence[StepGraph]) -> list[str]:
    """Which products are computed while which loop runs."""
    lines = [
        f"  {node.name}: {', '.join(each.name for each in node.attrs['products'])}"
        for graph in graphs
        for node in graph.nodes
        if node.type == "_WhileBeside"
    ]
    return ["products beside loops:", *lines, ""] if lines else []


def _nodes(graph: StepGraph) -> list[str]:
    lines = [f"{len(graph.nodes)} nodes after pruning, folding and merging:"]
    for node in graph.nodes:
        outputs = ", ".join(
            f"{dtype.name}{text(shape)}"
            for dtype, shape in zip(node.dtypes, node.shapes, strict=True)
        )
        inputs = ", ".join(
            edge.node.name if edge.index == 0 else f"{edge.node.name}:{edge.index}"
            for edge in node.inputs
        )
        lines.append(
            f"  {node.type} '{node.name}'({inputs}) -> {outputs or 'nothing'}  {node.device}"
        )
    return lines
