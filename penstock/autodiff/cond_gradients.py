"""Gradients of nodes that call one of several functions: If and Case.

The gradient is a node of the same kind, between the gradients of the branches. What these need of
the branches' insides the node gives as optionals, which are empty where another branch was taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.autodiff.forward_functions import ForwardFunction, functions_of
from penstock.ir.composite import IndexedSlices
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.registry import takes_missing
from penstock.ir.tensor import Tensor
from penstock.ops.control_contexts import as_indexed_slices
from penstock.ops.datasets.iterators import OptionalFromValue, OptionalGetValue, OptionalNone
from penstock.ops.filling import zeros, zeros_like
from penstock.ops.flow_graphs import CondBranchFuncGraph, set_results, unique_gradient_name
from penstock.ops.functional_branches import Case, If, StatelessCase, StatelessIf
from penstock.ops.functional_cond import Branches, build
from penstock.ops.resource_variables import VariableShape, variable_of


@If.gradient
@StatelessIf.gradient
@takes_missing
def if_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradients of an If node's inputs; the condition has none."""
    branches = functions_of(op, 1, "then_branch", "else_branch")
    return _gradients(op, branches, grads, Branches("tf.cond", ("true_fn", "false_fn")), None)


@Case.gradient
@StatelessCase.gradient
@takes_missing
def case_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradients of a Case node's inputs; the index has none."""
    branches = functions_of(op, 1, "branches")
    return _gradients(op, branches, grads, Branches.of_case(len(branches)), "gradient")


def _gradients(
    op: Operation,
    branches: Sequence[ForwardFunction],
    grads: Sequence[Any],
    kind: Branches,
    name: str | None,
) -> list[Any]:
    graph = get_default_graph()
    graphs = [_BranchGradient(unique_gradient_name(graph, each.name), each) for each in branches]
    found = [each.gradients(grads) for each in graphs]
    _give_what_is_kept(op, branches)
    wanted = _match_gradients(branches, graphs, found)
    if not wanted:
        return [None] * len(op._inputs)
    made = build(kind, op._inputs[0], graphs, name=name)
    result: list[Any] = [None] * len(op._inputs)
    for place, gradient in zip(wanted, made, strict=True):
        result[1 + place] = gradient
    return result


class _BranchGradient(CondBranchFuncGraph):
    """The gradient of a branch: what it uses of the branch is taken from the node's results."""

    def __init__(self, name: str, branch: ForwardFunction):
        super().__init__(name)
        self._branch = branch
        self._taken: dict[Tensor, Tensor] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        branch = self._branch
        if not branch.owns(tensor):
            return super().capture(tensor, name)
        known = self._taken.get(tensor)
        if known is None:
            known = self._taken[tensor] = self._from_branch(tensor, name)
        return known

    def _from_branch(self, tensor: Tensor, name: str | None) -> Tensor:
        branch, op = self._branch, self._branch.op
        if tensor in branch.inputs:
            return super().capture(op._inputs[1 + branch.inputs.index(tensor)], name)
        if tensor in branch.outputs:
            return super().capture(op._outputs[branch.outputs.index(tensor)], name)
        if tensor._dtype is dtypes.resource:
            return super().capture(op._inputs[1 + branch.origin(tensor)], name)
        optional = super().capture(_kept(branch, tensor), name)
        with self.as_default():
            value: Tensor = OptionalGetValue(
                optional, output_types=[tensor._dtype], output_shapes=[tensor._shape]
            )[0]
        return value

    def gradients(self, grads: Sequence[Any]) -> list[Any]:
        """The gradients of the branch's arguments, None where there is none."""
        from penstock.autodiff.gradients import gradients, is_trainable

        pairs = [
            (result, grad)
            for result, grad in zip(self._branch.outputs, grads, strict=False)
            if grad is not None and is_trainable(result)
        ]
        if not pairs:
            return [None] * len(self._branch.inputs)
        results, weights = zip(*pairs, strict=True)
        with self.as_default():
            return gradients(list(results), self._branch.inputs, grad_ys=list(weights))


def _kept(branch: ForwardFunction, tensor: Tensor) -> Tensor:
    """The result of the node that is an optional of a tensor inside a branch."""
    op = branch.op
    place = branch.kept.get(tensor)
    if place is None:
        with branch.extending():
            branch.outputs.append(OptionalFromValue([tensor]))
        place = branch.kept[tensor] = len(branch.outputs) - 1
        if place == len(op._outputs):
            op._add_outputs([dtypes.variant], [()])
    return op._outputs[place]


def _give_what_is_kept(op: Operation, branches: Sequence[ForwardFunction]) -> None:
    """Changes a node to give all that its branches keep."""
    count = len(op._outputs)
    if count == len(op.attrs["Tout"]):
        return
    for branch in branches:
        with branch.extending():
            branch.outputs += [OptionalNone() for _ in range(count - len(branch.outputs))]
    names = [branch.rewritten() for branch in branches]
    if "branches" in op.attrs:
        op._set_attr("branches", names)
    else:
        for key, name in zip(("then_branch", "else_branch"), names, strict=True):
            op._set_attr(key, name)
    op._set_attr("Tout", [tensor._dtype for tensor in op._outputs])
    op._set_attr("output_shapes", [tensor._shape for tensor in op._outputs])


def _match_gradients(
    branches: Sequence[ForwardFunction],
    graphs: Sequence[_BranchGradient],
    found: Sequence[list[Any]],
) -> list[int]:
    """Makes the gradients of the same arguments the results of all graphs; which ones they are.

    An argument that a branch doesn't depend on has zeros there; rows, where others have rows.
    """
    from penstock.autodiff.gradients import is_trainable

    wanted = []
    for place, argument in enumerate(branches[0].inputs):
        given = [results[place] for results in found]
        opaque = argument._dtype is dtypes.variant or _is_other_handle(argument)
        if is_trainable(argument) and not (opaque and all(grad is None for grad in given)):
            wanted.append(place)
    for graph, branch, results in zip(graphs, branches, found, strict=True):
        with graph.as_default():
            for place in wanted:
                if results[place] is None:
                    results[place] = _zeros(branch.inputs[place])
                if any(isinstance(each[place], IndexedSlices) for each in found):
                    (results[place],) = as_indexed_slices([results[place]])
        set_results(graph, [results[place] for place in wanted])
    return wanted


def _is_other_handle(argument: Tensor) -> bool:
    return argument._dtype is dtypes.resource and variable_of(argument) is None


def _zeros(argument: Tensor) -> Tensor:
    variable = variable_of(argument) if argument._dtype is dtypes.resource else None
    if variable is None:
        return zeros_like(argument)
    return zeros(VariableShape(argument), variable.attrs["dtype"])
