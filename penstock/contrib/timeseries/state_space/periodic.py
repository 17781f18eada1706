"""Cycles as state space models."""

from __future__ import annotations

import math
from typing import Any

import penstock as tf
from penstock.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from penstock.contrib.timeseries.state_space.state_space_model import StateSpaceModel

_DEFAULT = StateSpaceModelConfiguration()


def _last_axis(values: tf.Tensor, like: Any) -> tf.Tensor:
    """Values along an axis after all of another tensor's."""
    ones = tf.ones([tf.rank(like)], dtype=tf.int32)
    return tf.reshape(values, tf.concat([ones, tf.shape(values)], axis=0))


class CycleStateSpaceModel(StateSpaceModel):
    """A cycle of values with the sum 0: all but one are the state, which turns.

    Args:
      periodicity: how many values the cycle has.
    """

    def __init__(self, periodicity: int, configuration: StateSpaceModelConfiguration = _DEFAULT):
        self._periodicity = periodicity
        super().__init__(configuration=configuration)

    def get_state_transition(self) -> Any:
        return self.transition_to_powers(tf.ones([], dtype=tf.int32))

    def get_noise_transform(self) -> Any:
        """Noise enters the newest value."""
        one = tf.ones([1], dtype=self.dtype)
        return tf.pad(one, paddings=[(0, self._periodicity - 2)])[..., None]

    def transition_to_powers(self, powers: Any) -> tf.Tensor:
        """A turn moves values on; the value that is not in the state is minus their sum."""
        powers %= self._periodicity
        places = _last_axis(tf.range(self._periodicity - 1, dtype=powers.dtype), powers)
        absent = tf.equal(places + 1, powers[..., None])
        moved_by = (places[..., None] - places[..., None, :]) % self._periodicity
        moved = tf.equal(moved_by, powers[..., None, None])
        return tf.cast(moved, self.dtype) - tf.cast(absent, self.dtype)[..., None]

    def transition_power_noise_accumulator(
        self, num_steps: Any, noise_addition_coefficient: Any = 1
    ) -> tf.Tensor:
        """Each place gets noise once in a period, which the place after it loses."""
        variance = tf.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        places = _last_axis(tf.range(self._periodicity, dtype=num_steps.dtype), num_steps)
        steps = num_steps[..., None]
        remaining = (places - (steps - 1)) % self._periodicity
        turns = tf.cast((steps + remaining) // self._periodicity, self.dtype)
        factor = self._tensor(noise_addition_coefficient)[..., None]
        added = factor * variance * turns
        diagonal = tf.matrix_diag(added)
        above = diagonal[..., :-1, 0:-2]
        upper = tf.concat([tf.zeros_like(diagonal[..., :-1, 0:1]), -above], axis=-1)
        below = diagonal[..., 0:-2, :-1]
        lower = tf.concat([tf.zeros_like(diagonal[..., 0:1, :-1]), -below], axis=-2)
        rotated = tf.concat([added[..., -1:], added[..., :-2]], axis=-1)
        return tf.matrix_diag(added[..., :-1] + rotated) + lower + upper

    def get_observation_model(self, times: Any) -> Any:
        """The newest value is observed."""
        others = tf.zeros([self._periodicity - 2], dtype=self.dtype)
        return tf.concat([tf.ones([1], dtype=self.dtype), others], axis=0)


class ResolutionCycleModel(CycleStateSpaceModel):
    """A cycle of any length, described by a given count of values.

    A unit of time turns the cycle of values by a part of them: the turn by one of
    `CycleStateSpaceModel`, to a power that is no integer.

    Args:
      num_latent_values: the count of values, odd.
      periodicity: the length of the cycle.
      near_integer_threshold: how near numbers are to integers that are taken for such.
    """

    def __init__(
        self,
        num_latent_values: int,
        periodicity: Any,
        near_integer_threshold: float = 1e-8,
        configuration: StateSpaceModelConfiguration = _DEFAULT,
    ):
        if num_latent_values % 2 != 1:
            raise ValueError("Only odd numbers of latent values are supported.")
        self._num_latent_values = num_latent_values
        self._true_periodicity = periodicity
        self._near_integer_threshold = near_integer_threshold
        super().__init__(periodicity=num_latent_values, configuration=configuration)

    def _close_to_integer(self, value: Any) -> tf.Tensor:
        value = tf.cast(value, self.dtype)
        return tf.less(tf.abs(value - tf.round(value)), self._near_integer_threshold)

    def _turns(self, steps: Any) -> tf.Tensor:
        """By how many values the cycle turns in some units of time."""
        count = tf.cast(self._num_latent_values, self.dtype)
        return tf.cast(steps, self.dtype) * (
            count / tf.cast(self._true_periodicity, dtype=self.dtype)
        )

    def _cosecant(self, turns: Any) -> tf.Tensor:
        return 1.0 / tf.sin(math.pi / tf.cast(self._num_latent_values, self.dtype) * turns)

    def transition_to_powers(self, powers: Any) -> tf.Tensor:
        turns = self._turns(powers)
        factor = tf.sin(turns * math.pi) / tf.cast(self._num_latent_values, self.dtype)
        places = _last_axis(tf.range(self._num_latent_values - 1), turns)
        signs = tf.cast(1 - 2 * (places % 2), self.dtype)
        places = tf.cast(places, self.dtype)
        by_row = self._cosecant(turns[..., None] - places - 1)
        difference = places[..., None, :] - places[..., None]
        by_entry = signs[..., None, :] * self._cosecant(turns[..., None, None] + difference)
        between = factor[..., None, None] * signs[..., None] * (by_row[..., None] + by_entry)
        whole = super().transition_to_powers(tf.cast(tf.round(turns), tf.int64))
        return tf.where(self._close_to_integer(turns), whole, between)

    def transition_power_noise_accumulator(
        self, num_steps: Any, noise_addition_coefficient: Any = 1
    ) -> tf.Tensor:
        size = self._num_latent_values - 1
        accumulate = super().transition_power_noise_accumulator

        def whole_periods() -> tuple[Any, Any]:
            """Whole periods by a formula, if their length is an integer."""
            length = tf.cast(self._true_periodicity, num_steps.dtype)
            count = tf.cast(self._num_latent_values, self.dtype)
            one = accumulate(
                num_steps=tf.convert_to_tensor(self._num_latent_values, dtype=num_steps.dtype),
                noise_addition_coefficient=tf.cast(self._true_periodicity, self.dtype) / count,
            )
            periods = tf.cast(num_steps // length, self.dtype)
            return num_steps % length, periods[..., None, None] * _last_axis(one, periods)

        def none() -> tuple[Any, Any]:
            shape = tf.concat([tf.shape(num_steps), [size, size]], axis=0)
            return num_steps, tf.zeros(shape, dtype=self.dtype)

        remaining, accumulated = tf.cond(self._whole_period_folding(), whole_periods, none)
        sums = self._power_sum_array(tf.reduce_max(remaining))
        variance = tf.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        return accumulated + variance * tf.gather(sums, indices=remaining)

    def _whole_period_folding(self) -> tf.Tensor:
        return tf.logical_and(
            self._close_to_integer(self._true_periodicity),
            tf.greater_equal(self._true_periodicity, self._num_latent_values),
        )

    def _power_sum_array(self, max_remaining_steps: Any) -> tf.Tensor:
        """The noise of 0, 1, … units of time, for noise of variance 1."""
        count = tf.cast(self._num_latent_values, self.dtype)
        turns = self._turns(tf.range(max_remaining_steps))
        places = tf.range(self._num_latent_values - 1)[None, ...]
        signs = tf.cast(1 - 2 * ((places[..., None, :] + places[..., None]) % 2), self.dtype)
        distance = turns[..., None] - tf.cast(places, self.dtype)
        along = self._cosecant(distance) + self._cosecant(distance - 1.0)
        products = along[..., None, :] * along[..., None]

        def whole_turn(value: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            """Where the sine has a zero, and the sign that its ratios tend to."""
            periods = value / count
            return self._close_to_integer(periods), tf.cos(periods * math.pi)

        here, sign_here = whole_turn(distance)
        before, sign_before = whole_turn(distance - 1.0)
        is_one = tf.logical_or(here, before)
        sign = tf.where(here, sign_here, sign_before)
        ones = tf.logical_and(is_one[..., None], is_one[..., None, :])
        finite = tf.where(self._close_to_integer(turns), tf.zeros_like(products), products)
        factor = tf.sin(math.pi * turns) / count
        entries = tf.where(
            ones,
            sign[..., None] * sign[..., None, :],
            finite * factor[..., None, None] ** 2,
        )
        return tf.pad(tf.cumsum(signs * entries), [(1, 0), (0, 0), (0, 0)])
