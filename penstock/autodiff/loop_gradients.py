"""Gradients through loops: which gradient loop a node's gradient belongs to."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from penstock import dtypes, shapes
from penstock.autodiff.grad_loop import GradLoop, inside
from penstock.autodiff.zeros import zeros_for
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.array import zeros, zeros_like
from penstock.ops.constants import constant
from penstock.ops.control_contexts import CondContext, switch
from penstock.ops.shaping import shape_of
from penstock.ops.while_context import WhileContext, next_iteration


def while_context_of(op: Operation) -> WhileContext | None:
    context = op._control_flow_context
    return None if context is None else context.while_context


def is_loop_switch(op: Operation) -> bool:
    return op.type in ("Switch", "RefSwitch") and isinstance(op._control_flow_context, WhileContext)


def is_loop_exit(op: Operation) -> bool:
    return op.type in ("Exit", "RefExit")


def refuse_initial_value(switch_op: Operation, sources: Collection[Operation]) -> NoReturn:
    """Raises for a gradient, asked for inside of a loop, that leads out by a loop variable."""
    pending, seen = deque([switch_op]), {switch_op}
    while pending and pending[0] not in sources:
        for tensor in pending.popleft().inputs:
            if tensor.op not in seen:
                seen.add(tensor.op)
                pending.append(tensor.op)
    reached = pending[0] if pending else switch_op
    raise ValueError(
        f"Cannot compute gradient inside while loop with respect to op '{reached.name}'. We do not "
        "support taking the gradient wrt or through the initial value of a loop variable. "
        "Gradients can be computed through loop invariants or wrt the input parameters to the "
        "loop body."
    )


class LoopGradients:
    """The gradient loops of one call of `tf.gradients`."""

    def __init__(self) -> None:
        self.loops: dict[WhileContext, GradLoop] = {}

    @staticmethod
    def for_nodes(between: dict[Operation, None]) -> LoopGradients | None:
        """Makes gradient loops for the loops among the nodes between xs and ys; None if none.

        All exits of such a loop join `between`: the loop runs as a whole.
        """
        found: LoopGradients | None = None
        for op in list(between):
            if is_loop_exit(op) and isinstance(op._control_flow_context, WhileContext):
                found = found or LoopGradients()
                found._add(op._control_flow_context, between)
        return found

    def _add(self, forward: WhileContext, between: dict[Operation, None]) -> None:
        if forward in self.loops:
            return
        outer = forward.outer_context
        outer_loop = None if outer is None else self.loops.get(outer.while_context)
        exits = list(forward.loop_exits)
        self.loops[forward] = GradLoop(forward, outer_loop)
        for tensor in exits:
            between.setdefault(tensor.op, None)

    def of(self, op: Operation, *, before: bool = False) -> GradLoop | None:
        """The loop that a node's gradient is built in; `before`: where its gradients arrive."""
        forward: Any = while_context_of(op)
        if before and is_loop_exit(op) and forward is not None:
            outer = forward.outer_context
            forward = None if outer is None else outer.while_context
        return None if forward is None else self.loops.get(forward)

    def building(self, op: Operation, *, before: bool = False) -> AbstractContextManager[None]:
        loop = self.of(op, before=before)
        return inside(None if loop is None else loop.grad_context)

    # Zeros ------------------------------------------------------------------------------------

    def zeros_for(self, tensor: Tensor) -> Tensor | None:
        """A zero gradient for an output of a node, inside of the loop it belongs to."""
        op = tensor.op
        if is_loop_switch(op):
            return None
        loop = self.of(op)
        if loop is None:
            return zeros_for(tensor)
        dead_branch = op.type in ("Switch", "RefSwitch")
        context: Any = op._control_flow_context
        if shapes.is_full(tensor._shape) and tensor.dtype is not dtypes.resource:
            zero = constant(0, tensor.dtype, tensor.shape)
            if dead_branch:
                pred = loop.history[context.pred.name]
                return switch(zero, pred)[1 - context.branch]
            return zero
        sizes = self._forward_shape(tensor, context, dead_branch)
        with loop.grad_context.left():
            stack = loop.push(sizes, dead_branch=dead_branch)
        return zeros(loop.pop(stack, sizes, dead_branch=dead_branch), tensor.dtype)

    @staticmethod
    def _forward_shape(tensor: Tensor, context: Any, dead_branch: bool) -> Tensor:
        """The shape of a forward value, computed in the forward loop on the right branch."""
        if not dead_branch:
            with context.entered():
                return shape_of(tensor, optimize=False)
        assert isinstance(context, CondContext)
        with inside(context.outer_context):
            other = switch(tensor.op.inputs[0], context.pred)[1 - context.branch]
            sizes = shape_of(other, optimize=False)
        other.op._set_control_flow_context(context)
        sizes.op._set_control_flow_context(context)
        return sizes

    def zeros_for_exit(self, tensor: Tensor) -> Tensor:
        """A zero gradient for a value that leaves a loop and is not used."""
        forward = tensor.op._control_flow_context
        outer = forward.outer_context
        loop = None if outer is None else self.loops.get(outer.while_context)
        known = shapes.is_full(tensor._shape)
        if loop is None:
            if known:
                return zeros(tensor.shape, tensor.dtype)
            return zeros_like(tensor, optimize=False)
        if known:
            with loop.grad_context.entered():
                return zeros(tensor.shape, tensor.dtype)
        with outer.entered():
            sizes = shape_of(tensor, optimize=False)
        stack = loop.push(sizes)
        with loop.grad_context.entered():
            return zeros(loop.pop(stack, sizes), tensor.dtype)

    # The ends of the walk ---------------------------------------------------------------------

    def unused_exits(self, pending: dict[Operation, int], ys: set[Operation]) -> list[Tensor]:
        """Exits of loops whose exits are all known to have no gradient to wait for."""
        found: list[Tensor] = []
        for loop in self.loops.values():
            for tensor in loop.forward_exits:
                if pending.get(tensor.op, 0) == 0:
                    loop.pending_exits -= 1
                    if tensor.op not in ys:
                        loop.unused_exits.append(tensor)
                    if loop.pending_exits == 0:
                        found += loop.unused_exits
            # What enters the loop gets its gradient also where no x lies behind it.
            for tensor in loop.forward_context.loop_enters:
                if pending.get(tensor.op, 0) == 0:
                    pending[tensor.op] = 1
        return found

    def close_back_edges(self) -> None:
        """Gives loop variables that don't depend on their last value a zero gradient from it."""
        for loop in self.loops.values():
            for merged in loop.switch_merges.values():
                first, second = merged.op.inputs
                if first is second:
                    merged.op._update_input(1, self._zero_of_next(loop, first))

    @staticmethod
    def _zero_of_next(loop: GradLoop, entered: Tensor) -> Tensor:
        context = loop.grad_context
        if shapes.is_full(entered._shape):
            with context.entered():
                return next_iteration(constant(0, entered.dtype, entered.shape))
        with inside(context.outer_context):
            sizes = shape_of(entered.op.inputs[0], optimize=False)
            zero = zeros(sizes, entered.dtype)
        with context.entered():
            return next_iteration(zero)
