"""`tensorflow.python.util.object_identity`: collections of objects by identity."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import Any


class _ObjectIdentityWrapper:
    """Equal to another where both are around the same object."""

    __slots__ = ("__weakref__", "_wrapped")

    def __init__(self, wrapped: Any):
        self._wrapped = wrapped

    @property
    def unwrapped(self) -> Any:
        return self._wrapped

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _ObjectIdentityWrapper):
            raise TypeError("Cannot compare wrapped object with unwrapped object")
        return self._wrapped is other._wrapped

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return id(self._wrapped)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} wrapping {self._wrapped!r}>"


class _WeakObjectIdentityWrapper(_ObjectIdentityWrapper):
    """Doesn't keep its object alive; an object has one plain weak reference, which is compared."""

    __slots__ = ()

    def __init__(self, wrapped: Any):
        super().__init__(weakref.ref(wrapped))

    @property
    def unwrapped(self) -> Any:
        return self._wrapped()


class Reference(_ObjectIdentityWrapper):
    """A hashable stand-in for an object, equal to others of the same object."""

    __slots__ = ()
    unwrapped = property()

    def deref(self) -> Any:
        """The object."""
        return self._wrapped


class ObjectIdentityDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are equal where they are identical."""

    def __init__(self) -> None:
        self._storage: dict[_ObjectIdentityWrapper, Any] = {}

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _ObjectIdentityWrapper(key)

    def __getitem__(self, key: Any) -> Any:
        return self._storage[self._wrap_key(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._storage[self._wrap_key(key)] = value

    def __delitem__(self, key: Any) -> None:
        del self._storage[self._wrap_key(key)]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return (key.unwrapped for key in self._storage)

    def __repr__(self) -> str:
        return f"ObjectIdentityDictionary({self._storage!r})"


class ObjectIdentityWeakKeyDictionary(ObjectIdentityDictionary):
    """One that forgets the keys that nothing else keeps."""

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _WeakObjectIdentityWrapper(key)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Any]:
        for key in list(self._storage):
            alive = key.unwrapped
            if alive is None:
                del self._storage[key]
            else:
                yield alive


class ObjectIdentitySet(MutableSet[Any]):
    """A set of objects by identity."""

    def __init__(self, values: Iterable[Any] = ()):
        self._storage = {self._wrap_key(value) for value in list(values)}

    @staticmethod
    def _from_storage(storage: set[_ObjectIdentityWrapper]) -> ObjectIdentitySet:
        result = ObjectIdentitySet()
        result._storage = storage
        return result

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _ObjectIdentityWrapper(key)

    def __contains__(self, key: object) -> bool:
        return self._wrap_key(key) in self._storage

    def add(self, key: Any) -> None:
        self._storage.add(self._wrap_key(key))

    def discard(self, key: Any) -> None:
        self._storage.discard(self._wrap_key(key))

    def update(self, items: Iterable[Any]) -> None:
        self._storage.update(self._wrap_key(item) for item in items)

    def intersection(self, items: Iterable[Any]) -> set[_ObjectIdentityWrapper]:
        """The wrappers of what is in both."""
        return self._storage.intersection([self._wrap_key(item) for item in items])

    def difference(self, items: Iterable[Any]) -> ObjectIdentitySet:
        """What is here and not among the items."""
        rest = self._storage.difference([self._wrap_key(item) for item in items])
        return ObjectIdentitySet._from_storage(rest)

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[Any]:
        return (key.unwrapped for key in list(self._storage))


class ObjectIdentityWeakSet(ObjectIdentitySet):
    """One that forgets what nothing else keeps."""

    def _wrap_key(self, key: Any) -> _ObjectIdentityWrapper:
        return _WeakObjectIdentityWrapper(key)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Any]:
        for key in list(self._storage):
            alive = key.unwrapped
            if alive is None:
                self._storage.discard(key)
            else:
                yield alive
