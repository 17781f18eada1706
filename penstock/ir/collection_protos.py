"""How the members of a collection become messages in a MetaGraphDef, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class _Functions:
    proto_type: Any
    to_proto: Callable[..., Any] | None
    from_proto: Callable[..., Any] | None


_functions: dict[str, _Functions] = {}


def register_proto_function(
    collection_name: str,
    proto_type: Any = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """Registers how the members of a collection are exported and imported.

    Args:
      collection_name: the collection.
      proto_type: the class of the messages.
      to_proto: `to_proto(member, export_scope=None)` gives a message, or None to leave it out.
      from_proto: `from_proto(message, import_scope=None)` gives a member.
    """
    if to_proto and not callable(to_proto):
        raise TypeError("to_proto must be callable.")
    if from_proto and not callable(from_proto):
        raise TypeError("from_proto must be callable.")
    if collection_name in _functions:
        raise KeyError(f"Registering two proto_fns with name '{collection_name}'!")
    _functions[collection_name] = _Functions(proto_type, to_proto, from_proto)


def get_collection_proto_type(collection_name: str) -> Any:
    """The message class of a collection; None if none is registered."""
    found = _functions.get(collection_name)
    return None if found is None else found.proto_type


def get_to_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """What turns a member of a collection into a message; None if nothing is registered."""
    found = _functions.get(collection_name)
    return None if found is None else found.to_proto


def get_from_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """What turns a message into a member of a collection; None if nothing is registered."""
    found = _functions.get(collection_name)
    return None if found is None else found.from_proto
