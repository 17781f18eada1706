"""A graph as a GraphDef message."""

from __future__ import annotations

from typing import Any

from penstock import proto
from penstock.ir.attr_codec import encode
from penstock.ir.graph import Graph
from penstock.ir.later_attrs import is_later_default
from penstock.ir.operation import Operation

#: Outputs that nothing uses and whose size is another one in each release of TensorFlow.
_UNSETTLED = {
    "FusedBatchNormGrad": (3, 4),
    "FusedBatchNormGradV2": (3, 4),
    "FusedBatchNormGradV3": (3, 4),
}


def graph_def(graph: Graph, from_version: int = 0, *, add_shapes: bool = False) -> Any:
    """All nodes added since `from_version`, in the order of their creation."""
    message = proto.GraphDef(versions=graph.graph_def_versions)
    for op in graph.get_operations()[from_version:]:
        fill_node_def(op, message.node.add(), add_shapes=add_shapes)
    fill_library(graph, message, add_shapes=add_shapes)
    return message


def fill_library(graph: Graph, message: Any, *, add_shapes: bool = False) -> None:
    """Puts a graph's functions into a GraphDef."""
    for function in graph._functions.values():
        written = message.library.function.add()
        written.CopyFrom(function.definition)
        if add_shapes:
            _add_function_shapes(written, function._body)
        if function.gradient_name:
            message.library.gradient.add(
                function_name=function.name, gradient_func=function.gradient_name
            )


def _add_function_shapes(message: Any, body: Any) -> None:
    """Says in a FunctionDef which shapes the arguments and nodes of a traced body have."""
    if not hasattr(body, "structured_input_signature"):
        return
    shapes = [tensor._shape for tensor in body.inputs]
    message.attr["_input_shapes"].CopyFrom(encode(shapes, "list(shape)"))
    for node in message.node_def:
        outputs = body.get_operation_by_name(node.name).outputs
        shapes = [tensor._shape for tensor in outputs]
        node.attr["_output_shapes"].CopyFrom(encode(shapes, "list(shape)"))


def node_def(op: Operation) -> Any:
    message = proto.NodeDef()
    fill_node_def(op, message)
    return message


def fill_node_def(
    op: Operation, message: Any, *, add_shapes: bool = False, without: str | None = None
) -> None:
    """Describes an operation, if need be `without` an attr that is told in another way."""
    message.name = op.name
    message.op = op.type
    message.device = op.device
    message.input.extend(tensor._as_node_def_input() for tensor in op._inputs)
    message.input.extend(sorted(f"^{control.name}" for control in op._control_inputs))
    declared = op.spec.attrs
    for key, value in op.attrs.items():
        if key == without or is_later_default(op.spec, key, value):
            continue
        attr = declared.get(key)
        try:
            message.attr[key].CopyFrom(encode(value, attr.kind if attr else None))
        except (TypeError, ValueError) as error:
            raise type(error)(f"attr '{key}' of {op.type} '{op.name}': {error}") from None
    if add_shapes and op.outputs:
        unsettled = _UNSETTLED.get(op.type, ())
        shapes = [(None,) if i in unsettled else t._shape for i, t in enumerate(op.outputs)]
        message.attr["_output_shapes"].CopyFrom(encode(shapes, "list(shape)"))
