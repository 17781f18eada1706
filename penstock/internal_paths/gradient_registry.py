"""`ops._gradient_registry`: programs look there whether a gradient is known, or put their own in.

Guided backpropagation asks `name in ops._gradient_registry._registry`; explainers of networks
replace `_registry["Relu"]["type"]` and put the old function back afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator, KeysView, Mapping, MutableMapping
from typing import Any

from penstock.ir import registry
from penstock.platform.compat import as_str


class _Entry(MutableMapping[str, Any]):
    """What is registered for one op type: its gradient function under "type"."""

    _KEYS = ("type", "location")

    def __init__(self, name: str):
        self._name = name

    def __getitem__(self, key: str) -> Any:
        if key not in self._KEYS:
            raise KeyError(key)
        return registry.gradients()[self._name] if key == "type" else ()

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "type":
            registry.gradients()[self._name] = value

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"the gradient of {self._name!r} keeps its {key!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._KEYS)

    def __len__(self) -> int:
        return len(self._KEYS)


class _Entries(MutableMapping[str, Any]):
    """The registered gradients by op type, as entries of TensorFlow's form."""

    def __getitem__(self, name: str) -> _Entry:
        if name not in registry.gradients():
            raise KeyError(name)
        return _Entry(name)

    def __setitem__(self, name: str, entry: Mapping[str, Any]) -> None:
        registry.gradients()[name] = entry["type"]

    def __delitem__(self, name: str) -> None:
        del registry.gradients()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(registry.gradients())

    def __len__(self) -> int:
        return len(registry.gradients())

    def __copy__(self) -> dict[str, dict[str, Any]]:
        """The gradients as they are now."""
        return {name: dict(entry) for name, entry in self.items()}

    copy = __copy__


class GradientRegistry:
    """The gradient functions of op types, under the names of TensorFlow's registry of them."""

    def __init__(self) -> None:
        self._entries = _Entries()

    @property
    def _registry(self) -> _Entries:
        return self._entries

    @_registry.setter
    def _registry(self, entries: Mapping[str, Mapping[str, Any]]) -> None:
        table = {name: entry["type"] for name, entry in entries.items()}
        registry.gradients().clear()
        registry.gradients().update(table)

    def register(self, candidate: Any, name: str | None = None) -> None:
        """Registers a gradient function, under its own name if none is given."""
        registry.register_gradient(name or candidate.__name__, candidate)

    def list(self) -> KeysView[str]:
        """The op types that have a gradient."""
        return registry.gradients().keys()

    def lookup(self, name: Any) -> Any:
        """The gradient function of an op type; LookupError if there is none."""
        key = as_str(name)
        if key not in registry.gradients():
            raise LookupError(f"gradient registry has no entry for: {key}")
        return registry.gradients()[key]


_gradient_registry = GradientRegistry()
