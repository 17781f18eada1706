"""Loss scales: factors that keep small gradients of 16-bit floats from vanishing."""

from __future__ import annotations

from typing import Any

from penstock import dtypes, nest
from penstock.ir.composite import IndexedSlices
from penstock.ir.convert import convert_to_tensor
from penstock.ir.defaults import get_default_graph
from penstock.ir.tensor import Tensor
from penstock.ir.trackable import Trackable, TrackableReference
from penstock.ops.conditionals import cond
from penstock.ops.control import group, no_op
from penstock.ops.elementwise import is_finite
from penstock.ops.math import maximum, reduce_all
from penstock.ops.variable_creation import create_variable

__all__ = ["DynamicLossScale", "FixedLossScale", "LossScale"]


class LossScale(Trackable):
    """A factor of the loss: calling it gives the present one, as a float32 tensor."""

    def __init__(self) -> None:
        self._weights: dict[tuple[str, Any], Any] = {}

    def __call__(self) -> Tensor:
        """The factor."""
        raise NotImplementedError

    def update(self, grads: Any) -> tuple[Any, Any]:
        """The operation that adapts the factor to gradients, and whether to apply them."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make such a loss scale again."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> LossScale:
        """The loss scale with the arguments that `get_config` gave."""
        return cls(**config)

    def _add_weight(self, name: str, initial_value: Any, dtype: Any = None) -> Any:
        """A variable of the loss scale in the default graph."""
        key = (name, get_default_graph())
        if key in self._weights:
            raise RuntimeError(f"Duplicate variables detected. {key}")
        variable = create_variable(
            initial_value, name=name, dtype=dtype, trainable=False, use_resource=True
        )
        self._weights[key] = variable
        self._handle_deferred_dependencies(name=name, trackable=variable)
        return variable

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        graph = get_default_graph()
        own = [
            TrackableReference(name, variable)
            for (name, where), variable in sorted(self._weights.items(), key=lambda e: e[0][0])
            if where is graph
        ]
        return super()._checkpoint_dependencies + own

    def _lookup_dependency(self, name: str) -> Any:
        found = super()._lookup_dependency(name)
        return found or self._weights.get((name, get_default_graph()))


class FixedLossScale(LossScale):
    """A loss scale that stays what it is: a number from 1 on."""

    def __init__(self, loss_scale_value: float):
        super().__init__()
        if not isinstance(loss_scale_value, (int, float)):
            raise ValueError("loss_scale_value must be a Python int or float.")
        if loss_scale_value < 1:
            raise ValueError("loss_scale_value must be at least 1.")
        self._loss_scale_value = float(loss_scale_value)

    def __call__(self) -> Tensor:
        return convert_to_tensor(self._loss_scale_value)

    def update(self, grads: Any) -> tuple[Any, Any]:
        return no_op(), True

    def get_config(self) -> dict[str, Any]:
        return {"loss_scale_value": self._loss_scale_value}

    def __repr__(self) -> str:
        return f"FixedLossScale({self._loss_scale_value})"


class DynamicLossScale(LossScale):
    """A loss scale that grows while gradients are finite, and falls when they are not.

    Args:
      initial_loss_scale: where to start.
      increment_period: after how many good steps it grows.
      multiplier: the factor by which it grows and falls.
    """

    def __init__(
        self,
        initial_loss_scale: float = 2**15,
        increment_period: int = 2000,
        multiplier: float = 2.0,
    ):
        super().__init__()
        self._initial_loss_scale = float(initial_loss_scale)
        self._increment_period = int(increment_period)
        self._multiplier = float(multiplier)
        self._current_loss_scale = self._add_weight(
            "current_loss_scale", self._initial_loss_scale, dtypes.float32
        )
        self._num_good_steps = self._add_weight("good_steps", 0, dtypes.int64)

    @property
    def initial_loss_scale(self) -> float:
        return self._initial_loss_scale

    @property
    def increment_period(self) -> int:
        return self._increment_period

    @property
    def multiplier(self) -> float:
        return self._multiplier

    def __call__(self) -> Tensor:
        return convert_to_tensor(self._current_loss_scale)

    def update(self, grads: Any) -> tuple[Any, Any]:
        finite = _all_finite(grads)
        return cond(finite, self._after_good_step, self._after_bad_step), finite

    def _after_good_step(self) -> Any:
        scale, steps = self._current_loss_scale, self._num_good_steps

        def grow() -> Any:
            larger = scale * self._multiplier
            grown = cond(is_finite(larger), lambda: group(scale.assign(larger)), no_op)
            return group(grown, steps.assign(0))

        return cond(steps + 1 >= self._increment_period, grow, lambda: group(steps.assign_add(1)))

    def _after_bad_step(self) -> Any:
        smaller = maximum(self._current_loss_scale / self._multiplier, 1)
        return group(self._num_good_steps.assign(0), self._current_loss_scale.assign(smaller))

    def get_config(self) -> dict[str, Any]:
        return {
            "initial_loss_scale": self.initial_loss_scale,
            "increment_period": self.increment_period,
            "multiplier": self.multiplier,
        }

    def __repr__(self) -> str:
        return (
            f"DynamicLossScale(initial_loss_scale={self.initial_loss_scale}, "
            f"increment_period={self.increment_period}, multiplier={self.multiplier})"
        )


def _all_finite(grads: Any) -> Tensor:
    found = [
        reduce_all(is_finite(each.values if isinstance(each, IndexedSlices) else each))
        for each in nest.flatten(grads)
        if each is not None
    ]
    return reduce_all(found)


def get(identifier: Any) -> LossScale | None:
    """The loss scale that a number, "dynamic" or a loss scale means."""
    if isinstance(identifier, (int, float)):
        return FixedLossScale(identifier)
    if identifier == "dynamic":
        return DynamicLossScale()
    if identifier is None or isinstance(identifier, LossScale):
        return identifier
    raise ValueError(f"Could not interpret loss scale identifier: {identifier}")
