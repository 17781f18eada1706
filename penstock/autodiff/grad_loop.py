"""The gradient of one loop: a loop that runs backwards over what the forward loop remembers.

The forward loop counts its iterations (`f_count`); the gradient loop counts down from there
(`b_count`). A value of the forward loop that a gradient needs is pushed on a stack in each forward
iteration and popped in the matching gradient iteration; what is the same in all iterations enters
the gradient loop as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from penstock import dtypes
from penstock.ir.constants import constant_value
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.binary import add, subtract
from penstock.ops.comparison import greater_equal
from penstock.ops.constants import constant
from penstock.ops.control import ControlTrigger
from penstock.ops.control_contexts import (
    CondContext,
    ControlFlowContext,
    merge,
    output_context,
    switch,
)
from penstock.ops.control_flow import LoopCond as loop_condition
from penstock.ops.control_flow import Switch
from penstock.ops.stacks import StackPopV2, StackPushV2, StackV2
from penstock.ops.while_context import WhileContext, is_loop_constant, leave, next_iteration


@contextmanager
def inside(context: ControlFlowContext | None) -> Iterator[None]:
    """Builds in a context; None is wherever the caller is."""
    with ExitStack() as stack:
        if context is not None:
            stack.enter_context(context.entered())
        yield


class GradLoop:
    """What is known of the gradient of one forward loop while it is being built."""

    def __init__(self, forward: WhileContext, outer: GradLoop | None):
        self.forward_context = forward
        self.outer = outer
        self.history: dict[str, Tensor] = {}  # forward value → its value in the gradient loop
        self.switch_merges: dict[Operation, Tensor] = {}  # forward Switch → Merge of its gradient
        self.forward_exits = list(forward.loop_exits)
        self.pending_exits = len(self.forward_exits)
        self.deferred_exits: list[Tensor] = []
        self.unused_exits: list[Tensor] = []
        self._forward_sync: Operation | None = None
        self._grad_sync: Operation | None = None
        with inside(forward.outer_context):
            count, self.forward_index = self._count_forward()
        if outer is None:
            with inside(forward.outer_context):
                self.grad_context = self._new_context()
                self.grad_index = self._count_backward(count)
        else:
            assert forward.outer_context is not None
            forward.outer_context.values.add(count.name)
            remembered = outer.push(count)
            with outer.grad_context.entered():
                self.grad_context = self._new_context()
                popped = outer.pop(remembered, count)
                self.grad_index = self._count_backward(popped)

    def _new_context(self) -> WhileContext:
        forward = self.forward_context
        return WhileContext(
            forward.maximum_iterations,
            forward.parallel_iterations,
            forward.back_prop,
            forward.swap_memory,
            name=forward.name,
            grad_state=self,
        )

    # Counting ---------------------------------------------------------------------------------

    def _count_forward(self) -> tuple[Tensor, Tensor]:
        """Adds a counter to the forward loop: its final value, and the node that counts."""
        forward = self.forward_context
        start = constant(0, name="f_count")
        if self.outer is not None:
            # Pushes of one run of an inner loop come before those of its next run.
            start.op._add_control_input(self.outer.forward_index.op.inputs[0].op)
        with forward.entered():
            forward.values.add(start.name)
            entered = forward.enter_value(start, name="f_count")
            forward.loop_enters.append(entered)
            merged = merge([entered, entered])[0]
            sent = Switch(merged, forward.pivot, name="Switch")
            counted = add(sent[1], 1)
            following = next_iteration(counted)
            merged.op._update_input(1, following)
            total = leave(sent[0], name="f_count")
            forward.loop_exits.append(total)
            _leave_with(forward, total)
        return total, following

    def _count_backward(self, count: Tensor) -> Tensor:
        """Makes the gradient loop, which counts down; the node that counts."""
        context = self.grad_context
        one = constant(1, name="b_count")
        with context.entered():
            context.values.add(count.name)
            entered = context.enter_value(count, name="b_count")
            context.loop_enters.append(entered)
            merged = merge([entered, entered])[0]
            context.pivot_for_pred = merged
            context.pivot = loop_condition(greater_equal(merged, one), name="b_count")
            sent = Switch(merged, context.pivot, name="Switch")
            index = subtract(sent[1], one)
            context.pivot_for_body = index
            following = next_iteration(index)
            merged.op._update_input(1, following)
            final = leave(sent[0], name="b_count")
            context.loop_exits.append(final)
            if self.outer is not None:
                # Pops of one run of an inner loop come before those of its next run.
                self.outer.grad_sync._add_control_input(final.op)
            _leave_with(context, final)
        return following

    @property
    def forward_sync(self) -> Operation:
        """A node of the forward loop that waits for the pushes made inside of branches."""
        if self._forward_sync is None:
            with get_default_graph().control_dependencies(None):
                sync = ControlTrigger(name="f_sync")
            sync._set_control_flow_context(self.forward_context)
            self.forward_index.op._add_control_input(sync)
            self._forward_sync = sync
        return self._forward_sync

    @property
    def grad_sync(self) -> Operation:
        """A node of the gradient loop that waits for all pops of an iteration."""
        if self._grad_sync is None:
            with get_default_graph().control_dependencies(None):
                sync = ControlTrigger(name="b_sync")
            sync._set_control_flow_context(self.grad_context)
            self.grad_index.op._add_control_input(sync)
            if self.grad_context.outer_context is not None:
                self.grad_context.outer_context.add_inner_op(sync)
            self._grad_sync = sync
        return self._grad_sync

    # Remembering ------------------------------------------------------------------------------

    def push(self, value: Tensor, *, dead_branch: bool = False) -> Tensor:
        """Pushes `value` on a stack of its own in every forward iteration; the stack."""
        graph = get_default_graph()
        forward = self.forward_context
        caller = graph._get_control_flow_context()
        with graph.control_dependencies(None):
            with inside(caller), graph.colocate_with(value.op):
                stack = StackV2(
                    constant(-1, dtypes.int32), elem_type=value.dtype.base_dtype, name="f_acc"
                )
            entered = forward.add_value(stack)
            pushed = self._push_node(entered, value, dead_branch)
        # A push comes before the count of its iteration, and after that of the one before.
        pushed._add_control_input(self.forward_index.op.inputs[0].op)
        return stack

    def _push_node(self, stack: Tensor, value: Tensor, dead_branch: bool) -> Operation:
        swap = self.forward_context.swap_memory
        context = output_context(value.op)
        if context is self.forward_context:
            with self.forward_context.entered():
                pushed = StackPushV2(stack, value, swap_memory=swap).op
            self.forward_index.op._add_control_input(pushed)
            return pushed
        if not isinstance(context, CondContext):
            raise TypeError(f"value_ctxt is not a CondContext: {context}")
        if dead_branch:
            with inside(context.outer_context):
                pushed = StackPushV2(stack, value, swap_memory=swap).op
            pushed._set_control_flow_context(context)
        else:
            with context.entered():
                pushed = StackPushV2(stack, value, swap_memory=swap).op
        self.forward_sync._add_control_input(pushed)
        return pushed

    def pop(self, stack: Tensor, value: Tensor, *, dead_branch: bool = False) -> Tensor:
        """The value that was pushed in the forward iteration that this one is the gradient of."""
        condition = self._condition_between(stack, value)
        graph = get_default_graph()
        with graph.control_dependencies(None), self.grad_context.entered():
            if condition is not None:
                branch = 1 - condition.branch if dead_branch else condition.branch
                stack = switch(stack, self._remembered_predicate(condition))[branch]
            popped: Tensor = StackPopV2(stack, elem_type=value.dtype.base_dtype)
            popped.set_shape(value.shape)
        if self.grad_context.parallel_iterations > 1:
            self.grad_sync._add_control_input(popped.op)
        return popped

    @staticmethod
    def _condition_between(stack: Tensor, value: Tensor) -> CondContext | None:
        """The branch inside the loop that a value was computed on, if any."""
        outermost = stack.op._control_flow_context
        context = value.op._control_flow_context
        while context is not None and context is not outermost:
            if isinstance(context, CondContext):
                return context
            context = context.outer_context
        return None

    def _remembered_predicate(self, condition: CondContext) -> Tensor:
        loop: GradLoop | None = self
        while loop is not None:
            if condition.pred.name in loop.history:
                return loop.history[condition.pred.name]
            loop = loop.outer
        return condition.pred

    def real_value(self, value: Tensor) -> Tensor:
        """What a value of the forward loop is in the gradient loop."""
        known = self.history.get(value.name)
        if known is None:
            known = self.history[value.name] = self._find_real_value(value)
        return known

    def _find_real_value(self, value: Tensor) -> Tensor:
        loop: GradLoop = self
        current = value
        while (entered := _constant_enter(current)) is not None:
            current = entered.inputs[0]
            if loop.outer is None:
                return self.grad_context.add_value(current)  # the same in all iterations
            loop = loop.outer
        if current.op.type == "Const":
            return constant(constant_value(current), current.dtype)
        with self.grad_context.left():
            stack = loop.push(current)
        popped = loop.pop(stack, current)
        return popped if loop is self else self.grad_context.add_value(popped)

    def remembered(self, value: Tensor) -> Tensor:
        """The history of a predicate of the forward loop, kept like any other value."""
        if value.name not in self.history:
            with self.grad_context.left():
                stack = self.push(value)
            self.history[value.name] = self.pop(stack, value)
        return self.history[value.name]


def _constant_enter(tensor: Tensor) -> Operation | None:
    """The Enter of the loop constant that a tensor passes on; None if it is no such value."""
    op = tensor.op
    while op.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        op = op.inputs[0].op
    return op if is_loop_constant(op) else None


def _leave_with(context: WhileContext, tensor: Tensor) -> None:
    """Makes a value that left a loop known to the contexts around it."""
    if context.outer_context is not None:
        context.outer_context.values.add(tensor.name)
