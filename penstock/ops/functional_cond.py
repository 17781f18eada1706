"""`tf.cond` and `tf.switch_case` as nodes that call functions: If and Case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import dtypes
from penstock.ir import nest
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import CompositeTensor, to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import FunctionGraph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.same_structure import assert_same_structure
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.flow_graphs import (
    CondBranchFuncGraph,
    added_function,
    common_shape,
    has_state,
    lowered,
    trace,
    unique_function_name,
    without_extra_dimensions,
)
from penstock.ops.flow_structures import leaf_tensors, packed_tensors
from penstock.ops.functional_branches import Case, If, StatelessIf
from penstock.ops.identity import identity


def cond_v2(
    pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str | None = "cond"
) -> Any:
    """What one of two functions gives: an If node that calls one of them when it runs."""
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with name_scope(name or "cond") as scope:
        graph = get_default_graph()
        names = [unique_function_name(graph, scope, each) for each in ("true", "false")]
        pred = without_extra_dimensions(to_tensor(pred))
        branches = [
            _traced(each, function, pred)
            for each, function in zip(names, (true_fn, false_fn), strict=True)
        ]
        kind = Branches("tf.cond", ("true_fn", "false_fn"))
        kind.refuse_tensors_of_each_other(branches)
        return build(kind, pred, branches, name=scope)


def indexed_case(
    branch_index: Any,
    branch_fns: Sequence[Callable[[], Any]],
    name: str | None = "indexed_case",
) -> Any:
    """What the function at an index gives; the last one's where there is none: a Case node."""
    if isinstance(branch_index, int):
        raise TypeError("branch_index must not be a Python int", branch_index)
    with name_scope(name or "indexed_case") as scope:
        graph = get_default_graph()
        numbers = range(len(branch_fns))
        names = [unique_function_name(graph, scope, f"branch{number}") for number in numbers]
        index = to_tensor(branch_index, name="branch_index")
        branches = [
            _traced(each, function, index) for each, function in zip(names, branch_fns, strict=True)
        ]
        Branches.of_case(len(branches), "branch {}").refuse_tensors_of_each_other(branches)
        return build(Branches.of_case(len(branches)), index, branches, name=scope)


def _traced(name: str, function: Callable[[], Any], op_value: Tensor) -> CondBranchFuncGraph:
    branch = CondBranchFuncGraph(name)
    trace(branch, function, op_value=op_value)
    return branch


def build(
    kind: Branches,
    chosen_by: Tensor,
    branches: Sequence[FunctionGraph],
    inputs: Sequence[Sequence[Tensor]] | None = None,
    name: str | None = None,
) -> Any:
    """The node that calls one of several branches; its results in the form that they give.

    `inputs` are the tensors that each branch takes, if they are not what it has captured.
    """
    kind.match_index_types(branches)
    kind.check_same_results(branches)
    taken = match_inputs(branches, inputs or [each.external_captures for each in branches])
    waits_for = [op for branch in branches for op in branch.control_captures]
    results = list(zip(*[branch.outputs for branch in branches], strict=True))
    with get_default_graph().control_dependencies(waits_for):
        made = _node(
            kind,
            chosen_by,
            taken,
            branches,
            Tout=[each[0]._dtype for each in results],
            output_shapes=[common_shape(tensor.shape for tensor in each) for each in results],
            name=name,
        )
    if isinstance(made, Operation):
        return branches[0].structured_outputs
    node = lowered(made[0].op)
    tensors = [identity(tensor) for tensor in made]
    node.graph.prevent_fetching(node)
    return packed_tensors(branches[0].structured_outputs, tensors)


def _node(
    kind: Branches,
    chosen_by: Tensor,
    inputs: Sequence[Tensor],
    branches: Sequence[FunctionGraph],
    **attrs: Any,
) -> Any:
    functions = [added_function(branch) for branch in branches]
    if kind.is_case:
        return Case(chosen_by, inputs, branches=functions, **attrs)
    spec = If if any(has_state(branch) for branch in branches) else StatelessIf
    then, otherwise = functions
    return spec(chosen_by, inputs, then_branch=then, else_branch=otherwise, **attrs)


def match_inputs(
    branches: Sequence[FunctionGraph], inputs: Sequence[Sequence[Tensor]]
) -> list[Tensor]:
    """Gives all branches the same arguments; the tensors that they stand for."""
    everything = list(dict.fromkeys(tensor for each in inputs for tensor in each))
    for branch, given in zip(branches, inputs, strict=True):
        known = dict(zip(given, branch.inputs, strict=True))
        with branch.as_default():
            branch.inputs = [
                known[each] if each in known else _unused(branch, each) for each in everything
            ]
        branch.captured = dict(zip(everything, branch.inputs, strict=True))
    return everything


def _unused(branch: FunctionGraph, tensor: Tensor) -> Tensor:
    argument = branch.add_input(tensor._dtype, tensor._shape, "Placeholder")
    argument._op.__dict__["_stands_for"] = tensor
    return argument


class Branches:
    """How errors name the branches of a conditional, and what all of them must have in common."""

    def __init__(self, function: str, names: Sequence[str], *, is_case: bool = False):
        self.function = function
        self.names = names
        self.is_case = is_case

    @classmethod
    def of_case(cls, count: int, pattern: str = "branches[{}]") -> Branches:
        names = [pattern.format(number) for number in range(count)]
        return cls("tf.switch_case", names, is_case=True)

    def refuse_tensors_of_each_other(self, branches: Sequence[FunctionGraph]) -> None:
        """ValueError where a branch uses a tensor that another one has made."""
        for name, branch in zip(self.names, branches, strict=True):
            for tensor in branch.external_captures:
                for other, owner in zip(self.names, branches, strict=True):
                    if tensor._op.graph is owner:
                        raise ValueError(
                            f"Tensor {tensor.name} in {other} is accessed from {name}."
                        )

    def match_index_types(self, branches: Sequence[FunctionGraph]) -> None:
        """Gives rows that all branches return indices of one type: int64 where they differ."""
        leaves = [nest.flatten(branch.structured_outputs) for branch in branches]
        position = 0
        for number, values in enumerate(zip(*leaves, strict=False)):
            kinds = {isinstance(value, IndexedSlices) for value in values}
            if len(kinds) > 1:
                raise TypeError(
                    f"Cannot reconcile {self.function} {number}-th outputs:\n"
                    f"  branches returned: {values}"
                )
            if kinds == {True}:
                self._cast_indices(branches, position + 1)
            position += len(leaf_tensors(values[0]))
        if position:
            self._repack(branches)

    @staticmethod
    def _cast_indices(branches: Sequence[FunctionGraph], place: int) -> None:
        found = {branch.outputs[place].dtype for branch in branches}
        if not found <= {dtypes.int32, dtypes.int64}:
            raise TypeError(
                f"Type of IndexedSlices.indices must be int32 or int64. Found: {list(found)}"
            )
        for branch in branches if len(found) > 1 else ():
            with branch.as_default():
                branch.outputs[place] = cast(branch.outputs[place], dtypes.int64)

    @staticmethod
    def _repack(branches: Sequence[FunctionGraph]) -> None:
        for branch in branches:
            leaves = nest.flatten(branch.structured_outputs)
            if any(isinstance(leaf, CompositeTensor) for leaf in leaves):
                branch.structured_outputs = packed_tensors(
                    branch.structured_outputs, branch.outputs
                )

    def check_same_results(self, branches: Sequence[FunctionGraph]) -> None:
        """TypeError where branches return other structures, or values of other types."""
        first = branches[0]
        for name, branch in zip(self.names[1:], branches[1:], strict=True):
            try:
                assert_same_structure(
                    first.structured_outputs, branch.structured_outputs, expand_composites=True
                )
            except (TypeError, ValueError) as error:
                raise self._difference(first, name, branch, str(error)) from None
            if len(first.outputs) != len(branch.outputs):
                raise ValueError(
                    f"Lengths of branch outputs of {'case' if self.is_case else 'cond'} must match."
                    f"\nlen(graphs[0].outputs): {len(first.outputs)}"
                    f"\nlen(graphs[{self.names.index(name)}].outputs): {len(branch.outputs)}"
                )
            for one, other in zip(first.outputs, branch.outputs, strict=True):
                if one.dtype.base_dtype is not other.dtype.base_dtype:
                    detail = f"{one} and {other} have different types"
                    raise self._difference(first, name, branch, detail)

    def _difference(
        self, first: FunctionGraph, name: str, branch: FunctionGraph, detail: str
    ) -> TypeError:
        return TypeError(
            f"{self.names[0]} and {name} arguments to {self.function} must have the same number, "
            f"type, and overall structure of return values.\n\n{self.names[0]} output: "
            f"{first.structured_outputs}\n{name} output: {branch.structured_outputs}\n\n"
            f"Error details:\n{detail}"
        )
