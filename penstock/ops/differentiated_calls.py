"""Calls of functions that a tape differentiates, in eager mode.

A call that no tape watches runs the function's body, and that is all. One that is watched runs the
*forward* function, the same nodes with further results: what the gradients will need of its inside.
The *backward* function takes these and the gradients of the results. So nothing is computed twice,
and random numbers are those of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.ir import nest, tapes
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, FunctionGraph, add_function
from penstock.ir.graph import Graph
from penstock.ir.tensor import Tensor
from penstock.ops.flow_graphs import set_results, unique_function_name
from penstock.ops.flow_structures import packed_tensors
from penstock.ops.functions import PartitionedCall, StatefulPartitionedCall


class Differentiated:
    """A function's body as the forward and the backward function of its calls."""

    def __init__(self, body: FunctionGraph, make_graph: Callable[[str], Any], outer: Graph):
        from penstock.autodiff.gradients import gradients, is_trainable

        self._body = body
        self._backward = make_graph(unique_function_name(outer, "", f"__backward_{body.name}"))
        backward = unique_function_name(outer, "", f"__inference_{self._backward.name}")
        self._results = [i for i, each in enumerate(body.outputs) if is_trainable(each)]
        self._arguments: list[int] = []  # those that have a gradient
        graph = self._backward
        with graph.as_default():
            slopes = [
                graph.add_input(body.outputs[i]._dtype, body.outputs[i]._shape, f"grad_{i}")
                for i in self._results
            ]
            found: list[Any] = [None] * len(body.inputs)
            if slopes:
                results = [body.outputs[i] for i in self._results]
                found = gradients(results, body.inputs, grad_ys=slopes)
        self._arguments = [i for i, each in enumerate(found) if each is not None]
        set_results(graph, [found[i] for i in self._arguments])
        self._kept = graph.external_captures
        name = unique_function_name(outer, "", f"__forward_{body.name}")
        self._forward = Function(
            name, body=body.with_signature(name, body.inputs, [*body.outputs, *self._kept])
        )
        self._gradient = Function(backward, body=graph)
        self._forward.definition.attr["backward_function_name"].s = backward.encode()
        self._gradient.definition.attr["forward_function_name"].s = name.encode()
        self._again: Differentiated | None = None  # for gradients of gradients
        self._of_forward: Differentiated | None = None
        self._make_graph = make_graph

    @property
    def functions(self) -> list[Function]:
        """The forward and the backward function."""
        return [self._forward, self._gradient]

    def call(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Runs the forward function, and tells the tapes how to go backward.

        The innermost tape takes gradients of the results. To those around it, which may want the
        gradients of these gradients, what is kept for them is a result, too.
        """
        graph: Any = get_default_graph()
        *around, innermost = [tape for tape in tapes.recording() if tape.knows(inputs)]
        with tapes.recording_only(around):
            made = self._watched_forward().call(inputs) if around else self._run(inputs)
        count = len(self._body.outputs)
        outputs, kept = made[:count], made[count:]

        def backward(*slopes: Any) -> list[Any]:
            given = [convert_to_tensor(slopes[i]) for i in self._results]
            return self._gradients([*given, *kept])

        with tapes.recording_only([innermost]):
            graph.record_function(self._body.name, inputs, outputs, backward)
        return outputs

    def _run(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        return called(self._forward, inputs)

    def _watched_forward(self) -> Differentiated:
        if self._of_forward is None:
            body = self._forward.body({}, {})
            self._of_forward = Differentiated(body, self._make_graph, get_default_graph())
        return self._of_forward

    def _gradients(self, inputs: Sequence[Tensor]) -> list[Any]:
        """One gradient for each argument; None for those that have none."""
        found: list[Any] = [None] * len(self._body.inputs)
        if not self._arguments:
            return found
        if watched(inputs):
            if self._again is None:
                self._again = Differentiated(self._backward, self._make_graph, get_default_graph())
            flat = self._again.call(inputs)
        else:
            flat = called(self._gradient, inputs)
        gradients = nest.flatten(packed_tensors(self._backward.structured_outputs, flat))
        for place, gradient in zip(self._arguments, gradients, strict=True):
            found[place] = gradient
        return found


def watched(inputs: Sequence[Tensor]) -> bool:
    """Whether a tape would record a call with these inputs."""
    return any(tape.knows(inputs) for tape in tapes.recording())


def called(function: Function, inputs: Sequence[Tensor]) -> list[Tensor]:
    """The results of a function, flat."""
    add_function(get_default_graph(), function)
    call = StatefulPartitionedCall if function.is_stateful else PartitionedCall
    types = [dtype for arg in function.spec.outputs for dtype in arg.types({})]
    return list(call(list(inputs), Tout=types, f=FunctionName(function.name, {})) or ())
