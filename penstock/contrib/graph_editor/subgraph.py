"""A part of a graph as a function: operations, with the tensors that enter and leave them."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from penstock.contrib.graph_editor import select
from penstock.contrib.graph_editor.elements import (
    ListView,
    concatenate_unique,
    get_unique_graph,
    make_list_of_op,
    make_list_of_t,
)
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation

__all__ = ["SubGraphView", "make_view", "make_view_from_scope"]


def _positions(given: Iterable[Any], among: list[Any], repetition: bool) -> list[int]:
    """Positions and tensors, as positions in a list."""
    found = [each if isinstance(each, int) else among.index(each) for each in given]
    for position in found:
        if not 0 <= position < len(among):
            raise ValueError(f"Out of [0, {len(among)}[ range: {position}")
    if not repetition and len(set(found)) != len(found):
        raise ValueError(f"Found repetition in mapping: {found}")
    return found


class SubGraphView:
    """Operations of a graph, and which of their inputs and outputs count as its own.

    1. A view changes no graph; methods that change one return another view.
    2. Inputs and outputs are never inside; a passthrough tensor touches no operation of the view
       and is both input and output, until it is remapped.
    """

    def __init__(self, inside_ops: Any = (), passthrough_ts: Any = ()):
        """A view of operations, and of tensors that pass by them (others are left out)."""
        ops, passing = make_list_of_op(inside_ops), make_list_of_t(passthrough_ts)
        self._graph = get_unique_graph([*ops, *passing], none_if_empty=True)
        inputs, outputs, insides = select.compute_boundary_ts(ops)
        touched = {*inputs, *outputs, *insides}
        self._ops = ops
        self._passthrough_ts = [tensor for tensor in passing if tensor not in touched]
        self._input_ts = inputs + self._passthrough_ts
        self._output_ts = outputs + self._passthrough_ts

    def __copy__(self) -> SubGraphView:
        made = type(self).__new__(type(self))
        made._assign_from(self)
        return made

    def _assign_from(self, other: SubGraphView) -> None:
        if not isinstance(other, SubGraphView):
            raise TypeError(f"Expected SubGraphView, got: {type(other)}")
        self._graph = other._graph
        self._ops = list(other._ops)
        self._passthrough_ts = list(other._passthrough_ts)
        self._input_ts = list(other._input_ts)
        self._output_ts = list(other._output_ts)

    def copy(self) -> SubGraphView:
        """The same view once more."""
        return copy.copy(self)

    def remap_default(
        self, remove_input_map: bool = True, remove_output_map: bool = True
    ) -> SubGraphView:
        """A view with all inputs, or all outputs, or both, that its operations have."""
        made = self.copy()
        inputs, outputs, _ = select.compute_boundary_ts(self._ops)
        if remove_input_map:
            made._input_ts = inputs + self._passthrough_ts
        if remove_output_map:
            made._output_ts = outputs + self._passthrough_ts
        return made

    def remap(self, new_input_indices: Any = None, new_output_indices: Any = None) -> SubGraphView:
        """A view with some of its inputs and outputs, by position or themselves.

        An output may be there more than once, an input not.
        """
        made = self.copy()
        if new_input_indices is not None:
            kept = _positions(new_input_indices, self._input_ts, repetition=False)
            made._input_ts = [self._input_ts[position] for position in kept]
        if new_output_indices is not None:
            kept = _positions(new_output_indices, self._output_ts, repetition=True)
            made._output_ts = [self._output_ts[position] for position in kept]
        return made

    def remap_inputs(self, new_input_indices: Any) -> SubGraphView:
        """A view with some of its inputs."""
        return self.remap(new_input_indices=new_input_indices)

    def remap_outputs(self, new_output_indices: Any) -> SubGraphView:
        """A view with some of its outputs."""
        return self.remap(new_output_indices=new_output_indices)

    def remap_outputs_make_unique(self) -> SubGraphView:
        """A view with each output once."""
        made = self.copy()
        made._output_ts = list(dict.fromkeys(self._output_ts))
        return made

    def remap_outputs_to_consumers(self) -> SubGraphView:
        """A view with each output as often as it is taken."""
        made = self.copy()
        unique = dict.fromkeys(self._output_ts)
        made._output_ts = [tensor for tensor in unique for _ in tensor.consumers()]
        return made

    def remove_unused_ops(self, control_inputs: bool = True) -> SubGraphView:
        """A view without operations that neither depend on an input nor lead to an output."""
        made = self.copy()
        used = set(
            select.get_walks_union_ops(
                self.connected_inputs,
                self.connected_outputs,
                within_ops=self._ops,
                control_inputs=control_inputs,
            )
        )
        made._ops = [op for op in self._ops if op in used]
        return made

    def find_op_by_name(self, op_name: str) -> Operation:
        """The operation of a name."""
        found = [op for op in self._ops if op.name == op_name]
        if not found:
            raise ValueError(f"{op_name} not in subgraph.")
        return found[0]

    def __str__(self) -> str:
        if not self:
            return "SubGraphView: empty"

        def tensor_name(tensor: Any) -> str:
            return f"{tensor.name} *" if tensor in self._passthrough_ts else tensor.name

        def section(title: str, names: list[str]) -> list[str]:
            if not names:
                return [f"** {title}: empty"]
            return [f"** {title}[{len(names)}]:", *(f"  {name}" for name in names)]

        lines = [
            f"SubGraphView (graphid={id(self.graph)}):",
            *section("ops", [op.name for op in self._ops]),
            *section("inputs", [tensor_name(tensor) for tensor in self._input_ts]),
            *section("outputs", [tensor_name(tensor) for tensor in self._output_ts]),
        ]
        return "\n".join(lines) + "\n"

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def ops(self) -> list[Operation]:
        return self._ops

    @property
    def inputs(self) -> ListView:
        return ListView(self._input_ts)

    @property
    def connected_inputs(self) -> list[Any]:
        """The inputs that operations of the view take."""
        return [tensor for tensor in self._input_ts if tensor not in self._passthrough_ts]

    @property
    def outputs(self) -> ListView:
        return ListView(self._output_ts)

    @property
    def connected_outputs(self) -> list[Any]:
        """The outputs that operations of the view give."""
        return [tensor for tensor in self._output_ts if tensor not in self._passthrough_ts]

    @property
    def passthroughs(self) -> ListView:
        return ListView(self._passthrough_ts)

    def __bool__(self) -> bool:
        return self._graph is not None

    def op(self, op_id: int) -> Operation:
        """An operation by its position."""
        return self._ops[op_id]

    def is_passthrough(self, t: Any) -> bool:
        """Whether a tensor passes by the operations."""
        return t in self._passthrough_ts

    def __enter__(self) -> SubGraphView:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is left to do: a view holds nothing but lists."""

    def input_index(self, t: Any) -> int:
        """The position of a tensor among the inputs."""
        if t not in self._input_ts:
            raise ValueError(f"Can't find {t.name} in inputs of subgraph.")
        return self._input_ts.index(t)

    def output_index(self, t: Any) -> int:
        """The position of a tensor among the outputs."""
        if t not in self._output_ts:
            raise ValueError(f"Can't find {t.name} in outputs of subgraph.")
        return self._output_ts.index(t)

    def consumers(self) -> list[Operation]:
        """The operations outside that take outputs."""
        members = set(self._ops)
        found: list[Operation] = []
        for output in self._output_ts:
            concatenate_unique(found, [op for op in output.consumers() if op not in members])
        return found


def _of_graph(view: Any, graph: Any) -> SubGraphView:
    if not isinstance(view, SubGraphView):
        raise TypeError(f"Expected a SubGraphView, got: {type(view)}")
    if graph is None or not view:
        return view
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    if view.graph is not graph:
        raise ValueError("Graph mismatch.")
    return view


def make_view(*args: Any, **kwargs: Any) -> SubGraphView:
    """A view of what `select_ops_and_ts` finds: operations, and tensors that pass by them."""
    graph = kwargs.get("graph")
    if len(args) == 1 and isinstance(args[0], SubGraphView):
        return _of_graph(args[0], graph)
    return _of_graph(SubGraphView(*select.select_ops_and_ts(*args, **kwargs)), graph)


def make_view_from_scope(scope: str, graph: Graph) -> SubGraphView:
    """A view of the operations below a name scope."""
    return SubGraphView(select.get_name_scope_ops(graph, scope))
