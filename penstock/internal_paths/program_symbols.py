"""`tensorflow.python.autograph.operators.symbols`: what a program can name, with its value."""

from __future__ import annotations

from typing import Any

from penstock.autograph.operators.special_values import Undefined, is_undefined


class Symbol:
    """Something that a program can name."""

    def __init__(self, name: str):
        self.name = name

    def maybe_compute_value(self) -> Any:
        """Its value, or an `Undefined`."""
        raise NotImplementedError


class ValueSymbol(Symbol):
    """A variable or a literal."""

    def __init__(self, name: str, value: Any):
        super().__init__(name)
        self.value = value

    def maybe_compute_value(self) -> Any:
        return self.value


class AttributeAccessSymbol(Symbol):
    """`a.b`."""

    def __init__(self, parent_symbol: Symbol, attr_name: str):
        super().__init__(f"{parent_symbol.name}.{attr_name}")
        self.parent_symbol = parent_symbol
        self.attr_name = attr_name

    def maybe_compute_value(self) -> Any:
        owner = self.parent_symbol.maybe_compute_value()
        value = None if is_undefined(owner) else getattr(owner, self.attr_name, None)
        return Undefined(self.name) if value is None else value


class SubscriptSymbol(Symbol):
    """`a[b]`."""

    def __init__(self, parent_symbol: Symbol, index_symbol: Symbol):
        super().__init__(f"{parent_symbol.name}[{index_symbol.name}]")
        self.parent_symbol = parent_symbol
        self.index_symbol = index_symbol

    def maybe_compute_value(self) -> Any:
        container = self.parent_symbol.maybe_compute_value()
        index = self.index_symbol.maybe_compute_value()
        if is_undefined(container) or is_undefined(index):
            return Undefined(self.name)
        try:
            return container[index]
        except (LookupError, TypeError):
            return Undefined(self.name)
