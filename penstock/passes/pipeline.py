"""The order of the passes, on one screen.

Each pass is a function over a `StepGraph`; the graph is checked after each, so that a broken pass
is found at once and by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from penstock.dtypes import as_dtype
from penstock.ir.operation import Operation
from penstock.ir.step_graph import Node, Rewrite, StepGraph
from penstock.ir.tensor import Tensor
from penstock.passes.dead_branches import remove_dead_branches
from penstock.passes.dead_ends import remove_dead_ends
from penstock.passes.fetched_reads import copy_fetched_reads
from penstock.passes.fold import Evaluate, fold_constants
from penstock.passes.fuse import fuse_scaled_rows
from penstock.passes.keep import keep_for_gradients
from penstock.passes.lower_functions import calls_lowered_functions, lower_functions
from penstock.passes.merge import merge_equal
from penstock.passes.order import order_step
from penstock.passes.pool_first import pool_first
from penstock.passes.pooled_gradients import rectify_pooled_gradients
from penstock.passes.precision import lower_precision
from penstock.passes.prune import prune
from penstock.passes.recompute import recompute
from penstock.passes.scaled_descent import scale_in_descent
from penstock.passes.simplify import simplify


@dataclass(frozen=True)
class PassOptions:
    """Which optional passes run; `ConfigProto.graph_options` switches them.

    Two run on request alone: `recompute` has the name scope of the nodes whose inputs are computed
    again beside them (`passes/recompute.py`), `precision` the type of 16 bits to compute in
    (`passes/precision.py`).
    """

    fold: bool = True
    branches: bool = True
    merge: bool = True
    simplify: bool = True
    dead_ends: bool = True
    keep: bool = True
    pool_first: bool = False  # of two nearly equal maxima another one may get the gradient
    pooled_gradients: bool = True
    fuse: bool = True
    bias: bool = True  # this one and the next five once nodes are placed
    conv_epilogue: bool = True
    relu_sums: bool = True
    conv_gradients: bool = True
    descent: bool = True
    together: bool = True
    fusion: str = "hot"  # regions are compiled: "never", "hot" (where steps run often), "soon"
    beside: bool = True  # large products while loops run, where steps run often
    structure: bool = True  # loops and conditionals as parts of plans
    recompute: str | None = None
    precision: str | None = None
    narrow_edges: bool = False  # float32 values cross tasks in 16 bits, once nodes are placed


#: None of them: every node of the graph runs, under its own name.
_NONE: Any = {field.name: False for field in fields(PassOptions) if field.default is True}
AS_WRITTEN = PassOptions(**_NONE, fusion="never")


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

    def fold(graph: StepGraph) -> None:
        if options.fold:
            fold_constants(graph, evaluate)

    def lower(graph: StepGraph) -> None:
        lower_precision(graph, as_dtype(options.precision or "float32"))
        fold(graph)  # constants are converted once and for all

    passes: list[tuple[str, bool, Callable[[StepGraph], None]]] = [
        ("lower_functions", calls_lowered_functions(step), lower_functions),
        ("fold_constants", options.fold, fold),
        ("remove_dead_branches", options.branches, partial(_decide_branches, fold=fold)),
        ("merge_equal", options.merge, merge_equal),
        ("simplify", options.simplify, simplify),
        ("remove_dead_ends", options.dead_ends, remove_dead_ends),
        ("lower_precision", bool(options.precision), lower),
        ("pool_first", options.pool_first, pool_first),
        ("rectify_pooled_gradients", options.pooled_gradients, rectify_pooled_gradients),
        ("keep_for_gradients", options.keep, keep_for_gradients),
        ("fuse_scaled_rows", options.fuse, fuse_scaled_rows),
        ("scale_in_descent", options.fuse, scale_in_descent),
        ("recompute", bool(options.recompute), partial(recompute, scope=options.recompute or "")),
        ("copy_fetched_reads", True, copy_fetched_reads),
        ("order_step", True, order_step),
    ]
    for name, enabled, function in passes:
        if enabled:
            run_pass(name, function, step)
    return step


def run_pass(name: str, function: Callable[[StepGraph], None], step: StepGraph) -> None:
    """Runs one pass over a step, checks the result and notes what has changed."""
    before = _forms(step)
    function(step)
    step.verify(name)
    step.rewrites.append(_compared(name, before, _forms(step)))


def _decide_branches(step: StepGraph, fold: Callable[[StepGraph], None]) -> None:
    """What is left of a condition may be a constant, which decides the next one."""
    while remove_dead_branches(step):
        fold(step)


def _forms(step: StepGraph) -> dict[Node, tuple[Any, ...]]:
    """What each node of a step is like."""
    return {n: (n.spec, n.attrs, list(n.inputs), list(n.controls)) for n in step.nodes}


def _compared(
    name: str, before: dict[Node, tuple[Any, ...]], after: dict[Node, tuple[Any, ...]]
) -> Rewrite:
    kept = before.keys() & after.keys()
    changed = sum(before[node] != after[node] for node in kept)
    return Rewrite(name, len(before) - len(kept), len(after) - len(kept), changed)
