"""What time series models are: losses of windows of a series, and predictions beyond them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.timeseries.feature_keys import OWN_FEATURES, TrainEvalFeatures
from penstock.contrib.timeseries.state_tables import replicate_state

Features = Mapping[str, Any]


class ModelOutputs(NamedTuple):
    """What a model makes of observations.

    `loss` is a scalar, `end_state` the state after the last of them, `predictions` a dict of
    tensors, and `prediction_times` their times.
    """

    loss: Any
    end_state: Any
    predictions: dict[str, Any]
    prediction_times: Any


def exogenous(features: Features) -> dict[str, Any]:
    """The features that are neither times, values nor states."""
    return {key: value for key, value in features.items() if key not in OWN_FEATURES}


def parsed_placeholders(columns: Sequence[Any]) -> dict[str, Any]:
    """Features of examples not given yet, as feature columns have them parsed."""
    serialized = tf.placeholder(shape=[None], dtype=tf.string)
    spec = tf.feature_column.make_parse_example_spec(columns)
    parsed: dict[str, Any] = tf.parse_example(serialized=serialized, features=spec)
    return parsed


class TimeSeriesModel(ABC):
    """A model of series of `num_features` features.

    Args:
      exogenous_feature_columns: feature columns of what is known of a time besides values.
      dtype: the type to compute with.
    """

    def __init__(
        self,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        dtype: Any = tf.float32,
    ):
        self._exogenous_feature_columns = exogenous_feature_columns or []
        self.num_features = num_features
        self.dtype = dtype
        self._input_statistics: Any = None
        self._graph_initialized = False
        self._stats_means: Any = None
        self._stats_sigmas: Any = None

    @property
    def exogenous_feature_columns(self) -> Sequence[Any]:
        """The feature columns of exogenous features."""
        return self._exogenous_feature_columns

    def generate(
        self,
        number_of_series: int,
        series_length: int,
        model_parameters: Mapping[Any, Any] | None = None,
        seed: int | None = None,
    ) -> Any:
        """Series drawn from the model."""
        raise NotImplementedError("This model does not support generation.")

    def initialize_graph(self, input_statistics: Any = None) -> None:
        """Defines variables in the default graph; to be called once, before all others."""
        self._graph_initialized = True
        self._input_statistics = input_statistics
        if input_statistics:
            moments = input_statistics.overall_feature_moments
            self._stats_means, self._stats_sigmas = moments.mean, tf.sqrt(moments.variance)

    def _scale_data(self, data: Any) -> Any:
        """Values with mean 0 and variance 1, if statistics are known."""
        if self._input_statistics is None:
            return data
        return (data - self._stats_means) / self._stats_sigmas

    def _scale_variance(self, variance: Any) -> Any:
        if self._input_statistics is None:
            return variance
        return variance / self._input_statistics.overall_feature_moments.variance

    def _scale_back_data(self, data: Any) -> Any:
        """Scaled values as they were."""
        if self._input_statistics is None:
            return data
        return data * self._stats_sigmas + self._stats_means

    def _scale_back_variance(self, variance: Any) -> Any:
        if self._input_statistics is None:
            return variance
        return variance * self._input_statistics.overall_feature_moments.variance

    def _check_graph_initialized(self) -> None:
        if not self._graph_initialized:
            raise ValueError(
                "TimeSeriesModels require initialize_graph() to be called before use. This "
                "defines variables and ops in the default graph, and allows Tensor-valued input "
                "statistics to be specified."
            )

    def define_loss(self, features: Features, mode: str) -> ModelOutputs:
        """What the model makes of a batch of windows, each begun with its start state."""
        self._check_graph_initialized()
        count = tf.shape(features[TrainEvalFeatures.TIMES])[0]
        state = replicate_state(start_state=self.get_start_state(), batch_size=count)
        return self.get_batch_loss(features=features, mode=mode, state=state)

    @abstractmethod
    def get_start_state(self) -> Any:
        """The state before the first observation, of one series."""

    @abstractmethod
    def get_batch_loss(self, features: Features, mode: str, state: Any) -> ModelOutputs:
        """What the model makes of a batch of windows that begin with these states."""

    @abstractmethod
    def predict(self, features: Features) -> dict[str, Any]:
        """Predictions for times, from states on."""

    def _get_exogenous_embedding_shape(self) -> Sequence[Any]:
        if not self._exogenous_feature_columns:
            return (0,)
        with tf.Graph().as_default():
            features = parsed_placeholders(self._exogenous_feature_columns)
            columns = self._exogenous_feature_columns
            embedded = tf.feature_column.input_layer(features=features, feature_columns=columns)
            return embedded.get_shape().as_list()[1:]

    def _process_exogenous_features(self, times: Any, features: Features) -> Any:
        """Exogenous features as one tensor of shape (batch, time, size), or None."""
        if not self._exogenous_feature_columns:
            return None
        flat = {name: _without_time(name, tensor) for name, tensor in features.items()}
        embedded = tf.feature_column.input_layer(
            features=flat, feature_columns=self._exogenous_feature_columns, trainable=True
        )
        shape = tf.concat([tf.shape(times), tf.shape(embedded)[1:]], axis=0)
        regressors = tf.reshape(embedded, shape)
        regressors.set_shape(times.get_shape().concatenate(embedded.get_shape()[1:]))
        return tf.cast(regressors, self.dtype)


def _without_time(name: str, tensor: tf.Tensor) -> tf.Tensor:
    """Batch and time as one dimension, which feature columns work on."""
    if tensor.get_shape().ndims is None:
        raise ValueError(
            "Features with unknown rank are not supported. Got shape "
            f"{tensor.get_shape()} for feature {name}."
        )
    sizes = tf.shape(tensor)
    flat = tf.reshape(tensor, tf.concat([[sizes[0] * sizes[1]], sizes[2:]], axis=0))
    if flat.get_shape().ndims == 1 and flat.dtype != tf.string:
        return flat[:, None]
    return flat
