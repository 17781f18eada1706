"""Penstock under the name of tensorflow, for programs that import it.

`import tensorflow` gives a module that offers penstock's names and reports version 1.15;
`import tensorflow.x.y` gives penstock's module of that path, or the module that `tf.x.y` is. What
penstock lacks raises an error that names the symbol, and is remembered for the report at the end.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Sequence
from typing import Any

import penstock

NAME = "tensorflow"
VERSION = "1.15.5"  # the last release of the API that penstock follows


class StandIn(types.ModuleType):
    """The module `tensorflow`: penstock's public names."""

    def __init__(self, missing: set[str]):
        super().__init__(NAME, penstock.__doc__)
        self.__version__ = self.VERSION = VERSION
        self.__path__: list[str] = []
        self._missing = missing

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(penstock, name)
        except AttributeError:
            if not name.startswith("__"):
                self._missing.add(f"tf.{name}")
            raise AttributeError(
                f"penstock has no tf.{name} yet; docs/compatibility.md lists what is not there"
            ) from None

    def __dir__(self) -> list[str]:
        return dir(penstock)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and everything below it in penstock, whatever else is installed."""

    def __init__(self) -> None:
        self.missing: set[str] = set()
        self._found: dict[str, types.ModuleType] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != NAME and not fullname.startswith(f"{NAME}."):
            return None
        module = StandIn(self.missing) if fullname == NAME else _module(fullname)
        if module is None:
            self.missing.add(fullname)
            raise ModuleNotFoundError(
                f"penstock has no module {fullname!r} yet; docs/compatibility.md lists what is not "
                "there",
                name=fullname,
            )
        self._found[fullname] = module
        return importlib.util.spec_from_loader(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        found = self._found.pop(spec.name)
        if isinstance(found, StandIn):
            return found
        # The import system writes its own facts on the module: penstock's keeps those that it has.
        alias = types.ModuleType(spec.name, found.__doc__)
        alias.__dict__.update(
            {key: value for key, value in vars(found).items() if not key.startswith("__")}
        )
        alias.__getattr__ = lambda name: getattr(found, name)  # type: ignore[method-assign]
        return alias

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to execute: the module is filled when it is made."""


def _module(fullname: str) -> types.ModuleType | None:
    """Penstock's module for a path below `tensorflow`."""
    path = fullname.split(".")[1:]
    try:
        return importlib.import_module(".".join(["penstock", *path]))
    except ModuleNotFoundError:
        pass
    value: Any = penstock
    for part in path:
        value = getattr(value, part, None)
    return value if isinstance(value, types.ModuleType) else None


def install() -> set[str]:
    """Puts penstock in tensorflow's place for this process; the set of symbols missed so far."""
    for name in [n for n in sys.modules if n == NAME or n.startswith(f"{NAME}.")]:
        del sys.modules[name]
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    return finder.missing
