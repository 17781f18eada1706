"""`tf.data.Iterator`: a place in a pipeline, from which steps take elements."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from typing import Any

from penstock import dtypes
from penstock.data import nest, structure
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.name_scope import name_scope
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ir.trackable import Trackable
from penstock.ops.datasets import iterators as nodes
from penstock.shapes import TensorShape

GLOBAL_ITERATORS = "iterators"
GET_NEXT_CALL_WARNING_THRESHOLD = 32
GET_NEXT_CALL_WARNING_MESSAGE = (
    "An unusually high number of `Iterator.get_next()` calls was detected. This often indicates "
    "that `Iterator.get_next()` is being called inside a training loop, where each call adds nodes "
    "to the graph: call it once, outside of the loop, and run what it returns."
)


class Iterator(Trackable):
    """A place in a dataset; `get_next` makes the tensors of the next element.

    >>> iterator = dataset.make_initializable_iterator()
    >>> x, y = iterator.get_next()
    >>> sess.run(iterator.initializer)
    """

    def __init__(
        self,
        iterator_resource: Tensor,
        initializer: Operation | None,
        output_types: Any,
        output_shapes: Any,
        output_classes: Any,
    ):
        if output_types is None or output_shapes is None or output_classes is None:
            raise ValueError(
                "If `structure` is not specified, all of `output_types`, `output_shapes`, and "
                "`output_classes` must be specified."
            )
        self._iterator_resource = iterator_resource
        self._initializer = initializer
        self._element_spec = structure.convert_legacy_structure(
            output_types, output_shapes, output_classes
        )
        self._string_handle = nodes.IteratorToStringHandle(iterator_resource)
        self._get_next_call_count = 0
        get_default_graph().add_to_collection(GLOBAL_ITERATORS, iterator_resource)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        from penstock.data.iterator_saveable import IteratorSaveable

        return {"ITERATOR": lambda name: IteratorSaveable(self._iterator_resource, name)}

    @staticmethod
    def from_structure(
        output_types: Any,
        output_shapes: Any = None,
        shared_name: str | None = None,
        output_classes: Any = None,
    ) -> Iterator:
        """An iterator over any dataset with such elements: see `make_initializer`."""
        given = _declared(output_types, output_shapes, output_classes)
        with _on_the_host():
            handle = nodes.IteratorV2(
                shared_name=shared_name or "", container="", **_flat(structure_of(given))
            )
        return Iterator(handle, None, *given)

    @staticmethod
    def from_string_handle(
        string_handle: Any,
        output_types: Any,
        output_shapes: Any = None,
        output_classes: Any = None,
    ) -> Iterator:
        """The iterator that a string, fed when a step runs, stands for."""
        given = _declared(output_types, output_shapes, output_classes)
        text = convert_to_tensor(string_handle, dtypes.string)
        with _on_the_host():
            handle = nodes.IteratorFromStringHandleV2(text, **_flat(structure_of(given)))
        return Iterator(handle, None, *given)

    @property
    def initializer(self) -> Operation:
        """The operation that begins at the beginning."""
        if self._initializer is None:
            raise ValueError("Iterator does not have an initializer.")
        return self._initializer

    def make_initializer(self, dataset: Any, name: str | None = None) -> Operation:
        """An operation that begins at the beginning of a dataset."""
        with name_scope(name, "make_initializer") as scope:
            self._check(dataset)
        with get_default_graph().colocate_with(self._iterator_resource):
            op: Operation = nodes.MakeIterator(
                dataset._variant_tensor, self._iterator_resource, name=scope
            )
        return op

    def _check(self, dataset: Any) -> None:
        """Refuses a dataset whose elements are not like this iterator's."""
        nest.assert_same_structure(self.output_types, dataset.output_types)
        nest.assert_same_structure(self.output_shapes, dataset.output_shapes)
        pairs = zip(
            nest.flatten(self.output_classes), nest.flatten(dataset.output_classes), strict=True
        )
        if any(mine is not other and mine != other for mine, other in pairs):
            raise TypeError(
                f"Expected output classes {self.output_classes!r} but got dataset with output "
                f"class {dataset.output_classes!r}."
            )
        if nest.flatten(self.output_types) != nest.flatten(dataset.output_types):
            raise TypeError(
                f"Expected output types {self.output_types!r} but got dataset with output types "
                f"{dataset.output_types!r}."
            )
        sizes = zip(
            nest.flatten(self.output_shapes), nest.flatten(dataset.output_shapes), strict=True
        )
        if not all(mine.is_compatible_with(other) for mine, other in sizes):
            raise TypeError(
                f"Expected output shapes compatible with {self.output_shapes!r} but got dataset "
                f"with output shapes {dataset.output_shapes!r}."
            )

    def get_next(self, name: str | None = None) -> Any:
        """The tensors of the next element; running them moves on, and fails at the end."""
        self._get_next_call_count += 1
        if self._get_next_call_count > GET_NEXT_CALL_WARNING_THRESHOLD:
            warnings.warn(GET_NEXT_CALL_WARNING_MESSAGE, stacklevel=2)
        tensors = nodes.IteratorGetNext(
            self._iterator_resource, name=name, **_flat(self._element_spec)
        )
        return structure.from_tensor_list(self._element_spec, tensors)

    def string_handle(self, name: str | None = None) -> Tensor:
        """A string that stands for this iterator, for `from_string_handle`."""
        if name is None:
            return self._string_handle
        handle: Tensor = nodes.IteratorToStringHandle(self._iterator_resource, name=name)
        return handle

    @property
    def element_spec(self) -> Any:
        """The specs of an element's components, in its structure."""
        return self._element_spec

    @property
    def output_types(self) -> Any:
        """The types of an element's components, in its structure."""
        return structure.legacy_types(self._element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element's components, in its structure."""
        return structure.legacy_shapes(self._element_spec)

    @property
    def output_classes(self) -> Any:
        """The classes of an element's components, in its structure."""
        return structure.legacy_classes(self._element_spec)


def _flat(spec: Any) -> dict[str, Any]:
    return {
        "output_types": structure.get_flat_tensor_types(spec),
        "output_shapes": structure.get_flat_tensor_shapes(spec),
    }


def structure_of(given: tuple[Any, Any, Any]) -> Any:
    return structure.convert_legacy_structure(*given)


def _declared(types: Any, shapes: Any, classes: Any) -> tuple[Any, Any, Any]:
    """Types, shapes and classes as given, unknown shapes and plain tensors where they are not."""
    types = nest.map_structure(_as_type, types)
    if shapes is None:
        shapes = nest.map_structure(_unknown, types)
    else:
        shapes = nest.map_structure_up_to(types, _as_shape, shapes)
    if classes is None:
        classes = nest.map_structure(
            lambda each: each if structure.is_spec(each) else Tensor, types
        )
    nest.assert_same_structure(types, shapes)
    return types, shapes, classes


def _as_type(value: Any) -> Any:
    return value if structure.is_spec(value) else dtypes.as_dtype(value)


def _as_shape(value: Any) -> Any:
    return value if structure.is_spec(value) else TensorShape(value)


def _unknown(value: Any) -> Any:
    return value if structure.is_spec(value) else TensorShape(None)


def _on_the_host() -> Any:
    """The device of iterators where the program has named none."""
    graph = get_default_graph()
    return nullcontext() if graph._scopes.devices else graph.device("/cpu:0")


def initializable_iterator(dataset: Any, shared_name: str | None = None) -> Iterator:
    """An iterator over one dataset, with an initializer."""
    handle = nodes.IteratorV2(
        shared_name=shared_name or "", container="", **_flat(dataset.element_spec)
    )
    with get_default_graph().colocate_with(handle):
        initializer = nodes.MakeIterator(dataset._variant_tensor, handle)
    return Iterator(
        handle, initializer, dataset.output_types, dataset.output_shapes, dataset.output_classes
    )
