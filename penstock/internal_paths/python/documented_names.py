"""`tensorflow.python.util.all_util`: a module's public names are those its docstrings point at."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_REFERENCE = re.compile(r"^@@(\w+)$", flags=re.MULTILINE)
_HIDDEN_ATTRIBUTES: dict[str, tuple[ModuleType, Any]] = {}


def make_all(module_name: str, doc_string_modules: Sequence[ModuleType] | None = None) -> list[str]:
    """The names of a module that docstrings mention as `@@name`.

    Args:
      module_name: the module, imported already.
      doc_string_modules: whose docstrings to read, by default its own.
    """
    module = sys.modules[module_name]
    documented = {
        name
        for each in (doc_string_modules if doc_string_modules is not None else [module])
        for name in _REFERENCE.findall(each.__doc__ or "")
    }
    return list(documented.intersection(dir(module)))


def remove_undocumented(
    module_name: str,
    allowed_exception_list: Sequence[str] | None = None,
    doc_string_modules: Sequence[ModuleType] | None = None,
) -> None:
    """Takes the public names out of a module that no docstring mentions."""
    module = sys.modules[module_name]
    kept = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or ())}
    for name in set(dir(module)) - kept:
        if not name.startswith("_"):
            _HIDDEN_ATTRIBUTES[f"{module_name}.{name}"] = module, getattr(module, name)
            delattr(module, name)


def reveal_undocumented(symbol_name: str, target_module: ModuleType | None = None) -> None:
    """Puts a name back that `remove_undocumented` has taken out, into any module."""
    if symbol_name not in _HIDDEN_ATTRIBUTES:
        raise LookupError(f"Symbol {symbol_name} is not a hidden symbol")
    module, value = _HIDDEN_ATTRIBUTES[symbol_name]
    setattr(target_module or module, symbol_name.rpartition(".")[2], value)
