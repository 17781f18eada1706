"""What the packages of `tf.contrib` do with a name that they don't define."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from penstock import absent

ROOT = "penstock."


def resolver(package: str, elsewhere: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """A `__getattr__` for a package: it imports submodules, else says why a name is missing.

    Args:
      elsewhere: modules that are known here by another name, with their paths below the root.
    """
    symbol = "tf." + package.removeprefix(ROOT)
    paths = elsewhere or {}

    def look_up(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        path = ROOT + paths[name] if name in paths else f"{package}.{name}"
        try:
            return importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name != path:
                raise
        raise absent.error(f"{symbol}.{name}")

    return look_up
