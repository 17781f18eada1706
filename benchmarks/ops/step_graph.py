"""The graph that is measured: one op many times, built once with Penstock, for both sides."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import penstock as tf
from benchmarks.ops.trial import Trial
from penstock.ir import registry
from tests.ops.case import Made, Output, Ref, Resource, dtype_name

SMALL = 64  # elements up to which an input is a parameter, such as an axis, and a constant


@dataclass
class StepGraph:
    """A serialised graph and the names of its parts.

    initializers: stages of operations, each run once, in this order.
    targets: the copies of the op. A step may run the first few of them.
    rest: for each copy what it needs and those before it don't. Its time is to be subtracted.
    """

    content: bytes
    initializers: list[list[str]]
    targets: list[str]
    rest: list[list[str]]


def build(op_type: str, trial: Trial, copies: int) -> StepGraph:
    """A graph in which each copy of the op waits for the one before.

    So a copy has all threads for itself, and no optimizer takes equal copies for one.
    """
    graph = tf.Graph()
    with graph.as_default():
        return _Builder(graph, trial).build(op_type, copies)


@dataclass
class _Builder:
    graph: Any
    trial: Trial
    assigned: list[str] = field(default_factory=list)
    shared: dict[int, Any] = field(default_factory=dict)  # by the identity of what stands for it
    made: dict[int, Any] = field(default_factory=dict)  # likewise, for the copy being built
    rest: list[str] = field(default_factory=list)

    def build(self, op_type: str, copies: int) -> StepGraph:
        before = [self._node(made).name for made in self.trial.before]
        copied: list[Any] = []
        rest: list[list[str]] = []
        for _ in range(copies):
            self.made.clear()
            self.rest = []
            with self.graph.control_dependencies(copied[-1:]):
                arguments = [self._argument(value) for value in self.trial.inputs]
                copied.append(self._apply(op_type, arguments, self.trial.attrs))
            rest.append(self.rest)
        if not rest[0]:
            rest[0].append(tf.no_op().name)
        return StepGraph(
            self.graph.as_graph_def().SerializeToString(),
            [stage for stage in (self.assigned, before) if stage],
            [op.name for op in copied],
            rest,
        )

    def _apply(self, op_type: str, arguments: list[Any], attrs: dict[str, Any]) -> Any:
        spec = registry.find(op_type)
        if spec is None:
            raise LookupError(f"op {op_type!r} is not registered")
        known = len(self.graph.get_operations())
        spec(*arguments, **attrs)
        return self.graph.get_operations()[known:][-1]

    def _argument(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._argument(entry) for entry in value]
        if isinstance(value, Output):
            return self._node(value.made).outputs[value.index]
        if isinstance(value, Made):
            return self._node(value).outputs[0]
        if id(value) not in self.shared:
            with self.graph.control_dependencies(None):
                self.shared[id(value)] = self._state(value)
        return self.shared[id(value)]

    def _node(self, made: Made) -> Any:
        if id(made) not in self.made:
            with self.graph.control_dependencies([self._node(entry) for entry in made.after]):
                inputs = [self._argument(value) for value in made.inputs]
                self.made[id(made)] = self._apply(made.op, inputs, made.attrs)
            self.rest.append(self.made[id(made)].name)
        return self.made[id(made)]

    def _state(self, value: Any) -> Any:
        if isinstance(value, Ref):
            return self._ref(value.value)
        if isinstance(value, Resource):
            return self._resource(value.value)
        if value.size <= SMALL and not self._is_all_small():
            return self._constant(value)
        (read,) = self._apply(
            "ReadVariableOp", [self._resource(value)], {"dtype": dtype_name(value)}
        ).outputs
        self.rest.append(read.op.name)
        return read

    def _is_all_small(self) -> bool:
        """Whether constants alone would leave nothing to compute in a step."""
        arguments = [
            entry
            for value in self.trial.inputs
            for entry in (value if isinstance(value, list) else [value])
        ]
        return all(isinstance(value, np.ndarray) and value.size <= SMALL for value in arguments)

    def _constant(self, value: np.ndarray) -> Any:
        return tf.constant(value, dtype_name(value))

    def _ref(self, value: np.ndarray) -> Any:
        attrs = {"shape": value.shape, "dtype": dtype_name(value)}
        variable = self._apply("VariableV2", [], attrs).outputs[0]
        self.assigned.append(self._apply("Assign", [variable, self._constant(value)], {}).name)
        return variable

    def _resource(self, value: np.ndarray) -> Any:
        name = f"state_{len(self.assigned)}"
        attrs = {"shape": value.shape, "dtype": dtype_name(value), "shared_name": name}
        handle = self._apply("VarHandleOp", [], attrs).outputs[0]
        assign = self._apply("AssignVariableOp", [handle, self._constant(value)], {})
        self.assigned.append(assign.name)
        return handle
