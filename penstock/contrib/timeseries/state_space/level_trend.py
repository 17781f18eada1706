"""A level that a trend is added to."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from penstock.contrib.timeseries.state_space.state_space_model import StateSpaceModel

_DEFAULT = StateSpaceModelConfiguration()


class AdderStateSpaceModel(StateSpaceModel):
    """A state of a level and a trend; the level is observed.

    Args:
      use_level_noise: whether the level has noise of its own, besides that of the trend.
    """

    def __init__(
        self,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = _DEFAULT,
    ):
        self.use_level_noise = use_level_noise
        super().__init__(configuration=configuration)

    def get_prior_mean(self) -> Any:
        if self._input_statistics is None:
            return super().get_prior_mean()
        with tf.variable_scope(self._variable_scope):
            mean = self._scale_data(self._input_statistics.series_start_moments.mean)
            start = tf.stack([tf.reduce_mean(mean), 0.0])
            return start + tf.get_variable(
                name="prior_state_mean",
                shape=start.get_shape(),
                initializer=tf.zeros_initializer(),
                dtype=self.dtype,
                trainable=self._configuration.trainable_start_state,
            )

    def transition_to_powers(self, powers: Any) -> tf.Tensor:
        """The trend is added as often as there are units of time."""
        none = tf.zeros([tf.rank(powers), 2], dtype=tf.int32)
        corner = tf.pad(powers[..., None, None], tf.concat([none, [(0, 1), (1, 0)]], axis=0))
        identity = tf.eye(2, batch_shape=tf.shape(powers), dtype=self.dtype)
        return identity + tf.cast(corner, self.dtype)

    def transition_power_noise_accumulator(self, num_steps: Any) -> tf.Tensor:
        """By sums of natural numbers and of their squares."""
        shape = tf.concat([tf.shape(num_steps), [2, 2]], axis=0)
        steps = tf.cast(num_steps, self.dtype)
        transform = self._tensor(self.get_noise_transform())
        noise = tf.matmul(
            tf.matmul(transform, self.state_transition_noise_covariance),
            transform,
            adjoint_b=True,
        )
        a, b, c, d = tf.unstack(tf.reshape(noise, [-1, 4]), axis=1)
        first = (steps - 1) * steps / 2
        squares = first * (2 * (steps - 1) + 1) / 3
        entries = (
            steps * a + first * (b + c) + squares * d,
            steps * b + first * d,
            steps * c + first * d,
            steps * d,
        )
        return tf.reshape(tf.stack(entries, axis=1), shape)

    def get_state_transition(self) -> Any:
        return [[1.0, 1.0], [0.0, 1.0]]

    def get_noise_transform(self) -> Any:
        return [[1.0, 0.0], [0.0, 1.0]] if self.use_level_noise else [[0.0], [1.0]]

    def get_observation_model(self, times: Any) -> Any:
        return tf.constant([1.0, 0.0], dtype=self.dtype)
