"""Autoregressive models: a window is predicted from the one before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.timeseries.ar_windows import predict_windows, windows_evaluated
from penstock.contrib.timeseries.feature_keys import TrainEvalFeatures
from penstock.contrib.timeseries.log_probabilities import cauchy_log_prob, normal_log_prob
from penstock.contrib.timeseries.model import (
    Features,
    ModelOutputs,
    TimeSeriesModel,
    exogenous,
)
from penstock.contrib.timeseries.prediction_networks import (
    FlatPredictionModel,
    LSTMPredictionModel,
)
from penstock.estimator import ModeKeys
from penstock.shapes import dimension_value

__all__ = ["ARModel", "AnomalyMixtureARModel", "FlatPredictionModel", "LSTMPredictionModel"]

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


def _log_density(targets: Any, variance: Any, prediction: Any) -> tf.Tensor:
    return normal_log_prob(targets, tf.sqrt(tf.maximum(variance, 1e-5)), prediction)


class ARModel(TimeSeriesModel):
    """Predicts the next values from the last ones, and from where times are in their periods.

    Args:
      periodicities: lengths of periods, in units of time; a number, several, or None.
      input_window_size: how many values are seen.
      output_window_size: how many values are predicted at once.
      prediction_model_factory: makes a Keras model of both windows' features.
      num_time_buckets: into how many parts a period is cut.
      loss: `NORMAL_LIKELIHOOD_LOSS`, or `SQUARED_LOSS`.
    """

    SQUARED_LOSS = "squared_loss"
    NORMAL_LIKELIHOOD_LOSS = "normal_likelihood_loss"

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        num_time_buckets: int = 10,
        loss: str = NORMAL_LIKELIHOOD_LOSS,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ):
        self._model_factory = prediction_model_factory
        self.input_window_size = input_window_size
        self.output_window_size = output_window_size
        self.window_size = input_window_size + output_window_size
        self.loss = loss
        super().__init__(
            num_features=num_features, exogenous_feature_columns=exogenous_feature_columns
        )
        self.exogenous_size = 0
        if exogenous_feature_columns is not None:
            self.exogenous_size = self._get_exogenous_embedding_shape()[-1]
        assert num_time_buckets > 0
        self._buckets = int(num_time_buckets)
        several = periodicities if isinstance(periodicities, list | tuple) else [periodicities]
        self._periodicities = [int(period) for period in several if period]
        assert all(period > 0 for period in self._periodicities)
        assert self._periodicities or input_window_size
        assert output_window_size > 0

    def initialize_graph(self, input_statistics: Any = None) -> None:
        super().initialize_graph(input_statistics=input_statistics)
        self._model_scope = tf.variable_scope("model/", use_resource=True)
        self._model_instance = self._model_factory(
            num_features=self.num_features,
            input_window_size=self.input_window_size,
            output_window_size=self.output_window_size,
        )

    def get_start_state(self) -> Any:
        size = self.input_window_size
        return (
            tf.zeros([size], dtype=tf.int64),
            tf.zeros([size, self.num_features], dtype=self.dtype),
            tf.zeros([size, self.exogenous_size], dtype=self.dtype),
        )

    def random_model_parameters(self, seed: int | None = None) -> None:
        """There are none to draw."""

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Mapping[Any, Any] | None = None,
        seed: int | None = None,
    ) -> None:
        """Nothing is drawn from these models."""

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict[str, Any]:
        """Means and variances of the second window, given the first.

        Args:
          times: of both windows.
          values: of the first, None if it is empty.
          exogenous_regressors: of both.
        """
        times.get_shape().assert_is_compatible_with([None, self.window_size])
        shape = [None, self.window_size, self.exogenous_size]
        if exogenous_regressors is not None:
            exogenous_regressors.get_shape().assert_is_compatible_with(shape)
        count = tf.shape(times)[0]
        earlier: list[tf.Tensor] = []
        later: list[tf.Tensor] = []
        if self._periodicities:
            size = self._buckets * len(self._periodicities)
            _, phases = self._compute_time_features(times)
            phases = tf.reshape(phases, [count, self.window_size, size])
            self._add_parts(phases, earlier, later)
        if self.input_window_size:
            known = [None, self.input_window_size, self.num_features]
            values.get_shape().assert_is_compatible_with(known)
            earlier.append(tf.reshape(values, [count, self.input_window_size, self.num_features]))
        if self.exogenous_size:
            self._add_parts(exogenous_regressors, earlier, later)
        before = tf.concat(earlier, axis=2)
        after = tf.zeros([count, self.output_window_size, 0], dtype=self.dtype)
        if later:
            after = tf.concat(later, axis=2)
        static = dimension_value(times.get_shape()[0])
        before.set_shape([static, self.input_window_size, None])
        after.set_shape([static, self.output_window_size, None])
        return self._output_window_predictions(before, after)

    def _add_parts(
        self, features: tf.Tensor, earlier: list[tf.Tensor], later: list[tf.Tensor]
    ) -> None:
        sizes = (self.input_window_size, self.output_window_size)
        first, second = tf.split(features, sizes, axis=1)
        earlier.append(first)
        later.append(second)

    def _output_window_predictions(self, before: Any, after: Any) -> dict[str, Any]:
        with self._model_scope:
            predictions: dict[str, Any] = self._model_instance(before, after)
        for prediction in predictions.values():
            prediction.set_shape([None, self.output_window_size, self.num_features])
        return predictions

    def loss_op(self, targets: Any, prediction_ops: Mapping[str, Any]) -> tf.Tensor:
        """The loss of predictions, by their targets, for one value."""
        prediction = prediction_ops["mean"]
        if self.loss == ARModel.NORMAL_LIKELIHOOD_LOSS:
            variance = prediction_ops["covariance"]
            loss = -tf.reduce_sum(_log_density(targets, variance, prediction))
        else:
            assert self.loss == ARModel.SQUARED_LOSS, self.loss
            loss = tf.reduce_sum(tf.squared_difference(prediction, targets))
        return loss / tf.cast(tf.reduce_prod(tf.shape(targets)), loss.dtype)

    def _process_exogenous_features(self, times: Any, features: Features) -> Any:
        embedded = super()._process_exogenous_features(times=times, features=features)
        if embedded is not None:
            return embedded
        assert self.exogenous_size == 0
        return tf.zeros(tf.concat([tf.shape(times), [0]], axis=0))

    def predict(self, features: Features) -> dict[str, Any]:
        if not self._graph_initialized:
            self.initialize_graph()
        mean, variance = predict_windows(self, features)
        return {
            "mean": self._scale_back_data(mean),
            "covariance": self._scale_back_variance(variance),
        }

    def _process_window(
        self, features: Features, mode: str, exogenous_regressors: Any
    ) -> ModelOutputs:
        """Loss and predictions of windows as long as both together."""
        times = tf.cast(features[_TIMES], tf.int64)
        original = tf.cast(features[_VALUES], dtype=self.dtype)
        regressors = tf.cast(exogenous_regressors, dtype=self.dtype)
        self._check_window(times)
        values = self._scale_data(original)
        size = self.input_window_size
        predicted = self.prediction_ops(times, values[:, :size, :] if size else None, regressors)
        targets = tf.slice(values, [0, size, 0], [-1, -1, -1])
        targets.get_shape().assert_is_compatible_with(predicted["mean"].get_shape())
        mean = self._scale_back_data(predicted["mean"])
        if mode == ModeKeys.EVAL and self.loss == ARModel.SQUARED_LOSS:
            loss = self.loss_op(self._scale_back_data(targets), {"mean": mean})
        else:
            loss = self.loss_op(targets, predicted)
        return ModelOutputs(
            loss=loss,
            end_state=(times[:, -size:], values[:, -size:, :], regressors[:, -size:, :]),
            predictions={
                "mean": mean,
                "covariance": self._scale_back_variance(predicted["covariance"]),
                "observed": original[:, -self.output_window_size :],
            },
            prediction_times=times[:, -self.output_window_size :],
        )

    def _check_window(self, times: tf.Tensor) -> None:
        if not times.get_shape().is_compatible_with([None, self.window_size]):
            raise ValueError(
                f"ARModel with input_window_size={self.input_window_size} and "
                f"output_window_size={self.output_window_size} expects feature '{_TIMES}' to have "
                f"shape (batch_size, {self.window_size}) (for any batch_size), but got shape "
                f"{times.get_shape()}. If you are using RandomWindowInputFn, set "
                f"window_size={self.window_size} or adjust the input_window_size and "
                "output_window_size arguments to ARModel."
            )

    def get_batch_loss(self, features: Features, mode: str, state: Any) -> ModelOutputs:
        tensors = {name: tf.convert_to_tensor(value) for name, value in features.items()}
        times = tensors[_TIMES]
        regressors = self._process_exogenous_features(times=times, features=exogenous(tensors))
        if mode == ModeKeys.TRAIN:
            return self._process_window(tensors, mode=mode, exogenous_regressors=regressors)
        if mode != ModeKeys.EVAL:
            raise ValueError(f"Unknown mode '{mode}' passed to get_batch_loss.")
        return windows_evaluated(self, tensors, regressors, state)

    def _compute_time_features(self, time: Any) -> tuple[tf.Tensor, tf.Tensor]:
        """How many periods have passed, and how far each bucket of a period is filled."""
        time = tf.reshape(time, [tf.shape(time)[0], -1, 1, 1])
        count = len(self._periodicities)
        periods = tf.constant(self._periodicities, shape=[1, 1, count, 1], dtype=time.dtype)
        passed = time / self._periodicities
        place = tf.cast(time % periods, self.dtype) * self._buckets / tf.cast(periods, self.dtype)
        buckets = tf.reshape(tf.range(self._buckets, dtype=self.dtype), [1, 1, 1, self._buckets])
        filled = tf.nn.relu(place - buckets)
        return passed, tf.where(filled < 1.0, filled, tf.zeros_like(filled))


class AnomalyMixtureARModel(ARModel):
    """An autoregressive model of values some of which are anomalies, of another distribution.

    Args:
      anomaly_prior_probability: that a value is an anomaly.
      anomaly_distribution: `GAUSSIAN_ANOMALY` or `CAUCHY_ANOMALY`.
    """

    GAUSSIAN_ANOMALY = "gaussian"
    CAUCHY_ANOMALY = "cauchy"

    def __init__(
        self,
        periodicities: Any,
        anomaly_prior_probability: float,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        prediction_model_factory: Callable[..., Any] = FlatPredictionModel,
        anomaly_distribution: str | None = GAUSSIAN_ANOMALY,
        num_time_buckets: int = 10,
        exogenous_feature_columns: Sequence[Any] | None = None,
    ):
        assert 0.0 < anomaly_prior_probability < 1.0
        self._anomaly_prior_probability = anomaly_prior_probability
        assert anomaly_distribution in (self.GAUSSIAN_ANOMALY, self.CAUCHY_ANOMALY)
        self._anomaly_distribution = anomaly_distribution
        super().__init__(
            periodicities=periodicities,
            num_features=num_features,
            num_time_buckets=num_time_buckets,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            loss=ARModel.NORMAL_LIKELIHOOD_LOSS,
            prediction_model_factory=prediction_model_factory,
            exogenous_feature_columns=exogenous_feature_columns,
        )

    def prediction_ops(self, times: Any, values: Any, exogenous_regressors: Any) -> dict[str, Any]:
        predictions = super().prediction_ops(times, values, exogenous_regressors)
        spread = tf.get_variable(
            "anomaly_log_param",
            shape=[],
            dtype=self.dtype,
            initializer=tf.zeros_initializer(),
        )
        return {**predictions, "anomaly_params": tf.exp(spread)}

    def _anomaly_log_prob(self, targets: Any, prediction_ops: Mapping[str, Any]) -> tf.Tensor:
        prediction, spread = prediction_ops["mean"], prediction_ops["anomaly_params"]
        if self._anomaly_distribution == self.GAUSSIAN_ANOMALY:
            return _log_density(targets, spread, prediction)
        return cauchy_log_prob(targets, spread, prediction)

    def loss_op(self, targets: Any, prediction_ops: Mapping[str, Any]) -> tf.Tensor:
        prior = self._anomaly_prior_probability
        regular = _log_density(targets, prediction_ops["covariance"], prediction_ops["mean"])
        regular += tf.math.log(1 - prior)
        anomalous = self._anomaly_log_prob(targets, prediction_ops) + tf.math.log(prior)
        less, more = tf.minimum(regular, anomalous), tf.maximum(regular, anomalous)
        mixed = more + tf.math.log(1 + tf.exp(less - more))
        return -tf.reduce_sum(mixed) / tf.cast(tf.reduce_prod(tf.shape(targets)), self.dtype)
