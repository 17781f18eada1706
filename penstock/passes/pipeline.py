"""The order of the passes, on one screen.

Each pass is a function over a `StepGraph`; the graph is checked after each, so that a broken pass
is found at once and by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

from penstock.ir.operation import Operation
from penstock.ir.step_graph import StepGraph
from penstock.ir.tensor import Tensor
from penstock.passes.dead_ends import remove_dead_ends
from penstock.passes.fold import Evaluate, fold_constants
from penstock.passes.fuse import fuse_scaled_rows
from penstock.passes.keep import keep_for_gradients
from penstock.passes.merge import merge_equal
from penstock.passes.order import order_step
from penstock.passes.prune import prune
from penstock.passes.simplify import simplify


@dataclass(frozen=True)
class PassOptions:
    """Which optional passes run; `ConfigProto.graph_options` switches them."""

    fold: bool = True
    merge: bool = True
    simplify: bool = True
    dead_ends: bool = True
    keep: bool = True
    fuse: bool = True
    structure: bool = True  # loops and conditionals as parts of plans


#: None of them: every node of the graph runs, under its own name.
AS_WRITTEN = PassOptions(*[False] * len(fields(PassOptions)))


def compile_step(
    feeds: Sequence[Tensor],
    fetches: Sequence[Tensor],
    targets: Sequence[Operation],
    evaluate: Evaluate,
    options: PassOptions,
) -> StepGraph:
    """The optimised and ordered step for a run's signature."""
    step = prune(feeds, fetches, targets)
    step.verify("prune")
    passes: list[tuple[str, bool, Callable[[StepGraph], None]]] = [
        ("fold_constants", options.fold, lambda graph: fold_constants(graph, evaluate)),
        ("merge_equal", options.merge, merge_equal),
        ("simplify", options.simplify, simplify),
        ("remove_dead_ends", options.dead_ends, remove_dead_ends),
        ("keep_for_gradients", options.keep, keep_for_gradients),
        ("fuse_scaled_rows", options.fuse, fuse_scaled_rows),
        ("order_step", True, order_step),
    ]
    for name, enabled, function in passes:
        if enabled:
            function(step)
            step.verify(name)
    return step
