"""The resource manager of a device: named containers of named state.

A resource is found by (kind, container, name). It lives until its container is cleared, across
steps and, on a server, across sessions. The empty name stands for the default container, which is
called as the job of the device is.

On a server some state is a session's own, as in TensorFlow: that of queues, readers, tables and
iterators to which nobody gave a shared name, and what kernels remember from step to step (how far
a random sequence has come). Programs that know nothing of each other use the same names for those.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from penstock.state.collectives import Collectives

DEFAULT_CONTAINER = "localhost"

R = TypeVar("R")


_managers: WeakValueDictionary[int, ResourceManager] = WeakValueDictionary()


def managers() -> list[ResourceManager]:
    """All state of this process, but for the ways in which sessions see that of a server."""
    return list(_managers.values())


def manager_of(number: int) -> ResourceManager | None:
    """That of a number, if it is one of this process."""
    return _managers.get(number)


class ResourceManager:
    """All state of one device; safe to use from many steps at once.

    Attributes:
      collectives: where the collective ops of the devices that share this state meet.
      number: tells it from all others, those of other processes too.
      device: the first device that has this state.
    """

    def __init__(self, default_container: str = DEFAULT_CONTAINER) -> None:
        self._default = default_container
        self._lock = threading.RLock()
        self._containers: dict[str, dict[tuple[type, str], Any]] = {}
        self.collectives = Collectives()
        self.number = secrets.randbits(63)
        self.device = ""
        _managers[self.number] = self

    @property
    def own(self) -> ResourceManager:
        """The state of one session alone: of nodes that give theirs no name to share it by."""
        return self

    @property
    def default_container(self) -> str:
        """What the container is called that nodes mean which name none."""
        return self._default

    def get_or_create(self, kind: type[R], container: str, name: str, make: Callable[[], R]) -> R:
        """The resource of that kind and name, made by `make` where it doesn't exist yet."""
        with self._lock:
            entries = self._containers.setdefault(container or self._default, {})
            resource = entries.get((kind, name))
            if resource is None:
                resource = entries[kind, name] = make()
            return resource

    def find(self, kind: type[R], container: str, name: str) -> R | None:
        with self._lock:
            entries = self._containers.get(container or self._default, {})
            return entries.get((kind, name))

    def remove(self, kind: type, container: str, name: str) -> bool:
        """Forgets a resource; whether it was there."""
        with self._lock:
            entries = self._containers.get(container or self._default, {})
            return entries.pop((kind, name), None) is not None

    def place_of(self, resource: Any) -> tuple[str, str, str] | None:
        """The container of a resource and what it is known by there, if it is here."""
        with self._lock:
            for container, entries in self._containers.items():
                for (kind, name), value in entries.items():
                    if value is resource:
                        return container, name, kind.__name__
        return None

    def named(self, kind: str, container: str, name: str) -> Any:
        """The resource that is known by that, or None."""
        with self._lock:
            for (each, found), value in self._containers.get(container, {}).items():
                if found == name and each.__name__ == kind:
                    return value
        return None

    def of_device(self, device: str) -> None:
        """Says whose state it is."""
        self.device = self.device or device

    def disown(self, resource: Any) -> None:
        """Forgets a resource by what it is: from now on it lives as long as its handles."""
        with self._lock:
            for entries in self._containers.values():
                for key in [key for key, value in entries.items() if value is resource]:
                    del entries[key]

    def reset(self, containers: Iterable[str] = ()) -> None:
        """Drops the named containers; without names, the default one, as TensorFlow's servers."""
        self._drop(list(containers) or [self._default])

    def clear(self) -> None:
        """Drops all containers."""
        self._drop(list(self._containers))

    def _drop(self, containers: Iterable[str]) -> None:
        with self._lock:
            for container in containers:
                for resource in self._containers.pop(container, {}).values():
                    close = getattr(resource, "close", None)
                    if close is not None:
                        close()


class SessionResources(ResourceManager):
    """The state of a server as one of its sessions sees it.

    1. What is found by container and name is the server's.
    2. `own` is the session's alone, and ends with it.
    """

    def __init__(self, of_server: ResourceManager):
        super().__init__(of_server._default)
        self._lock = of_server._lock
        self._containers = of_server._containers
        self.collectives = of_server.collectives
        self._of_server = of_server
        del _managers[self.number]  # handles are of what the server keeps, or of `own`
        self._own = ResourceManager(of_server._default)

    @property
    def own(self) -> ResourceManager:
        return self._own

    def of_device(self, device: str) -> None:
        self._of_server.of_device(device)
        self._own.of_device(device)
