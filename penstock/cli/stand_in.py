"""Penstock under the name of tensorflow, for programs that import it.

`import tensorflow` gives a module that offers penstock's names and reports version 1.15;
`import tensorflow.x.y` gives the very module that `penstock.x.y` is, so that there is one of each.
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
from penstock import absent

NAMES = ("tensorflow", "tensorflow_core")
VERSION = "1.15.5"  # the last release of the API that penstock follows


class StandIn(types.ModuleType):
    """The module `tensorflow`: penstock's public names."""

    def __init__(self, name: str) -> None:
        super().__init__(name, penstock.__doc__)
        self.__version__ = self.VERSION = VERSION
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(penstock, name)

    def __dir__(self) -> list[str]:
        return dir(penstock)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and everything below it in penstock, whatever else is installed."""

    def __init__(self) -> None:
        self._own_specs: dict[types.ModuleType, Any] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] not in NAMES:
            return None
        if fullname not in NAMES and module_below(fullname) is None:
            symbol = "tf." + fullname.partition(".")[2]
            absent.met.add(fullname)
            advice = absent.reason(symbol) or "docs/compatibility.md lists what is not there."
            raise ModuleNotFoundError(
                f"penstock has no module {fullname!r}. {advice}", name=fullname
            )
        return importlib.util.spec_from_loader(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        if spec.name in NAMES:
            return StandIn(spec.name)
        module = module_below(spec.name)
        assert module is not None
        self._own_specs[module] = getattr(module, "__spec__", None)
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Gives the module its own spec back, which the import system has replaced."""
        if module in self._own_specs:
            module.__spec__ = self._own_specs.pop(module)


class _EstimatorFinder(_Finder):
    """Finds the package `tensorflow_estimator`, which came with TensorFlow, where it is not there.

    Its modules lie as in `tensorflow.python.estimator`, where they were before.
    """

    NAME = "tensorflow_estimator"

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.split(".")[0] != self.NAME or self._module(fullname) is None:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = self._module(spec.name)
        assert module is not None
        self._own_specs[module] = getattr(module, "__spec__", None)
        return module

    def _module(self, fullname: str) -> types.ModuleType | None:
        return module_below(f"tensorflow{fullname.removeprefix(self.NAME)}")


def module_below(fullname: str) -> types.ModuleType | None:
    """Penstock's module for a path below `tensorflow`."""
    path = fullname.split(".")[1:]
    try:
        return importlib.import_module(".".join(["penstock", *path]))
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("penstock"):
            raise
    value: Any = penstock
    for part in path:
        try:
            value = getattr(value, part)
        except AttributeError:
            return None
    return value if isinstance(value, types.ModuleType) else None


def install() -> None:
    """Puts penstock in tensorflow's place for this process."""
    for name in [each for each in sys.modules if each.split(".")[0] in NAMES]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder())
    sys.meta_path.append(_EstimatorFinder())
