"""The public namespaces: which are loaded when they are first used, and what they say of gaps."""

from __future__ import annotations

import importlib
import sys
import types
from importlib.util import find_spec
from typing import Any

from penstock import absent

#: Parts of the API that most programs do not touch: imported when they are asked for.
LAZY = (
    "app",
    "autograph",
    "compat",
    "contrib",
    "config",
    "data",
    "distribute",
    "distributions",
    "estimator",
    "feature_column",
    "flags",
    "gfile",
    "graph_util",
    "image",
    "io",
    "keras",
    "linalg",
    "logging",
    "lookup",
    "manip",
    "metrics",
    "profiler",
    "python_io",
    "audio",
    "quantization",
    "queue",
    "ragged",
    "resource_loader",
    "saved_model",
    "signal",
    "spectral",
    "sysconfig",
    "test",
    "testing",
    "tools",
    "tpu",
    "user_ops",
    "version",
    "xla",
)

#: Parts of the API that come with the package itself.
LOADED = frozenset(
    "bitwise debugging dtypes errors initializers layers losses math metrics nest nn random "
    "raw_ops sets sparse strings summary train".split()
)

#: Names of a namespace that another module has: foundations such as `dtypes` know no ops.
BORROWED = {
    "dtypes": {
        "as_string": "ops.string_numbers",
        "cast": "ops.casts",
        "complex": "ops.math",
        "saturate_cast": "ops.casts",
    },
    "strings": {
        "bytes_split": "ragged.string_functions",
        "ngrams": "ragged.string_functions",
        "split": "ragged.string_functions",
        "unicode_decode": "ragged.string_functions",
        "unicode_decode_with_offsets": "ragged.string_functions",
        "unicode_encode": "ragged.string_functions",
        "unicode_split": "ragged.string_functions",
        "unicode_split_with_offsets": "ragged.string_functions",
    },
    "summary": {
        "all_v2_summary_ops": "contrib.summary",
        "initialize": "contrib.summary",
    },
}

#: Such names of the root: their modules are lazy too.
BORROWED_BY_ROOT = {
    "OptionalSpec": "data.experimental",
    "RaggedTensor": "ragged.tensor",
    "RaggedTensorSpec": "ragged.tensor_spec",
    "string_split": "ragged.string_functions",
}

ROOT = "penstock"


def _public_submodules(module: types.ModuleType) -> list[str]:
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, types.ModuleType) and value.__name__ == f"{module.__name__}.{name}"
    ]


def _starred() -> list[str]:
    """What `from tensorflow import *` gives: the public names, none of Penstock's own parts."""
    root = sys.modules[ROOT]
    own = {
        name
        for name, value in vars(root).items()
        if name in LOADED or not (name.startswith("_") or isinstance(value, types.ModuleType))
    }
    lazy = {name for name in LAZY if find_spec(f"{ROOT}.{name}") is not None}
    return sorted(own | lazy | set(BORROWED_BY_ROOT))


def _lazily(name: str) -> Any:
    """A namespace, or an internal package such as `tf.python`, imported now."""
    from penstock.internal_paths import table

    if name == "__all__":
        return _starred()
    if name in BORROWED_BY_ROOT:
        return getattr(importlib.import_module(f"{ROOT}.{BORROWED_BY_ROOT[name]}"), name)
    if name in LAZY or table.is_written_out(name):
        try:
            found: Any = importlib.import_module(f"{ROOT}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{ROOT}.{name}":
                raise
        else:
            if not isinstance(found, types.ModuleType):
                absent.watch(found, f"tf.{name}")
            return found
    raise AttributeError(name)


def _lend(module: types.ModuleType, names: dict[str, str]) -> None:
    def borrowed(name: str) -> Any:
        if name not in names:
            raise AttributeError(name)
        return getattr(importlib.import_module(f"{ROOT}.{names[name]}"), name)

    module.__getattr__ = borrowed  # type: ignore[method-assign]


class _Root(types.ModuleType):
    """The package: a namespace that is loaded, by whichever import, explains what it lacks."""

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in LAZY and isinstance(value, types.ModuleType):
            absent.watch(value, f"tf.{name}")


def install() -> None:
    """Makes `tf.name` load what is lazy, and every namespace name what it lacks."""
    root = sys.modules[ROOT]
    root.__class__ = _Root
    root.__getattr__ = _lazily  # type: ignore[method-assign]
    absent.watch(root, "tf")
    for name, names in BORROWED.items():
        _lend(sys.modules[f"{ROOT}.{name}"], names)
    for name in _public_submodules(root):
        absent.watch(sys.modules[f"{ROOT}.{name}"], f"tf.{name}")
