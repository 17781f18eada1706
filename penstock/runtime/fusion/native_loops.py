"""Loops of numbers alone as C++ functions.

A loop whose condition compares a counter with a limit runs a number of times that is known before.
It is written as such: a compiler then often has no need of running it at all.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch

from penstock import dtypes
from penstock.dtypes import DType
from penstock.ir.step_graph import Edge, Node, StepGraph
from penstock.kernels.compilers import shared_library
from penstock.passes.structure import Loop
from penstock.runtime.number_loops import Numbers, constant_number, invariants_of

#: Iterations of one call, a tenth of a second of simple ones: then a step can be cancelled.
_AT_A_TIME = 2**26

_TYPES = {dtypes.int32: "int32_t", dtypes.int64: "int64_t", dtypes.bool: "bool"}
# Signed numbers that overflow have no meaning in C++, unsigned ones wrap around.
_ARITHMETIC = {"Add": "{0} + {1}", "AddV2": "{0} + {1}", "Sub": "{0} - {1}", "Mul": "{0} * {1}"}
_ARITHMETIC["Neg"] = "0 - {0}"
_EXACT = {
    "Less": "{0} < {1}",
    "LessEqual": "{0} <= {1}",
    "Greater": "{0} > {1}",
    "GreaterEqual": "{0} >= {1}",
    "Equal": "{0} == {1}",
    "NotEqual": "{0} != {1}",
    "LogicalAnd": "{0} && {1}",
    "LogicalOr": "{0} || {1}",
    "LogicalNot": "!{0}",
    "Minimum": "{0} < {1} ? {0} : {1}",
    "Maximum": "{0} > {1} ? {0} : {1}",
    "Identity": "{0}",
}
_MIRRORED = {
    "Less": "Greater",
    "LessEqual": "GreaterEqual",
    "Greater": "Less",
    "GreaterEqual": "LessEqual",
}

_TEXT = """\
#include <cstdint>

extern "C" int32_t run(int64_t budget, {parameters}) {{
    {start}
{counted}
    for (;; --budget) {{
        {header}
        if (!{test} || budget == 0) {{
            {end}
            return !{test};
        }}
        {body}
    }}
}}
"""
# How often the condition holds, if the counter does not wrap around before it fails.
_COUNTED = """\
    const __int128 distance = {distance};
    const __int128 trips = distance < 0 ? 0 : distance / {step} + 1;
    const __int128 last = f{counter} + trips * ({change});
    if (last >= {least} && last <= {most}) {{
        const int64_t times = trips < budget ? trips : budget;
        for (int64_t i = 0; i < times; ++i) {{
            {body}
        }}
        {end}
        return times == trips;
    }}
"""


class _Count(NamedTuple):
    """A loop's condition: how a variable that changes by a constant compares with a limit."""

    counter: int
    change: int
    comparison: str
    limit: str


def source_of(loop: Loop, numbers: Numbers) -> str:
    """The C++ source of a loop of numbers.

    Its function takes how many iterations it may run, and pointers to the variables, to the
    invariants and to where the variables go; it returns whether the loop has ended.
    """
    feeds = loop.header.feeds
    taken = [*range(loop.variables), *invariants_of(numbers)]
    types = {index: _TYPES[feeds[index].dtypes[0]] for index in taken}
    parameters = [f"const {types[index]}* p{index}" for index in taken]
    parameters += [f"{types[index]}* r{index}" for index in range(loop.variables)]
    header, (test,) = _written(loop.header, "h")
    body, results = _written(loop.body, "b")
    body += [f"const {types[i]} n{i} = {result};" for i, result in enumerate(results)]
    body += [f"f{i} = n{i};" for i in range(loop.variables)]
    parts = {
        "parameters": ", ".join(parameters),
        "start": " ".join(f"{types[index]} f{index} = *p{index};" for index in taken),
        "header": " ".join(header),
        "test": test,
        "body": " ".join(body),
        "end": " ".join(f"*r{index} = f{index};" for index in range(loop.variables)),
    }
    count = _count(loop)
    parts["counted"] = "" if count is None else _counted(count, loop, parts)
    return _TEXT.format(**parts)


def _written(region: StepGraph, prefix: str) -> tuple[list[str], list[str]]:
    """The statements that compute a region, and the expressions of its results."""
    texts = {Edge(feed, 0): f"f{index}" for index, feed in enumerate(region.feeds)}
    lines: list[str] = []
    for node in region.nodes:
        edge = Edge(node, 0)
        if edge in texts:
            continue
        if node.type == "Const":
            texts[edge] = _literal(node)
            continue
        texts[edge] = name = f"{prefix}{len(lines)}"
        value = _expression(node, [texts[each] for each in node.inputs])
        lines.append(f"const {_TYPES[node.dtypes[0]]} {name} = {value};")
    return lines, [texts[edge] for edge in region.fetches]


def _expression(node: Node, arguments: Sequence[str]) -> str:
    if node.type in _EXACT:
        return _EXACT[node.type].format(*arguments)
    kind = _TYPES[node.dtypes[0]]
    return f"({kind})({_ARITHMETIC[node.type].format(*(f'(u{kind}){each}' for each in arguments))})"


def _literal(node: Node) -> str:
    kind, value = _TYPES[node.dtypes[0]], constant_number(node)
    return f"(({kind}){int(value) & 2**64 - 1}u)"


def _count(loop: Loop) -> _Count | None:
    """What the condition of a loop compares, if that tells how often the loop runs."""
    condition = loop.header.fetches[0].node
    if condition.type not in _MIRRORED:
        return None
    for comparison, edges in (
        (condition.type, condition.inputs),
        (_MIRRORED[condition.type], condition.inputs[::-1]),
    ):
        counter, limit = (_source(edge) for edge in edges)
        change = _change(loop, counter)
        fixed = _fixed(loop, limit)
        if change and fixed is not None and (change > 0) == comparison.startswith("Less"):
            return _Count(loop.header.feeds.index(counter.node), change, comparison, fixed)
    return None


def _source(edge: Edge) -> Edge:
    while edge.node.type == "Identity":
        edge = edge.node.inputs[0]
    return edge


def _change(loop: Loop, counter: Edge) -> int | None:
    """By which constant a variable changes in each iteration, if it is one."""
    feeds = loop.header.feeds[: loop.variables]
    if counter.node not in feeds:
        return None
    index = feeds.index(counter.node)
    update = _source(loop.body.fetches[index]).node
    if update.type not in ("Add", "AddV2", "Sub"):
        return None
    sides = [_source(edge) for edge in update.inputs]
    if update.type != "Sub" and sides[0].node.type == "Const":
        sides.reverse()
    if sides[0].node is not loop.body.feeds[index] or sides[1].node.type != "Const":
        return None
    step = int(constant_number(sides[1].node))
    return -step if update.type == "Sub" else step


def _fixed(loop: Loop, edge: Edge) -> str | None:
    """The text of a value that stays as it is while the loop runs."""
    if edge.node.type == "Const":
        return _literal(edge.node)
    feeds = loop.header.feeds
    if edge.node not in feeds:
        return None
    index = feeds.index(edge.node)
    if (
        index < loop.variables
        and _source(loop.body.fetches[index]).node is not loop.body.feeds[index]
    ):
        return None
    return f"f{index}"


def _counted(count: _Count, loop: Loop, parts: dict[str, str]) -> str:
    counter, limit = f"(__int128)f{count.counter}", count.limit
    less = count.comparison.startswith("Less")
    distance = f"{limit} - {counter}" if less else f"{counter} - {limit}"
    dtype: DType = loop.header.feeds[count.counter].dtypes[0]
    kind = _TYPES[dtype]
    return _COUNTED.format(
        distance=distance if count.comparison.endswith("Equal") else f"{distance} - 1",
        step=abs(count.change),
        counter=count.counter,
        change=count.change,
        least=f"({kind})INT{8 * dtype.size}_MIN",
        most=f"({kind})INT{8 * dtype.size}_MAX",
        body=parts["body"],
        end=parts["end"],
    )


def native_loop(loop: Loop, numbers: Numbers) -> Callable[[Any, Sequence[Any]], Any] | None:
    """A function from a step and a loop's inputs to its variables at the end, all tensors.

    None where there is no compiler, or it fails.
    """
    library = shared_library(source_of(loop, numbers))
    if library is None:
        return None
    function = library.run
    count, used = loop.variables, invariants_of(numbers)
    function.argtypes = [ctypes.c_int64, *[ctypes.c_void_p] * (2 * count + len(used))]
    function.restype = ctypes.c_int32

    def run(step: Any, values: Sequence[Any]) -> Any:
        variables = values[:count]
        results = [torch.empty_like(value) for value in variables]
        fixed = [values[index].data_ptr() for index in used]
        ends = [value.data_ptr() for value in results]
        starts = [value.data_ptr() for value in variables]
        while not function(_AT_A_TIME, *starts, *fixed, *ends):
            step.check()
            starts = ends
        return results

    return run
