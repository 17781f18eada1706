"""The gradients of the control-flow primitives: Switch, Merge, Enter, Exit, NextIteration."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock import dtypes, shapes
from penstock.autodiff.grad_loop import inside
from penstock.ir.composite import IndexedSlices
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.array import concat, zeros, zeros_like
from penstock.ops.binary import add, maximum
from penstock.ops.comparison import equal
from penstock.ops.constants import constant
from penstock.ops.control_contexts import CondContext, merge, output_context, switch
from penstock.ops.control_flow import (
    Enter,
    Exit,
    Merge,
    NextIteration,
    RefEnter,
    RefExit,
    RefMerge,
    RefNextIteration,
    RefSwitch,
    Switch,
)
from penstock.ops.shaping import shape_of
from penstock.ops.while_context import WhileContext, enter, leave, next_iteration


def _gradient_context() -> Any:
    return get_default_graph()._get_control_flow_context()


@Exit.gradient
@RefExit.gradient
def _(op: Operation, grad: Any) -> Any:
    """The gradient of what leaves a loop enters the gradient loop."""
    context = _gradient_context()
    if context is None or not context.while_context.back_prop:
        return None
    if op._control_flow_context.grad_state is not None:
        raise TypeError("Second-order gradient for while loops not supported.")
    context.values.update(part.name for part in _parts(grad))
    with context.entered():
        entered = [
            enter(
                part,
                context.name,
                parallel_iterations=context.parallel_iterations,
                name="b_exit",
            )
            for part in _parts(grad)
        ]
    context.loop_enters += entered
    return IndexedSlices(*entered) if isinstance(grad, IndexedSlices) else entered[0]


def _parts(grad: Any) -> list[Tensor]:
    return grad._parts() if isinstance(grad, IndexedSlices) else [grad]


@NextIteration.gradient
@RefNextIteration.gradient
def _(op: Operation, grad: Any) -> Any:
    return grad


@Enter.gradient
@RefEnter.gradient
def _(op: Operation, grad: Any) -> Any:
    """What entered a loop gets its gradient when the gradient loop ends."""
    context = _gradient_context()
    if context is None or context.grad_state is None or not context.back_prop:
        return grad
    if op.attrs["is_constant"]:
        if isinstance(grad, IndexedSlices):
            return _accumulate_slices(context, op, grad)
        return _accumulate(context, op, grad)
    left = [leave(part) for part in _parts(grad)]
    context.loop_exits += left
    _tell_outer(context, left)
    return IndexedSlices(*left) if isinstance(grad, IndexedSlices) else left[0]


def _tell_outer(context: WhileContext, tensors: Iterable[Tensor]) -> None:
    if context.outer_context is not None:
        context.outer_context.values.update(tensor.name for tensor in tensors)


def _accumulate(context: WhileContext, op: Operation, grad: Tensor) -> Tensor:
    """Sums the gradients of a loop constant over the iterations."""
    with context.left():
        start = _zero_accumulator(context, op, grad)
    context.values.add(start.name)
    entered = context.enter_value(start, name="b_acc")
    context.loop_enters.append(entered)
    merged = merge([entered, entered], name="b_acc")[0]
    sent = Switch(merged, context.pivot, name="Switch")
    merged.op._update_input(1, next_iteration(add(sent[1], grad)))
    total = leave(sent[0], name="b_acc")
    context.loop_exits.append(total)
    _tell_outer(context, [total])
    return total


def _zero_accumulator(context: WhileContext, op: Operation, grad: Tensor) -> Tensor:
    """Zeros for a loop that runs no iteration, in the context around the gradient loop."""
    value, outer = op.inputs[0], context.outer_context
    if shapes.is_full(grad._shape):
        with inside(outer):
            return constant(0, grad.dtype, grad.shape, name="b_acc")
    if not isinstance(outer, WhileContext) or outer.grad_state is None:
        with inside(outer):
            return zeros(shape_of(value, optimize=False), grad.dtype)
    with inside(context.grad_state.forward_context.outer_context):
        sizes = shape_of(value, optimize=False)
    loop = context.grad_state.outer
    stack = loop.push(sizes)
    with outer.entered():
        return zeros(loop.pop(stack, sizes), grad.dtype)


def _accumulate_slices(context: WhileContext, op: Operation, grad: IndexedSlices) -> IndexedSlices:
    """Collects the rows that the iterations contribute to a loop constant's gradient."""
    starts = _first_slices(context, op, grad)
    context.values.update(tensor.name for tensor in starts)
    entered = [context.enter_value(t, keeps_shape=False, name="b_acc") for t in starts]
    row = grad.values._shape
    entered[0].set_shape((None,))
    entered[1].set_shape(None if row is None else (None, *row[1:]))
    context.loop_enters += entered
    merged = [merge([tensor, tensor], name="b_acc")[0] for tensor in entered]
    sent = [Switch(tensor, context.pivot, name="Switch") for tensor in merged]
    added = [concat([sent[0][1], grad.indices], 0), concat([sent[1][1], grad.values], 0)]
    if grad.dense_shape is not None:
        added.append(maximum(grad.dense_shape, sent[2][1]))
    for tensor, value in zip(merged, added, strict=True):
        tensor.op._update_input(1, next_iteration(value))
    left = [leave(pair[0], name="b_acc") for pair in sent]
    context.loop_exits += left
    _tell_outer(context, left)
    indices, values, *sizes = left
    return IndexedSlices(values, indices, *sizes)


def _first_slices(context: WhileContext, op: Operation, grad: IndexedSlices) -> list[Tensor]:
    """Index 0 and one row of zeros: what those of the iterations are appended to."""
    values, indices, sizes = grad.values, grad.indices, grad.dense_shape
    row = values._shape
    with context.left(), inside(context.outer_context):
        if row is not None and shapes.is_full(row):
            rows = constant(0, values.dtype, (1, *row[1:]), name="b_acc")
        else:
            tail = shape_of(op.inputs[0], optimize=False)[1:]
            rows = zeros(concat([[1], tail], 0), values.dtype)
        starts = [constant([0], indices.dtype), rows]
        if sizes is not None:
            if shapes.is_full(sizes._shape):
                starts.append(constant(0, sizes.dtype, sizes.shape))
            else:
                whole = shape_of(op.inputs[0], out_type=sizes.dtype, optimize=False)
                starts.append(zeros_like(whole, optimize=False))
    return starts


@Switch.gradient
@RefSwitch.gradient
def _(op: Operation, *grads: Any) -> Any:
    """Gradients of a Switch meet again in a Merge: only one of them is alive."""
    context = op._control_flow_context
    if isinstance(context, WhileContext):
        return _loop_switch_gradient(op, *grads)
    if isinstance(context, CondContext):
        if grads[1 - context.branch] is None:
            if op.inputs[0].dtype is dtypes.resource:
                return merge([grads[context.branch]] * 2, name="cond_resource_grad")[0], None
            return None, None
        return merge(list(grads), name="cond_grad")[0], None
    on_false = switch(grads[0], op.inputs[1])[0]
    on_true = switch(grads[1], op.inputs[1])[1]
    return merge([on_false, on_true])[0], None


def _loop_switch_gradient(op: Operation, from_exit: Any, from_body: Any) -> Any:
    """Comes here twice: first with the gradient from outside, then with that of the body."""
    merges = _gradient_context().grad_state.switch_merges
    merged = merges.get(op)
    if merged is not None:
        if from_body is not None:
            merged.op._update_input(1, next_iteration(from_body))
        return None, None
    if from_exit is None:
        return None, None
    merges[op] = merge([from_exit, from_exit], name="b_switch")[0]
    return merges[op], None


@Merge.gradient
@RefMerge.gradient
def _(op: Operation, grad: Any, _: Any) -> Any:
    """The gradient of a Merge goes where the value came from."""
    context = output_context(op.inputs[0].op)
    if isinstance(context, WhileContext):
        return list(switch(grad, _gradient_context().pivot))
    if isinstance(context, CondContext):
        pred = context.pred
        here = _gradient_context()
        if here is not None and here.grad_state is not None:
            pred = here.grad_state.remembered(pred)
        return list(switch(grad, pred, name="cond_grad"))
    return [switch(grad, equal(op.outputs[1], i))[1] for i in range(len(op.inputs))]
