"""Names that Python's own library has removed since TensorFlow 1.x programs were written."""

from __future__ import annotations

import asyncio
import base64
import collections
import collections.abc
import fractions
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json.encoder
import math
import os
import platform
import string
import sys
import threading
import time
import types
import unittest
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from penstock.cli import old_images
from penstock.internal_paths.python_inspect import getargspec

_ABCS = (
    *("AsyncIterable", "AsyncIterator", "Awaitable", "ByteString", "Callable", "Collection"),
    *("Container", "Coroutine", "Generator", "Hashable", "ItemsView", "Iterable", "Iterator"),
    *("KeysView", "Mapping", "MappingView", "MutableMapping", "MutableSequence", "MutableSet"),
    *("Reversible", "Sequence", "Set", "Sized", "ValuesView"),
)
_ASSERTIONS = {
    "assertEquals": "assertEqual",
    "assertNotEquals": "assertNotEqual",
    "assertAlmostEquals": "assertAlmostEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertRegexpMatches": "assertRegex",
    "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertItemsEqual": "assertCountEqual",
    "assert_": "assertTrue",
}
#: Functions of the module `string` in Python 2 that are methods of strings alone now.
_STRING_METHODS = (
    *("capitalize", "center", "count", "expandtabs", "find", "index", "ljust", "lower", "lstrip"),
    *("replace", "rfind", "rjust", "rstrip", "split", "strip", "swapcase", "translate", "upper"),
    "zfill",
)


def _removed() -> list[tuple[Any, str, Any]]:
    """Where a name was, the name, and what stands for it now."""
    found: list[tuple[Any, str, Any]] = [
        (collections, name, getattr(collections.abc, name))
        for name in _ABCS
        if hasattr(collections.abc, name)
    ]
    found += [
        (unittest.TestCase, old, getattr(unittest.TestCase, new))
        for old, new in _ASSERTIONS.items()
    ]
    found += [(string, name, getattr(str, name)) for name in _STRING_METHODS]
    return found + [
        (asyncio, "coroutine", types.coroutine),
        (base64, "encodestring", base64.encodebytes),
        (base64, "decodestring", base64.decodebytes),
        (fractions, "gcd", math.gcd),
        (inspect, "getargspec", getargspec),
        (json.encoder, "FLOAT_REPR", float.__repr__),
        (os, "errno", importlib.import_module("errno")),
        (os, "getcwdu", os.getcwd),
        (platform, "linux_distribution", lambda: ("", "", "")),
        (platform, "dist", lambda: ("", "", "")),
        (string, "atof", float),
        (string, "atoi", int),
        (string, "join", lambda words, sep=" ": sep.join(words)),
        (string, "letters", string.ascii_letters),
        (string, "lowercase", string.ascii_lowercase),
        (string, "maketrans", str.maketrans),
        (string, "uppercase", string.ascii_uppercase),
        (sys, "maxint", sys.maxsize),
        (threading.Thread, "isAlive", threading.Thread.is_alive),
        (time, "clock", time.perf_counter),
    ]


class _RemovedModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Modules that are gone: found only where Python does not have them any more."""

    _MODULES: ClassVar[dict[str, Callable[[], dict[str, Any]]]] = {
        "numpy.core.umath_tests": lambda: _names_of("numpy._core._umath_tests"),
        "scipy.misc": lambda: vars(old_images),
        "sklearn.cross_validation": lambda: vars(
            importlib.import_module("sklearn.model_selection")
        ),
        "sklearn.grid_search": lambda: vars(importlib.import_module("sklearn.model_selection")),
        "sklearn.externals.joblib": lambda: vars(importlib.import_module("joblib")),
        "sklearn.externals.six": lambda: vars(importlib.import_module("six")),
        "sklearn.learning_curve": lambda: vars(importlib.import_module("sklearn.model_selection")),
        "sklearn.utils.linear_assignment_": lambda: {"linear_assignment": _linear_assignment},
        "xml.etree.cElementTree": lambda: vars(ElementTree),
        "imp": lambda: {
            "reload": importlib.reload,
            "new_module": types.ModuleType,
            "load_source": _load_source,
        },
    }

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname in self._MODULES or _now_private(fullname) is not None:
            return importlib.util.spec_from_loader(fullname, self)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        private = _now_private(spec.name)
        names = self._MODULES[spec.name]() if private is None else _names_of(private)
        module.__dict__.update({k: v for k, v in names.items() if not k.startswith("__")})
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is left to execute: the module is filled when it is made."""


def _now_private(fullname: str) -> str | None:
    """`sklearn.metrics._scorer` for `sklearn.metrics.scorer`: scikit-learn moved its insides."""
    parent, _, name = fullname.rpartition(".")
    if not parent.startswith("sklearn.") or name.startswith("_"):
        return None
    private = f"{parent}._{name}"
    return private if importlib.util.find_spec(private) is not None else None


def _linear_assignment(costs: Any) -> Any:
    """The pairs of row and column with the least cost, as scikit-learn gave them."""
    rows, columns = importlib.import_module("scipy.optimize").linear_sum_assignment(costs)
    return np.stack([rows, columns], axis=1)


def _names_of(module: str) -> dict[str, Any]:
    return vars(importlib.import_module(module))


def _load_source(name: str, pathname: str, file: Any = None) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, pathname)
    if spec is None or spec.loader is None:
        raise ImportError(f"can't load {pathname!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def restore() -> list[str]:
    """Gives Python the names back that it lacks; which ones."""
    restored = []
    for owner, name, value in _removed():
        if not hasattr(owner, name):
            setattr(owner, name, value)
            restored.append(f"{owner.__name__}.{name}")
    sys.meta_path.append(_RemovedModules())
    old_images.restore()
    return restored
