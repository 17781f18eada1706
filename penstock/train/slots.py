"""Slots: variables that accompany another one, such as an optimizer's momentum.

A slot of variable `w` is named `w/<name>`, lies on `w`'s device and is not trained. Where `w` is a
part of a partitioned variable, the slot is saved as the same part of a whole of its own.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from penstock import dtypes
from penstock.ir.tensor import Tensor
from penstock.ops.filling import zeros
from penstock.ops.initializers import zeros_initializer
from penstock.ops.resource_variable import ResourceVariable
from penstock.ops.shaping import shape as shape_of
from penstock.ops.variable_scope import get_variable, get_variable_scope, variable_scope
from penstock.ops.variables import Variable
from penstock.shapes import TensorShape
from penstock.train import replicas


def create_slot(
    primary: Variable | Tensor, val: Tensor, name: str, colocate_with_primary: bool = True
) -> Variable:
    """A slot of `primary` with the initial value `val`."""
    validate_shape = val.get_shape().is_fully_defined()
    return _create(primary, name, colocate_with_primary, val, None, None, validate_shape)


def create_slot_with_initializer(
    primary: Variable | Tensor,
    initializer: Any,
    shape: TensorShape,
    dtype: Any,
    name: str,
    colocate_with_primary: bool = True,
) -> Variable:
    """A slot of `primary` with the value that `initializer` gives for a shape and type."""
    validate_shape = shape.is_fully_defined()
    known = shape if callable(initializer) else None  # a tensor has its own
    return _create(primary, name, colocate_with_primary, initializer, known, dtype, validate_shape)


def create_zeros_slot(
    primary: Variable | Tensor, name: str, dtype: Any = None, colocate_with_primary: bool = True
) -> Variable:
    """A slot of `primary` with zeros of its shape, and of its type if `dtype` is None."""
    wanted = dtypes.as_dtype(primary.dtype if dtype is None else dtype).base_dtype
    shape = primary.get_shape()
    if shape.is_fully_defined():
        return create_slot_with_initializer(
            primary, zeros_initializer(), shape, wanted, name, colocate_with_primary
        )
    like = primary.initialized_value() if isinstance(primary, Variable) else primary
    return create_slot(primary, zeros(shape_of(like), wanted), name, colocate_with_primary)


def _create(
    primary: Variable | Tensor,
    name: str,
    colocate_with_primary: bool,
    initializer: Any,
    shape: TensorShape | None,
    dtype: Any,
    validate_shape: bool,
) -> Variable:
    where: Any = nullcontext()
    if colocate_with_primary:
        where = replicas.variables_beside(primary)
    with variable_scope(None, f"{primary.name.partition(':')[0]}/{name}"), where:
        # A slot is as large as its variable and must not be cut again.
        scope = get_variable_scope()
        partitioner = scope.partitioner
        scope.set_partitioner(None)
        slot: Variable = get_variable(
            "",
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            trainable=False,
            use_resource=isinstance(primary, ResourceVariable),
            validate_shape=validate_shape,
        )
        scope.set_partitioner(partitioner)
    _describe_slice(primary, slot)
    return slot


def _describe_slice(primary: Variable | Tensor, slot: Variable) -> None:
    """Says which slice of which whole the slot of a part is."""
    info = primary._get_save_slice_info() if isinstance(primary, Variable) else None
    if info is None:
        return
    own_name = slot.op.name[len(primary.op.name) + 1 :]
    slot._set_save_slice_info(
        Variable.SaveSliceInfo(
            f"{info.full_name}/{own_name}", info.full_shape, info.var_offset, info.var_shape
        )
    )
