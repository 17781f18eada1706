"""Functions of `Lambda` layers in a model's configuration.

A file never brings code along: a function is found again by its name among the objects that the
program registers. Anonymous functions are therefore written by position only, and refused when
they are read.
"""

from __future__ import annotations

from typing import Any

from penstock.layers.identifiers import CUSTOM_OBJECTS


def function_in_config(function: Any) -> tuple[str, str]:
    """The kind of a function ("lambda" or "function") and its name."""
    name = getattr(function, "__name__", type(function).__name__)
    return ("lambda" if name == "<lambda>" else "function"), name


def function_from_config(kind: str, name: Any, custom_objects: dict[str, Any] | None) -> Any:
    """The function of a name, from the program's own objects."""
    if callable(name):
        return name
    if kind == "lambda" or not isinstance(name, str):
        raise ValueError(
            "The model has a Lambda layer with an anonymous function, which Penstock does not "
            "read from a file (it would run code from there): define it with `def`, and pass it "
            "in custom_objects"
        )
    known = {**CUSTOM_OBJECTS, **(custom_objects or {})}
    if name not in known:
        raise ValueError(f"Unknown function in Lambda layer: {name}; pass it in custom_objects")
    return known[name]
