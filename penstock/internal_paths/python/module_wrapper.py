"""`tensorflow.python.util.module_wrapper`: a module that warns of old names, and loads late."""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

from penstock.internal_paths.python import stack_frames
from penstock.internal_paths.python.decorators import unwrap
from penstock.platform import logging
from penstock.tools import renamed_symbols

#: How many of a module's names are warned of.
_PER_MODULE_WARNING_LIMIT = 1

_OWN = "_tfmw_"


def get_rename_v2(name: str) -> str | None:
    """What TensorFlow 2 calls a symbol of TensorFlow 1, where it has another name for it."""
    return renamed_symbols.symbol_renames.get(name)


def contains_deprecation_decorator(decorators: Iterable[Any]) -> bool:
    """Whether `deprecated` is among the decorators."""
    return any(each.decorator_name == "deprecated" for each in decorators)


def has_deprecation_decorator(symbol: Any) -> bool:
    """Whether a function, or a class by its `__init__`, warns by itself."""
    decorators, target = unwrap(symbol)
    if contains_deprecation_decorator(decorators):
        return True
    if not inspect.isclass(target):
        return False
    return contains_deprecation_decorator(unwrap(target.__init__)[0])


def _call_location() -> str:
    """File and line of whoever asked the module for a name."""
    this_file = stack_frames.extract_stack(limit=1)[-1].filename
    for frame in reversed(stack_frames.extract_stack()):
        if frame.filename != this_file:
            return f"{frame.filename}:{frame.lineno}"
    return "UNKNOWN"


class TFModuleWrapper(types.ModuleType):
    """A module around another one.

    1. What is set or deleted here is so in the wrapped module, too.
    2. A name of `public_apis` (where it is: a module and a name in it, or '' and a module) is
       imported when it is first asked for.
    3. A name that TensorFlow 2 has replaced is warned of once, unless it warns by itself.
    """

    def __init__(
        self,
        wrapped: types.ModuleType,
        module_name: str,
        public_apis: Mapping[str, tuple[str, str]] | None = None,
        deprecation: bool = True,
        has_lite: bool = False,
    ):
        super().__init__(wrapped.__name__)
        vars(self).update(vars(wrapped))
        self._tfmw_wrapped_module = wrapped
        self._tfmw_module_name = module_name
        self._tfmw_public_apis = public_apis or {}
        self._tfmw_print_deprecation_warnings = deprecation
        self._tfmw_has_lite = has_lite
        self._tfmw_checked: set[str] = set()
        self._tfmw_warning_count = 0
        if public_apis:
            names = list(public_apis)
        else:
            public = [name for name in dir(wrapped) if not name.startswith("_")]
            names = getattr(wrapped, "__all__", public)
        vars(wrapped)["__all__"] = vars(self)["__all__"] = names

    def __getattribute__(self, name: str) -> Any:
        if name.startswith((_OWN, "__")):
            return super().__getattribute__(name)
        if name == "lite" and self._tfmw_has_lite and "lite" not in self._tfmw_checked:
            self._tfmw_checked.add("lite")  # the wrapped module may have another one of that name
            return self._tfmw_import(name)
        value = super().__getattribute__(name)
        self._tfmw_warn_of(name, value)
        return value

    def __getattr__(self, name: str) -> Any:
        if name.startswith(_OWN):  # not yet there, while it is copied
            raise AttributeError(name)
        try:
            value = getattr(self._tfmw_wrapped_module, name)
        except AttributeError:
            if name not in self._tfmw_public_apis:
                raise
            value = self._tfmw_import(name)
        self._tfmw_warn_of(name, value)
        return value

    def _tfmw_import(self, name: str) -> Any:
        module, symbol = self._tfmw_public_apis[name]
        if module:
            value = getattr(importlib.import_module(module), symbol)
        else:
            value = importlib.import_module(symbol)
        setattr(self._tfmw_wrapped_module, name, value)
        vars(self)[name] = value
        return value

    def _tfmw_warn_of(self, name: str, value: Any) -> None:
        if not self._tfmw_print_deprecation_warnings or name in self._tfmw_checked:
            return
        if self._tfmw_warning_count >= _PER_MODULE_WARNING_LIMIT:
            return
        self._tfmw_checked.add(name)
        full_name = ".".join(filter(None, ("tf", self._tfmw_module_name, name)))
        rename = get_rename_v2(full_name)
        if rename is None or has_deprecation_decorator(value):
            return
        location = _call_location()
        if location.startswith("<"):  # no file of a user's
            return
        logging.warning(
            "From %s: The name %s is deprecated. Please use %s instead.\n",
            location,
            full_name,
            rename,
        )
        self._tfmw_warning_count += 1

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith(_OWN):
            setattr(self._tfmw_wrapped_module, name, value)
            if name != "__all__" and name not in self.__all__:
                self.__all__.append(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if not name.startswith(_OWN):
            delattr(self._tfmw_wrapped_module, name)
            if name not in vars(self):
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = dir(self._tfmw_wrapped_module)
        if not self._tfmw_public_apis:
            return names
        return sorted({*self._tfmw_public_apis, *(n for n in names if not n.startswith("_"))})

    def __repr__(self) -> str:
        return repr(self._tfmw_wrapped_module)

    def __getstate__(self) -> str:
        return self.__name__

    def __setstate__(self, name: str) -> None:
        """The module of that name again, as it is now."""
        known: Any = sys.modules[name]
        self.__init__(known._tfmw_wrapped_module, known._tfmw_module_name)  # type: ignore[misc]


#: The name of TensorFlow 1.14.
DeprecationWrapper = TFModuleWrapper
