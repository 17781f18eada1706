"""Loops inside plans: a header and a body, each a plan of its own, run until the header says no."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from penstock.ir.step_graph import Node
from penstock.kernels.values import torch_type
from penstock.passes.structure import Loop
from penstock.runtime.device import Device
from penstock.runtime.diagnosis import in_iteration
from penstock.runtime.plan import Plan, make_plan
from penstock.runtime.scalars import number, scalars_of


def loop_function(node: Node, device: Device) -> Callable[..., Any]:
    """What a plan calls for a `_While` node: `run(step, *variables, *invariants)`."""
    from penstock.runtime.binding import bind_all

    loop: Loop = node.attrs["loop"]
    numbers = scalars_of(loop)
    header, body = (
        make_plan(
            region, bind_all(region, device), inner=True, references=references, scalars=scalars
        )
        for region, references, scalars in zip(
            (loop.header, loop.body), loop.references, numbers, strict=True
        )
    )
    count, exits = loop.variables, loop.exits
    check, advance = header.function, body.function
    counters = sorted(numbers[0].variables)
    types = {index: torch_type(loop.header.feeds[index].dtypes[0]) for index in counters}
    passes_values = len(loop.header.fetches) > 1

    def run(step: Any, *values: Any) -> Any:
        fixed = values[count:]
        in_header, in_body = (
            (*fixed, *(number(values[index]) for index in each.invariants)) for each in numbers
        )
        variables = list(values[:count])
        for index in counters:
            variables[index] = number(variables[index])
        deadline = step.deadline
        iteration = 0
        try:
            if passes_values:
                extra = in_body[len(fixed) :]
                while (found := check(step, *variables, *in_header))[0]:
                    variables = advance(step, *variables, *fixed, *found[1:], *extra)
                    iteration += 1
                    if deadline is not None:
                        step.check()
            else:
                while check(step, *variables, *in_header)[0]:
                    variables = advance(step, *variables, *in_body)
                    iteration += 1
                    if deadline is not None:
                        step.check()
        except Exception as error:
            raise _explained(error, (header, body), loop, iteration) from error
        results = [
            torch.tensor(variables[index], dtype=types[index])
            if index in types
            else variables[index]
            for index in exits
        ]
        return results[0] if len(results) == 1 else results

    return run


def _explained(error: Exception, plans: tuple[Plan, ...], loop: Loop, iteration: int) -> Exception:
    """The error of a node of the loop, with the number of the iteration."""
    for plan in plans:
        found = plan.explained(error)
        if found is not None:
            return in_iteration(found, loop.name, iteration)
    return error
