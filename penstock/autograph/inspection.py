"""Questions about functions, methods and classes of a program: `autograph.pyct.inspect_utils`."""

from __future__ import annotations
import __future__

import builtins
import inspect
import types
from collections.abc import Iterator, Mapping
from typing import Any

#: Builtins that AutoGraph has a version of for tensors, by the name that it knows them by.
SPECIAL_BUILTINS: dict[str, Any] = {
    name: getattr(builtins, name)
    for name in "dict enumerate float int len list print range tuple type zip".split()
}


def islambda(f: Any) -> bool:
    """Whether something is a lambda function, under whatever name."""
    return inspect.isfunction(f) and "<lambda>" in (f.__name__, f.__code__.co_name)


def isnamedtuple(f: Any) -> bool:
    """Whether something is a class of named tuples, or looks like one."""
    return inspect.isclass(f) and issubclass(f, tuple) and hasattr(f, "_fields")


def isbuiltin(f: Any) -> bool:
    """Whether something is a function or a class that Python brings along."""
    return inspect.isbuiltin(f) or any(f is known for known in vars(builtins).values())


def getimmediatesource(obj: Any) -> str:
    """The source of the function itself, whatever it wraps."""
    lines, start = inspect.findsource(obj)
    return "".join(inspect.getblock(lines[start:]))


def getnamespace(f: Any) -> dict[str, Any]:
    """What the names in a function stand for: those of its module, and what it closes over."""
    names = dict(f.__globals__)
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return names


def getqualifiedname(
    namespace: Mapping[str, Any],
    object_: Any,
    max_depth: int = 5,
    visited: set[int] | None = None,
) -> str | None:
    """The dotted name by which an object is reached from a namespace, if there is one.

    Args:
      max_depth: through how many modules to look.
      visited: the modules that need not be looked into again.
    """
    seen = set() if visited is None else visited
    direct = next((name for name, value in namespace.items() if value is object_), None)
    if direct is not None:
        return direct
    home = inspect.getmodule(object_)
    if home is not None and home is not object_:
        above = getqualifiedname(namespace, home, max_depth - 1, set(seen))
        name = getqualifiedname(home.__dict__, object_, 0, set(seen))
        if above is not None and name is not None:
            return f"{above}.{name}"
    if max_depth <= 0:
        return None
    for name, module in _new_modules(namespace, seen):
        below = getqualifiedname(module.__dict__, object_, max_depth - 1, seen)
        if below is not None:
            return f"{name}.{below}"
    return None


def _new_modules(
    namespace: Mapping[str, Any], seen: set[int]
) -> Iterator[tuple[str, types.ModuleType]]:
    for name, value in list(namespace.items()):
        if isinstance(value, types.ModuleType) and id(value) not in seen:
            seen.add(id(value))
            yield name, value


def _function_of(method: Any) -> Any:
    return getattr(method, "__func__", method)


def getdefiningclass(m: Any, owner_class: type) -> type:
    """The class among a class and its bases that defines a method."""
    for base in reversed(inspect.getmro(owner_class)):
        if _function_of(getattr(base, m.__name__, None)) is _function_of(m):
            return base
    return owner_class


def getmethodself(m: Any) -> Any:
    """What a method is bound to; None for other functions."""
    return getattr(m, "__self__", None)


def getmethodclass(m: Any) -> type | None:
    """The class of a method, or of a callable object; None for other functions.

    An unbound method does not tell: it is looked for in the classes that the caller can name.
    """
    if not hasattr(m, "__name__") and callable(m):
        return type(m)
    receiver = getmethodself(m)
    if receiver is not None and not isinstance(receiver, types.ModuleType):
        return receiver if inspect.isclass(receiver) else type(receiver)
    frame = inspect.currentframe()
    caller = None if frame is None else frame.f_back
    if caller is None:
        return None
    known = [*caller.f_locals.values(), *m.__globals__.values()]
    owners = {id(c): c for c in known if inspect.isclass(c) and _has_method(c, m)}
    if len(owners) > 1:
        defining = {getdefiningclass(m, owner) for owner in owners.values()}
        if len(defining) > 1:
            raise ValueError(f"Found too many owners of {m}: {list(owners.values())}")
        return defining.pop()
    return next(iter(owners.values()), None)


def _has_method(owner: type, m: Any) -> bool:
    return _function_of(inspect.getattr_static(owner, m.__name__, None)) is m


def getfutureimports(entity: Any) -> tuple[str, ...]:
    """The features of `__future__` that the module of a function has imported."""
    if not inspect.isfunction(entity) and not inspect.ismethod(entity):
        return ()
    found = _function_of(entity).__globals__.items()
    return tuple(sorted(name for name, value in found if isinstance(value, __future__._Feature)))
