"""Loops inside the graph: `tf.while_loop`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import shapes
from penstock.ir import nest
from penstock.ir.collections import GraphKeys
from penstock.ir.convert import CompositeTensor, to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.same_structure import assert_same_structure
from penstock.ir.tensor import Tensor
from penstock.ops import functional_while
from penstock.ops.control_flow import NextIteration
from penstock.ops.flow_modes import EnableControlFlowV2
from penstock.ops.shape_invariants import (
    allows,
    check_enters,
    default_invariants,
    given_invariants,
)
from penstock.ops.tensor_array import TensorArray
from penstock.ops.while_context import WhileContext, next_iteration

__all__ = ["while_loop"]


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """Repeats `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` holds, and returns them.

    Both functions are called once, to build the loop. The shapes of the loop variables must stay
    the same, or be allowed to change by `shape_invariants`.

    >>> i, total = tf.while_loop(lambda i, t: i < 10, lambda i, t: (i + 1, t + i), [0, 0])
    """
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    if get_default_graph().is_eager:
        return _run_now(cond, body, loop_vars, maximum_iterations, not return_same_structure)
    if EnableControlFlowV2(get_default_graph()):
        return functional_while.while_loop(
            cond,
            body,
            loop_vars,
            shape_invariants,
            parallel_iterations,
            maximum_iterations,
            name,
            return_same_structure,
            back_prop,
        )
    if not isinstance(loop_vars, (list, tuple)) and not nest.is_nested(loop_vars):
        loop_vars = [loop_vars]
    if not loop_vars:
        raise ValueError("No loop variables provided")
    with name_scope(name, "while", nest.flatten(loop_vars)):
        limit = _limit(maximum_iterations)
        counted = limit is not None
        if counted:
            cond, body, loop_vars, shape_invariants = _counted(
                limit, cond, body, loop_vars, shape_invariants, packs=not return_same_structure
            )
        context = WhileContext(limit, parallel_iterations, back_prop, swap_memory)
        if context.outer_context is None:
            context.graph.add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        loop = _Loop(context, loop_vars, shape_invariants)
        result = loop.build(cond, body)
        if counted:
            return result[1]
        return result[0] if len(loop.initial) == 1 and not return_same_structure else result


def _run_now(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any, unpacks: bool) -> Any:
    """The loop in eager mode: Python's own."""
    if not isinstance(loop_vars, (list, tuple)) and not nest.is_nested(loop_vars):
        loop_vars = [loop_vars]
    if not loop_vars:
        raise ValueError("No loop variables provided")
    left = None if maximum_iterations is None else int(maximum_iterations)
    is_single = len(loop_vars) == 1 and unpacks
    was_single = False
    values = loop_vars
    while (left is None or left > 0) and _call(cond, values):
        result = _call(body, values)
        if is_single and not isinstance(result, (list, tuple)):
            result, was_single = (result,), True
        assert_same_structure(list(values), list(result))
        values = result
        left = None if left is None else left - 1
    converted = nest.map_structure(_kept, values)
    return converted[0] if was_single or (is_single and left is not None) else converted


def _kept(value: Any) -> Any:
    return value if isinstance(value, (TensorArray, CompositeTensor)) else to_tensor(value)


def _limit(maximum_iterations: Any) -> Tensor | None:
    if maximum_iterations is None:
        return None
    limit = to_tensor(maximum_iterations, name="maximum_iterations")
    if limit.shape.ndims not in (None, 0):
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
    return limit


def _counted(
    limit: Any, cond: Any, body: Any, loop_vars: Any, invariants: Any, *, packs: bool
) -> Any:
    """The loop with an iteration counter in front of its variables.

    With `packs`, the only variable of a loop stands for itself, not for a list of one.
    """
    from penstock.ops.comparison import less, logical_and
    from penstock.ops.constants import constant

    counter = constant(0, limit.dtype, name="iteration_counter")
    alone = packs and len(loop_vars) == 1

    def counted_cond(i: Any, rest: Any) -> Any:
        return logical_and(less(i, limit), cond(rest) if alone else cond(*rest))

    def counted_body(i: Any, rest: Any) -> Any:
        return i + 1, body(rest) if alone else body(*rest)

    if alone:
        loop_vars = loop_vars[0]
        invariants = invariants if invariants is None else invariants[0]
    if invariants is not None:
        invariants = (shapes.TensorShape([]), invariants)
    return counted_cond, counted_body, (counter, loop_vars), invariants


class _Leaf:
    """One leaf of the loop variables: how many tensors it is, and how they become it again."""

    def __init__(self, value: Any, number: int):
        self.value = value
        self.converted = value  # the value as its shape invariant is about it
        if isinstance(value, CompositeTensor):
            self.kind: type = type(value)
            self.tensors = list(value._parts())
        elif isinstance(value, TensorArray):
            self.kind = TensorArray
            self.tensors = [value.flow]
            self.converted = value.flow
        else:
            self.kind = Tensor
            self.tensors = [
                value if isinstance(value, Tensor) else to_tensor(value, name=None, as_ref=False)
            ]
            self.converted = self.tensors[0]

    def parts(self, value: Any) -> list[Tensor]:
        if isinstance(value, CompositeTensor):
            return value._parts()
        if isinstance(value, TensorArray):
            self.value = value  # what is known of the array after the loop is known of this one
            return [value.flow]
        return [to_tensor(value)]

    def rebuilt(self, tensors: Sequence[Tensor]) -> Any:
        if isinstance(self.value, CompositeTensor):
            return self.value._with_parts(tensors)
        if self.kind is TensorArray:
            return self.value._with_flow(tensors[0])
        return tensors[0]


class _Loop:
    """A loop being built: its variables as a structure, and as the flat tensors that go round."""

    def __init__(self, context: WhileContext, loop_vars: Any, shape_invariants: Any):
        self.context = context
        self.structure = loop_vars
        self.leaves = [_Leaf(v, i) for i, v in enumerate(nest.flatten(loop_vars))]
        self.initial = [tensor for leaf in self.leaves for tensor in leaf.tensors]
        self.invariants = self._invariants(shape_invariants)
        for tensor, shape in zip(self.initial, self.invariants, strict=True):
            check_enters(tensor, shape)

    def _invariants(self, given: Any) -> list[shapes.Shape]:
        """For each of the flat tensors the shape that all its values have."""
        if given is None:
            found = [default_invariants(leaf.converted) for leaf in self.leaves]
        else:
            assert_same_structure(self.structure, given, check_types=False)
            found = [
                given_invariants(leaf.converted, invariant)
                for leaf, invariant in zip(self.leaves, nest.flatten(given), strict=True)
            ]
        return [shape for shapes_of_leaf in found for shape in shapes_of_leaf]

    def packed(self, tensors: Sequence[Tensor], structure: Any = None) -> Any:
        remaining = iter(tensors)
        leaves = [leaf.rebuilt([next(remaining) for _ in leaf.tensors]) for leaf in self.leaves]
        return nest.pack_as(self.structure if structure is None else structure, leaves)

    def build(self, cond: Callable[..., Any], body: Callable[..., Any]) -> Any:
        context = self.context
        with context.entered():
            entered = context.start(self.initial, keeps_shapes=False)
            for tensor, shape in zip(entered, self.invariants, strict=True):
                tensor.set_shape(shape)
            merged = context.go_round(entered)
            condition = to_tensor(_call(cond, self.packed(merged)))
            sent = context.decide(condition, merged)
            inside = [_identity(pair[1]) for pair in sent]
            context.pivot_for_body = inside[0]
            variables = self.packed(inside)
            result = _call(body, variables)
            if not nest.is_nested(result):
                result = [result]
            self._close(merged, self._results(variables, result))
            exits = context.finish(sent)
        return self.packed(exits, result)

    def _results(self, variables: Any, result: Any) -> list[Tensor]:
        """What the body returned as flat tensors; it has the structure of the loop variables."""
        assert_same_structure(list(variables), list(result), expand_composites=True)
        return [
            part
            for leaf, value in zip(self.leaves, nest.flatten(result), strict=True)
            for part in leaf.parts(value)
        ]

    def _close(self, merged: Sequence[Tensor], results: Sequence[Tensor]) -> None:
        for variable, result in zip(merged, results, strict=True):
            if variable.dtype.base_dtype is not result.dtype.base_dtype:
                raise TypeError(
                    f"Loop variable {variable.name} has type {variable.dtype.name} but the body "
                    f"returned a value of type {result.dtype.name}"
                )
            following = _next(result, variable)
            if not allows(variable._shape, following._shape):
                first = variable.op.inputs[0].op.inputs[0]
                raise ValueError(
                    f"Input tensor {first.name!r} enters the loop with shape "
                    f"{variable.shape}, but has shape {following.shape} after one iteration. To "
                    "allow the shape to vary across iterations, use the `shape_invariants` "
                    "argument of tf.while_loop to specify a less-specific shape."
                )
            variable.op._update_input(1, following)


def _call(function: Callable[..., Any], packed: Any) -> Any:
    return function(*packed) if isinstance(packed, (list, tuple)) else function(packed)


def _identity(tensor: Tensor) -> Tensor:
    from penstock.ops.identity import identity
    from penstock.ops.references import RefIdentity

    if tensor.dtype.is_ref_dtype:
        passed: Tensor = RefIdentity(tensor)
        return passed
    return identity(tensor)


def _next(result: Tensor, variable: Tensor) -> Tensor:
    if result.dtype.is_ref_dtype and not variable.dtype.is_ref_dtype:
        return NextIteration(result)
    return next_iteration(result)
