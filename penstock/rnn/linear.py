"""A linear map of several inputs side by side, with variables of the current scope."""

from __future__ import annotations

from typing import Any

from penstock.nest import is_nested
from penstock.ops.activations import bias_add
from penstock.ops.initializers import constant_initializer
from penstock.ops.joining import concat
from penstock.ops.matmul import matmul
from penstock.ops.variable_scope import get_variable, get_variable_scope, variable_scope

__all__ = ["Linear", "linear"]


class Linear:
    """`W [args] + b`; the variables `kernel` and `bias` are made at once, for inputs like `args`.

    Args:
      args: A tensor [batch, depth] or a list of them.
      output_size: The number of columns of the result.
      build_bias: Whether there is a bias.
      bias_initializer, kernel_initializer: By default zeros, and what the scope says.
    """

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ):
        if args is None or (is_nested(args) and not args):
            raise ValueError("`args` must be specified")
        self._is_single = not is_nested(args)
        tensors = [args] if self._is_single else list(args)
        dtype = tensors[0].dtype
        depth = _total_depth(tensors)
        self._bias = None
        with variable_scope(get_variable_scope()) as outer:
            self._kernel = get_variable(
                "kernel", [depth, output_size], dtype=dtype, initializer=kernel_initializer
            )
            if build_bias:
                with variable_scope(outer) as inner:
                    inner.set_partitioner(None)
                    if bias_initializer is None:
                        bias_initializer = constant_initializer(0.0, dtype=dtype)
                    self._bias = get_variable(
                        "bias", [output_size], dtype=dtype, initializer=bias_initializer
                    )

    def __call__(self, args: Any) -> Any:
        """The map of inputs like those that it was made for."""
        tensors = [args] if self._is_single else list(args)
        joined = tensors[0] if len(tensors) == 1 else concat(tensors, 1)
        result = matmul(joined, self._kernel)
        return result if self._bias is None else bias_add(result, self._bias)


def _total_depth(tensors: list[Any]) -> int:
    shapes = [tensor.get_shape() for tensor in tensors]
    total = 0
    for shape in shapes:
        if shape.ndims != 2:
            raise ValueError(f"linear is expecting 2D arguments: {shapes}")
        depth = shape.dims[1].value
        if depth is None:
            raise ValueError(
                f"linear expects shape[1] to be provided for shape {shape}, but saw {depth}"
            )
        total += depth
    return total


def linear(
    args: Any,
    output_size: int,
    bias: bool,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
) -> Any:
    """`W [args] + b` with the variables `kernel` and `bias` of the current scope."""
    return Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)
