"""Iterators of eager mode and of functions: Python iterators over the elements of a dataset."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from penstock import dtypes, errors
from penstock.data import structure
from penstock.ir.convert import CompositeTensor
from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ir.tensor_spec import TensorSpec
from penstock.ir.trackable import Trackable
from penstock.ir.type_spec import TypeSpec
from penstock.ops.datasets import iterators as nodes


class IteratorSpec(TypeSpec):
    """The type of an iterator: the specs of its elements."""

    def __init__(self, element_spec: Any):
        self._element_spec = element_spec

    @property
    def value_type(self) -> Any:
        return IteratorV2

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    @property
    def _component_specs(self) -> Any:
        return TensorSpec([], dtypes.resource), TensorSpec([], dtypes.variant)

    def _to_components(self, value: Any) -> Any:
        return value._iterator_resource, value._deleter

    def _from_components(self, components: Any) -> Any:
        return IteratorV2(components=components, element_spec=self._element_spec)

    @staticmethod
    def from_value(value: Any) -> IteratorSpec:
        return IteratorSpec(value.element_spec)


class IteratorResourceDeleter:
    """Ends the iterator of a function's body with the Python object that stands for it.

    A node for that is made where the body is still being built; where the object lives on after
    it, so does the iterator.
    """

    def __init__(self, handle: Tensor, device: Any, deleter: Tensor):
        self._handle = handle
        self._deleter = deleter

    def __del__(self) -> None:
        if get_default_graph() is self._handle.graph:
            nodes.DeleteIterator(self._handle, self._deleter)


class IteratorV2(Trackable, CompositeTensor):
    """The elements of a dataset, one after the other.

    Args:
      dataset: what to go through; it is gone through once.
      components: the tensors of another iterator, which this one shares.
      element_spec: of that iterator.
    """

    def __init__(self, dataset: Any = None, components: Any = None, element_spec: Any = None):
        parts = (components, element_spec)
        if (parts.count(None) == 0) is (dataset is not None) or parts.count(None) == 1:
            raise ValueError(
                "Either `dataset` or both `components` and `element_spec` need to be provided."
            )
        if dataset is None:
            self._iterator_resource, self._deleter = components
            self._element_spec = element_spec
            return
        source = dataset._variant_tensor
        dataset = dataset._apply_options()
        self._dataset = dataset  # its functions are looked up as long as it is read
        self._element_spec = dataset.element_spec
        if executing_eagerly():
            with get_default_graph().colocate_with(source):
                self._make_here(dataset)
        else:
            self._make_in_function(dataset)

    @cached_property
    def _settings(self) -> dict[str, Any]:
        return {
            "output_types": structure.get_flat_tensor_types(self._element_spec),
            "output_shapes": structure.get_flat_tensor_shapes(self._element_spec),
        }

    def _make_here(self, dataset: Any) -> None:
        self._iterator_resource = nodes.IteratorV2(shared_name="", container="", **self._settings)
        self._deleter = dataset._variant_tensor
        nodes.MakeIterator(dataset._variant_tensor, self._iterator_resource)

    def _make_in_function(self, dataset: Any) -> None:
        """An iterator of each call of the function, which goes with the call."""
        made = nodes.AnonymousIteratorV2(**self._settings)
        self._iterator_resource, self._deleter = made
        nodes.MakeIterator(dataset._variant_tensor, self._iterator_resource)
        self._resource_deleter = IteratorResourceDeleter(
            self._iterator_resource, None, self._deleter
        )

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self._element_spec)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        from penstock.data.iterator_saveable import IteratorSaveable

        return {"ITERATOR": lambda name: IteratorSaveable(self._iterator_resource, name)}

    def __iter__(self) -> IteratorV2:
        return self

    def __next__(self) -> Any:
        try:
            return self._next_internal()
        except errors.OutOfRangeError:
            raise StopIteration from None

    next = __next__

    def get_next(self, name: str | None = None) -> Any:
        """The next element; OutOfRangeError at the end."""
        return self._next_internal()

    def _next_internal(self) -> Any:
        tensors = nodes.IteratorGetNext(self._iterator_resource, **self._settings)
        return structure.from_tensor_list(self._element_spec, tensors)

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


EagerIterator = IteratorV2  # the name of it in versions before
