"""What Python's operators do to tensors: `x + 1`, `2 ** x`, `-x`, `x < y`, `a @ b` …

Each makes the nodes of the function behind it, in a scope of the operator's own name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.ir.composite import SparseTensor
from penstock.ir.convert import to_tensor
from penstock.ir.name_scope import name_scope
from penstock.ir.tensor import Tensor
from penstock.ops import binary, comparison, elementwise, matmul, sparse_arithmetic


def _install_binary(
    symbol: str, name: str, function: Callable[..., Any], *, converts: bool = True
) -> None:
    """Gives tensors an operator; `converts`: its other operand becomes a tensor beforehand.

    An operand that no tensor can be made of is left to its own class, if that has an answer.
    """
    mirrored = f"__r{symbol}__"

    def forward(x: Tensor, y: Any) -> Any:
        with name_scope(None, name, [x, y]) as scope:
            if converts and not isinstance(y, (Tensor, SparseTensor)):
                try:
                    y = to_tensor(y, None, "y", x.dtype.base_dtype)
                except (TypeError, ValueError):
                    if hasattr(type(y), mirrored):
                        return NotImplemented
                    raise
            return function(x, y, name=scope)

    def backward(y: Tensor, x: Any) -> Any:
        with name_scope(None, name, [x, y]) as scope:
            return function(to_tensor(x, y.dtype.base_dtype, "x"), y, name=scope)

    Tensor._override_operator(f"__{symbol}__", forward)
    Tensor._override_operator(mirrored, backward)


def _added(x: Tensor, y: Any, name: str) -> Any:
    """A sum, by the newer op that knows no strings, unlike `tf.add`."""
    spec = binary.Add if x.dtype.base_dtype is dtypes.string else binary.AddV2
    return spec(x, y, name=name)


def _multiplied(x: Tensor, y: Any, name: str) -> Any:
    """A product; that of a dense and a sparse tensor is sparse."""
    if isinstance(y, SparseTensor):
        return sparse_arithmetic.dense_times_sparse(x, y, name)
    return binary.multiply(x, y, name)


_install_binary("add", "add", _added)
_install_binary("sub", "sub", binary.subtract)
_install_binary("mul", "mul", _multiplied)
_install_binary("div", "div", binary.div)
_install_binary("truediv", "truediv", binary.truediv)
_install_binary("floordiv", "floordiv", binary.floordiv)
_install_binary("mod", "mod", binary.floormod)
_install_binary("pow", "pow", binary.pow)
_install_binary("matmul", "matmul", matmul.matmul)
_install_binary("and", "and", comparison.logical_and, converts=False)
_install_binary("or", "or", comparison.logical_or, converts=False)
_install_binary("xor", "xor", comparison.logical_xor, converts=False)

# Python mirrors comparisons itself: 1 < x calls x.__gt__(1).
Tensor._override_operator("__lt__", comparison.less)
Tensor._override_operator("__le__", comparison.less_equal)
Tensor._override_operator("__gt__", comparison.greater)
Tensor._override_operator("__ge__", comparison.greater_equal)

Tensor._override_operator("__neg__", elementwise.negative)
Tensor._override_operator("__abs__", elementwise.abs)
Tensor._override_operator("__invert__", comparison.logical_not)
