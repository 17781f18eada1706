"""Functions of `Lambda` layers in a model's configuration.

A file never brings code along: a function is found again by its name among the objects that the
program registers. While a configuration stays in memory, the name in it remembers the function,
so that a layer can be made of another one's configuration.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

from penstock.layers.identifiers import CUSTOM_OBJECTS


class FunctionName(str):
    """The name of a function, which JSON writes; in memory the function is with it."""

    function: Any

    @classmethod
    def of(cls, function: Any) -> FunctionName:
        name = cls(getattr(function, "__name__", type(function).__name__))
        name.function = function
        return name


def kind_of(function: Any) -> str:
    """The kind of a callable: "lambda" for what `def` and `lambda` make, else "function"."""
    return "lambda" if isinstance(function, FunctionType) else "function"


def function_from_config(name: Any, custom_objects: dict[str, Any] | None) -> Any:
    """The function of a name: the one that it remembers, or one of the program's own objects."""
    if callable(name):
        return name
    if isinstance(name, FunctionName):
        return name.function
    if not isinstance(name, str) or name == "<lambda>":
        raise ValueError(
            "The model has a Lambda layer with an anonymous function, which Penstock does not "
            "read from a file (it would run code from there): define it with `def`, and pass it "
            "in custom_objects"
        )
    known = {**CUSTOM_OBJECTS, **(custom_objects or {})}
    if name not in known:
        raise ValueError(f"Unknown function in Lambda layer: {name}; pass it in custom_objects")
    return known[name]
