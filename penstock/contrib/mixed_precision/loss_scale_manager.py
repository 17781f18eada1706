"""Loss scale managers: what chooses the factor by which a loss is scaled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from penstock import dtypes
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops.conditionals import cond
from penstock.ops.control import group, no_op
from penstock.ops.elementwise import is_finite
from penstock.ops.math import maximum
from penstock.ops.variable_creation import create_variable
from penstock.ops.variable_updates import assign, assign_add

__all__ = ["ExponentialUpdateLossScaleManager", "FixedLossScaleManager", "LossScaleManager"]


class LossScaleManager(ABC):
    """Chooses the factor of the loss, and adapts it to what the gradients are like."""

    @abstractmethod
    def get_loss_scale(self) -> Any:
        """The factor: a scalar of type float32."""

    @abstractmethod
    def update_loss_scale(self, finite_grads: Tensor) -> Any:
        """The operation that adapts the factor; `finite_grads` says whether all are finite."""


class FixedLossScaleManager(LossScaleManager):
    """A factor that stays what it is: a number from 1 on."""

    def __init__(self, loss_scale: float):
        if loss_scale < 1:
            raise ValueError("loss scale must be at least 1.")
        self._loss_scale = convert_to_tensor(loss_scale, dtype=dtypes.float32)

    def get_loss_scale(self) -> Tensor:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Tensor) -> Any:
        return no_op()


class ExponentialUpdateLossScaleManager(LossScaleManager):
    """A factor that grows after good steps in a row, and falls when bad ones have added up.

    Args:
      init_loss_scale: where to start.
      incr_every_n_steps: after how many good steps in a row it grows.
      decr_every_n_nan_or_inf: after how many bad steps, in a row or not, it falls.
      incr_ratio: the factor by which it grows; not beyond what float32 can hold.
      decr_ratio: the factor by which it falls; not below 1.
    """

    def __init__(
        self,
        init_loss_scale: float,
        incr_every_n_steps: int,
        decr_every_n_nan_or_inf: int = 2,
        incr_ratio: float = 2,
        decr_ratio: float = 0.8,
    ):
        self._incr_every_n_steps = incr_every_n_steps
        self._decr_every_n_nan_or_inf = decr_every_n_nan_or_inf
        self._incr_ratio = incr_ratio
        self._decr_ratio = decr_ratio
        initial = convert_to_tensor(init_loss_scale, dtype=dtypes.float32)
        self._loss_scale = _state("loss_scale", initial, dtypes.float32)
        self._num_good_steps = _state("good_steps", 0, dtypes.int32)
        self._num_bad_steps = _state("bad_steps", 0, dtypes.int32)

    def get_loss_scale(self) -> Any:
        return self._loss_scale

    def update_loss_scale(self, finite_grads: Tensor) -> Any:
        return cond(finite_grads, self._after_good_step, self._after_bad_step)

    def _after_good_step(self) -> Any:
        scale = self._loss_scale

        def grow() -> Any:
            larger = cond(
                is_finite(scale * self._incr_ratio),
                lambda: scale * self._incr_ratio,
                lambda: convert_to_tensor(scale),
            )
            return self._start_anew(larger)

        return cond(
            self._num_good_steps + 1 >= self._incr_every_n_steps,
            grow,
            lambda: group(assign_add(self._num_good_steps, 1)),
        )

    def _after_bad_step(self) -> Any:
        def fall() -> Any:
            return self._start_anew(maximum(1.0, self._loss_scale * self._decr_ratio))

        def count() -> Any:
            return group(assign_add(self._num_bad_steps, 1), assign(self._num_good_steps, 0))

        return cond(self._num_bad_steps + 1 >= self._decr_every_n_nan_or_inf, fall, count)

    def _start_anew(self, scale: Tensor) -> Any:
        return group(
            assign(self._loss_scale, scale),
            assign(self._num_good_steps, 0),
            assign(self._num_bad_steps, 0),
        )


def _state(name: str, value: Any, dtype: Any) -> Any:
    return create_variable(value, trainable=False, name=name, dtype=dtype)
