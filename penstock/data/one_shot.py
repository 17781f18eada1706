"""One-shot iterators: the pipeline is copied into a function that the iterator calls once."""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.data.iterator import Iterator
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.defaults import get_default_graph
from penstock.ir.function import Function, FunctionGraph, add_function, function_def, hashed_name
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.datasets.iterators import OneShotIterator

_PLACEHOLDERS = ("Placeholder", "PlaceholderV2")


# TensorFlow 2 calls it stateful so that it is not pruned; TensorFlow 1 does not.
_WITHOUT_STATE = ("CheckNumerics",)


class _CopyingGraph(FunctionGraph):
    """A function's body that copies the nodes it uses of the graph around it."""

    def __init__(self, outer: Graph, allowed: set[Operation]):
        super().__init__(outer)
        self._allowed = allowed
        self._copies: dict[Operation, Operation] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if tensor._op.graph is self:
            return tensor
        return self._copy(tensor._op)._outputs[tensor._value_index]

    def _copy(self, op: Operation) -> Operation:
        if op in self._copies:
            return self._copies[op]
        if op.type in _PLACEHOLDERS:
            raise ValueError(
                f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value."
            )
        if op.spec.is_stateful and op.type not in _WITHOUT_STATE and op not in self._allowed:
            raise ValueError(
                f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value."
            )
        inputs = tuple(self.capture(tensor) for tensor in op._inputs)
        types = [tensor._dtype for tensor in op._outputs]
        name = self._op_name(op.name.replace("/", "_"), op.type)
        # Without control inputs, as TensorFlow does it: list_files' check for files stays out.
        made = self._add(op.spec, name, inputs, op.attrs, types, [])
        for old, new in zip(op._outputs, made._outputs, strict=True):
            new._shape = old._shape
        self._copies[op] = made
        return made


def _dataset_ops(variant: Tensor) -> set[Operation]:
    """The nodes of the datasets that one is made of."""
    found: set[Operation] = set()
    pending = [variant._op]
    while pending:
        op = pending.pop()
        if op not in found:
            found.add(op)
            is_whole = op.type in ("DatasetFromGraph", "DatasetToGraph")
            pending += [t._op for t in op._inputs if is_whole or t._dtype is dtypes.variant]
    return found


def one_shot_iterator(dataset: Any) -> Iterator:
    """An iterator that makes its dataset itself when it is first used."""
    graph = get_default_graph()
    body = _CopyingGraph(graph, _dataset_ops(dataset._variant_tensor))
    try:
        with body.as_default():
            body.outputs = [body.capture(dataset._apply_options()._variant_tensor)]
    except ValueError as error:
        if "Cannot capture a stateful node" not in str(error):
            raise
        raise ValueError(
            "Failed to create a one-shot iterator for a dataset. `Dataset.make_one_shot_iterator()`"
            " does not support datasets that capture stateful objects, such as a `Variable` or "
            "`LookupTable`. In these cases, use `Dataset.make_initializable_iterator()`. (Original "
            f"error: {error})"
        ) from None
    body.finalize()
    name = hashed_name("_make_dataset", body)
    add_function(graph, Function(name, function_def(name, body), body))
    handle = OneShotIterator(dataset_factory=FunctionName(name, {}), **dataset._flat_structure)
    return Iterator(handle, None, *dataset_structure(dataset))


def dataset_structure(dataset: Any) -> tuple[Any, Any, Any]:
    """The types, shapes and classes of a dataset's elements."""
    return dataset.output_types, dataset.output_shapes, dataset.output_classes
