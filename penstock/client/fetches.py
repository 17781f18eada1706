"""Fetches: any nest of tensors, operations and values made of them, and its way back.

`Fetches` flattens what the user asked for into tensors to fetch and operations to run, and puts
the results back into the same structure; an operation's result is None.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, KeysView, Mapping, ValuesView
from operator import itemgetter
from typing import Any

from penstock.dtypes import DType
from penstock.ir.composite import (
    IndexedSlices,
    IndexedSlicesValue,
    SparseTensor,
    SparseTensorValue,
)
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.session_handles import TensorHandle

Build = Callable[[Any], Any]  # from the flat results to a part of the structure

# type → (expand to tensors and contract the results, expand a feed, expand to feeds of partial_run)
_expansions: list[tuple[type, Callable[[Any], Any], Any, Any]] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Callable[[Any], Any],
    feed_function: Callable[[Any, Any], Any] | None = None,
    feed_function_for_partial_run: Callable[[Any], Any] | None = None,
) -> None:
    """Teaches sessions to fetch and feed values of a type of the user's own.

    `fetch_function(value)` returns (list of tensors, function from their values to the result);
    `feed_function(value, fed)` returns a list of (tensor, value to feed) pairs.
    """
    if any(issubclass(tensor_type, known) for known, *_ in _expansions):
        raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    entry = (tensor_type, fetch_function, feed_function, feed_function_for_partial_run)
    _expansions.insert(0, entry)


def expansion_of(value: Any) -> tuple[Callable[[Any], Any], Any, Any] | None:
    for tensor_type, fetch, feed, partial in _expansions:
        if isinstance(value, tensor_type):
            return fetch, feed, partial
    return None


class Fetches:
    """The flat form of a fetch structure: `tensors` to fetch, `targets` to run, and `build`."""

    def __init__(self, graph: Graph, fetches: Any, session: Any = None):
        self.graph = graph
        self._session = weakref.ref(session) if session is not None else None
        self.tensors: list[Tensor] = []
        self.targets: list[Operation] = []
        self._slots: dict[Tensor, int] = {}
        self.build: Build = self._flatten(fetches)

    def _flatten(self, fetch: Any) -> Build:
        if fetch is None:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")
        if isinstance(fetch, (list, tuple)) and not isinstance(
            fetch, (SparseTensorValue, IndexedSlicesValue)
        ):
            return self._sequence(fetch)
        if isinstance(fetch, Mapping):
            return self._mapping(fetch)
        if isinstance(fetch, (KeysView, ValuesView)):  # lists in Python 2
            return self._sequence(list(fetch))
        if hasattr(type(fetch), "__attrs_attrs__"):
            return self._attrs_object(fetch)
        expansion = expansion_of(fetch)
        if expansion is not None:
            parts, contract = expansion[0](fetch)
            builds = [self._element(part) for part in parts]
            return lambda results: contract([build(results) for build in builds])
        return self._element(fetch)

    def _sequence(self, fetch: Any) -> Build:
        builds = [self._flatten(entry) for entry in fetch]
        if type(fetch) is list:
            return lambda results: [build(results) for build in builds]
        if hasattr(fetch, "_fields"):
            kind = type(fetch)
            return lambda results: kind(*[build(results) for build in builds])
        kind = type(fetch)
        return lambda results: kind([build(results) for build in builds])

    def _mapping(self, fetch: Mapping[Any, Any]) -> Build:
        kind: Any = type(fetch)
        builds = {key: self._flatten(value) for key, value in fetch.items()}
        if kind is dict:
            return lambda results: {key: build(results) for key, build in builds.items()}

        def build_mapping(results: Any) -> Any:
            pairs = [(key, build(results)) for key, build in builds.items()]
            if hasattr(fetch, "default_factory"):
                return kind(fetch.default_factory, pairs)
            return kind(pairs)

        return build_mapping

    def _attrs_object(self, fetch: Any) -> Build:
        names = [attribute.name for attribute in type(fetch).__attrs_attrs__]
        builds = [self._flatten(getattr(fetch, name)) for name in names]
        return lambda results: type(fetch)(*[build(results) for build in builds])

    def _element(self, fetch: Any) -> Build:
        try:
            element = self.graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or "
                f"Tensor. ({error})"
            ) from None
        except ValueError as error:
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
        except KeyError as error:
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
        if not self.graph.is_fetchable(element):
            raise ValueError(f"Operation {element.name!r} has been marked as not fetchable.")
        if isinstance(element, Operation):
            self.targets.append(element)
            return lambda results: None
        slot = self._slots.setdefault(element, len(self.tensors))
        if slot == len(self.tensors):
            self.tensors.append(element)
        if element.op.type in ("GetSessionHandle", "GetSessionHandleV2") and self._session:
            return self._handle(slot, element.op.inputs[0].dtype.base_dtype, self._session)
        return itemgetter(slot)

    @staticmethod
    def _handle(slot: int, dtype: DType, find_session: Callable[[], Any]) -> Build:
        """A handle of a tensor that stays in the session is more than its text."""
        return lambda results: TensorHandle(results[slot], dtype, find_session())


_PLAIN_LEAVES = (Tensor, Operation, str)


def structure_key(fetches: Any) -> Any:
    """A hashable form of a fetch structure, to look up its compiled step; TypeError if none."""
    if type(fetches) in _PLAIN_LEAVES:  # most are; to ask for a Mapping takes longer
        return fetches
    if isinstance(fetches, list):
        return ("list", *[structure_key(entry) for entry in fetches])
    if isinstance(fetches, tuple):
        return (type(fetches), *[structure_key(entry) for entry in fetches])
    if isinstance(fetches, Mapping):
        entries = [(key, structure_key(value)) for key, value in fetches.items()]
        return (type(fetches), *entries)
    if isinstance(fetches, (KeysView, ValuesView)):
        return structure_key(list(fetches))
    return fetches


def _sparse_feed(sparse: SparseTensor, value: Any) -> list[tuple[Tensor, Any]]:
    if len(value) == 2 and sparse.shape.is_fully_defined():
        value = (*value, sparse.shape.as_list())  # a sparse placeholder of a known shape
    return list(zip(sparse._parts(), value, strict=True))


def _slices_feed(slices: IndexedSlices, value: Any) -> list[tuple[Tensor, Any]]:
    return list(zip(slices._parts(), value, strict=False))


def _fetch_slices(slices: IndexedSlices) -> Any:
    def contract(values: list[Any]) -> IndexedSlicesValue:
        return IndexedSlicesValue(*values, *([None] * (3 - len(values))))

    return slices._parts(), contract


register_session_run_conversion_functions(
    SparseTensor,
    lambda sparse: (sparse._parts(), lambda values: SparseTensorValue(*values)),
    _sparse_feed,
    lambda sparse: sparse._parts(),
)
register_session_run_conversion_functions(
    IndexedSlices, _fetch_slices, _slices_feed, lambda slices: slices._parts()
)
