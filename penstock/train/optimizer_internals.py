"""What optimizers outside of Penstock know of the inside of `tf.train.Optimizer`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir.tensor import Tensor
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.variables import Variable
from penstock.train.optimizer import _key as _var_key
from penstock.train.optimizer import apply_update
from penstock.train.optimizer import sum_duplicates as _deduplicate_indexed_slices

__all__ = ["_deduplicate_indexed_slices", "_get_processor", "_var_key", "get_filtered_grad_fn"]


class _OptimizableVariable:
    """One kind of what an optimizer can be asked to train."""

    def __init__(self, variable: Any):
        self._v = variable

    def target(self) -> Any:
        """What to differentiate by."""
        return self._v

    def update_op(self, optimizer: Any, gradient: Any) -> Any:
        """The operation by which an optimizer updates it."""
        return apply_update(optimizer, gradient, self._v)


class _RefVariableProcessor(_OptimizableVariable):
    def target(self) -> Any:
        return self._v._ref()

    def __str__(self) -> str:
        return f"<_RefVariableProcessor({self._v})>"


class _DenseResourceVariableProcessor(_OptimizableVariable):
    pass


class _TensorProcessor(_OptimizableVariable):
    """A tensor: it has gradients, but can't be updated."""


def _get_processor(v: Any) -> _OptimizableVariable:
    """How an optimizer treats a variable or tensor."""
    if isinstance(v, ResourceVariable):
        return _DenseResourceVariableProcessor(v)
    if isinstance(v, Variable):
        return _RefVariableProcessor(v)
    if isinstance(v, Tensor):
        return _TensorProcessor(v)
    raise NotImplementedError("Trying to optimize unsupported type ", v)


def get_filtered_grad_fn(grad_fn: Callable[..., Any]) -> Callable[..., list[Any]]:
    """A function of gradients and variables without the pairs that have no gradient."""

    def filtered(*args: Any, **kwargs: Any) -> list[Any]:
        return [pair for pair in grad_fn(*args, **kwargs) if pair[0] is not None]

    return filtered
