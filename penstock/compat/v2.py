"""`tf.compat.v2`: the names of TensorFlow 2's API that TensorFlow 1.15 has beside its own.

Most mean the same as in 1.x; where TensorFlow 2 gave a function other arguments, that function is
here. `v2_names` lists both. Graphs are built as everywhere: nothing runs eagerly.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

from penstock.compat.v2_names import OTHER, SAME

#: Namespaces that are 1.x's, but for what `OTHER` says.
_WHOLE = ("estimator", "keras", "raw_ops")

#: Namespaces that TensorFlow 2 has in two places.
_ALIASES = {name: f"keras.{name}" for name in ("initializers", "losses", "metrics", "optimizers")}


def _first(path: str) -> Any:
    """What 1.x has under a path."""
    found = importlib.import_module("penstock")
    for part in filter(None, path.split(".")):
        found = getattr(found, part)
    return found


class _Namespace(types.ModuleType):
    """A part of the API, whose names are looked up when they are asked for."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{__name__}.{path}", f"`tf.{path}` as TensorFlow 2 has it.")
        self.__path__: list[str] = []
        self._path = path
        self._is_whole = path.split(".")[0] in _WHOLE
        self._same = frozenset(SAME.get(path, "").split())
        self._other: dict[str, tuple[str, str]] = {}
        for module, names in OTHER.get(path, {}).items():
            for name in names.split():
                public, _, defined = name.partition("=")
                self._other[public] = module, defined or public

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._found(name)
        setattr(self, name, value)
        return value

    def _found(self, name: str) -> Any:
        path = f"{self._path}.{name}".lstrip(".")
        if name in self._other:
            module, defined = self._other[name]
            return getattr(importlib.import_module(f"penstock.{module}".rstrip(".")), defined)
        if name in self._same:
            return _first(path)
        if self._is_whole:
            value = _first(path)
            is_part = isinstance(value, types.ModuleType) and value.__name__.startswith("penstock.")
            return _namespace(path) if is_part else value
        raise AttributeError(
            f"penstock has no tf.compat.v2.{path}: it follows TensorFlow 1.x, use tf.{path}"
        )

    def __dir__(self) -> list[str]:
        first = dir(_first(self._path)) if self._is_whole else []
        return sorted({*self._same, *self._other, *first, *self.__dict__})


def _namespace(path: str) -> _Namespace:
    """The module of a namespace; it is made, with those around it, when it is first asked for."""
    name = f"{__name__}.{path}"
    module = sys.modules.get(name)
    if not isinstance(module, _Namespace):
        module = sys.modules[name] = _Namespace(path)
        outer, _, own = path.rpartition(".")
        setattr(_namespace(outer) if outer else sys.modules[__name__], own, module)
    return module


__path__: list[str] = []
_ROOT = _Namespace("")


def __getattr__(name: str) -> Any:
    return getattr(_ROOT, name)


def __dir__() -> list[str]:
    return sorted({*dir(_ROOT), *_ALIASES, *(each.split(".")[0] for each in (*SAME, *_WHOLE))})


for _path in {*SAME, *OTHER, *_WHOLE} - {""}:
    _namespace(_path)
for _alias, _path in _ALIASES.items():
    globals()[_alias] = sys.modules[f"{__name__}.{_alias}"] = _namespace(_path)
compat = sys.modules[f"{__name__}.compat"] = sys.modules["penstock.compat"]
