"""`tensorflow.python.grappler.item`: a MetaGraphDef as something that can be run and measured."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import penstock as tf
from penstock import errors, graph_util
from penstock.dtypes import as_dtype
from penstock.proto import MetaGraphDef, OpInfo, VariableDef

__all__ = ["Item"]

_BACK_EDGES = ("NextIteration", "RefNextIteration")  # a loop begins without them


@dataclass(frozen=True, eq=False)
class RunnableGraph:
    """A MetaGraphDef's graph with the names of the nodes that a step of it fetches."""

    meta_graph: Any
    fetched: tuple[str, ...]

    @cached_property
    def graph(self) -> tf.Graph:
        """The graph, built."""
        graph = tf.Graph()
        with graph.as_default():
            tf.import_graph_def(self.meta_graph.graph_def, name="")
        return graph

    def operations(self, names: Iterable[str]) -> list[tf.Operation]:
        return [self.graph.get_operation_by_name(name) for name in names]

    def needed(self) -> list[str]:
        """The names of the nodes that a step runs, in the order of the GraphDef."""
        part = graph_util.extract_sub_graph(self.meta_graph.graph_def, self.fetched)
        return [node.name for node in part.node]

    def initializers(self) -> list[tf.Operation]:
        """The operations that give the variables of the graph their first values."""
        collection = self.meta_graph.collection_def.get(tf.GraphKeys.GLOBAL_VARIABLES)
        if collection is None:
            return []
        messages = (VariableDef.FromString(text) for text in collection.bytes_list.value)
        return self.operations(message.initializer_name for message in messages)

    def feeds(self) -> dict[tf.Tensor, Any]:
        """Zeros for the placeholders of a step, of size 1 where their size is open."""
        import numpy as np

        found = {}
        for op in self.operations(self.needed()):
            if op.type in ("Placeholder", "PlaceholderV2"):
                tensor = op.outputs[0]
                sizes = tensor.shape.as_list() if tensor.shape.ndims is not None else []
                found[tensor] = np.zeros([size or 1 for size in sizes], tensor.dtype.as_numpy_dtype)
        return found


def fetched_names(meta_graph: Any) -> tuple[str, ...]:
    """The nodes that a MetaGraphDef marks as fetched: by its train op and its signatures."""
    collection = meta_graph.collection_def.get(tf.GraphKeys.TRAIN_OP)
    names = [] if collection is None else list(collection.node_list.value)
    for signature in meta_graph.signature_def.values():
        names += [info.name for info in signature.outputs.values()]
    return tuple(dict.fromkeys(name.partition(":")[0] for name in names))


class Item:
    """A MetaGraphDef whose collection `train_op` says what a step runs.

    Args:
      metagraph: the MetaGraphDef.
      ignore_colocation: whether colocation requests are dropped.
      ignore_user_placement: whether device strings are dropped.
    """

    def __init__(
        self, metagraph: Any, ignore_colocation: bool = True, ignore_user_placement: bool = False
    ):
        self._metagraph = metagraph
        self._ignore_colocation = ignore_colocation
        self._ignore_user_placement = ignore_user_placement
        self._seen = MetaGraphDef()
        self._runnable = self._read()

    @property
    def metagraph(self) -> Any:
        """The MetaGraphDef that this item was made of; it may be changed."""
        return self._metagraph

    @property
    def tf_item(self) -> RunnableGraph:
        """The graph as it is now: another object once the MetaGraphDef has been changed."""
        if self._seen != self._metagraph:
            self._runnable = self._read()
        return self._runnable

    def _read(self) -> RunnableGraph:
        self._seen.CopyFrom(self._metagraph)
        meta_graph = MetaGraphDef()
        meta_graph.CopyFrom(self._metagraph)
        fetched = fetched_names(meta_graph)
        if not fetched:
            raise errors.InvalidArgumentError(None, None, "train_op not specified in the metagraph")
        for node in meta_graph.graph_def.node:
            if self._ignore_colocation:
                node.attr.pop("_class", None)
            if self._ignore_user_placement:
                node.device = ""
        return RunnableGraph(meta_graph, fetched)

    def IdentifyImportantOps(self, sort_topologically: bool = False) -> list[str]:
        """The names of the nodes that a step runs, on request each after those it needs."""
        item = self.tf_item
        names = item.needed()
        return _by_readiness(item.operations(names)) if sort_topologically else names

    def GetOpProperties(self) -> dict[str, list[Any]]:
        """For each node a message about each of its results: type, shape, value of a constant."""
        item = self.tf_item
        return {
            op.name: [_properties(tensor) for tensor in op.outputs]
            for op in item.operations(node.name for node in item.meta_graph.graph_def.node)
        }

    def GetColocationGroups(self) -> list[tuple[str, ...]]:
        """The groups of nodes that must share a device since they work on the same references."""
        group_of: dict[str, list[str]] = {}
        for op in self.tf_item.graph.get_operations():
            for tensor, wanted in zip(op.inputs, op._input_types, strict=True):
                if wanted.is_ref_dtype:
                    _unite(group_of, tensor.op.name, op.name)
        groups = {id(group): tuple(group) for group in group_of.values()}
        return list(groups.values())


def _unite(group_of: dict[str, list[str]], first: str, second: str) -> None:
    into = group_of.setdefault(first, [first])
    other = group_of.setdefault(second, [second])
    if other is not into:
        into += other
        for name in other:
            group_of[name] = into


def _by_readiness(operations: list[tf.Operation]) -> list[str]:
    """The names of operations, those first that wait for none, then those that waited for these."""
    inside = set(operations)
    waits_for = {
        op: {
            each
            for each in (*(tensor.op for tensor in op.inputs), *op.control_inputs)
            if each in inside and each.type not in _BACK_EDGES
        }
        for op in operations
    }
    users: dict[tf.Operation, list[tf.Operation]] = {op: [] for op in operations}
    for op, producers in waits_for.items():
        for producer in producers:
            users[producer].append(op)
    open_producers = {op: len(producers) for op, producers in waits_for.items()}
    ready = deque(op for op in operations if not open_producers[op])
    names = []
    while ready:
        op = ready.popleft()
        names.append(op.name)
        for user in users[op]:
            open_producers[user] -= 1
            if not open_producers[user]:
                ready.append(user)
    return names


def _properties(tensor: tf.Tensor) -> Any:
    message = OpInfo.TensorProperties(dtype=as_dtype(tensor.dtype).as_datatype_enum)
    message.shape.CopyFrom(tensor.shape.as_proto())
    if tensor.op.type == "Const":
        message.value.CopyFrom(tensor.op.node_def.attr["value"].tensor)
    return message
