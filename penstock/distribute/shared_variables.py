"""Variables that the replicas of one graph share: the first makes them, the others find them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_NUMBER_OF_SCOPE = re.compile(r"_\d(/|$)")


def _canonicalize_variable_name(name: str | None) -> str:
    """A variable's name without the numbers that make names unique."""
    return _NUMBER_OF_SCOPE.sub(r"\1", name or "Variable")


def make_fn(shared_variable_store: dict[str, list[Any]], device_id: int) -> Callable[..., Any]:
    """A variable creator for one device, for `tf.variable_creator_scope`.

    Args:
      shared_variable_store: the variables of the first device, by name.
      device_id: the number of the device; that of the first one makes variables.
    """
    asked_for: dict[str, int] = {}

    def made(next_creator: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        variable = next_creator(*args, **kwargs)
        shared_variable_store.setdefault(
            _canonicalize_variable_name(kwargs.get("name")), []
        ).append(variable)
        return variable

    def found(next_creator: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        name = kwargs.get("name")
        number = asked_for.get(_canonicalize_variable_name(name), 0)
        variables = shared_variable_store.get(_canonicalize_variable_name(name), [])
        if number >= len(variables):
            raise RuntimeError(
                f"Tried to create variable {name} with mismatching name on device {device_id}"
            )
        asked_for[_canonicalize_variable_name(name)] = number + 1
        return variables[number]

    return made if device_id == 0 else found
