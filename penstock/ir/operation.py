"""`tf.Operation`: one node of the graph."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from penstock import devices, errors, shapes
from penstock.dtypes import DType
from penstock.ir import source
from penstock.ir.computed_ahead import while_inferring
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor
from penstock.shapes import Shape

if TYPE_CHECKING:
    from penstock.ir.graph import Graph


class _InputList(tuple[Tensor, ...]):
    """The inputs of an operation, as it shows them: they can't be changed here."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        """One input, or a list of several: `op.inputs[:2] + variables` is what programs write."""
        found = super().__getitem__(index)
        return list(found) if isinstance(index, slice) else found


class Operation:
    """A node: an op type, a unique name, attrs, inputs and control inputs.

    1. `attrs` holds Python values: DType, raw shape, str, NumPy array (for tensors), numbers,
       lists of these; `get_attr` and `node_def` give TensorFlow's forms.
    2. Inputs are fixed at creation, but for `_update_input` and `_add_control_input`, which a
       graph records so that compiled steps are made anew.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_control_flow_context",
        "_control_inputs",
        "_device",
        "_id",
        "_inputs",
        "_is_imported",
        "_line",
        "_name",
        "_outputs",
        "attrs",
        "graph",
        "spec",
    )

    def __init__(
        self,
        graph: Graph,
        spec: OpSpec,
        name: str,
        inputs: tuple[Tensor, ...],
        control_inputs: list[Operation],
        attrs: dict[str, Any],
        output_types: Iterable[DType],
        node_id: int,
    ):
        self.graph = graph
        self.spec = spec
        self._name = name
        self._inputs = inputs
        self._control_inputs = control_inputs
        self.attrs = attrs
        self._device = ""
        self._id = node_id
        self._line = source.user_line()
        self._is_imported = False  # from a GraphDef, which may be another's
        self._control_flow_context: Any = None
        self._outputs = [Tensor(self, i, dtype) for i, dtype in enumerate(output_types)]

    @property
    def name(self) -> str:
        return self._name

    @property
    def type(self) -> str:
        return self.spec.name

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return _InputList(self._inputs)

    @property
    def _input_types(self) -> list[DType]:
        """The types that the op takes its inputs as: references only where it wants them."""
        return [dtype for arg in self.spec.inputs for dtype in arg.types(self.attrs)]

    @property
    def outputs(self) -> list[Tensor]:
        return self._outputs

    def values(self) -> tuple[Tensor, ...]:
        return tuple(self._outputs)

    @property
    def control_inputs(self) -> list[Operation]:
        return list(self._control_inputs)

    @property
    def device(self) -> str:
        return self._device

    def _set_device(self, device: Any) -> None:
        self._device = devices.spelled(device)
        self.graph._changed()

    @property
    def node_def(self) -> Any:
        """This node as a NodeDef message."""
        from penstock.ir.graph_def import node_def

        return node_def(self)

    @property
    def op_def(self) -> Any:
        """The op type's signature as an OpDef message."""
        from penstock.ir.op_def import op_def

        return op_def(self.spec)

    def get_attr(self, name: str) -> Any:
        """The value of attr `name`, in the form that TensorFlow's API gives it."""
        from penstock.ir.attr_codec import public_value

        if name not in self.attrs:
            raise ValueError(f"Operation '{self._name}' has no attr named '{name}'.")
        declared = self.spec.attrs.get(name)
        return public_value(self.attrs[name], declared.kind if declared else None)

    def _set_attr(self, name: str, value: Any) -> None:
        """Sets an attr from an AttrValue message or a Python value."""
        from penstock.ir.attr_codec import python_value

        self.attrs[name] = python_value(value)
        self.graph._changed()

    def _clear_attr(self, name: str) -> None:
        """Takes an attr away; one that the op declares has its default then."""
        declared = self.spec.attrs.get(name)
        if declared is not None and declared.has_default:
            self.attrs[name] = declared.default
        else:
            del self.attrs[name]
        self.graph._changed()

    def colocation_groups(self) -> list[bytes]:
        """The `loc:@node` groups that this node must share a device with."""
        groups = [str(group).encode() for group in self.attrs.get("_class", [])]
        named = [group for group in groups if group.startswith(b"loc:@")]
        return named or [b"loc:@" + self._name.encode()]

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            if not isinstance(op, Operation):
                raise TypeError(f"op must be an Operation: {op}")
            if op.graph is not self.graph:
                raise ValueError(f"control input {op.name!r} is from another graph")
            if op not in self._control_inputs:
                self._control_inputs.append(op)
        self.graph._changed()

    @property
    def _control_outputs(self) -> list[Operation]:
        """The nodes that wait for this one."""
        return [op for op in self.graph.get_operations() if self in op._control_inputs]

    def _remove_all_control_inputs(self) -> None:
        self._control_inputs.clear()
        self.graph._changed()

    def _update_input(self, index: int, tensor: Tensor) -> None:
        """Makes `tensor` input number `index`, as building a loop's back edge needs."""
        if tensor.graph is not self.graph:
            raise ValueError(f"{tensor!r} must be from the same graph as {self!r}.")
        if index >= len(self._inputs):
            raise errors.OutOfRangeError(
                None,
                None,
                f"Cannot update edge. Input index [{index}] is greater than the number of total "
                f"inputs [{len(self._inputs)}].",
            )
        known, given = self._inputs[index]._shape, tensor._shape
        if not shapes.compatible(known, given):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Cannot update edge, incompatible shapes: {shapes.text(given)} and "
                f"{shapes.text(known)}.",
            )
        with self.graph._lock:
            inputs = list(self._inputs)
            inputs[index]._consumers.remove(self)
            inputs[index] = tensor
            tensor._consumers.append(self)
            self._inputs = tuple(inputs)
            self.graph._rewired.add(self)
            self.graph._changed()

    def _add_while_inputs(self, tensors: Iterable[Tensor]) -> None:
        """Gives a node that calls functions further inputs, behind those that it has."""
        with self.graph._lock:
            added = tuple(tensors)
            self._inputs = (*self._inputs, *added)
            for tensor in added:
                tensor._consumers.append(self)
            self.graph._changed()

    def _add_outputs(self, types: Iterable[DType], static_shapes: Iterable[Any]) -> None:
        """Gives a node that calls functions further outputs; its attrs are set by the caller."""
        with self.graph._lock:
            for dtype, shape in zip(types, static_shapes, strict=True):
                tensor = Tensor(self, len(self._outputs), dtype)
                tensor._shape = shapes.raw(shape)
                self._outputs.append(tensor)
            self.graph._changed()

    @property
    def traceback(self) -> Any:
        """The user's line that made this node, as frame summaries."""
        return source.summary(self._line)

    @property
    def traceback_with_start_lines(self) -> Any:
        """`traceback`, each frame with the line that its function begins in."""
        start = 0 if self._line is None else self._line[0].co_firstlineno
        return [(*frame, start) for frame in self.traceback]

    @property
    def _device_assignments(self) -> list[source.Placed]:
        """The `with tf.device(...)` blocks around this node, the innermost first."""
        return [
            source.placed(
                source.described_function(scope.given)
                if callable(scope.given)
                else str(scope.given),
                scope.line,
            )
            for scope in reversed(self.__dict__.get("_device_scopes", ()))
        ]

    @property
    def _colocation_dict(self) -> dict[str, source.Placed]:
        """The nodes that `with tf.colocate_with(...)` blocks put this one beside."""
        scopes = self.__dict__.get("_colocation_scopes", ())
        return {scope.op.name: source.placed(None, scope.line) for scope in scopes}

    def run(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> None:
        """Runs this operation in `session` (the default one if None)."""
        from penstock.ir.defaults import session_for

        session_for(self.graph, session, "execute operation").run(self, feed_dict)

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context

    def __repr__(self) -> str:
        return f"<tf.Operation '{self._name}' type={self.type}>"

    def __str__(self) -> str:
        return str(self.node_def)


def describe(op: Operation) -> str:
    """`MatMul 'dense/MatMul' (made at train.py:41)`: how every error names a node."""
    made_at = source.describe(op._line)
    return f"{op.type} '{op.name}'" + (f" (made at {made_at})" if made_at else "")


def infer_shapes(op: Operation) -> None:
    """Sets the static shapes of `op`'s outputs by its shape rule."""
    rule = op.spec.shape_rule
    if rule is None:
        return
    try:
        with while_inferring:
            result = rule(op, *[tensor._shape for tensor in op._inputs])
    except ValueError as error:
        given = ", ".join(_given_shape(tensor._shape) for tensor in op._inputs)
        raise ValueError(
            f"{error} for '{op.name}' (op: '{op.type}') with input shapes: {given}.{_made_at(op)}"
        ) from None
    assign_shapes(op, result)


def _given_shape(shape: Shape) -> str:
    return "?" if shape is None else shapes.text(shape)


def assign_shapes(op: Operation, result: Any) -> None:
    """Stores what a shape rule returned: a list gives one shape per output."""
    if isinstance(result, list):
        for tensor, shape in zip(op._outputs, result, strict=True):
            tensor._shape = shape
    elif op._outputs:
        only: Shape = result
        for tensor in op._outputs:
            tensor._shape = only


def _made_at(op: Operation) -> str:
    made_at = source.describe(op._line)
    return f" (made at {made_at})" if made_at else ""
