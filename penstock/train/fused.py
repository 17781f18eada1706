"""Optimizers whose update of a variable is one op, in four forms: dense or sparse, ref or resource."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.ir.composite import IndexedSlices
from penstock.ir.operation import Operation
from penstock.ir.registry import OpSpec
from penstock.ir.tensor import Tensor
from penstock.ops.variables import is_resource_variable
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
    if is_resource_variable(var):
        return kernels.resource_sparse if sparse else kernels.resource_dense
    return kernels.sparse if sparse else kernels.dense


def apply(op_type: OpSpec, state: Sequence[Any], inputs: Sequence[Any], **attrs: Any) -> Operation:
    """One update node: `state` are the variables it changes, the trained one first."""
    places = [v.handle if is_resource_variable(v) else v for v in state]
    result = op_type(*places, *inputs, **attrs)
    return result.op if isinstance(result, Tensor) else result


def cast_for(var: Any, *values: Any) -> list[Any]:
    """Hyper-parameters in the type of `var`."""
    from penstock.ops.math import cast

    return [cast(value, var.dtype.base_dtype) for value in values]
