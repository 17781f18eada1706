"""Loops inside plans: a header and a body, each a plan of its own, run until the header says no."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from penstock import dtypes
from penstock.ir.step_graph import Node
from penstock.kernels.large_products import product_of
from penstock.passes.structure import Loop
from penstock.runtime.aliasing import analyse
from penstock.runtime.binding import BoundNode, bind_all
from penstock.runtime.device import Device
from penstock.runtime.diagnosis import in_iteration
from penstock.runtime.number_loops import Numbers, is_of_numbers, number_loop, numbers_of
from penstock.runtime.plan import Plan, make_plan
from penstock.runtime.scalars import number
from penstock.runtime.sums import SumOfProducts


@dataclass(frozen=True)
class BoundLoop:
    """What a plan calls for a `_While` node: `run(step, *variables, *invariants)`.

    `fresh` are the outputs that share memory with nothing that enters the loop.
    """

    run: Callable[..., Any]
    fresh: frozenset[int]


def bind_loop(node: Node, device: Device) -> BoundLoop:
    """A loop with its two plans made."""
    loop: Loop = node.attrs["loop"]
    numbers = numbers_of(node)
    header_nodes, body_nodes = (bind_all(region, device) for region in (loop.header, loop.body))
    make_header = partial(
        make_plan,
        loop.header,
        header_nodes,
        inner=True,
        references=loop.references[0],
        scalars=numbers[0],
    )
    make_body = partial(
        make_plan,
        loop.body,
        body_nodes,
        inner=True,
        references=loop.references[1],
        scalars=numbers[1],
        owned=_owned(loop, body_nodes),
    )
    header, body = make_header(), make_body()
    count, exits = loop.variables, loop.exits
    traced: list[tuple[Plan, Plan]] = []  # made for the first step that is traced

    def plans(step: Any) -> tuple[Plan, Plan]:
        if step.trace is None:
            return header, body
        if not traced:
            traced.append((make_header(traced=True), make_body(traced=True)))
        return traced[0]

    sums = [
        (index, product_of(loop.body.feeds[index].dtypes[0], device.torch_device))
        for index in loop.sums
    ]
    spans = node.attrs.get("spans", False)
    counters = sorted(numbers[0].variables)
    types = {index: loop.header.feeds[index].dtypes[0].as_numpy_dtype for index in counters}
    alone = _numbers_alone(node, numbers)
    passes_values = len(loop.header.fetches) > 1

    def run(step: Any, *values: Any) -> Any:
        if alone is not None and _runs_unseen(step):
            variables = alone(step, values)
            results = [variables[index] for index in exits]
            return results[0] if len(results) == 1 else results
        fixed = values[count:]
        in_header, in_body = (
            (*fixed, *(number(values[index]) for index in each.invariants)) for each in numbers
        )
        started = list(values[:count])
        for index in counters:
            started[index] = number(started[index])
        for index in body.overwritten:  # the first value may be somebody else's
            started[index] = started[index].clone()
        for index, product in sums:
            started[index] = SumOfProducts(started[index], product)
        variables = tuple(started)
        if step.trace is not None:
            step.trace.enter(loop.body, (*variables, *in_body))
        deadline = step.deadline
        outer = step.frame
        iteration = 0
        if spans:
            step.frame = (*outer, 0)
        chosen = plans(step)
        check, advance = (plan.function for plan in chosen)
        try:
            if passes_values:
                extra = in_body[len(fixed) :]
                while (found := check(step, *variables, *in_header))[0]:
                    variables = advance(step, *variables, *fixed, *found[1:], *extra)
                    iteration += 1
                    if spans:
                        step.frame = (*outer, iteration)
                    if deadline is not None:
                        step.check()
            else:
                while check(step, *variables, *in_header)[0]:
                    variables = advance(step, *variables, *in_body)
                    iteration += 1
                    if spans:
                        step.frame = (*outer, iteration)
                    if deadline is not None:
                        step.check()
        except Exception as error:
            raise _explained(error, chosen, loop, iteration) from error
        step.frame = outer
        if sums:
            variables = tuple(v.total() if isinstance(v, SumOfProducts) else v for v in variables)
        results = [
            torch.from_numpy(np.array(variables[index], types[index]))
            if index in types
            else variables[index]
            for index in exits
        ]
        return results[0] if len(results) == 1 else results

    own = {index for index in (*body.overwritten, *loop.sums) if exits.count(index) == 1}
    return BoundLoop(run, frozenset(i for i, index in enumerate(exits) if index in own))


def _runs_unseen(step: Any) -> bool:
    """Whether nobody wants to see, or to end, the iterations of a loop one by one."""
    return step.deadline is None and (step.trace is None or not step.trace.sees_numbers)


def _numbers_alone(node: Node, numbers: Numbers) -> Callable[[Any, Sequence[Any]], Any] | None:
    """The fastest way to run a loop that computes nothing but numbers; None for other loops."""
    native: Callable[[Any, Sequence[Any]], Any] | None = node.attrs.get("native")
    if native is not None or not is_of_numbers(node, numbers):
        return native
    function = number_loop(node.attrs["loop"], numbers)
    return lambda step, values: function(values)


def _owned(loop: Loop, bound: list[BoundNode]) -> list[int]:
    """The variables whose memory belongs to the loop alone, from one iteration to the next.

    Such a one, a sum that a gradient is added to, is updated in place. The search begins with all
    and takes out those whose next value may share memory with something else.
    """
    if len(loop.header.fetches) > 1:
        return []  # what the header passes on may share memory with a variable
    body = loop.body
    owned = {
        index
        for index in range(loop.variables)
        if not _is_handle(body.feeds[index]) and index not in loop.sums
    }
    while True:
        aliasing = analyse(body, bound, [body.feeds[index] for index in owned])
        results = [aliasing.roots[edge] for edge in body.fetches]
        shared = [root for roots in results for root in roots]
        kept = {
            index
            for index in owned
            if aliasing.is_private(body.fetches[index])
            and all(shared.count(root) == 1 for root in results[index])
        }
        if kept == owned:
            return sorted(owned)
        owned = kept


def _is_handle(feed: Node) -> bool:
    dtype = feed.dtypes[0]
    return dtype.is_ref_dtype or dtype in (dtypes.resource, dtypes.variant, dtypes.string)


def _explained(error: Exception, plans: tuple[Plan, ...], loop: Loop, iteration: int) -> Exception:
    """The error of a node of the loop, with the number of the iteration."""
    for plan in plans:
        found = plan.explained(error)
        if found is not None:
            return in_iteration(found, loop.name, iteration)
    return error
