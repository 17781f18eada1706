"""`tensorflow.python.util.tf_export`: notes on symbols under which names they are public."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from penstock.internal_paths import python_inspect
from penstock.internal_paths.python.decorators import make_decorator, unwrap

ESTIMATOR_API_NAME = "estimator"
KERAS_API_NAME = "keras"
TENSORFLOW_API_NAME = "tensorflow"
SUBPACKAGE_NAMESPACES = [ESTIMATOR_API_NAME]


class ExportedApiAttributes(NamedTuple):
    """Under which attributes a symbol keeps its names, and a module its constants."""

    names: str
    constants: str


_Attributes = ExportedApiAttributes
_PREFIXES = {TENSORFLOW_API_NAME: "tf", ESTIMATOR_API_NAME: "estimator", KERAS_API_NAME: "keras"}
API_ATTRS = {
    api: ExportedApiAttributes(f"_{prefix}_api_names", f"_{prefix}_api_constants")
    for api, prefix in _PREFIXES.items()
}
API_ATTRS_V1 = {
    api: ExportedApiAttributes(f"_{prefix}_api_names_v1", f"_{prefix}_api_constants_v1")
    for api, prefix in _PREFIXES.items()
}


class SymbolAlreadyExposedError(Exception):
    """A symbol is exported once, unless it says otherwise."""


class InvalidSymbolNameError(Exception):
    """A component exports names below its own package only."""


def get_canonical_name(api_names: Sequence[str], deprecated_api_names: Iterable[str]) -> str | None:
    """The first name that isn't deprecated, else the first, else None."""
    current = [name for name in api_names if name not in deprecated_api_names]
    return next(iter([*current, *api_names]), None)


def get_canonical_name_for_symbol(
    symbol: Any, api_name: str = TENSORFLOW_API_NAME, add_prefix_to_v1_names: bool = False
) -> str | None:
    """A symbol's preferred name, or None for one that isn't exported."""
    if not hasattr(symbol, "__dict__"):
        return None
    _, symbol = unwrap(symbol)
    if API_ATTRS[api_name].names not in symbol.__dict__:
        return None
    old = symbol.__dict__.get("_tf_deprecated_api_names", [])
    name = get_canonical_name(getattr(symbol, API_ATTRS[api_name].names), old)
    if name:
        return name
    name = get_canonical_name(getattr(symbol, API_ATTRS_V1[api_name].names), old)
    return f"compat.v1.{name}" if add_prefix_to_v1_names else name


def _names_of(symbol: Any, attributes: dict[str, ExportedApiAttributes]) -> list[str]:
    own = getattr(symbol, "__dict__", {})
    return [name for each in attributes.values() for name in own.get(each.names, ())]


def get_v1_names(symbol: Any) -> list[str]:
    """A symbol's names in the API of TensorFlow 1."""
    return _names_of(symbol, API_ATTRS_V1)


def get_v2_names(symbol: Any) -> list[str]:
    """A symbol's names in the API of TensorFlow 2."""
    return _names_of(symbol, API_ATTRS)


def _constants_of(
    module: ModuleType, attributes: dict[str, ExportedApiAttributes]
) -> list[tuple[Sequence[str], str]]:
    exporters = (TENSORFLOW_API_NAME, ESTIMATOR_API_NAME)
    return [
        constant for api in exporters for constant in getattr(module, attributes[api].constants, ())
    ]


def get_v1_constants(module: ModuleType) -> list[tuple[Sequence[str], str]]:
    """A module's exported constants in the API of TensorFlow 1: their names, and that here."""
    return _constants_of(module, API_ATTRS_V1)


def get_v2_constants(module: ModuleType) -> list[tuple[Sequence[str], str]]:
    """A module's exported constants in the API of TensorFlow 2: their names, and that here."""
    return _constants_of(module, API_ATTRS)


class api_export:
    """A decorator that exports a symbol under names, the first of which is the preferred one.

    Args:
      *args: the names, with dots.
      **kwargs: `v1`, the names in TensorFlow 1 where they differ; `overrides`, symbols that lose
        their names to this one; `api_name`, whose API it is; `allow_multiple_exports`.
    """

    def __init__(self, *args: str, **kwargs: Any):
        if "v2" in kwargs:
            raise ValueError(
                'You passed a "v2" argument to tf_export. This is not what you want. Pass v2 '
                "names directly as positional arguments instead."
            )
        self._names: Sequence[str] = args
        self._names_v1: Sequence[str] = kwargs.get("v1", args)
        self._api_name: str = kwargs.get("api_name", TENSORFLOW_API_NAME)
        self._overrides: Sequence[Any] = kwargs.get("overrides", [])
        self._allow_multiple_exports: bool = kwargs.get("allow_multiple_exports", False)
        self._validate_symbol_names()

    def _validate_symbol_names(self) -> None:
        names = {*self._names, *self._names_v1}
        if self._api_name == TENSORFLOW_API_NAME:
            for package in SUBPACKAGE_NAMESPACES:
                if any(name.startswith(package) for name in names):
                    raise InvalidSymbolNameError(
                        f"@tf_export is not allowed to export symbols under {package}.*"
                    )
        elif not all(name.startswith(self._api_name) for name in names):
            raise InvalidSymbolNameError(
                "Can only export symbols under package name of component. e.g. "
                "tensorflow_estimator must export all symbols under tf.estimator"
            )

    def __call__(self, func: Any) -> Any:
        now, before = API_ATTRS[self._api_name].names, API_ATTRS_V1[self._api_name].names
        for overridden in self._overrides:
            _, symbol = unwrap(overridden)
            delattr(symbol, now)
            delattr(symbol, before)
        _, symbol = unwrap(func)
        self.set_attr(symbol, now, self._names)
        self.set_attr(symbol, before, self._names_v1)
        return func

    def set_attr(self, func: Any, api_names_attr: str, names: Sequence[str]) -> None:
        """Notes names on a symbol under an attribute."""
        if api_names_attr in func.__dict__ and not self._allow_multiple_exports:
            raise SymbolAlreadyExposedError(
                f"Symbol {func.__name__} is already exposed as {getattr(func, api_names_attr)}."
            )
        setattr(func, api_names_attr, names)

    def export_constant(self, module_name: str, name: str) -> None:
        """Notes on a module under which names its constant `name` is public."""
        module = sys.modules[module_name]
        for attributes, names in ((API_ATTRS, self._names), (API_ATTRS_V1, self._names_v1)):
            attribute = attributes[self._api_name].constants
            if not hasattr(module, attribute):
                setattr(module, attribute, [])
            getattr(module, attribute).append((names, name))


def kwarg_only(f: Callable[..., Any]) -> Any:
    """The function, refusing arguments by position."""
    signature = python_inspect.getargspec(f)

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise TypeError(
                f"{f.__name__} only takes keyword args (possible keys: {signature.args}). "
                "Please pass these args as kwargs instead."
            )
        return f(**kwargs)

    return make_decorator(f, wrapper, decorator_argspec=signature)


tf_export = functools.partial(api_export, api_name=TENSORFLOW_API_NAME)
estimator_export = functools.partial(api_export, api_name=ESTIMATOR_API_NAME)
keras_export = functools.partial(api_export, api_name=KERAS_API_NAME)
