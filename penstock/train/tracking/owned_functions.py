"""The `tf.function`s among the attributes of an object, which a SavedModel has of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.ops.concrete_functions import ConcreteFunction
from penstock.ops.graph_functions import GraphFunction


def functions_in(values: Mapping[Any, Any]) -> dict[str, Any]:
    """Those of named values that are functions."""
    kinds = (GraphFunction, ConcreteFunction)
    return {str(name): value for name, value in values.items() if isinstance(value, kinds)}


def functions_of(obj: Any) -> dict[str, Any]:
    """The functions that an object has itself or by its class, by name."""
    names = {**_functions_of_class(type(obj)), **functions_in(getattr(obj, "__dict__", {}))}
    found = functions_in({name: getattr(obj, name) for name in sorted(names)})
    if isinstance(obj, dict):
        found.update(functions_in(obj))
    if isinstance(obj, list):
        found.update(functions_in({str(index): each for index, each in enumerate(obj)}))
    return found


def functions_of_properties(obj: Any) -> dict[str, Any]:
    """The functions that the properties of a program's class give, as far as they do now."""
    values: dict[str, Any] = {}
    for name in dir(type(obj)):
        getter = getattr(getattr(type(obj), name, None), "fget", None)
        if getter is not None and not getter.__module__.startswith("penstock."):
            try:
                values[name] = getattr(obj, name)
            except Exception:  # the program's code, which was not asked to run
                continue
    return functions_in(values)


def _functions_of_class(kind: type) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for each in reversed(kind.__mro__):
        members.update(vars(each))
    return functions_in(members)
