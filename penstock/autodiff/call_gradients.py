"""Gradients of nodes that call a function.

The gradient of a call is a call: of a function of the gradients of the results and of what it needs
from inside of the first call, which that one then gives as further results. So nothing is computed
twice, random numbers are those of the call, and state changes once.

Functions with a gradient of their own, those that nodes call by name (`Defun`), and bodies made of
control-flow primitives are differentiated by a SymbolicGradient node, as in TensorFlow 1.x.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.autodiff.forward_functions import ForwardFunction, functions_of
from penstock.autodiff.lists import as_list
from penstock.autodiff.zeros import zeros_for
from penstock.ir import nest
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.registry import takes_missing
from penstock.ir.tensor import Tensor
from penstock.ops.flow_graphs import (
    FlowGraph,
    added_function,
    has_state,
    set_results,
    unique_gradient_name,
)
from penstock.ops.flow_structures import packed_tensors
from penstock.ops.functions import (
    PartitionedCall,
    StatefulPartitionedCall,
    function_called,
    symbolic_gradient_of_call,
)

_PRIMITIVES = ("Switch", "RefSwitch", "Merge", "RefMerge", "Enter", "RefEnter")


@PartitionedCall.gradient
@StatefulPartitionedCall.gradient
@takes_missing
def call_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradients of the inputs of a call; handles of variables have those of their values."""
    if _needs_symbolic_gradient(op):
        return as_list(symbolic_gradient_of_call(op, *_with_zeros(op, grads)))
    (forward,) = functions_of(op, 0, "f")
    own = forward.own_results  # what is kept for gradients alone need not have one
    grads = (*_with_zeros(op, grads[:own]), *grads[own:])
    graph = _CallGradient(unique_gradient_name(get_default_graph(), forward.name), forward)
    found = graph.gradients(grads)
    _give_what_is_kept(op, forward)
    wanted = [place for place, gradient in enumerate(found) if gradient is not None]
    result: list[Any] = [None] * len(op._inputs)
    if wanted:
        set_results(graph, [found[place] for place in wanted])
        for place, gradient in zip(wanted, _called(graph), strict=True):
            result[place] = gradient
    return result


def _with_zeros(op: Operation, grads: Sequence[Any]) -> list[Any]:
    """The gradients of the first results: zeros where there is none."""
    from penstock.autodiff.gradients import is_trainable

    return [
        zeros_for(output) if grad is None and is_trainable(output) else grad
        for output, grad in zip(op._outputs, grads, strict=False)
    ]


def _needs_symbolic_gradient(op: Operation) -> bool:
    if op.graph.is_eager:
        return True
    function = function_called(op)
    if function.gradient is not None or function.gradient_name:
        return True
    body = function.body(op.attrs["f"].attrs, op.graph._functions)
    return any(inner.type in _PRIMITIVES for inner in body.get_operations())


class _CallGradient(FlowGraph):
    """The gradient of a function: what it uses of the function's inside the call's node gives."""

    functional_flow = True

    def __init__(self, name: str, forward: ForwardFunction):
        super().__init__(name)
        self._forward = forward

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if self._forward.owns(tensor):
            tensor = _around(self._forward, tensor)
        return super().capture(tensor, name)

    def gradients(self, grads: Sequence[Any]) -> list[Any]:
        """The gradients of the function's arguments, None where there is none."""
        from penstock.autodiff.gradients import gradients, is_trainable

        pairs = [
            (result, grad)
            for result, grad in zip(list(self._forward.outputs), grads, strict=False)
            if grad is not None and is_trainable(result)
        ]
        if not pairs:
            return [None] * len(self._forward.inputs)
        results, weights = zip(*pairs, strict=True)
        with self.as_default():
            return gradients(list(results), self._forward.inputs, grad_ys=list(weights))


def _around(forward: ForwardFunction, tensor: Tensor) -> Tensor:
    """The tensor around a call that has the value of one inside of the function."""
    op = forward.op
    if tensor in forward.inputs:
        return op._inputs[forward.inputs.index(tensor)]
    if tensor._dtype is dtypes.resource:
        return op._inputs[forward.origin(tensor)]
    if not forward.kept:
        forward.kept.update({each: place for place, each in enumerate(forward.outputs)})
    place = forward.kept.get(tensor)
    if place is None:
        place = forward.kept[tensor] = len(forward.outputs)
        forward.outputs.append(tensor)
        op._add_outputs([tensor._dtype], [tensor._shape])
    return op._outputs[place]


def _give_what_is_kept(op: Operation, forward: ForwardFunction) -> None:
    """Changes a node to give all that its function keeps."""
    types = [tensor._dtype for tensor in op._outputs]
    if len(types) > len(op.attrs["Tout"]):
        op._set_attr("f", forward.rewritten())
        op._set_attr("Tout", types)


def _called(graph: _CallGradient) -> list[Any]:
    """A node that calls the gradient; its results, in the form that they have inside."""
    spec = StatefulPartitionedCall if has_state(graph) else PartitionedCall
    with get_default_graph().control_dependencies(graph.control_captures):
        made = spec(graph.external_captures, Tout=graph.output_types, f=added_function(graph))
    return nest.flatten(packed_tensors(graph.structured_outputs, made))
