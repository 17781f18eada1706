"""Gradients of nodes that repeat a function: While.

The gradient is a loop that goes through the iterations backwards. What it needs of the body's
insides the forward loop pushes on lists, which the gradient loop pops from; what stays the same in
all iterations, and constants, need no list. Gradients of gradients go through the lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.autodiff.forward_functions import functions_of
from penstock.autodiff.zeros import zeros_for
from penstock.ir.composite import IndexedSlices
from penstock.ir.constants import constant_value
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.operation import Operation
from penstock.ir.registry import takes_missing
from penstock.ir.tensor import Tensor
from penstock.ops.comparison import less
from penstock.ops.constants import constant
from penstock.ops.flow_graphs import (
    WhileBodyFuncGraph,
    WhileCondFuncGraph,
    added_function,
    lowered,
    set_results,
    trace,
    unique_gradient_name,
)
from penstock.ops.functional_branches import StatelessWhile, While
from penstock.ops.identity import identity
from penstock.ops.list_functions import empty_tensor_list, tensor_list_pop_back
from penstock.ops.tensor_lists import TensorListPushBack, elements_of
from penstock.shapes import TensorShape


@While.gradient
@StatelessWhile.gradient
@takes_missing
def while_gradient(op: Operation, *grads: Any) -> list[Any]:
    """The gradients of a loop's inputs."""
    loop = _loop_of(op)
    given = loop.wanted(grads)
    if not given:
        return [None] * len(op._inputs)
    total = op._outputs[loop.counter()]
    body = _BodyGradient(unique_gradient_name(get_default_graph(), loop.body.name), loop)
    start = constant(0, total.dtype, name="grad_counter")
    arguments = [start, loop.limit, total, *given.values()]
    inside: list[Any] = [
        body.add_input(each._dtype, each._shape, "Placeholder") for each in arguments
    ]
    results = body.gradients(list(given), inside[3:])
    with body.as_default():
        set_results(body, [inside[0] + 1, *inside[1:3], *results])
    loop.give_what_is_kept()
    made = _node(op, body, arguments)
    found: list[Any] = [None] * len(op._inputs)
    for place, gradient in zip(given, made[3:], strict=False):
        found[place] = gradient
    return found


def _node(op: Operation, body: _BodyGradient, arguments: Sequence[Tensor]) -> list[Tensor]:
    """The loop that goes backwards."""
    first = [*arguments, *body.external_captures]
    body.outputs += [body.after.get(each, each) for each in body.internal_captures]
    condition = WhileCondFuncGraph(unique_gradient_name(op.graph, op.attrs["cond"].name))
    inside = [condition.add_input(each._dtype, each._shape, "Placeholder") for each in first]
    trace(condition, lambda: less(inside[0], inside[2]))
    made = While(
        first,
        cond=added_function(condition),
        body=added_function(body),
        output_shapes=[tensor._shape for tensor in body.outputs],
        parallel_iterations=op.attrs["parallel_iterations"],
        name=f"{op.name}_grad",
    )
    lowered(made[0].op)
    return [identity(tensor) for tensor in made]


def _loop_of(op: Operation) -> _ForwardLoop:
    loop: _ForwardLoop | None = op.__dict__.get("_forward_loop")
    if loop is None:
        loop = op.__dict__["_forward_loop"] = _ForwardLoop(op)
    return loop


class _ForwardLoop:
    """A loop whose gradient is wanted: its functions, and the lists that it fills for that."""

    def __init__(self, op: Operation):
        self.op = op
        self.condition, self.body = functions_of(op, 0, "cond", "body")
        self._counter: int | None = None
        known = op.attrs.get("_num_original_outputs")
        #: How many of the results are not lists that were added for a gradient.
        self.originals = len(op._outputs) if known is None else int(known)

    @property
    def limit(self) -> Tensor:
        """The most iterations that there may be; -1 for any number."""
        if "_num_original_outputs" in self.op.attrs:
            return self.op._inputs[1]
        return constant(-1, dtypes.int32, name="maximum_iterations")

    def wanted(self, grads: Sequence[Any]) -> dict[int, Tensor]:
        """The gradients of the results, by number; zeros for those of the loop's own variables."""
        found = {}
        pairs = zip(self.op._outputs, self.body.outputs, grads, strict=True)
        for place, (result, inside, grad) in enumerate(pairs):
            if not _is_differentiable(result, inside):
                continue
            if grad is not None:
                found[place] = convert_to_tensor(grad)
            elif place < self.originals:
                found[place] = zeros_for(result)
        return found if any(grad is not None for grad in grads) else {}

    def counter(self) -> int:
        """The number of the variable that counts the iterations; if there is none, it is added."""
        if self._counter is None:
            self._counter = 0 if self._counts(0) else self._add_counter()
        return self._counter

    def _counts(self, place: int) -> bool:
        """Whether a variable begins with 0 and grows by 1 in every iteration."""
        start = constant_value(self.op._inputs[place])
        result = _behind_identities(self.body.outputs[place])
        if start is None or start.shape != () or start != 0 or not result.dtype.is_integer:
            return False
        if result._op.type not in ("Add", "AddV2"):
            return False
        first, second = result._op._inputs
        step = constant_value(second)
        return first is self.body.inputs[place] and step is not None and bool(step == 1)

    def _add_counter(self) -> int:
        with self.op.graph.as_default(), self.op.graph.control_dependencies(None):
            start = constant(0, name="loop_counter")
        argument: Any = self._add_argument(start)
        with self.body.extending():
            return self._add_result(start, argument + 1)

    def kept(self, tensor: Tensor) -> Tensor:
        """The result of the loop that lists the values of a tensor in all iterations."""
        place = self.body.kept.get(tensor)
        if place is None:
            place = self._listed(tensor)
            if place is None:
                place = self._add_list(tensor)
            self.body.kept[tensor] = place
        return self.op._outputs[place]

    def _listed(self, tensor: Tensor) -> int | None:
        """The number of a variable of the loop that is such a list already."""
        for push in tensor._consumers:
            if push.type == "TensorListPushBack" and push._inputs[0] in self.body.inputs:
                place = self.body.inputs.index(push._inputs[0])
                if _behind_identities(self.body.outputs[place]) is push._outputs[0]:
                    return place
        return None

    def _add_list(self, tensor: Tensor) -> int:
        graph = self.op.graph
        name = f"{tensor.name}/accumulator".replace(":", "_")
        with graph.as_default(), _without_waiting(graph):
            start = empty_tensor_list(tensor.shape, tensor.dtype, self.limit, name=name)
        argument = self._add_argument(start)
        with self.body.extending():
            return self._add_result(start, TensorListPushBack(argument, tensor))

    def _add_argument(self, start: Tensor) -> Tensor:
        """A further variable of the loop's functions; what it is in the body."""
        for function in (self.condition, self.body):
            with function.extending():
                argument = function.graph.add_input(start._dtype, start._shape, start._op.name)
            function.graph.inputs.pop()
            argument._op.__dict__["_stands_for"] = start
            function.inputs.append(argument)
        return self.body.inputs[-1]

    def _add_result(self, start: Tensor, result: Tensor) -> int:
        self.body.outputs.append(result)
        self.op._add_while_inputs([start])
        self.op._add_outputs([result._dtype], [result._shape])
        return len(self.body.outputs) - 1

    def give_what_is_kept(self) -> None:
        """Changes the node to call the functions as they are by now."""
        op = self.op
        if len(op._outputs) == len(op.attrs["T"]):
            return
        shapes = list(op.attrs["output_shapes"])
        op._set_attr("cond", self.condition.rewritten())
        op._set_attr("body", self.body.rewritten())
        if shapes:
            added = op._outputs[len(shapes) :]
            op._set_attr("output_shapes", [*shapes, *[tensor._shape for tensor in added]])
        op._set_attr("T", [tensor._dtype for tensor in op._outputs])
        if "_num_original_outputs" in op.attrs:
            op._set_attr("_num_original_outputs", len(op._outputs))


def _without_waiting(graph: Any) -> Any:
    """A list that the loop begins with must not wait for what comes after the loop."""
    return graph._scopes.setting(controllers=[])


def _behind_identities(tensor: Tensor) -> Tensor:
    while tensor._op.type == "Identity":
        tensor = tensor._op._inputs[0]
    return tensor


def _is_differentiable(result: Tensor, inside: Tensor) -> bool:
    """Whether gradients flow through a variable of a loop; not through lists of integers."""
    from penstock.autodiff.gradients import TRAINABLE, is_trainable

    if result._dtype is dtypes.variant:
        elements = elements_of(_behind_identities(inside)) or elements_of(result)
        return elements is None or elements.dtype.base_dtype in TRAINABLE
    return is_trainable(result)


class _BodyGradient(WhileBodyFuncGraph):
    """The gradient of a loop's body: what it uses of the body it pops from the loop's lists.

    `after` maps arguments that change in an iteration to what they are after it.
    """

    def __init__(self, name: str, loop: _ForwardLoop):
        super().__init__(name)
        self._loop = loop
        self._taken: dict[Tensor, Tensor] = {}
        self.after: dict[Tensor, Tensor] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if not self._loop.body.owns(tensor):
            return super().capture(tensor, name)
        if tensor._dtype is not dtypes.resource:
            tensor = _behind_identities(tensor)
        known = self._taken.get(tensor)
        if known is None:
            known = self._taken[tensor] = self._from_body(tensor, name)
        return known

    def _from_body(self, tensor: Tensor, name: str | None) -> Tensor:
        body, op = self._loop.body, self._loop.op
        if tensor in body.inputs:
            place = body.inputs.index(tensor)
            if body.outputs[place] is tensor:  # the same in every iteration
                is_handle = tensor._dtype is dtypes.resource
                return super().capture((op._inputs if is_handle else op._outputs)[place], name)
        if tensor._op.type == "Const":
            with self.as_default(), self.control_dependencies(None):
                return constant(constant_value(tensor), tensor.dtype)
        if tensor._dtype is dtypes.resource:
            return super().capture(op._inputs[body.origin(tensor)], name)
        values = super().capture(self._loop.kept(tensor), name)
        with self.as_default(), self.control_dependencies(None):
            shorter, value = tensor_list_pop_back(values, tensor.dtype)
        value.set_shape(TensorShape._of(tensor._shape))
        self.after[values] = shorter
        return value

    def gradients(self, places: Sequence[int], grads: Sequence[Tensor]) -> list[Tensor]:
        """The gradients of the body's arguments at these places, given those of its results."""
        from penstock.autodiff.gradients import gradients
        from penstock.autodiff.zeros import zeros_like_x

        body = self._loop.body
        arguments = [body.inputs[place] for place in places]
        results = [body.outputs[place] for place in places]
        with self.as_default():
            found = gradients(results, arguments, grad_ys=list(grads))
            return [
                zeros_like_x(argument) if gradient is None else _dense(gradient)
                for argument, gradient in zip(arguments, found, strict=True)
            ]


def _dense(gradient: Any) -> Tensor:
    return convert_to_tensor(gradient) if isinstance(gradient, IndexedSlices) else gradient
