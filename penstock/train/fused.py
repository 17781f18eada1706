"""Optimizers whose update is one op per variable: dense or sparse, by reference or by handle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.ir.composite import IndexedSlices
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.resource_variable import ResourceVariable
from penstock.train.optimizer import Optimizer


class Kernels(NamedTuple):
    """The op types of one update rule. The sparse ones take the indices after the gradient."""

    dense: OpSpec
    sparse: OpSpec
    resource_dense: OpSpec
    resource_sparse: OpSpec


class FusedOptimizer(Optimizer):
    """Sends all four hooks to `_fused_update(var, gradient)`.

    `gradient` are the inputs that hold it: the gradient alone, or its rows and their indices.
    """

    def _fused_update(self, var: Any, gradient: Sequence[Tensor]) -> Operation:
        raise NotImplementedError

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._fused_update(var, [grad])

    def _resource_apply_dense(self, grad: Tensor, handle: Any) -> Any:
        return self._fused_update(handle, [grad])

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._fused_update(var, [grad.values, grad.indices])

    def _resource_apply_sparse(self, grad: Tensor, handle: Any, indices: Tensor) -> Any:
        return self._fused_update(handle, [grad, indices])


def choose(kernels: Kernels, var: Any, gradient: Sequence[Tensor]) -> OpSpec:
    """The op type for this kind of variable and of gradient."""
    sparse = len(gradient) == 2
    if isinstance(var, ResourceVariable):
        return kernels.resource_sparse if sparse else kernels.resource_dense
    return kernels.sparse if sparse else kernels.dense


def apply(op_type: OpSpec, state: Sequence[Any], inputs: Sequence[Any], **attrs: Any) -> Operation:
    """One update node: `state` are the variables it changes, the trained one first."""
    places = [v.handle if isinstance(v, ResourceVariable) else v for v in state]
    result = op_type(*places, *inputs, **attrs)
    return result.op if isinstance(result, Tensor) else result


def first_value(var: Any) -> Any:
    """What a slot of unknown shape is initialized like: `var`, even where it has no value yet.

    The initial values of reference variables are rebuilt anyway, so that they can read others.
    """
    return var.initialized_value() if isinstance(var, ResourceVariable) else var


def cast_for(var: Any, *values: Any) -> list[Any]:
    """Hyper-parameters in the type of `var`; a variable of that type stays one, to be read late."""
    dtype = var.dtype.base_dtype
    return [
        value
        if isinstance(value, ResourceVariable) and value.dtype is dtype
        else cast(value, dtype)
        for value in values
    ]
