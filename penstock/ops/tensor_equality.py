"""`tf.enable_tensor_equality`: `==` compares the values of eager tensors, not which they are.

It holds where operations run at once, and in the functions that are traced there; the tensors of a
plain graph are compared as ever. Penstock's own tables are keyed by tensors and find them by
identity in any mode, so that a comparison asks from where it comes.
"""

from __future__ import annotations

import sys
from typing import Any

from penstock.ir import defaults
from penstock.ir.tensor import Tensor
from penstock.ops.comparison import equal, not_equal
from penstock.ops.control import init_scope
from penstock.ops.variables import Variable

__all__ = ["disable_tensor_equality", "enable_tensor_equality"]

_COMPARISONS = ("__eq__", "__ne__", "__hash__")
_BY_IDENTITY = {
    kind: {name: getattr(kind, name) for name in _COMPARISONS} for kind in (Tensor, Variable)
}
_PACKAGE = __name__.partition(".")[0] + "."
_FOR_THE_PROGRAM = _PACKAGE + "autograph."  # makes the program's own calls


def enable_tensor_equality() -> None:
    """Lets `==` and `!=` compare values where operations run at once; tensors are no keys then."""
    Tensor._USE_EQUALITY = True
    for kind in _BY_IDENTITY:
        kind.__eq__ = _equal  # type: ignore[method-assign]
        kind.__ne__ = _not_equal  # type: ignore[method-assign]
        kind.__hash__ = _hash  # type: ignore[method-assign]


def disable_tensor_equality() -> None:
    """Lets `==` and `!=` tell whether two names are of one tensor."""
    Tensor._USE_EQUALITY = False
    for kind, methods in _BY_IDENTITY.items():
        for name, method in methods.items():
            setattr(kind, name, method)


def _equal(self: Any, other: Any) -> Any:
    return equal(self, other) if _compares_values(self) else self is other


def _not_equal(self: Any, other: Any) -> Any:
    return not_equal(self, other) if _compares_values(self) else self is not other


def _hash(self: Any) -> int:
    if _compares_values(self):
        kind = "Variable" if isinstance(self, Variable) else "Tensor"
        raise TypeError(
            f"{kind} is unhashable if Tensor equality is enabled. Instead, use "
            "tensor.experimental_ref() as the key."
        )
    return id(self)


def _compares_values(compared: Any) -> bool:
    asking = sys._getframe(2).f_globals.get("__name__", "")
    if asking.startswith(_PACKAGE) and not asking.startswith(_FOR_THE_PROGRAM):
        return False
    if isinstance(compared, Tensor):
        graph = compared._op.graph
        if not (graph.is_eager or graph.building_function):
            return False
    with init_scope():
        return defaults.executing_eagerly()
