"""Iterators of eager mode: Python iterators over the elements of a dataset."""

from __future__ import annotations

from typing import Any

from penstock import errors
from penstock.data import structure
from penstock.ir.defaults import executing_eagerly
from penstock.ir.trackable import Trackable
from penstock.ops.datasets import iterators as nodes


class EagerIterator(Trackable):
    """The elements of a dataset, one after the other, as tensors with values.

    Args:
      dataset: what to go through; it is gone through once.
    """

    def __init__(self, dataset: Any):
        if not executing_eagerly():
            raise RuntimeError(
                "EagerIterator objects can only be created when eager execution is enabled. Use "
                "dataset.make_initializable_iterator or dataset.make_one_shot_iterator for graphs."
            )
        dataset = dataset._apply_options()
        self._dataset = dataset  # its functions are looked up as long as it is read
        self._element_spec = dataset.element_spec
        self._settings: dict[str, Any] = {
            "output_types": structure.get_flat_tensor_types(self._element_spec),
            "output_shapes": structure.get_flat_tensor_shapes(self._element_spec),
        }
        self._iterator_resource = nodes.IteratorV2(shared_name="", container="", **self._settings)
        nodes.MakeIterator(dataset._variant_tensor, self._iterator_resource)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        from penstock.data.iterator_saveable import IteratorSaveable

        return {"ITERATOR": lambda name: IteratorSaveable(self._iterator_resource, name)}

    def __iter__(self) -> EagerIterator:
        return self

    def __next__(self) -> Any:
        try:
            return self._next()
        except errors.OutOfRangeError:
            raise StopIteration from None

    next = __next__

    def get_next(self, name: str | None = None) -> Any:
        """The next element; OutOfRangeError at the end."""
        return self._next()

    def _next(self) -> Any:
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
