"""Objects to and from what JSON can hold, and names that a program registers for it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.layers.identifiers import CUSTOM_OBJECTS

__all__ = [
    "CustomObjectScope",
    "custom_object_scope",
    "deserialize_keras_object",
    "get_custom_objects",
    "serialize_keras_object",
]


class CustomObjectScope:
    """A `with` block in which names stand for a program's own classes and functions."""

    def __init__(self, *args: Any):
        self.custom_objects = args
        self._outer: dict[str, Any] = {}

    def __enter__(self) -> CustomObjectScope:
        self._outer = dict(CUSTOM_OBJECTS)
        for objects in self.custom_objects:
            CUSTOM_OBJECTS.update(objects or {})
        return self

    def __exit__(self, *args: object) -> None:
        CUSTOM_OBJECTS.clear()
        CUSTOM_OBJECTS.update(self._outer)


def custom_object_scope(*args: Any) -> CustomObjectScope:
    """A `with` block in which names stand for a program's own classes and functions."""
    return CustomObjectScope(*args)


def get_custom_objects() -> dict[str, Any]:
    """The names that stand for a program's own classes and functions; add to it."""
    return CUSTOM_OBJECTS


@contextmanager
def scope_of(custom_objects: dict[str, Any] | None) -> Iterator[None]:
    """A scope for an argument `custom_objects`, which may be None."""
    with CustomObjectScope(custom_objects):
        yield


def serialize_keras_object(instance: Any) -> Any:
    """Class name and configuration of an object, or the name of a function."""
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        return {"class_name": type(instance).__name__, "config": instance.get_config()}
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError("Cannot serialize", instance)


def deserialize_keras_object(
    identifier: Any,
    module_objects: dict[str, Any] | None = None,
    custom_objects: dict[str, Any] | None = None,
    printable_module_name: str = "object",
) -> Any:
    """The object or function that `serialize_keras_object` described."""
    if identifier is None:
        return None
    known = {**(module_objects or {}), **CUSTOM_OBJECTS, **(custom_objects or {})}
    if isinstance(identifier, dict):
        made, config = class_and_config_for_serialized_keras_object(
            identifier, module_objects, custom_objects, printable_module_name
        )
        return _instance(made, config, custom_objects)
    if isinstance(identifier, str):
        if known.get(identifier) is None:
            raise ValueError(f"Unknown {printable_module_name}:{identifier}")
        found = known[identifier]
        return found() if inspect.isclass(found) else found
    if inspect.isfunction(identifier):
        return identifier
    raise ValueError(f"Could not interpret serialized {printable_module_name}: {identifier}")


def serialize_keras_class_and_config(cls_name: str, cls_config: Any) -> dict[str, Any]:
    """A class's name and configuration, as models' files have them."""
    return {"class_name": cls_name, "config": cls_config}


def class_and_config_for_serialized_keras_object(
    config: Any,
    module_objects: dict[str, Any] | None = None,
    custom_objects: dict[str, Any] | None = None,
    printable_module_name: str = "object",
) -> tuple[Any, Any]:
    """The class that a configuration names, and the arguments in it."""
    if not isinstance(config, dict) or not {"class_name", "config"} <= config.keys():
        raise ValueError(f"Improper config format: {config}")
    known = {**(module_objects or {}), **CUSTOM_OBJECTS, **(custom_objects or {})}
    name = config["class_name"]
    if known.get(name) is None:
        raise ValueError(f"Unknown {printable_module_name}: {name}")
    return known[name], config["config"]


def _instance(made: Any, config: Any, custom_objects: Any) -> Any:
    if not hasattr(made, "from_config"):
        with CustomObjectScope(custom_objects):
            return made(**config)
    if "custom_objects" in inspect.signature(made.from_config).parameters:
        everything = {**CUSTOM_OBJECTS, **(custom_objects or {})}
        return made.from_config(config, custom_objects=everything)
    with CustomObjectScope(custom_objects):
        return made.from_config(config)
