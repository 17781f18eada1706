"""`ops.Operation` as code inside TensorFlow makes it: from a NodeDef, in a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.ir.graph import Graph
from penstock.ir.operation import Operation as _Operation
from penstock.proto import NodeDef


class _Operations(type):
    """Of which every operation of a graph is an instance."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _Operation)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _Operation)


class Operation(metaclass=_Operations):
    """Makes an operation of a graph.

    Args:
      node_def: its name, type, device and attrs.
      g: the graph.
      inputs: the tensors that it takes.
      output_types: the types of its results; those of its op type if None.
      control_inputs: the operations that run before it.
      input_types: the types by which it takes its inputs, which must be compatible with theirs.
      original_op: the operation that it was made for.
      op_def: accepted; op types are registered.
    """

    def __new__(
        cls,
        node_def: Any,
        g: Any,
        inputs: Sequence[Any] | None = None,
        output_types: Sequence[Any] | None = None,
        control_inputs: Sequence[Any] | None = None,
        input_types: Sequence[Any] | None = None,
        original_op: Any = None,
        op_def: Any = None,
    ) -> Any:
        _check(node_def, g, inputs, input_types)
        attrs = dict(node_def.attr.items())
        controls = [getattr(each, "op", each) for each in control_inputs or ()]
        with g.as_default(), g._original_op(original_op), g.control_dependencies(controls):
            made = g.create_op(
                node_def.op, list(inputs or ()), output_types, name=f"{node_def.name}/", attrs=attrs
            )
        if node_def.device:
            made._set_device(node_def.device)
        return made


def _check(node_def: Any, g: Any, inputs: Any, input_types: Any) -> None:
    if not isinstance(node_def, NodeDef):
        raise TypeError(f"node_def needs to be a NodeDef: {node_def}")
    if node_def.ByteSize() >= (1 << 31) or node_def.ByteSize() < 0:
        raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
    if not isinstance(g, Graph):
        raise TypeError(f"g needs to be a Graph: {g}")
    if inputs is not None and not isinstance(inputs, list):
        raise TypeError(f"inputs needs to be a list of Tensors: {inputs}")
    tensors = inputs or []
    for tensor, wanted in zip(tensors, input_types or (), strict=False):
        if not wanted.is_compatible_with(tensor.dtype):
            raise TypeError(
                f"In op '{node_def.name}', input types ({[t.dtype for t in tensors]}) are not "
                f"compatible with expected types ({list(input_types)})"
            )
