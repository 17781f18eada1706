"""The graph of a client's session: built from what the client sends, node names looked up in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from penstock import errors, proto
from penstock.ir.function import with_index
from penstock.ir.graph import Graph
from penstock.ir.graph_def import graph_def
from penstock.ir.importer import extend_graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.placement.whole_graph import WholeGraphCheck

_OF_CLIENT = b" of the client's process"
_CALLS_PYTHON = ("PyFunc", "PyFuncStateless", "EagerPyFunc")


class ClientGraph:
    """A graph that grows by GraphDefs; `version` counts them."""

    def __init__(self, placement_check: WholeGraphCheck | None):
        self.graph = Graph()
        self.version = 0
        self._placement_check = placement_check
        self._sources: dict[str, str] = {}  # of tensors that stand for others here

    def extend(self, graph_def: Any) -> None:
        """Adds nodes; a GraphDef that is refused leaves the graph as it was."""
        graph = self.graph
        _disown_python_functions(graph_def)
        with graph._lock:
            before = graph.version
            try:
                extend_graph(graph, graph_def)
                for op in graph.get_operations()[before:]:
                    op._line = None  # it would be a line of the server
                if self._placement_check is not None:
                    self._placement_check.check(graph)
            except (ValueError, TypeError) as error:
                raise errors.InvalidArgumentError(None, None, str(error)) from None
            except errors.OpError:
                if graph.version > before:
                    graph._remove_since(before)
                raise
            self.version += 1

    def fetches(self, names: Sequence[str]) -> list[Tensor]:
        return [
            self._tensor(
                self._sources.get(with_index(name), name), f"FetchOutputs node {name}: not found"
            )
            for name in dict.fromkeys(names)
        ]

    def feeds(self, names: Sequence[str]) -> list[Tensor]:
        return [
            self._tensor(name, f"FeedInputs: unable to find feed output {name}") for name in names
        ]

    def targets(self, names: Sequence[str]) -> list[Operation]:
        found = [self.graph._nodes_by_name.get(name) for name in dict.fromkeys(names)]
        missing = [name for name, op in zip(dict.fromkeys(names), found, strict=True) if op is None]
        if missing:
            raise errors.NotFoundError(
                None,
                None,
                f"PruneForTargets: Some target nodes not found: {', '.join(missing)}",
            )
        return [op for op in found if op is not None]

    def connected(self, connections: Iterable[Any]) -> ClientGraph:
        """A copy in which what takes one tensor takes another one, as TensorConnections say.

        Nodes keep their names, and so their state and their places.
        """
        sources: dict[str, str] = {}
        for each in connections:
            (to,) = self.feeds([each.to_tensor])
            (source,) = self.fetches([each.from_tensor])
            if to.name in sources:
                raise errors.InvalidArgumentError(
                    None, None, f"Tensor {to.name} is connected to more than one tensor."
                )
            sources[to.name] = source.name
        message = graph_def(self.graph)
        for node in message.node:
            taken = [text if text[0] == "^" else with_index(text) for text in node.input]
            node.input[:] = [sources.get(text, text) for text in taken]
        made = ClientGraph(None)  # the places of all nodes have been looked at
        made.extend(message)
        made._sources = sources
        return made

    def _tensor(self, name: str, otherwise: str) -> Tensor:
        node, _, digits = name.partition(":")
        op = self.graph._nodes_by_name.get(node)
        if op is None:
            raise errors.NotFoundError(None, None, otherwise)
        index = int(digits) if digits.isdigit() else 0
        if index >= len(op.outputs):
            raise errors.InvalidArgumentError(
                None, None, f"{name} is not valid: {node} has {len(op.outputs)} outputs"
            )
        return op.outputs[index]


def _disown_python_functions(graph_def: Any) -> None:
    """Renames the tokens of Python functions: those of the client's process are not here.

    Without that a client's node would call whichever function of this process has its token.
    """
    bodies = [function.node_def for function in graph_def.library.function]
    for nodes in (graph_def.node, *bodies):
        for node in nodes:
            if node.op in _CALLS_PYTHON:
                token = node.attr["token"].s.removesuffix(_OF_CLIENT) + _OF_CLIENT
                node.attr["token"].CopyFrom(proto.AttrValue(s=token))
