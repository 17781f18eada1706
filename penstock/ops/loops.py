"""Loops inside the graph: `tf.while_loop`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock import dtypes, shapes
from penstock.ir import nest
from penstock.ir.collections import GraphKeys
from penstock.ir.composite import IndexedSlices, SparseTensor
from penstock.ir.convert import CompositeTensor, to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops.control_flow import NextIteration
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
    if not isinstance(loop_vars, (list, tuple)) and not nest.is_nested(loop_vars):
        loop_vars = [loop_vars]
    if not nest.flatten(loop_vars):
        raise ValueError("No loop variables provided.")
    with name_scope(name, "while", nest.flatten(loop_vars)):
        limit = _limit(maximum_iterations)
        counted = limit is not None
        if counted:
            cond, body, loop_vars, shape_invariants = _counted(
                limit, cond, body, loop_vars, shape_invariants
            )
        context = WhileContext(limit, parallel_iterations, back_prop, swap_memory)
        if context.outer_context is None:
            context.graph.add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        loop = _Loop(context, loop_vars, shape_invariants)
        result = loop.build(cond, body)
        if counted:
            result = result[1]
            return result if return_same_structure else _single(result)
        return result if return_same_structure else _single(result)


def _single(result: Any) -> Any:
    """A list or tuple of one is that one."""
    if isinstance(result, (list, tuple)) and len(result) == 1:
        return result[0]
    return result


def _limit(maximum_iterations: Any) -> Tensor | None:
    if maximum_iterations is None:
        return None
    limit = to_tensor(maximum_iterations, name="maximum_iterations")
    if limit.shape.ndims not in (None, 0):
        raise ValueError(f"maximum_iterations must be a scalar, saw shape: {limit.shape}")
    return limit


def _counted(limit: Any, cond: Any, body: Any, loop_vars: Any, invariants: Any) -> Any:
    """The loop with an iteration counter in front of its variables."""
    from penstock.ops.comparison import less, logical_and
    from penstock.ops.constants import constant

    counter = constant(0, limit.dtype, name="iteration_counter")

    def counted_cond(i: Any, rest: Any) -> Any:
        return logical_and(less(i, limit), cond(*rest))

    def counted_body(i: Any, rest: Any) -> Any:
        following = i + 1
        result = body(*rest)
        if not nest.is_nested(result) and len(rest) == 1:
            result = type(rest)([result]) if not hasattr(rest, "_fields") else type(rest)(result)
        return following, result

    if invariants is not None:
        invariants = (shapes.TensorShape([]), invariants)
    return counted_cond, counted_body, (counter, loop_vars), invariants


class _Leaf:
    """One leaf of the loop variables: how many tensors it is, and how they become it again."""

    def __init__(self, value: Any, number: int):
        self.value = value
        if isinstance(value, CompositeTensor):
            self.kind: type = type(value)
            self.tensors = list(value._parts())
        elif isinstance(value, TensorArray):
            self.kind = TensorArray
            self.tensors = [value.flow]
        else:
            self.kind = Tensor
            self.tensors = [
                value if isinstance(value, Tensor) else to_tensor(value, name=None, as_ref=False)
            ]

    def parts(self, value: Any) -> list[Tensor]:
        if isinstance(value, CompositeTensor):
            return value._parts()
        if isinstance(value, TensorArray):
            self.value = value  # what is known of the array after the loop is known of this one
            return [value.flow]
        return [to_tensor(value)]

    def rebuilt(self, tensors: Sequence[Tensor]) -> Any:
        if self.kind is IndexedSlices:
            return IndexedSlices(*tensors)
        if self.kind is SparseTensor:
            return SparseTensor(*tensors)
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

    def _invariants(self, given: Any) -> list[shapes.Shape] | None:
        if given is None:
            return None
        flat = nest.flatten(given)
        if len(flat) != len(self.leaves):
            raise ValueError(
                f"shape_invariants must have the structure of loop_vars: {len(flat)} shapes for "
                f"{len(self.leaves)} variables"
            )
        found: list[shapes.Shape] = []
        for leaf, invariant in zip(self.leaves, flat, strict=True):
            if issubclass(leaf.kind, CompositeTensor):
                found += [tensor._shape for tensor in leaf.tensors]
                continue
            shape = shapes.raw(invariant)
            if not _allows(shape, leaf.tensors[0]._shape):
                raise ValueError(
                    f"The shape invariant specified for {leaf.tensors[0].name} is not compatible "
                    f"with the initial shape of the loop variable. It enters the loop with shape "
                    f"{leaf.tensors[0].shape}, but the specified shape invariant is "
                    f"{shapes.TensorShape._of(shape)}."
                )
            found.append(shape)
        return found

    def packed(self, tensors: Sequence[Tensor]) -> Any:
        remaining = iter(tensors)
        leaves = [leaf.rebuilt([next(remaining) for _ in leaf.tensors]) for leaf in self.leaves]
        return nest.pack_as(self.structure, leaves)

    def build(self, cond: Callable[..., Any], body: Callable[..., Any]) -> Any:
        context = self.context
        with context.entered():
            entered = context.start(self.initial, keeps_shapes=self.invariants is None)
            if self.invariants is not None:
                for tensor, shape in zip(entered, self.invariants, strict=True):
                    tensor.set_shape(shape)
            merged = context.go_round(entered)
            condition = to_tensor(_call(cond, self.packed(merged)))
            if condition.dtype is not dtypes.bool:
                raise TypeError(f"the condition of a loop must be a bool, got {condition!r}")
            sent = context.decide(condition, merged)
            inside = [_identity(pair[1]) for pair in sent]
            context.pivot_for_body = inside[0]
            result = _call(body, self.packed(inside))
            self._close(merged, self._results(result))
            exits = context.finish(sent)
        return self.packed(exits)

    def _results(self, result: Any) -> list[Tensor]:
        if not nest.is_nested(result) and len(self.leaves) == 1:
            flat = [result]
        else:
            flat = nest.flatten(result)
        if len(flat) != len(self.leaves):
            raise ValueError(
                "The two structures don't have the same nested structure: body returned "
                f"{len(flat)} values ({result!r}) for {len(self.leaves)} loop variables "
                f"({self.structure!r})"
            )
        tensors = []
        for leaf, value in zip(self.leaves, flat, strict=True):
            if value is None:
                raise ValueError("body must return a value for every loop variable, got None")
            parts = leaf.parts(value)
            if len(parts) != len(leaf.tensors):
                raise TypeError(f"body returned {value!r} for a loop variable of {leaf.kind}")
            tensors += parts
        return tensors

    def _close(self, merged: Sequence[Tensor], results: Sequence[Tensor]) -> None:
        for variable, result in zip(merged, results, strict=True):
            if variable.dtype.base_dtype is not result.dtype.base_dtype:
                raise TypeError(
                    f"Loop variable {variable.name} has type {variable.dtype.name} but the body "
                    f"returned a value of type {result.dtype.name}"
                )
            following = _next(result, variable)
            if not _allows(variable._shape, following._shape):
                raise ValueError(
                    f"Input tensor {variable.op.inputs[0].name!r} enters the loop with shape "
                    f"{variable.shape}, but has shape {following.shape} after one iteration. To "
                    "allow the shape to vary across iterations, use the `shape_invariants` "
                    "argument of tf.while_loop to specify a less-specific shape."
                )
            variable.op._update_input(1, following)


def _call(function: Callable[..., Any], packed: Any) -> Any:
    return function(*packed) if isinstance(packed, (list, tuple)) else function(packed)


def _identity(tensor: Tensor) -> Tensor:
    from penstock.ops.identity import identity

    return identity(tensor)


def _next(result: Tensor, variable: Tensor) -> Tensor:
    if result.dtype.is_ref_dtype and not variable.dtype.is_ref_dtype:
        return NextIteration(result)
    return next_iteration(result)


def _allows(invariant: shapes.Shape, shape: shapes.Shape) -> bool:
    """Whether a value of `shape` may stand where `invariant` is promised."""
    if invariant is None:
        return True
    if shape is None or len(shape) != len(invariant):
        return False
    return all(
        wanted is None or wanted == size for wanted, size in zip(invariant, shape, strict=True)
    )
