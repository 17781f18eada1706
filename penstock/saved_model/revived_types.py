"""Types of objects that a SavedModel names, so that a reader can make such objects again."""

from __future__ import annotations

from collections.abc import Callable, KeysView, Sequence
from typing import Any

from penstock import proto


class VersionedTypeRegistration:
    """How objects of one version of a type are made.

    Args:
      object_factory: makes an object from a SavedUserObject message.
      version: of the code that writes.
      min_producer_version: the oldest writer whose objects this can make.
      min_consumer_version: the oldest reader that can make these objects.
      bad_consumers: readers that can't, though they are newer.
      setter: sets an attribute of a made object.
    """

    def __init__(
        self,
        object_factory: Callable[[Any], Any],
        version: int,
        min_producer_version: int,
        min_consumer_version: int,
        bad_consumers: Sequence[int] | None = None,
        setter: Callable[..., None] = setattr,
    ):
        self.setter = setter
        self.identifier: str | None = None
        self.version = version
        self._object_factory = object_factory
        self._min_producer_version = min_producer_version
        self._min_consumer_version = min_consumer_version
        self._bad_consumers = list(bad_consumers or ())

    def to_proto(self) -> Any:
        """The message that names the type."""
        version = proto.VersionDef(
            producer=self.version,
            min_consumer=self._min_consumer_version,
            bad_consumers=self._bad_consumers,
        )
        return proto.SavedUserObject(identifier=self.identifier, version=version)

    def from_proto(self, proto: Any) -> Any:
        """The object that a message describes."""
        return self._object_factory(proto)

    def should_load(self, proto: Any) -> bool:
        """Whether this makes what a message describes."""
        return (
            proto.identifier == self.identifier
            and self.version >= proto.version.min_consumer
            and proto.version.producer >= self._min_producer_version
            and self.version not in proto.version.bad_consumers
        )


_types: dict[str, tuple[Callable[[Any], bool], list[VersionedTypeRegistration]]] = {}


def register_revived_type(
    identifier: str,
    predicate: Callable[[Any], bool],
    versions: list[VersionedTypeRegistration],
) -> None:
    """Registers a type; the newest version writes.

    Args:
      predicate: whether an object is of the type.
    """
    if not versions:
        raise AssertionError("Need at least one version of a registered type.")
    if identifier in _types:
        raise AssertionError(f"Duplicate registrations for type {identifier}")
    numbers = [registration.version for registration in versions]
    for number in numbers:
        if numbers.count(number) > 1:
            raise AssertionError(
                f"Got multiple registrations with version {number} for type {identifier}"
            )
    for registration in versions:
        registration.identifier = identifier
    newest_first = sorted(versions, key=lambda registration: -registration.version)
    _types[identifier] = (predicate, newest_first)


def serialize(obj: Any) -> Any:
    """The message of an object's type; None for a type that isn't registered."""
    for predicate, versions in _types.values():
        if predicate(obj):
            return versions[0].to_proto()
    return None


def deserialize(proto: Any) -> tuple[Any, Callable[..., None]] | None:
    """An object of the type that a message names, and its setter; None if no version makes it."""
    for registration in _types.get(proto.identifier, (None, []))[1]:
        if registration.should_load(proto):
            return registration.from_proto(proto), registration.setter
    return None


def registered_identifiers() -> KeysView[str]:
    return _types.keys()
