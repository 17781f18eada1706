"""`StubOutForTesting`: replaces attributes for the time of a test."""

from __future__ import annotations

import inspect
from typing import Any


class StubOutForTesting:
    """Replaces attributes of modules, classes and objects, and puts the old ones back.

    >>> with tf.test.StubOutForTesting() as stubs:
    ...     stubs.Set(os.path, "exists", lambda path: True)
    """

    def __init__(self) -> None:
        self.cache: list[tuple[Any, str, Any]] = []  # replaced by Set
        self.stubs: list[tuple[Any, str, Any]] = []  # replaced by SmartSet

    def __enter__(self) -> StubOutForTesting:
        return self

    def __exit__(self, error_type: Any, error: Any, trace: Any) -> None:
        self.CleanUp()

    def __del__(self) -> None:
        self.CleanUp()

    def Set(self, parent: Any, child_name: str, new_child: Any) -> None:
        """Replaces `parent.child_name`."""
        self.cache.append((parent, child_name, _current(parent, child_name)))
        setattr(parent, child_name, new_child)

    def SmartSet(self, obj: Any, attr_name: str, new_attr: Any) -> None:
        """As `Set`, but where the attribute of an object or class is defined, perhaps a base."""
        owner = _owner(obj, attr_name)
        self.stubs.append((owner, attr_name, _current(owner, attr_name)))
        setattr(owner, attr_name, new_attr)

    def UnsetAll(self) -> None:
        """Undoes every `Set`."""
        _restore(self.cache)

    def SmartUnsetAll(self) -> None:
        """Undoes every `SmartSet`."""
        _restore(self.stubs)

    def CleanUp(self) -> None:
        """Undoes everything."""
        self.SmartUnsetAll()
        self.UnsetAll()


def _current(owner: Any, name: str) -> Any:
    """An attribute as it must be set again: with its `staticmethod` or `classmethod` around it."""
    found = getattr(owner, name)
    stored = vars(owner).get(name)
    return stored if isinstance(stored, (staticmethod, classmethod)) else found


def _owner(obj: Any, name: str) -> Any:
    if inspect.ismodule(obj) or (not inspect.isclass(obj) and name in vars(obj)):
        return obj
    for cls in inspect.getmro(obj if inspect.isclass(obj) else type(obj)):
        if name in vars(cls):
            return cls
    raise AttributeError("Attribute not found.")


def _restore(replaced: list[tuple[Any, str, Any]]) -> None:
    while replaced:
        setattr(*replaced.pop())
