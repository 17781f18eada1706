"""The bodies of conditionals and loops that are functions, and the nodes that call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.dtypes import DType
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.convert import to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, FunctionGraph, add_function
from penstock.ir.graph import Graph
from penstock.ir.naming import uid
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor
from penstock.ops.flow_structures import converted, flat_tensors
from penstock.ops.program_order import in_program_order
from penstock.shapes import TensorShape

#: The attr that says that a node stands for the primitives of which its functions are a part.
LOWERED = "_lower_using_switch_merge"

_READS_OF_VARIABLES = frozenset(["ReadVariableOp", "ResourceGather"])


class FlowGraph(FunctionGraph):
    """A branch or a loop's body: part of the graph around it in all but its nodes.

    It has the collections, devices and other open scopes of that graph. Arguments are named after
    the node that first uses them.
    """

    functional_flow = True
    orders_effects = False  # whether its nodes have the effects of the program that builds them
    capture_by_value = False  # whether variables are read when the body is built

    def __init__(self, name: str, collections: Any = None):
        outer = get_default_graph()
        super().__init__(outer, name)
        self.orders_effects = getattr(outer, "orders_effects", False)
        self.capture_by_value = getattr(outer, "capture_by_value", False)
        self._collections = outer._collections if collections is None else collections
        self._gradient_functions = outer._gradient_functions
        for scope in ("container", "devices", "colocations", "attrs", "gradient_names"):
            setattr(self._scopes, scope, getattr(outer._scopes, scope))

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        return super().capture(tensor, name or tensor._op.name)

    def _add(
        self,
        spec: OpSpec,
        name: str,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        output_types: Iterable[DType],
        control_inputs: Iterable[Operation] = (),
    ) -> Operation:
        if self.capture_by_value and spec.name in _READS_OF_VARIABLES:
            return self.capture(self._read_outside(spec, name, inputs, attrs, output_types))._op
        names = _argument_names(spec, inputs, attrs)
        inputs = tuple(
            self.capture(tensor, f"{name}/{argument}")
            for tensor, argument in zip(inputs, names, strict=True)
        )
        return super()._add(spec, name, inputs, attrs, output_types, control_inputs)

    def _read_outside(
        self,
        spec: OpSpec,
        name: str,
        inputs: tuple[Tensor, ...],
        attrs: dict[str, Any],
        output_types: Iterable[DType],
    ) -> Tensor:
        """The value of a variable as it is now, in the graph around all bodies."""
        from penstock.ops.control import init_scope

        def outermost(tensor: Tensor) -> Tensor:
            while (around := tensor._op.__dict__.get("_stands_for")) is not None:
                tensor = around
            return tensor

        with init_scope():
            graph = get_default_graph()
            given = tuple(outermost(tensor) for tensor in inputs)
            return graph._add(spec, name, given, attrs, output_types)._outputs[0]


def _argument_names(spec: OpSpec, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> list[str]:
    """What a node's inputs are called where they are captured.

    A tensor is called by its node; one of eager mode has none, and is what it is to the op.
    """
    own = [tensor._op.name for tensor in inputs]
    if not any(tensor._op.graph.is_eager for tensor in inputs):
        return own
    declared = [
        arg.name if arg.count(attrs) == 1 else f"{arg.name}_{place}"
        for arg in spec.inputs
        for place in range(arg.count(attrs))
    ]
    return [
        argument if tensor._op.graph.is_eager else name
        for tensor, argument, name in zip(inputs, declared, own, strict=True)
    ]


class CondBranchFuncGraph(FlowGraph):
    """A branch of a conditional."""


class WhileCondFuncGraph(FlowGraph):
    """The condition of a loop."""


class WhileBodyFuncGraph(FlowGraph):
    """The body of a loop."""


def unique_function_name(graph: Graph, scope: str, name: str) -> str:
    """A name for a function of a node in a scope; it is not the name of another one."""
    while True:
        found = f"{scope}{name}_{uid()}".replace("/", "_")
        if found not in graph._functions:
            return found


def unique_gradient_name(graph: Graph, name: str) -> str:
    """A name for the gradient of a function."""
    return unique_function_name(graph, f"{name}_", "grad")


def trace(
    graph: FlowGraph,
    function: Callable[..., Any],
    args: Sequence[Any] = (),
    op_value: Tensor | None = None,
) -> None:
    """Calls a Python function to build a graph's nodes; what it returns are the results.

    An operation among them becomes `op_value`, once the operation has run.
    """
    with tracing(graph):
        set_results(graph, function(*args), function, op_value)


@contextmanager
def tracing(graph: FlowGraph) -> Iterator[None]:
    """A block in which Python code builds a graph's nodes."""
    with graph.as_default(), _resource_variables():
        yield


def set_results(
    graph: FlowGraph, results: Any, function: Any = None, op_value: Tensor | None = None
) -> None:
    """Makes a structure of values what a body gives."""

    def convert(value: Any) -> Tensor:
        if op_value is not None and isinstance(value, Operation):
            from penstock.ops.identity import identity

            with graph.control_dependencies([value]):
                return identity(op_value)
        try:
            return to_tensor(value)
        except (TypeError, ValueError):
            raise TypeError(
                "To be compatible with tf.contrib.eager.defun, Python functions must return zero "
                f"or more Tensors; in compilation of {function}, found return value of type "
                f"{type(value)}, which is not a Tensor."
            ) from None

    with graph.as_default():
        graph.structured_outputs = converted(results, convert)
        graph.outputs = [graph.capture(each) for each in flat_tensors(graph.structured_outputs)]
        if graph.orders_effects:
            graph.outputs = in_program_order(graph, graph.outputs)


@contextmanager
def _resource_variables() -> Iterator[None]:
    """A function can't take a reference: variables made inside lie behind handles."""
    from penstock.ops.variable_scope import get_variable_scope

    scope = get_variable_scope()
    before = scope.use_resource
    scope.set_use_resource(True)
    try:
        yield
    finally:
        scope.set_use_resource(before)


def added_function(graph: FunctionGraph, name: str | None = None) -> FunctionName:
    """Lets the nodes around a body call it as a function."""
    made = Function(name or graph.name, body=graph)
    assert graph.outer_graph is not None
    add_function(graph.outer_graph, made)
    return FunctionName(made.name, {})


def has_state(graph: FunctionGraph) -> bool:
    return any(op.spec.is_stateful for op in graph.get_operations())


def without_extra_dimensions(predicate: Any) -> Any:
    """A condition as a scalar."""
    from penstock.ops.shaping import squeeze

    if isinstance(predicate, Tensor) and predicate.shape.ndims != 0:
        return squeeze(predicate)
    return predicate


def common_shape(shapes: Iterable[TensorShape]) -> TensorShape:
    """What is known of a result that comes from any of several branches."""
    first, *others = shapes
    for other in others:
        first = first.most_specific_compatible_shape(other)
    return first


def lowered(op: Operation) -> Operation:
    """The node, marked to be run as the primitives that it stands for."""
    op.attrs[LOWERED] = True
    return op
