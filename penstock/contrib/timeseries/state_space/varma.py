"""Vector autoregressive moving averages as state space models."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.timeseries.covariances import variable_covariance_matrix
from penstock.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from penstock.contrib.timeseries.state_space.state_space_model import StateSpaceModel
from penstock.shapes import dimension_value

_DEFAULT = StateSpaceModelConfiguration()


class VARMA(StateSpaceModel):
    """A state of blocks, the last values and noises: a block is a number for each feature.

    Args:
      autoregressive_order: of how many last values a value is a combination.
      moving_average_order: of how many last noises.
    """

    def __init__(
        self,
        autoregressive_order: int,
        moving_average_order: int,
        configuration: StateSpaceModelConfiguration = _DEFAULT,
    ):
        self.ar_order = autoregressive_order
        self.ma_order = moving_average_order
        self.state_num_blocks = max(autoregressive_order, moving_average_order + 1)
        super().__init__(configuration=configuration)
        self.state_dimension = self.state_num_blocks * self.num_features

    def _identity(self, blocks: int = 1) -> tf.Tensor:
        return tf.eye(blocks * self.num_features, dtype=self.dtype)

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with tf.variable_scope(self._variable_scope):
            self.ar_coefs = tf.get_variable(
                name="ar_coefs",
                shape=[self.num_features, self.num_features, self.ar_order],
                dtype=self.dtype,
                initializer=tf.zeros_initializer(),
            )
            self.ma_coefs = tf.get_variable(
                name="ma_coefs",
                initializer=tf.tile(self._identity()[None, :, :], [self.ma_order, 1, 1]),
                dtype=self.dtype,
            )
        super()._define_parameters(observation_transition_tradeoff_log)

    def get_state_transition(self) -> tf.Tensor:
        """The first block is a combination of all, the others move on by one."""
        missing = self.state_num_blocks - self.ar_order
        combined = tf.reshape(
            tf.pad(self.ar_coefs, [[0, 0], [0, 0], [0, missing]]),
            [self.num_features, self.state_dimension],
        )
        shift = tf.pad(self._identity(self.state_num_blocks - 1), [[0, 0], [0, self.num_features]])
        return tf.concat([combined, shift], axis=0)

    def get_noise_transform(self) -> tf.Tensor:
        """Noise enters the last block as it is, the ones before by the coefficients."""
        before = self.state_num_blocks - 1
        weighted = tf.reshape(
            tf.pad(self.ma_coefs, [[before - self.ma_order, 0], [0, 0], [0, 0]]),
            [before * self.num_features, self.num_features],
            name="noise_transform",
        )
        return tf.concat([weighted, self._identity()], axis=0)

    def get_observation_model(self, times: Any) -> tf.Tensor:
        """The first block is observed, with the last one where that is the newest noise."""
        name, blocks = "observation_model", self.state_num_blocks
        if self.ar_order > self.ma_order or blocks < 2:
            unseen = self.num_features * (blocks - 1)
            return tf.pad(self._identity(), [[0, 0], [0, unseen]], name=name)
        first = tf.pad(self._identity(), [[0, 0], [0, self.num_features * (blocks - 2)]])
        return tf.concat([first, self._identity()], axis=1, name=name)

    def get_state_transition_noise_covariance(
        self, minimum_initial_variance: float = 1e-5
    ) -> tf.Tensor:
        """All that is uncertain is noise of transitions here, whose variance is the series'."""
        scale: Any = 0.0
        if self._input_statistics is not None:
            mean = tf.reduce_mean(self._start_variance())
            scale = tf.math.log(tf.maximum(mean, minimum_initial_variance))
        size = dimension_value(self._tensor(self.get_noise_transform()).shape[1])
        return variable_covariance_matrix(
            size, "state_transition_noise", dtype=self.dtype, initial_overall_scale_log=scale
        )
