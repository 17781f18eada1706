"""`tensorflow.python.framework.registry`: objects by their names."""

from __future__ import annotations

import traceback
from collections.abc import KeysView
from typing import Any

from penstock.platform.compat import as_str


class Registry:
    """Named objects of one kind; a name is registered once."""

    def __init__(self, name: str):
        self._name = name
        self._registry: dict[str, tuple[Any, traceback.FrameSummary]] = {}

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Registers an object, under its own name if none is given."""
        key = name or candidate.__name__
        if key in self._registry:
            place = self._registry[key][1]
            raise KeyError(
                f"Registering two {self._name} with name '{key}'! (Previous registration was in "
                f"{place.name} {place.filename}:{place.lineno})"
            )
        self._registry[key] = (candidate, traceback.extract_stack(limit=2)[0])

    def list(self) -> KeysView[str]:
        """The registered names."""
        return self._registry.keys()

    def lookup(self, name: Any) -> Any:
        """The object of that name; LookupError if there is none."""
        key = as_str(name)
        if key not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {key}")
        return self._registry[key][0]
