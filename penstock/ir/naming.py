"""Unique node names and scope names, as TensorFlow makes them."""

from __future__ import annotations

import itertools
import re

_OP_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_SCOPE_NAME = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


def check_op_name(name: str) -> None:
    if not _OP_NAME.match(name):
        raise ValueError(
            f"'{name}' is not a valid node name: it must match {_OP_NAME.pattern} "
            "(letters, digits, '.', '_', '-', '/', '\\', '>'; no leading '_')"
        )


def check_scope_name(name: str, *, nested: bool) -> None:
    """A root scope starts like a node name; a nested one may start with any allowed character."""
    pattern = _SCOPE_NAME if nested else _OP_NAME
    if not pattern.match(name):
        raise ValueError(f"'{name}' is not a valid scope name: it must match {pattern.pattern}")


def without_slash(scope: str) -> str:
    """`a/b/` names the scope itself; its nodes' prefix is `a/b`."""
    return scope[:-1] if scope.endswith("/") else scope


def without_scope(name: str, scope: str | None) -> str:
    """`name` relative to `scope`, for a graph that is exported from there.

    A control input's "^" and a colocation group's "loc:@" stay in front.
    """
    if not scope:
        return name
    return re.sub(rf"^(\^|loc:@)?{re.escape(without_slash(scope))}/+", r"\1", name)


def within_scope(name: str, scope: str | None) -> str:
    """`name` as a node's of a graph that was imported into `scope`."""
    if not scope:
        return name
    return re.sub(r"^(\^|loc:@)?", lambda match: f"{match[0]}{without_slash(scope)}/", name)


class UniqueNames:
    """Hands out each name once; names that differ only in case count as the same."""

    def __init__(self) -> None:
        self._next_suffix: dict[str, int] = {}

    def take(self, name: str, *, mark: bool = True) -> str:
        key = name.lower()
        taken = self._next_suffix
        suffix = taken.get(key)
        if suffix is None:
            if mark:
                taken[key] = 1
            return name
        if mark:
            taken[key] = suffix + 1
        candidate = f"{key}_{suffix}"
        while candidate in taken:
            suffix += 1
            candidate = f"{key}_{suffix}"
        if mark:
            taken[candidate] = 1
        return f"{name}_{suffix}"

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._next_suffix


_uids = itertools.count()


def uid() -> int:
    """A number that no other call in this process gets."""
    return next(_uids)
