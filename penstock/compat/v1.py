"""`tf.compat.v1`: the API of TensorFlow 1.x, which is the package itself."""

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


class _SameModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `penstock.compat.v1.x.y` as the very module `penstock.x.y`, not as a second copy."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._own_specs: dict[types.ModuleType, Any] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(self._prefix):
            return None
        if importlib.util.find_spec(self._original(fullname)) is None:
            return None
        return importlib.util.spec_from_loader(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = importlib.import_module(self._original(spec.name))
        self._own_specs[module] = module.__spec__
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Gives the module its own spec back, which the import system has replaced."""
        module.__spec__ = self._own_specs.pop(module)

    def _original(self, fullname: str) -> str:
        return f"{penstock.__name__}.{fullname.removeprefix(self._prefix)}"


# Ahead of the finder of files: it would load the package's files again under the other name.
sys.meta_path.insert(0, _SameModules(f"{__name__}."))
sys.modules[__name__] = penstock
