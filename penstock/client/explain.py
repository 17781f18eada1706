"""`tf.explain`: what a run would do, in words and as the source of its plan."""

from __future__ import annotations

from typing import Any

from penstock.ir import defaults
from penstock.shapes import text


def explain(fetches: Any, feeds: Any = (), session: Any = None) -> str:
    """Compiles a run without running it and describes nodes, devices and the generated source.

    `feeds` are the tensors that would be fed (a feed dict does as well). Prints nothing: print the
    returned string.
    """
    from penstock.client.session import Session

    session = session or defaults.get_default_session()
    if session is None:
        with Session() as temporary:
            return explain(fetches, feeds, temporary)
    run = session._prepare(None, fetches, dict.fromkeys(feeds))
    step = run.step
    lines = [f"{len(step.graph.nodes)} nodes after pruning, folding and merging:"]
    for node in step.graph.nodes:
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
    if step.plan is None:
        lines += ["", "run by the dataflow executor: it has control-flow primitives"]
    else:
        lines += ["", "plan:", step.plan.source]
    return "\n".join(lines)
