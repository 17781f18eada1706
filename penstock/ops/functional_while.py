"""`tf.while_loop` as one node that calls functions: While.

In front of the loop's variables go the number of iterations so far and the most that there may be;
behind them, what the body uses of the graph around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import dtypes, shapes
from penstock.ir import nest
from penstock.ir.convert import CompositeTensor, to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.same_structure import assert_same_structure
from penstock.ir.tensor import Tensor
from penstock.ops.comparison import less, logical_and
from penstock.ops.constants import constant
from penstock.ops.flow_graphs import (
    FlowGraph,
    WhileBodyFuncGraph,
    WhileCondFuncGraph,
    added_function,
    lowered,
    trace,
    unique_function_name,
    without_extra_dimensions,
)
from penstock.ops.flow_structures import flat_tensors, leaf_tensors, packed_tensors
from penstock.ops.functional_branches import While
from penstock.ops.identity import identity
from penstock.ops.indexed_slices import convert_to_tensor_or_indexed_slices
from penstock.ops.shape_invariants import allows, default_invariants, given_invariants
from penstock.ops.tensor_array import TensorArray

#: How many arguments of a loop's functions come before its variables.
COUNTERS = 2


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    maximum_iterations: Any = None,
    name: str | None = None,
    return_same_structure: bool = True,
    back_prop: bool = True,
) -> Any:
    """Repeats `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` holds: a While node."""
    if not nest.is_nested(loop_vars):
        loop_vars = [loop_vars]
    variables = _Variables(loop_vars, shape_invariants)
    with name_scope(name or "while") as scope:
        loop = _Loop(variables, scope, maximum_iterations)
        loop.trace(cond, body)
        results = loop.node(parallel_iterations, scope)
    packed = packed_tensors(loop_vars, results)
    flat = flat_tensors(packed)
    return packed if return_same_structure or len(flat) != 1 else flat[0]


class _Variables:
    """The variables of a loop: a structure, its flat tensors and the shapes that these keep."""

    def __init__(self, structure: Any, invariants: Any):
        self.structure = structure
        self.leaves = [self._converted(leaf) for leaf in nest.flatten(structure)]
        self.tensors = [tensor for leaf in self.leaves for tensor in leaf_tensors(leaf)]
        if invariants is None:
            found = [default_invariants(self._described(leaf)) for leaf in self.leaves]
        else:
            assert_same_structure(structure, invariants, check_types=False)
            found = [
                given_invariants(self._described(leaf), invariant)
                for leaf, invariant in zip(self.leaves, nest.flatten(invariants), strict=True)
            ]
        self.shapes = [shape for of_leaf in found for shape in of_leaf]

    @staticmethod
    def _converted(leaf: Any) -> Any:
        if isinstance(leaf, (CompositeTensor, TensorArray)):
            return leaf
        return convert_to_tensor_or_indexed_slices(leaf)

    @staticmethod
    def _described(leaf: Any) -> Any:
        return leaf.flow if isinstance(leaf, TensorArray) else leaf

    def packed(self, arguments: Sequence[Tensor]) -> Any:
        return packed_tensors(nest.pack_as(self.structure, self.leaves), arguments)


class _Loop:
    """A loop being built: the graphs of its condition and its body."""

    def __init__(self, variables: _Variables, scope: str, maximum_iterations: Any):
        graph = get_default_graph()
        self.variables = variables
        self.limited = maximum_iterations is not None
        self.condition = WhileCondFuncGraph(unique_function_name(graph, scope, "cond"))
        self.body = WhileBodyFuncGraph(unique_function_name(graph, scope, "body"))
        limit = to_tensor(
            maximum_iterations if self.limited else -1, dtypes.int32, "maximum_iterations"
        )
        counter = constant(0, limit.dtype if self.limited else None, name="loop_counter")
        self.counters = [counter, limit]

    def trace(self, cond: Callable[..., Any], body: Callable[..., Any]) -> None:
        arguments = self._arguments(self.condition)
        trace(self.condition, lambda: self._goes_on(cond, arguments))
        arguments = self._arguments(self.body)
        trace(self.body, lambda: self._once(body, arguments))
        self.body.outputs += self.body.internal_captures
        with self.condition.as_default():
            for tensor in self.body.external_captures:
                self.condition.capture(tensor)

    def _arguments(self, graph: FlowGraph) -> list[Tensor]:
        """The arguments of one of the loop's functions."""
        for tensor in self.counters:
            graph.add_input(tensor._dtype, (), tensor._op.name.replace("/", "_"))
        for tensor, shape in zip(self.variables.tensors, self.variables.shapes, strict=True):
            argument = graph.add_input(tensor._dtype, shape, "Placeholder")
            if tensor._dtype in (dtypes.resource, dtypes.variant):
                argument._op.__dict__["_stands_for"] = tensor
        return list(graph.inputs)

    def _goes_on(self, cond: Callable[..., Any], arguments: list[Tensor]) -> Any:
        counter, limit, *values = arguments
        result = without_extra_dimensions(_called(cond, self.variables.packed(values)))
        return logical_and(less(counter, limit), result) if self.limited else result

    def _once(self, body: Callable[..., Any], arguments: list[Tensor]) -> Any:
        for tensor in self.condition.external_captures:  # in the order of the other function
            self.body.capture(tensor)
        counter: Any = arguments[0]
        limit, *values = arguments[1:]
        result = _called(body, self.variables.packed(values))
        if not nest.is_nested(result) and not isinstance(result, CompositeTensor):
            result = [result]
        given = self.variables.structure
        assert_same_structure(list(result), list(given), expand_composites=True)
        return [counter + 1, limit, result]

    def node(self, parallel_iterations: int, scope: str) -> list[Tensor]:
        """Adds the While node; what it gives for the loop's variables."""
        first = [*self.counters, *self.variables.tensors, *self.body.external_captures]
        self._check(first)
        outputs = [tensor._shape for tensor in self.body.outputs]
        place = slice(COUNTERS, COUNTERS + len(self.variables.tensors))
        outputs[place] = self.variables.shapes
        waits_for = [*self.condition.control_captures, *self.body.control_captures]
        with get_default_graph().control_dependencies(waits_for):
            made = While(
                first,
                cond=added_function(self.condition),
                body=added_function(self.body),
                output_shapes=outputs,
                parallel_iterations=parallel_iterations,
                name=scope,
            )
        lowered(made[0].op).attrs["_num_original_outputs"] = len(made)
        return [identity(tensor) for tensor in made][place]

    def _check(self, first: Sequence[Tensor]) -> None:
        """The results of the body have the shapes and types of the loop's variables."""
        arguments, results = self.body.inputs, self.body.outputs
        place = slice(COUNTERS, COUNTERS + len(self.variables.tensors))
        for tensor, result, shape in zip(
            first[place], results[place], self.variables.shapes, strict=True
        ):
            if not allows(shape, result._shape):
                raise ValueError(
                    f"Input tensor '{tensor.name}' enters the loop with shape "
                    f"{shapes.TensorShape._of(shape)}, but has shape {result.shape} after one "
                    "iteration. To allow the shape to vary across iterations, use the "
                    "`shape_invariants` argument of tf.while_loop to specify a less-specific shape."
                )
        for tensor, argument, result in zip(first, arguments, results, strict=True):
            if argument._dtype is not result._dtype.base_dtype:
                raise TypeError(
                    f"Loop var {tensor.name} enters the loop with type {argument.dtype} but has "
                    f"type {result.dtype} after 1 iteration."
                )


def _called(function: Callable[..., Any], packed: Any) -> Any:
    return function(*packed) if isinstance(packed, (list, tuple)) else function(packed)
