"""Conditionals and loops whose branches and bodies are functions: If, Case, While, For."""

from __future__ import annotations

from typing import Any

from penstock import shapes
from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, attr, not_differentiable, op
from penstock.ops.functions import result_shapes
from penstock.shapes import Shape

_LISTS = {"Tin": attr("list(type)", minimum=0), "Tout": attr("list(type)", minimum=0)}
_IF = {
    **_LISTS,
    "then_branch": attr("func"),
    "else_branch": attr("func"),
    "output_shapes": attr("list(shape)", []),
}
_CASE = {
    **_LISTS,
    "branches": attr("list(func)", minimum=1),
    "output_shapes": attr("list(shape)", []),
}
_WHILE = {
    "T": attr("list(type)", minimum=0),
    "cond": attr("func"),
    "body": attr("func"),
    "output_shapes": attr("list(shape)", []),
    "parallel_iterations": 10,
}
If = op("If(cond: Tcond, input: *Tin) -> output: *Tout", STATEFUL, **_IF)
StatelessIf = op("StatelessIf(cond: Tcond, input: *Tin) -> output: *Tout", **_IF)
Case = op("Case(branch_index: int32, input: *Tin) -> output: *Tout", STATEFUL, **_CASE)
StatelessCase = op("StatelessCase(branch_index: int32, input: *Tin) -> output: *Tout", **_CASE)
While = op("While(input: *T) -> output: *T", STATEFUL, **_WHILE)
StatelessWhile = op("StatelessWhile(input: *T) -> output: *T", **_WHILE)
For = op(
    "For(start: int32, limit: int32, delta: int32, input: *T) -> output: *T",
    T=attr("list(type)", minimum=0),
    body=attr("func"),
)
FakeParam = op("FakeParam() -> output: dtype", dtype=attr("type"), shape=attr("shape"))
not_differentiable(FakeParam)


@FakeParam.shape
def _(op: Operation) -> Any:
    return op.attrs["shape"]


def _common(all_shapes: list[list[Shape]]) -> list[Shape]:
    """What the results of several branches have in common."""
    return [_both(*each) for each in zip(*all_shapes, strict=True)]


def _both(first: Shape, *others: Shape) -> Shape:
    found = shapes.TensorShape(first)
    for other in others:
        found = found.most_specific_compatible_shape(shapes.TensorShape(other))
    return shapes.raw(found)


@If.shape
@StatelessIf.shape
def _(op: Operation, cond: Shape, *inputs: Shape) -> list[Shape]:
    if op.attrs["output_shapes"]:
        return list(op.attrs["output_shapes"])
    branches = (op.attrs["then_branch"], op.attrs["else_branch"])
    return _common([result_shapes(op, branch) for branch in branches])


@Case.shape
@StatelessCase.shape
def _(op: Operation, branch_index: Shape, *inputs: Shape) -> list[Shape]:
    if op.attrs["output_shapes"]:
        return list(op.attrs["output_shapes"])
    return _common([result_shapes(op, branch) for branch in op.attrs["branches"]])


@While.shape
@StatelessWhile.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    if op.attrs["output_shapes"]:
        return list(op.attrs["output_shapes"])
    return list(inputs)


@For.shape
def _(op: Operation, start: Shape, limit: Shape, delta: Shape, *inputs: Shape) -> list[Shape]:
    results = result_shapes(op, op.attrs["body"])
    if len(results) != len(inputs):
        return list(inputs)  # the loop fails when it runs
    return _common([list(inputs), results])
