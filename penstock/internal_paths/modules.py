"""Modules without files: a path of TensorFlow's that leads to names of Penstock."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

from penstock import absent
from penstock.internal_paths import message_files, table

ROOT = "penstock"
_PACKAGES = tuple(
    f"python.{name}" for name in ("framework", "ops", "util", "platform", "client", "eager")
)


_ASKED_BY_PYTHON = frozenset({"__file__", "__warningregistry__", "__wrapped__"})


class PathModule(types.ModuleType):
    """One path: its names are looked up in its sources, in their order, when they are asked for."""

    _sources: tuple[str, ...]
    _replaced: dict[str, tuple[types.ModuleType, Any]]

    def __init__(self, fullname: str, sources: Sequence[str]):
        super().__init__(fullname, f"Names of TensorFlow's {fullname.removeprefix(ROOT + '.')}.")
        super().__setattr__("_sources", tuple(sources))
        super().__setattr__("_replaced", {})
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self._starred()
        if name in _ASKED_BY_PYTHON:  # of all modules, at any time: nothing is imported for it
            raise AttributeError(name)
        if name.startswith("__"):
            return self._exported(name)
        child = f"{self.__name__}.{name}"
        if table.is_written_out(child.removeprefix(f"{ROOT}.")):
            return importlib.import_module(child)
        with absent.unrecorded():
            for source in self._modules():
                try:
                    value = getattr(source, name)
                except AttributeError:
                    continue
                if name not in _live_names(source):
                    super().__setattr__(name, value)
                return value
        if (found := message_files.descriptor(self.__name__, name)) is not None:
            return found
        if _sources_of(child) is not None:
            return importlib.import_module(child)
        for package in _PACKAGES:  # TensorFlow's modules import each other, by their last names
            path = f"{package}.{name}"
            is_generated = name.startswith("gen_") and table.sources(path) is not None
            if is_generated or table.is_written_out(path):
                return importlib.import_module(f"{ROOT}.{package}.{name}")
        raise absent.error(f"tf{child.removeprefix(ROOT)}")

    def _exported(self, name: str) -> Any:
        """A name of Python's own form that a source exports: `__git_version__`."""
        for source in self._modules():
            if name in vars(source).get("__all__", ()):
                return getattr(source, name)
        raise AttributeError(name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Replaces a name where it is defined, too: a test that fakes it means so."""
        is_own = not name.startswith("__") or name.endswith("_version__")  # the rest is Python's
        if is_own and not isinstance(value, types.ModuleType):
            for source in self._modules():
                if name in vars(source):
                    self._replaced.setdefault(name, (source, vars(source)[name]))
                    _replace(source, name, value)
                    if name in _live_names(source):
                        return
                    break
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in vars(self):
            super().__delattr__(name)
        if name in self._replaced:
            source, original = self._replaced.pop(name)
            _replace(source, name, original)

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *(name for each in self._modules() for name in dir(each))})

    def _starred(self) -> list[str]:
        """What `import *` gives: names of the path's own sources, and no modules among them."""
        own = [source for source in self._modules() if source.__name__ != ROOT]
        names = {name for source in own for name in getattr(source, "__all__", dir(source))}
        values = {name: getattr(self, name, None) for name in names if not name.startswith("_")}
        return sorted(n for n, value in values.items() if not isinstance(value, types.ModuleType))

    def _modules(self) -> Iterator[types.ModuleType]:
        for source in self._sources:
            yield importlib.import_module(f"{ROOT}.{source}" if source else ROOT)


def _replace(source: types.ModuleType, name: str, value: Any) -> None:
    """Gives a module's name another value, also in the modules that imported it from there."""
    before = vars(source)[name]
    setattr(source, name, value)
    if not callable(before):
        return
    for module_name, module in list(sys.modules.items()):
        is_ours = module_name.startswith(f"{ROOT}.") and not isinstance(module, PathModule)
        if is_ours and vars(module).get(name) is before:
            setattr(module, name, value)


def _live_names(source: types.ModuleType) -> Sequence[str]:
    """The names of a module whose values change while a program runs: none is kept elsewhere."""
    names: Sequence[str] = getattr(source, "LIVE_NAMES", ())
    return names


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the paths of the table below the package, after all that has files there."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(f"{ROOT}.") or _sources_of(fullname) is None:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return PathModule(spec.name, _sources_of(spec.name) or ())

    def exec_module(self, module: types.ModuleType) -> None:
        """Names are looked up when they are asked for; a few imports are made for their effect."""
        if module.__name__.removeprefix(f"{ROOT}.") in table.REGISTERS_OPS:
            assert isinstance(module, PathModule)
            list(module._modules())


def _sources_of(fullname: str) -> Sequence[str] | None:
    return table.sources(fullname.removeprefix(f"{ROOT}."))


def install() -> None:
    """Makes the paths importable below the package."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())
