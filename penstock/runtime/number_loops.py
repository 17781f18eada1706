"""Loops of numbers alone: one function with a `while`, in place of two plans that take turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.passes.order import live_variable
from penstock.passes.structure import Loop
from penstock.runtime.scalars import Scalars, expression, number, scalars_of

Numbers = tuple[Scalars, Scalars]  # of a loop's header and body


def numbers_of(node: Node) -> Numbers:
    """What of the loop of a `_While` node is computed with Python numbers."""
    loop: Loop = node.attrs["loop"]
    inputs = enumerate(node.inputs if loop.writes else ())
    return scalars_of(loop, {index for index, edge in inputs if live_variable(edge) is not None})


def is_of_numbers(node: Node, numbers: Numbers) -> bool:
    """Whether that is all which the loop does, on one device."""
    loop: Loop = node.attrs["loop"]
    if len(loop.header.fetches) > 1 or any(loop.references) or loop.sums:
        return False
    if node.attrs.get("spans", False):
        return False
    if numbers[0].variables != set(range(loop.variables)):
        return False
    regions = zip((loop.header, loop.body), numbers, strict=True)
    return all(_is_of_numbers(region, scalars) for region, scalars in regions)


def has_number_loops(step: StepGraph) -> bool:
    """Whether there are loops of numbers alone in a step, or in the bodies of its loops."""
    loops = [node for node in step.nodes if node.type == "_While"]
    return any(
        is_of_numbers(node, numbers_of(node)) or has_number_loops(node.attrs["loop"].body)
        for node in loops
    )


def _is_of_numbers(region: StepGraph, scalars: Scalars) -> bool:
    computed = (node for node in region.nodes if node.type not in ("_Feed", "Const"))
    return not region.targets and all(node in scalars.nodes and not node.guard for node in computed)


def invariants_of(numbers: Numbers) -> list[int]:
    """The inputs of a loop of numbers, beside its variables, that it uses."""
    return sorted({*numbers[0].invariants, *numbers[1].invariants})


def number_loop(loop: Loop, numbers: Numbers) -> Callable[[Sequence[Any]], list[Any]]:
    """A function from the inputs of a loop of numbers to its variables at the end, all tensors."""
    function = _function(loop, numbers)
    used = [*range(loop.variables), *invariants_of(numbers)]
    kinds = [feed.dtypes[0].as_numpy_dtype for feed in loop.header.feeds[: loop.variables]]

    def run(values: Sequence[Any]) -> list[Any]:
        found = function(*[number(values[index]) for index in used])
        # Half the time of torch.tensor.
        return [torch.from_numpy(np.array(*pair)) for pair in zip(found, kinds, strict=True)]

    return run


def _function(loop: Loop, numbers: Numbers) -> Callable[..., tuple[Any, ...]]:
    """A function of the variables and of `invariants_of(numbers)`: the variables at the end."""
    header, (test,) = _written(loop.header, "h")
    body, results = _written(loop.body, "b")
    variables = [f"f{index}" for index in range(loop.variables)]
    changes = [pair for pair in zip(variables, results, strict=True) if pair[0] != pair[1]]
    targets, values = (", ".join(pair[side] for pair in changes) for side in (0, 1))
    parameters = [*variables, *(f"f{index}" for index in invariants_of(numbers))]
    source = [f"def loop({', '.join(parameters)}):"]
    if header:
        source += ["    while True:", *(f"        {line}" for line in header)]
        source += [f"        if not {test}: break"]
    else:
        source += [f"    while {test}:"]
    source += [
        f"        {line}" for line in (*body, f"{targets} = {values}" if targets else "pass")
    ]
    source += [f"    return ({', '.join(variables)},)"]
    namespace: dict[str, Any] = {}
    exec(compile("\n".join(source), f"<penstock loop {loop.name}>", "exec"), namespace)
    function: Callable[..., tuple[Any, ...]] = namespace["loop"]
    return function


def _written(region: StepGraph, prefix: str) -> tuple[list[str], list[str]]:
    """The lines that compute a region, and the expressions of its results.

    What is used once is written where it is used.
    """
    uses = Counter([*region.fetches, *(edge for node in region.nodes for edge in node.inputs)])
    texts = {Edge(feed, 0): f"f{index}" for index, feed in enumerate(region.feeds)}
    lines: list[str] = []
    for node in region.nodes:
        edge = Edge(node, 0)
        if edge in texts:
            continue
        if node.type == "Const":
            texts[edge] = repr(constant_number(node))
            continue
        texts[edge] = expression(node, [texts[each] for each in node.inputs])
        if uses[edge] > 1:
            name = f"{prefix}{len(lines)}"
            lines.append(f"{name} = {texts[edge]}")
            texts[edge] = name
    return lines, [texts[edge] for edge in region.fetches]


def constant_number(node: Node) -> Any:
    """The number that a scalar constant holds."""
    return node.attrs["value"].item()
