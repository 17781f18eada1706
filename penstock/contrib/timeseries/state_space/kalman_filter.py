"""Kalman's filter, for batches of series."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.timeseries.log_probabilities import mvn_tril_log_prob
from penstock.contrib.timeseries.matrices import batch_times_matrix

_ADVICE = (
    "This may occur due to numerically unstable filtering when there is a large difference in "
    "posterior variances, or when inferences are near-deterministic. Considering tuning the "
    "'filtering_maximum_posterior_variance_ratio' or 'filtering_minimum_posterior_variance' "
    "parameters in your StateSpaceModelConfiguration, or tuning the transition matrix."
)


class KalmanFilter:
    """Predictions and updates of states with normal distributions.

    Args:
      simplified_posterior_covariance_computation: whether variances are updated by a shorter
        formula, which is less stable.
    """

    def __init__(
        self,
        dtype: Any = tf.float32,
        simplified_posterior_covariance_computation: bool = False,
    ):
        self._simplified = simplified_posterior_covariance_computation
        self.dtype = dtype

    def do_filter(
        self,
        estimated_state: Any,
        estimated_state_covariance: Any,
        predicted_observation: Any,
        predicted_observation_covariance: Any,
        observation: Any,
        observation_model: Any,
        observation_noise: Any,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """State and variance after an observation, and the logarithm of its probability."""
        transposed = tf.matrix_transpose(predicted_observation_covariance)
        symmetric = 0.5 * (predicted_observation_covariance + transposed)
        symmetric = tf.verify_tensor_all_finite(
            symmetric, f"Predicted observation covariance was not finite. {_ADVICE}"
        )
        smallest = tf.reduce_min(tf.matrix_diag_part(symmetric))
        problem = f"The predicted observation covariance has a negative diagonal entry. {_ADVICE}"
        not_negative = tf.Assert(smallest >= 0.0, [problem, smallest])
        with tf.control_dependencies([not_negative]):
            factor = tf.cholesky(symmetric)
        log_probability = mvn_tril_log_prob(
            loc=predicted_observation, scale_tril=factor, x=observation
        )
        state, variance = self.posterior_from_prior_state(
            prior_state=estimated_state,
            prior_state_var=estimated_state_covariance,
            observation=observation,
            observation_model=observation_model,
            predicted_observations=(predicted_observation, predicted_observation_covariance),
            observation_noise=observation_noise,
        )
        return state, variance, log_probability

    def predict_state_mean(self, prior_state: Any, transition_matrices: Any) -> tf.Tensor:
        """States after transitions."""
        return tf.squeeze(tf.matmul(transition_matrices, prior_state[..., None]), axis=[-1])

    def predict_state_var(
        self, prior_state_var: Any, transition_matrices: Any, transition_noise_sums: Any
    ) -> tf.Tensor:
        """Variances of states after transitions, and their noise."""
        moved = tf.matmul(
            tf.matmul(transition_matrices, prior_state_var), transition_matrices, adjoint_b=True
        )
        return moved + transition_noise_sums

    def posterior_from_prior_state(
        self,
        prior_state: Any,
        prior_state_var: Any,
        observation: Any,
        observation_model: Any,
        predicted_observations: tuple[Any, Any],
        observation_noise: Any,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """State and variance after an observation.

        Args:
          predicted_observations: mean and variance of what was to be observed.
        """
        mean, variance = predicted_observations
        gain = tf.matrix_solve(  # transposed, as all products below take it
            matrix=variance,
            rhs=tf.matmul(observation_model, prior_state_var, adjoint_b=True),
            adjoint=True,
        )
        residual = tf.expand_dims(observation - mean, -1)
        state = prior_state + tf.squeeze(tf.matmul(gain, residual, adjoint_a=True), axis=[-1])
        explained = tf.matmul(gain, observation_model, adjoint_a=True)
        left = tf.eye(tf.shape(explained)[1], dtype=explained.dtype)[None] - explained
        remaining = tf.matmul(left, prior_state_var)
        if self._simplified:
            return state, remaining
        noise = self._noise_seen(gain, tf.convert_to_tensor(observation_noise))
        return state, tf.matmul(remaining, left, adjoint_b=True) + noise

    def _noise_seen(self, gain: tf.Tensor, noise: tf.Tensor) -> tf.Tensor:
        """What observation noise, one matrix or one for each series, adds to a state's."""

        def of_each() -> tf.Tensor:
            return tf.matmul(tf.matmul(gain, noise, adjoint_a=True), gain)

        def of_all() -> tf.Tensor:
            return tf.matmul(batch_times_matrix(gain, noise, adj_x=True), gain)

        rank = noise.get_shape().ndims
        if rank is None:
            return tf.cond(tf.equal(tf.rank(noise), 2), of_all, of_each)
        return of_all() if rank == 2 else of_each()

    def observed_from_state(
        self, state_mean: Any, state_var: Any, observation_model: Any, observation_noise: Any
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Mean and variance of what is observed of a state."""
        mean = tf.matmul(tf.expand_dims(state_mean, 1), observation_model, adjoint_b=True)
        seen = tf.matmul(observation_model, state_var)
        variance = tf.matmul(seen, observation_model, adjoint_b=True)
        return tf.squeeze(mean, axis=[1]), variance + observation_noise
