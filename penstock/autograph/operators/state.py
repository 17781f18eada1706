"""The variables that a branch or a loop's body of converted code changes, to be read and written.

Converted code keeps each branch and body in a function of its own, with `nonlocal` for what it
assigns. So a variable is a cell that these functions share, and stays Python's own in all that is
not a tensor's business: closures see its changes, and where it has no value Python says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import CellType
from typing import Any, Protocol

from penstock.autograph.operators.special_values import Undefined, is_undefined


class Symbol(Protocol):
    """Something that a program can assign to."""

    name: str

    def read(self) -> Any:
        """Its value, or an `Undefined`."""

    def write(self, value: Any) -> None:
        """Gives it a value; an `Undefined` takes it away."""


class Variable:
    """A local variable."""

    def __init__(self, name: str, cell: CellType):
        self.name = name
        self._cell = cell

    def read(self) -> Any:
        try:
            return self._cell.cell_contents
        except ValueError:  # the cell is empty
            return Undefined(self.name)

    def write(self, value: Any) -> None:
        if not is_undefined(value):
            self._cell.cell_contents = value
        elif not is_undefined(self.read()):
            del self._cell.cell_contents


class Item:
    """What a container holds under a key: `d[k]`; of a namespace, a global variable."""

    def __init__(self, name: str, container: Callable[[], Any], key: Callable[[], Any]):
        self.name = name
        self._container = container
        self._key = key

    def read(self) -> Any:
        try:
            return self._container()[self._key()]
        except (LookupError, TypeError, NameError, AttributeError):
            return Undefined(self.name)

    def write(self, value: Any) -> None:
        if not is_undefined(value):
            self._container()[self._key()] = value
        elif not is_undefined(self.read()):
            del self._container()[self._key()]


class Attribute:
    """An attribute of an object: `self.x`."""

    def __init__(self, name: str, owner: Callable[[], Any], attribute: str):
        self.name = name
        self._owner = owner
        self._attribute = attribute

    def read(self) -> Any:
        try:
            return getattr(self._owner(), self._attribute)
        except (LookupError, NameError, AttributeError):
            return Undefined(self.name)

    def write(self, value: Any) -> None:
        if not is_undefined(value):
            setattr(self._owner(), self._attribute, value)
        elif not is_undefined(self.read()):
            delattr(self._owner(), self._attribute)


class State:
    """Several symbols, whose values are one tuple."""

    def __init__(self, symbols: Iterable[Symbol]):
        self._symbols = tuple(symbols)
        self.names: tuple[str, ...] | None = tuple(each.name for each in self._symbols)

    def get(self) -> tuple[Any, ...]:
        return tuple(each.read() for each in self._symbols)

    def set(self, values: Sequence[Any]) -> None:
        for symbol, value in zip(self._symbols, values, strict=True):
            symbol.write(value)


class GivenState(State):
    """Values that functions take and return, and others that are read and written by functions."""

    def __init__(
        self,
        values: tuple[Any, ...],
        get_state: Callable[[], tuple[Any, ...]],
        set_state: Callable[[tuple[Any, ...]], Any],
        names: tuple[str, ...] | None,
    ):
        self.values = values
        self._get, self._set = get_state, set_state
        self.names = names

    def get(self) -> tuple[Any, ...]:
        return (*self.values, *self._get())

    def set(self, values: Sequence[Any]) -> None:
        count = len(self.values)
        self.values = tuple(values[:count])
        self._set(tuple(values[count:]))


def variables(names: Iterable[str], *functions: Callable[..., Any]) -> list[Symbol]:
    """The variables of these names that functions assign to."""
    cells: dict[str, CellType] = {}
    for function in functions:
        cells |= zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    namespace = functions[0].__globals__

    def symbol(name: str) -> Symbol:
        if name in cells:
            return Variable(name, cells[name])
        return Item(name, lambda: namespace, lambda: name)

    return [symbol(name) for name in names]
