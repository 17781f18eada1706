"""Adagrad: accumulator += gradient²; var -= learning_rate * gradient / √accumulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.dtypes import DType
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.casts import cast
from penstock.ops.filling import fill
from penstock.ops.initializers import constant_initializer
from penstock.ops.shaping import shape
from penstock.ops.training import (
    ApplyAdagrad,
    ResourceApplyAdagrad,
    ResourceSparseApplyAdagrad,
    SparseApplyAdagrad,
)
from penstock.train.fused import Kernels, apply, cast_for, choose, first_value, fused
from penstock.train.optimizer import Optimizer, hyperparameter

_KERNELS = Kernels(
    ApplyAdagrad, SparseApplyAdagrad, ResourceApplyAdagrad, ResourceSparseApplyAdagrad
)


@fused
class AdagradOptimizer(Optimizer):
    """A rate per weight that falls with the sum of its squared gradients."""

    def __init__(
        self,
        learning_rate: Any,
        initial_accumulator_value: float = 0.1,
        use_locking: bool = False,
        name: str = "Adagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial_accumulator_value = initial_accumulator_value
        self._learning_rate_tensor: Any = None

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        for var in var_list:
            dtype = var.dtype.base_dtype
            if var.get_shape().is_fully_defined():
                initializer: Any = constant_initializer(
                    self._initial_accumulator_value, dtype=dtype
                )
            else:
                initializer = self._init_constant_op(var, dtype)
            self._get_or_make_slot_with_initializer(
                var, initializer, var.get_shape(), dtype, "accumulator", self._name
            )

    def _init_constant_op(self, v: Any, dtype: DType) -> Any:
        """An initializer for a variable whose shape is known only when the step runs."""

        def initializer() -> Tensor:
            return cast(fill(shape(first_value(v)), self._initial_accumulator_value), dtype)

        return initializer

    def _prepare(self) -> None:
        self._learning_rate_tensor = hyperparameter(self._learning_rate, "learning_rate")

    def _fused_update(self, var: Any, gradient: Sequence[Tensor]) -> Operation:
        rate = cast_for(var, self._learning_rate_tensor)
        return apply(
            choose(_KERNELS, var, gradient),
            [var, self.get_slot(var, "accumulator")],
            [*rate, *gradient],
            use_locking=self._use_locking,
        )
