"""Optimizers whose update is one op per variable: dense or sparse, by reference or by handle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

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


_Class = TypeVar("_Class", bound=type[Optimizer])


def fused(optimizer: _Class) -> _Class:
    """Sends the four hooks of an optimizer to its `_fused_update(var, gradient)`.

    `gradient` are the inputs that hold it: the gradient alone, or its rows and their indices. A
    decorator and no base class: libraries look for optimizers by their direct base.
    """
    hooks: dict[str, Callable[..., Any]] = {
        "_apply_dense": lambda self, grad, var: self._fused_update(var, [grad]),
        "_resource_apply_dense": lambda self, grad, handle: self._fused_update(handle, [grad]),
        "_apply_sparse": lambda self, grad, var: self._fused_update(
            var, [grad.values, grad.indices]
        ),
        "_resource_apply_sparse": lambda self, grad, handle, indices: self._fused_update(
            handle, [grad, indices]
        ),
    }
    for name, hook in hooks.items():
        setattr(optimizer, name, hook)
    return optimizer


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
