"""Linear models of states with normal noise, observed with noise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.contrib import layers
from penstock.contrib.timeseries import matrices
from penstock.contrib.timeseries.covariances import (
    clip_covariance,
    transform_to_covariance_matrices,
    variable_covariance_matrix,
)
from penstock.contrib.timeseries.sequential_model import SequentialTimeSeriesModel
from penstock.contrib.timeseries.state_space import drawing
from penstock.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from penstock.contrib.timeseries.state_space.kalman_filter import KalmanFilter
from penstock.estimator import ModeKeys
from penstock.shapes import dimension_value

_LEAST_VARIANCE = 1e-5


class StateSpaceModel(SequentialTimeSeriesModel):
    """A model whose state moves by a matrix, with noise, and of which a linear part is observed.

    A subclass says by which matrices: `get_state_transition`, `get_noise_transform` (how noise
    enters the state) and `get_observation_model`.

    A state is a tuple of its mean, its covariance, and the time that it is for.
    """

    def __init__(self, configuration: StateSpaceModelConfiguration):
        self._configuration = configuration
        post = configuration.filtering_postprocessor
        super().__init__(
            train_output_names=[
                "mean",
                "covariance",
                "log_likelihood",
                *(post.output_names if post is not None else ()),
            ],
            predict_output_names=["mean", "covariance"],
            num_features=configuration.num_features,
            normalize_features=True,
            dtype=configuration.dtype,
            exogenous_feature_columns=configuration.exogenous_feature_columns,
            exogenous_update_condition=configuration.exogenous_update_condition,
            static_unrolling_window_size_threshold=(
                configuration.static_unrolling_window_size_threshold
            ),
        )
        self._kalman_filter: Any = None
        self.prior_state_mean: Any = None
        self.prior_state_var: Any = None
        self.state_transition_noise_covariance: Any = None
        self._observation_noise_covariance: Any = None
        self._variable_scope = tf.get_variable_scope()

    # What a subclass says ------------------------------------------------------------------------

    @abstractmethod
    def get_state_transition(self) -> Any:
        """The matrix by which a state moves in a unit of time."""

    @abstractmethod
    def get_noise_transform(self) -> Any:
        """The matrix that makes of noise what is added to a state in a unit of time."""

    @abstractmethod
    def get_observation_model(self, times: Any) -> Any:
        """What is observed of a state: a vector, a matrix, or a matrix for each time."""

    def _tensor(self, value: Any) -> tf.Tensor:
        return tf.convert_to_tensor(value, dtype=self.dtype)

    # Several units of time at once ---------------------------------------------------------------

    def transition_power_noise_accumulator(self, num_steps: Any) -> tf.Tensor:
        """The covariance of the noise of several units of time, for each of their numbers."""
        transform = self._tensor(self.get_noise_transform())
        noise = tf.matmul(
            tf.matmul(transform, self.state_transition_noise_covariance),
            transform,
            transpose_b=True,
        )
        sums = matrices.power_sums_tensor(
            tf.reduce_max(num_steps) + 1, self._tensor(self.get_state_transition()), noise
        )
        return tf.gather(sums, indices=num_steps)

    def transition_to_powers(self, powers: Any) -> tf.Tensor:
        """The matrices by which a state moves in several units of time."""
        return matrices.matrix_to_powers(self._tensor(self.get_state_transition()), powers)

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Computes powers once for each gap between times that a window has."""
        times = tf.convert_to_tensor(times)
        inner = tf.reshape(times[:, 1:] - times[:, :-1], [-1])
        first = tf.maximum(times[:, 0] - tf.convert_to_tensor(state[2]), 0)
        self._window_gap_sizes, _ = tf.unique(tf.concat([inner, first], axis=0))
        self._window_power_sums = self.transition_power_noise_accumulator(self._window_gap_sizes)
        self._window_transition_powers = self.transition_to_powers(self._window_gap_sizes)

    def _cached_transition_powers_and_sums(self, num_steps: tf.Tensor) -> list[tf.Tensor]:
        gaps = self._window_gap_sizes
        _, places = tf.unique(tf.concat([gaps, tf.cast(num_steps, gaps.dtype)], axis=0))
        places = places[-tf.shape(num_steps)[0] :]
        found = []
        for cache in (self._window_transition_powers, self._window_power_sums):
            rows = tf.gather(cache, places)
            rows.set_shape(num_steps.get_shape().concatenate(rows.get_shape()[-2:]))
            found.append(rows)
        return found

    # Steps ---------------------------------------------------------------------------------------

    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        mean, variance, previous_times = state
        gaps = tf.maximum(current_times - previous_times, 0)
        transitions, noise_sums = self._cached_transition_powers_and_sums(gaps)
        return (
            self._kalman_filter.predict_state_mean(mean, transitions),
            self._kalman_filter.predict_state_var(variance, transitions, noise_sums),
            previous_times + gaps,
        )

    def _prediction_step(self, current_times: Any, state: Any) -> tuple[Any, dict[str, Any]]:
        mean, variance, previous_times = state
        advanced = tf.Assert(
            tf.reduce_all(tf.less_equal(current_times, previous_times)),
            ["Attempted to predict without imputation"],
        )
        with tf.control_dependencies([advanced]):
            observed, observed_variance = self._kalman_filter.observed_from_state(
                state_mean=mean,
                state_var=variance,
                observation_model=self.get_broadcasted_observation_model(current_times),
                observation_noise=self._observation_noise_covariance,
            )
        size, batch = self.num_features, current_times.get_shape()
        observed.set_shape(batch.concatenate((size,)))
        observed_variance.set_shape(batch.concatenate((size, size)))
        predictions = {"mean": observed, "covariance": observed_variance}
        return (mean, variance, current_times), predictions

    def _filtering_step(
        self, current_times: Any, current_values: Any, state: Any, predictions: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        mean, variance, previous_times = state
        settings = self._configuration
        model = self.get_broadcasted_observation_model(current_times)
        imputed = tf.Assert(
            tf.reduce_all(tf.equal(current_times, previous_times)),
            ["Attempted to perform filtering without imputation/prediction"],
        )
        with tf.control_dependencies([imputed]):
            variance = clip_covariance(
                variance,
                settings.filtering_maximum_posterior_variance_ratio,
                settings.filtering_minimum_posterior_variance,
            )
            new_mean, new_variance, log_probability = self._kalman_filter.do_filter(
                estimated_state=mean,
                estimated_state_covariance=variance,
                predicted_observation=predictions["mean"],
                predicted_observation_covariance=predictions["covariance"],
                observation=current_values,
                observation_model=model,
                observation_noise=self._observation_noise_covariance,
            )
        log_probability.set_shape(current_times.get_shape())
        outputs = {**predictions, "loss": -log_probability, "log_likelihood": log_probability}
        filtered = (new_mean, new_variance, current_times)
        if settings.filtering_postprocessor is None:
            return filtered, outputs
        processed: tuple[Any, dict[str, Any]] = (
            settings.filtering_postprocessor.process_filtering_step(
                current_times=current_times,
                current_values=current_values,
                predicted_state=state,
                filtered_state=filtered,
                outputs=outputs,
            )
        )
        return processed

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        predictions["mean"] = self._scale_back_data(predictions["mean"])
        predictions["covariance"] = self._scale_back_variance(predictions["covariance"])
        return predictions

    # Exogenous features --------------------------------------------------------------------------

    def _exogenous_noise_decreasing(
        self, current_times: Any, exogenous_values: Any, state: Any
    ) -> Any:
        """The state, after exogenous features are taken for an uncertain observation of it."""
        mean, variance, previous_times = state
        size = dimension_value(self._tensor(self.get_state_transition()).shape[0])
        with tf.variable_scope("exogenous_noise_decreasing_covariance"):
            noise = transform_to_covariance_matrices(exogenous_values, size)
        with tf.variable_scope("exogenous_noise_decreasing_observation"):
            observation = layers.fully_connected(exogenous_values, size, activation_fn=None)
        new_mean, new_variance = self._kalman_filter.posterior_from_prior_state(
            prior_state=mean,
            prior_state_var=variance,
            observation=observation,
            observation_model=tf.eye(
                size, batch_shape=tf.shape(exogenous_values)[:-1], dtype=self.dtype
            ),
            predicted_observations=(mean, noise + variance),
            observation_noise=noise,
        )
        return new_mean, new_variance, previous_times

    def _exogenous_noise_increasing(
        self, current_times: Any, exogenous_values: Any, state: Any
    ) -> Any:
        """The state, to which exogenous features add something uncertain."""
        mean, variance, previous_times = state
        with tf.variable_scope("exogenous_noise_increasing_mean"):
            addend = layers.fully_connected(
                exogenous_values, dimension_value(mean.shape[1]), activation_fn=None
            )
        with tf.variable_scope("exogenous_noise_increasing_covariance"):
            noise = transform_to_covariance_matrices(
                exogenous_values, dimension_value(variance.shape[1])
            )
        return mean + addend, variance + noise, previous_times

    def _exogenous_input_step(
        self, current_times: Any, current_exogenous_regressors: Any, state: Any
    ) -> Any:
        regressors = current_exogenous_regressors
        if self._configuration.exogenous_noise_decreases:
            state = self._exogenous_noise_decreasing(current_times, regressors, state)
        if self._configuration.exogenous_noise_increases:
            state = self._exogenous_noise_increasing(current_times, regressors, state)
        return state

    # Parameters ----------------------------------------------------------------------------------

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """The priors of covariance matrices, in training."""
        if mode != ModeKeys.TRAIN:
            return tf.zeros([], dtype=self.dtype)
        settings, statistics = self._configuration, self._input_statistics
        length = tf.shape(times)[1]
        if statistics is not None and settings.bayesian_prior_weighting:
            length = statistics.total_observation_count
        prior = self._tensor(settings.covariance_prior_fn(self.state_transition_noise_covariance))
        noise = self._observation_noise_covariance
        if settings.use_observation_noise and noise is not None:
            prior += self._tensor(settings.covariance_prior_fn(noise))
        return -(1.0 / tf.cast(length, self.dtype)) * prior

    def _variable_observation_transition_tradeoff_log(self) -> Any:
        bias = self._configuration.transition_covariance_initial_log_scale_bias
        return tf.get_variable(
            name="observation_transition_tradeoff_log_scale",
            initializer=tf.constant(-bias, dtype=self.dtype),
            dtype=self.dtype,
        )

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with tf.variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                observation_transition_tradeoff_log = (
                    self._variable_observation_transition_tradeoff_log()
                )
            self._observation_transition_tradeoff_log_scale = observation_transition_tradeoff_log
            self.state_transition_noise_covariance = self.get_state_transition_noise_covariance()

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super().initialize_graph(input_statistics=input_statistics)

    def initialize_graph(self, input_statistics: Any = None) -> None:
        self._set_input_statistics(input_statistics=input_statistics)
        self._define_parameters()
        with tf.variable_scope(self._variable_scope):
            noise = self.get_observation_noise_covariance()
            self._observation_noise_covariance = self._tensor(noise)
        self._kalman_filter = KalmanFilter(dtype=self.dtype)
        self.prior_state_mean, self.prior_state_var = self._make_priors()

    def _make_priors(self) -> tuple[Any, Any]:
        variance = self.get_prior_covariance()
        return self.get_prior_mean(), variance

    def _start_variance(self) -> Any:
        """The variance of the series' start, None without statistics."""
        if self._input_statistics is None:
            return None
        return self._scale_variance(self._input_statistics.series_start_moments.variance)

    def get_prior_covariance(self) -> Any:
        """The covariance of the state before the first observation."""
        with tf.variable_scope(self._variable_scope):
            size = dimension_value(tf.convert_to_tensor(self.get_state_transition()).shape[0])
            if not self._configuration.trainable_start_state:
                return tf.eye(size, dtype=self.dtype)
            learned = variable_covariance_matrix(size, "prior_state_var", dtype=self.dtype)
            start = self._start_variance()
            return learned if start is None else learned * tf.maximum(tf.reduce_max(start), 1.0)

    def get_prior_mean(self) -> Any:
        """The mean of the state before the first observation."""
        with tf.variable_scope(self._variable_scope):
            return tf.get_variable(
                name="prior_state_mean",
                shape=[dimension_value(self._tensor(self.get_state_transition()).shape[0])],
                dtype=self.dtype,
                trainable=self._configuration.trainable_start_state,
            )

    def get_broadcasted_observation_model(self, times: Any) -> tf.Tensor:
        """The observation model as a matrix for each series."""
        model = self._tensor(self.get_observation_model(times))
        rank = model.get_shape().with_rank_at_least(1).with_rank_at_most(3).ndims
        count = tf.shape(times)[0]
        if rank is None:
            checked = tf.Assert(tf.equal(tf.rank(model), 3), [tf.shape(model)])
            with tf.control_dependencies([checked]):
                return tf.identity(model)
        if rank == 1:
            return tf.tile(tf.reshape(model, [1, 1, -1]), [count, self.num_features, 1])
        if rank == 2:
            return tf.tile(tf.expand_dims(model, axis=0), [count, 1, 1])
        return model

    def get_state_transition_noise_covariance(
        self, minimum_initial_variance: float = _LEAST_VARIANCE
    ) -> tf.Tensor:
        """The covariance of the noise in a unit of time."""
        size = dimension_value(self._tensor(self.get_noise_transform()).shape[1])
        scale: Any = 0.0
        if self._input_statistics is not None:
            count = tf.cast(self._input_statistics.total_observation_count, self.dtype)
            mean = tf.reduce_mean(self._start_variance())
            scale = tf.math.log(tf.maximum(mean / count, minimum_initial_variance))
        scale -= self._observation_transition_tradeoff_log_scale
        return variable_covariance_matrix(
            size, "state_transition_noise", dtype=self.dtype, initial_overall_scale_log=scale
        )

    def get_observation_noise_covariance(
        self, minimum_initial_variance: float = _LEAST_VARIANCE
    ) -> tf.Tensor:
        """The covariance of the noise of an observation."""
        size, name = self.num_features, "observation_noise_covariance"
        if not self._configuration.use_observation_noise:
            return tf.zeros(shape=[size, size], name=name, dtype=self.dtype)
        start = self._start_variance()
        if start is not None:
            start = tf.maximum(start, minimum_initial_variance)
        return variable_covariance_matrix(
            size=size,
            dtype=self.dtype,
            name=name,
            initial_diagonal_values=start,
            initial_overall_scale_log=self._observation_transition_tradeoff_log_scale,
        )

    def get_start_state(self) -> Any:
        start = tf.zeros([], dtype=tf.int64)
        if self._input_statistics is not None:
            start = self._input_statistics.start_time
        return self.prior_state_mean, self.prior_state_var, start - 1

    def get_features_for_timesteps(self, timesteps: Any) -> tf.Tensor:
        """There are none."""
        return tf.zeros([tf.shape(timesteps)[0], 0], dtype=self.dtype)

    # Drawing series ------------------------------------------------------------------------------

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        """Values to feed for the parameters, drawn from priors."""
        return drawing.random_parameters(self, seed)

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Mapping[Any, Any] | None = None,
        seed: int | None = None,
        add_observation_noise: bool | None = None,
    ) -> dict[str, Any]:
        """Series drawn from the model, in the default session.

        Args:
          model_parameters: values of parameters, for example of `random_model_parameters`.
        """
        return drawing.series(
            self, number_of_series, series_length, model_parameters, seed, add_observation_noise
        )
