"""Loops inside plans: a header and a body, each a plan of its own, run until the header says no."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir.step_graph import Node
from penstock.passes.structure import Loop
from penstock.runtime.device import Device
from penstock.runtime.diagnosis import in_iteration
from penstock.runtime.plan import Plan, make_plan


def loop_function(node: Node, device: Device) -> Callable[..., Any]:
    """What a plan calls for a `_While` node: `run(step, *variables, *invariants)`."""
    from penstock.runtime.binding import bind_all

    loop: Loop = node.attrs["loop"]
    header, body = (
        make_plan(region, bind_all(region, device), inner=True, references=references)
        for region, references in zip((loop.header, loop.body), loop.references, strict=True)
    )
    count, exits = loop.variables, loop.exits
    check, advance = header.function, body.function
    passes_values = len(loop.header.fetches) > 1

    def run(step: Any, *values: Any) -> Any:
        variables, fixed = values[:count], values[count:]
        deadline = step.deadline
        iteration = 0
        try:
            if passes_values:
                while (found := check(step, *variables, *fixed))[0]:
                    variables = advance(step, *variables, *fixed, *found[1:])
                    iteration += 1
                    if deadline is not None:
                        step.check()
            else:
                while check(step, *variables, *fixed)[0]:
                    variables = advance(step, *variables, *fixed)
                    iteration += 1
                    if deadline is not None:
                        step.check()
        except Exception as error:
            raise _explained(error, (header, body), loop, iteration) from error
        if len(exits) == 1:
            return variables[exits[0]]
        return [variables[index] for index in exits]

    return run


def _explained(error: Exception, plans: tuple[Plan, ...], loop: Loop, iteration: int) -> Exception:
    """The error of a node of the loop, with the number of the iteration."""
    for plan in plans:
        found = plan.explained(error)
        if found is not None:
            return in_iteration(found, loop.name, iteration)
    return error
