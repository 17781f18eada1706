"""`tf.contrib.rnn.PhasedLSTMCell`: a memory that opens at times of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from penstock import dtypes
from penstock.ops.binary import mod
from penstock.ops.casts import cast
from penstock.ops.elementwise import exp, sigmoid, tanh
from penstock.ops.identity import stop_gradient
from penstock.ops.initializers import constant_initializer, random_uniform_initializer
from penstock.ops.joining import split
from penstock.ops.masking import where
from penstock.ops.random import random_uniform
from penstock.ops.variable_scope import get_variable, variable_scope
from penstock.rnn.cell import RNNCell
from penstock.rnn.linear import Linear
from penstock.rnn.lstm_cells import LSTMStateTuple

__all__ = ["PhasedLSTMCell"]


def _exponential(minimum: float, maximum: float) -> Callable[..., Any]:
    """An initializer whose logarithm is uniform."""

    def initial(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        return exp(random_uniform(shape, math.log(minimum), math.log(maximum), dtype))

    return initial


class PhasedLSTMCell(RNNCell):
    """The LSTM unit whose memory changes only in the open phase of a rhythm that it learns.

    Its inputs are a pair: the times [batch, 1], and the values [batch, depth].

    Args:
      num_units: The size of memory and output.
      use_peepholes: Whether the gates see the memory.
      leak: How much passes in the closed phase.
      ratio_on: The first value of the part of the period that is open.
      trainable_ratio_on: Whether that is learnt.
      period_init_min, period_init_max: Between these the periods start.
      reuse: Whether the variables are those of an existing scope.
    """

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        leak: float = 0.001,
        ratio_on: float = 0.1,
        trainable_ratio_on: bool = True,
        period_init_min: float = 1.0,
        period_init_max: float = 1000.0,
        reuse: bool | None = None,
    ):
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._use_peepholes = use_peepholes
        self._leak = leak
        self._ratio_on = ratio_on
        self._trainable_ratio_on = trainable_ratio_on
        self._period_init_min = period_init_min
        self._period_init_max = period_init_max
        self._maps: dict[str, Linear] = {}

    @property
    def state_size(self) -> LSTMStateTuple:
        return LSTMStateTuple(self._num_units, self._num_units)

    @property
    def output_size(self) -> int:
        return self._num_units

    def _map(self, scope: str, inputs: list[Any], size: int) -> Any:
        """A linear map with a bias, whose variables are made once."""
        with variable_scope(scope):
            if scope not in self._maps:
                self._maps[scope] = Linear(inputs, size, True)
            return self._maps[scope](inputs)

    def call(self, inputs: Any, state: Any) -> Any:
        before, h_before = state
        time, x = inputs
        units = self._num_units
        seen = [before] if self._use_peepholes else []
        gates = sigmoid(self._map("mask_gates", [x, h_before, *seen], 2 * units))
        i, f = split(axis=1, num_or_size_splits=2, value=gates)
        c = before * f + i * tanh(self._map("new_input", [x, h_before], units))
        seen = [c] if self._use_peepholes else []
        o = sigmoid(self._map("output_gate", [x, h_before, *seen], units))
        h = tanh(c) * o
        opened = self._openness(time)
        c = opened * c + (1 - opened) * before
        h = opened * h + (1 - opened) * h_before
        return h, LSTMStateTuple(c, h)

    def _openness(self, time: Any) -> Any:
        """How open the memory of each unit is: up and down in its phase, then a leak."""
        size = [self._num_units]
        start = _exponential(self._period_init_min, self._period_init_max)
        period = get_variable("period", size, initializer=start)
        phase = get_variable(
            "phase", size, initializer=random_uniform_initializer(0.0, period.initial_value)
        )
        ratio_on = get_variable(
            "ratio_on",
            size,
            initializer=constant_initializer(self._ratio_on),
            trainable=self._trainable_ratio_on,
        )
        cycle = cast(_cycle_ratio(time, phase, period), dtypes.float32)
        rising = 2 * cycle / ratio_on
        closed = self._leak * cycle
        opened = where(cycle < ratio_on, 2 - rising, closed)
        return where(cycle < 0.5 * ratio_on, rising, opened)


def _cycle_ratio(time: Any, phase: Any, period: Any) -> Any:
    """Where in its period a time lies, from 0 to 1; the remainder has the gradient of its first."""
    shifted = time - cast(phase, time.dtype)
    period = cast(period, time.dtype)
    remainder = stop_gradient(mod(shifted, period) - shifted) + shifted
    return remainder / period
