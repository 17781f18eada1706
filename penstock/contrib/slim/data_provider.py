"""What gives the tensors of a data set by the names of its items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class DataProvider:
    """The items of a data set, and how many samples it has.

    Args:
      items_to_tensors: the tensors by name.
    """

    def __init__(self, items_to_tensors: Mapping[str, Any], num_samples: int):
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Any) -> list[Any]:
        """The tensors of some items."""
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        known = self.list_items()
        for item in items:
            if item not in known:
                raise ValueError(f"Item [{item}] is invalid. Valid entries include: {known}")
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> Any:
        """The names of the items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> int:
        """How many samples the data set has."""
        return self._num_samples
