"""Builds and runs a case with TensorFlow 1.x's API, whichever library offers it.

`record.py` hands over TensorFlow, `test_cases.py` Penstock: what the two compare is the same graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np

from tests.ops.case import (
    DIFFERENTIABLE,
    Case,
    Made,
    Output,
    Ref,
    Resource,
    dtype_name,
    gradient_like,
    string,
)

NODE = "case"  # the name of the node that a case is about
_UNFETCHABLE = ("resource", "variant")


class Mode(Enum):
    """How much the graph knows of the arrays among the inputs."""

    CONSTANTS = "constants"  # everything
    SHAPED = "shaped"  # placeholders with their shapes
    FED = "fed"  # placeholders of unknown rank


@dataclass(frozen=True)
class Library:
    """A TensorFlow: its module, and how it adds a node of an op type."""

    tf: Any
    apply: Callable[[str, Sequence[Any], dict[str, Any], str | None], Any]
    config: Any = None


@dataclass
class Graph:
    """The graph of a case. Names stand for its parts, so that they find them in a copy too."""

    graph: Any
    feeds: dict[str, np.ndarray] = field(default_factory=dict)
    initializers: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)  # the tensors that hold their values
    arguments: list[list[str]] = field(default_factory=list)  # the tensors of each argument

    @property
    def op(self) -> Any:
        return self.graph.get_operation_by_name(NODE)

    def static_shapes(self) -> list[list[int | None] | None]:
        """The shapes of the outputs as far as the graph knows them."""
        shapes = (tensor.get_shape() for tensor in self.op.outputs)
        return [None if shape.ndims is None else shape.as_list() for shape in shapes]


def compared_outputs(case: Case, op: Any) -> list[Any]:
    """The outputs of a case's node whose values are looked at."""
    numbers = range(len(op.outputs)) if case.outputs is None else case.outputs
    chosen = [op.outputs[i] for i in numbers]
    return [tensor for tensor in chosen if tensor.dtype.base_dtype.name not in _UNFETCHABLE]


def differentiable_outputs(case: Case, op: Any) -> list[Any]:
    return [
        tensor
        for tensor in compared_outputs(case, op)
        if tensor.dtype.base_dtype.name in DIFFERENTIABLE
    ]


# Building -------------------------------------------------------------------------------------


def build(library: Library, case: Case, mode: Mode) -> Graph:
    """Builds the graph of a case in a graph of its own."""
    graph = library.tf.Graph()
    with graph.as_default():
        return _Builder(library, graph, mode).build(case)


class _Builder:
    def __init__(self, library: Library, graph: Any, mode: Mode):
        self._library = library
        self._graph = graph
        self._mode = mode
        self._made: dict[int, Any] = {}  # by the identity of a Ref, a Resource or a Made
        self._result = Graph(graph)

    def build(self, case: Case) -> Graph:
        arguments = [self._argument(value) for value in case.inputs]
        with self._graph.control_dependencies([self._node(made) for made in case.after]):
            self._library.apply(case.op, arguments, case.attrs, NODE)
        self._result.arguments = [
            [tensor.name for tensor in (value if isinstance(value, list) else [value])]
            for value in arguments
        ]
        return self._result

    def _argument(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._argument(entry) for entry in value]
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, Output):
            return self._node(value.made).outputs[value.index]
        if isinstance(value, Made):
            return self._node(value).outputs[0]
        if id(value) not in self._made:
            make = self._ref if isinstance(value, Ref) else self._resource
            self._made[id(value)] = make(value)
        return self._made[id(value)]

    def _node(self, made: Made) -> Any:
        if id(made) not in self._made:
            inputs = [self._argument(value) for value in made.inputs]
            name = f"made_{len(self._made)}"
            with self._graph.control_dependencies([self._node(entry) for entry in made.after]):
                self._library.apply(made.op, inputs, made.attrs, name)
            self._made[id(made)] = self._graph.get_operation_by_name(name)
        return self._made[id(made)]

    def _array(self, value: np.ndarray) -> Any:
        if self._mode is Mode.CONSTANTS:
            return self._constant(value)
        shape = value.shape if self._mode is Mode.SHAPED else None
        tensor = self._library.tf.placeholder(dtype_name(value), shape)
        self._result.feeds[tensor.name] = value
        return tensor

    def _constant(self, value: np.ndarray) -> Any:
        return self._library.tf.constant(value, dtype_name(value))

    def _apply(self, op: str, inputs: Sequence[Any], **attrs: Any) -> Any:
        return self._library.apply(op, inputs, attrs, None)

    def _ref(self, ref: Ref) -> Any:
        variable = self._apply("VariableV2", (), shape=ref.value.shape, dtype=dtype_name(ref.value))
        if ref.initialized:
            assigned = self._apply("Assign", (variable, self._constant(ref.value)))
            self._result.initializers.append(assigned.op.name)
        self._result.variables.append(variable.name)
        return variable

    def _resource(self, resource: Resource) -> Any:
        value, dtype = resource.value, dtype_name(resource.value)
        name = f"variable_{len(self._result.variables)}"
        handle = self._apply("VarHandleOp", (), shape=value.shape, dtype=dtype, shared_name=name)
        if resource.initialized:
            assigned = self._apply("AssignVariableOp", (handle, self._constant(value)))
            self._result.initializers.append(assigned.name)
        read = self._apply("ReadVariableOp", (handle,), dtype=dtype)
        self._result.variables.append(read.name)
        return handle


# Running --------------------------------------------------------------------------------------


@dataclass
class Result:
    """What a run of a case gave: one entry per output (None: not compared), and per variable."""

    outputs: list[np.ndarray | None]
    variables: list[np.ndarray | None]


def run(library: Library, case: Case, graph: Graph) -> Result:
    """Initialises the variables, runs the op, then reads the variables."""
    with _session(library, graph) as session:
        chosen = compared_outputs(case, graph.op)
        values = session.run(chosen or graph.op, graph.feeds)
        outputs: list[np.ndarray | None] = [None] * len(graph.op.outputs)
        for tensor, value in zip(chosen, values if chosen else (), strict=True):
            outputs[tensor.value_index] = as_array(value)
        return Result(outputs, [_final(session, name) for name in graph.variables])


def gradients(
    library: Library, case: Case, graph: Graph, outputs: Sequence[np.ndarray | None]
) -> list[np.ndarray | None]:
    """The gradients of the differentiable outputs with respect to the case's inputs, flat.

    An entry is None where the library says that the output does not depend on the input.
    """
    tf = library.tf
    with graph.graph.as_default():
        ys = differentiable_outputs(case, graph.op)
        xs = [graph.graph.get_tensor_by_name(name) for name in differentiated(case, graph)]
        given = [tf.constant(output_gradient(case, y.value_index, outputs)) for y in ys]
        found = tf.gradients(ys, xs, grad_ys=given)
    wanted = [_parts(gradient) for gradient in found if gradient is not None]
    with _session(library, graph) as session:
        values = iter(session.run(wanted, graph.feeds) if wanted else [])
    shapes = [value.shape for value in differentiated_values(case)]
    return [
        None if gradient is None else _dense(next(values), shape)
        for gradient, shape in zip(found, shapes, strict=True)
    ]


def differentiated(case: Case, graph: Graph) -> list[str]:
    """The names of the tensors whose gradients are compared."""
    return [name for number in case.differentiated() for name in graph.arguments[number]]


def differentiated_values(case: Case) -> list[np.ndarray]:
    """The arrays behind those tensors."""
    found = []
    for number in case.differentiated():
        value = case.inputs[number]
        for entry in value if isinstance(value, list) else [value]:
            found.append(entry.value if isinstance(entry, (Ref, Resource)) else entry)
    return found


def output_gradient(case: Case, output: int, outputs: Sequence[np.ndarray | None]) -> np.ndarray:
    """The gradient that flows into output number `output`."""
    value = outputs[output]
    assert value is not None
    return gradient_like(case, output, value.shape, dtype_name(value))


def as_array(value: Any) -> np.ndarray:
    """A fetched value as an array; a scalar string keeps its trailing zero bytes."""
    return string(value) if isinstance(value, bytes) else np.asarray(value)


class _session:
    """A session of the graph in which the case's variables are initialised."""

    def __init__(self, library: Library, graph: Graph):
        self._session = library.tf.Session(graph=graph.graph, config=library.config)
        self._graph = graph

    def __enter__(self) -> Any:
        # Not as a default session: nothing here relies on one.
        if self._graph.initializers:
            ops = [self._graph.graph.get_operation_by_name(n) for n in self._graph.initializers]
            self._session.run(ops)
        return self._session

    def __exit__(self, *error: object) -> None:
        self._session.close()


def _final(session: Any, name: str) -> np.ndarray | None:
    """A variable's value after the op; None where it has none."""
    try:
        return as_array(session.run(name))
    except Exception as error:
        if type(error).__name__ == "FailedPreconditionError":
            return None
        raise


def _parts(gradient: Any) -> list[Any]:
    """What to fetch for a gradient: it is a tensor, or the slices that are not zero."""
    indices = getattr(gradient, "indices", None)
    return [gradient] if indices is None else [gradient.values, indices]


def _dense(parts: Sequence[Any], shape: tuple[int, ...]) -> np.ndarray:
    if len(parts) == 1:
        return as_array(parts[0])
    values, indices = (np.asarray(part) for part in parts)
    dense = np.zeros(shape, values.dtype)
    np.add.at(dense, indices, values)
    return dense
