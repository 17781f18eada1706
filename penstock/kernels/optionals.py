"""The values of optionals: what a dataset may have given, or a branch that may have run."""

from __future__ import annotations

from penstock.kernels import variants
from penstock.kernels.sparse_rows import invalid


class OptionalValue:
    """An element, or none."""

    __slots__ = ("element",)
    shape = ()  # of the tensor whose value it is

    def __init__(self, element=None):
        self.element = element

    def zeros_like(self):
        return OptionalValue(self.element and tuple(map(variants.zeros_like, self.element)))

    def added(self, other):
        if self.element is None or other.element is None:
            if self.element is not other.element:
                raise invalid("Cannot add optionals of which only one has a value.")
            return self
        pairs = zip(self.element, other.element, strict=True)
        return OptionalValue(tuple(variants.added(a, b) for a, b in pairs))
