"""Estimators of time series."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.timeseries import serving_inputs, state_management
from penstock.contrib.timeseries.ar_model import (
    AnomalyMixtureARModel,
    ARModel,
    FlatPredictionModel,
    LSTMPredictionModel,
)
from penstock.contrib.timeseries.head import OneShotPredictionHead, TimeSeriesRegressionHead
from penstock.contrib.timeseries.input_statistics import InputStatisticsFromMiniBatch
from penstock.contrib.timeseries.model import TimeSeriesModel
from penstock.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from penstock.contrib.timeseries.state_space.filtering_postprocessor import (
    StateInterpolatingAnomalyDetector,
)
from penstock.contrib.timeseries.state_space.state_space_model import StateSpaceModel
from penstock.contrib.timeseries.state_space.structural_ensemble import (
    MultiResolutionStructuralEnsemble,
)
from penstock.estimator import Estimator
from penstock.estimator.canned.optimizers import get_optimizer_instance

__all__ = [
    "ARRegressor",
    "LSTMAutoRegressor",
    "StateSpaceRegressor",
    "StructuralEnsembleRegressor",
    "TimeSeriesRegressor",
]


class TimeSeriesRegressor(Estimator):
    """An estimator of any time series model.

    Args:
      state_manager: says with which states windows begin.
      optimizer: Adam with rate 0.02 if None.
      head_type: the class of the head.
    """

    def __init__(
        self,
        model: TimeSeriesModel,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: type[TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ):
        statistics = InputStatisticsFromMiniBatch(
            dtype=model.dtype, num_features=model.num_features
        )
        if state_manager is None and isinstance(model, ARModel):
            state_manager = state_management.FilteringOnlyStateManager()
        elif state_manager is None:
            state_manager = state_management.PassthroughStateManager()
        self._model = model
        head = head_type(
            model=model,
            state_manager=state_manager,
            optimizer=tf.train.AdamOptimizer(0.02) if optimizer is None else optimizer,
            input_statistics_generator=statistics,
        )
        super().__init__(model_fn=head.create_estimator_spec, model_dir=model_dir, config=config)

    def build_one_shot_parsing_serving_input_receiver_fn(
        self,
        filtering_length: int,
        prediction_length: int,
        default_batch_size: int | None = None,
        values_input_dtype: Any = None,
        truncate_values: bool = False,
    ) -> Callable[[], Any]:
        """The input of a model exported with `OneShotPredictionHead`: serialized examples.

        Args:
          filtering_length: how many values are known.
          prediction_length: how many are to be predicted.
          values_input_dtype: the type of values in the examples; float32 if None.
          truncate_values: whether examples have values for predicted times, too, to be left out.
        """
        total = filtering_length + prediction_length

        def serving_input_receiver_fn() -> Any:
            return serving_inputs.example_receiver(
                self._model,
                filtering_length,
                total if truncate_values else filtering_length,
                total,
                default_batch_size,
                tf.float32 if values_input_dtype is None else values_input_dtype,
            )

        return serving_input_receiver_fn

    def build_raw_serving_input_receiver_fn(
        self, default_batch_size: int | None = None, default_series_length: int | None = None
    ) -> Callable[[], Any]:
        """The input of an exported model: placeholders of all features and of states."""

        def serving_input_receiver_fn() -> Any:
            return serving_inputs.raw_receiver(
                self._model, default_batch_size, default_series_length
            )

        return serving_input_receiver_fn


class ARRegressor(TimeSeriesRegressor):
    """An estimator of an autoregressive model of dense layers; see `ARModel`.

    Args:
      hidden_layer_sizes: of the layers before the last.
      anomaly_prior_probability: if given, values may be anomalies with this probability.
      optimizer: Adagrad with rate 0.1 if None.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        num_features: int,
        exogenous_feature_columns: Sequence[Any] | None = None,
        num_time_buckets: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        hidden_layer_sizes: Sequence[int] | None = None,
        anomaly_prior_probability: float | None = None,
        anomaly_distribution: str | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
    ):
        if anomaly_prior_probability is None and anomaly_distribution is not None:
            raise ValueError(
                "anomaly_prior_probability is required if anomaly_distribution is specified."
            )
        settings: dict[str, Any] = {
            "periodicities": periodicities,
            "num_features": num_features,
            "prediction_model_factory": functools.partial(
                FlatPredictionModel, hidden_layer_sizes=hidden_layer_sizes
            ),
            "exogenous_feature_columns": exogenous_feature_columns,
            "num_time_buckets": num_time_buckets,
            "input_window_size": input_window_size,
            "output_window_size": output_window_size,
        }
        if anomaly_prior_probability is None:
            model = ARModel(loss=loss, **settings)
        elif loss != ARModel.NORMAL_LIKELIHOOD_LOSS:
            raise ValueError(
                "AnomalyMixtureARModel only supports ar_model.ARModel.NORMAL_LIKELIHOOD_LOSS for "
                "its loss argument."
            )
        else:
            model = AnomalyMixtureARModel(
                anomaly_prior_probability=anomaly_prior_probability,
                anomaly_distribution=anomaly_distribution,
                **settings,
            )
        super().__init__(
            model=model,
            state_manager=state_management.FilteringOnlyStateManager(),
            optimizer=tf.train.AdagradOptimizer(0.1) if optimizer is None else optimizer,
            model_dir=model_dir,
            config=config,
        )


class LSTMAutoRegressor(TimeSeriesRegressor):
    """An estimator of an autoregressive model of recurrent networks; see `ARModel`.

    Args:
      num_timesteps: into how many parts a period is cut.
      optimizer: an optimizer, or the name of one, with rate 0.01.
    """

    def __init__(
        self,
        periodicities: Any,
        input_window_size: int,
        output_window_size: int,
        model_dir: str | None = None,
        num_features: int = 1,
        extra_feature_columns: Sequence[Any] | None = None,
        num_timesteps: int = 10,
        loss: str = ARModel.NORMAL_LIKELIHOOD_LOSS,
        num_units: int = 128,
        optimizer: Any = "Adam",
        config: Any = None,
    ):
        model = ARModel(
            periodicities=periodicities,
            input_window_size=input_window_size,
            output_window_size=output_window_size,
            num_features=num_features,
            exogenous_feature_columns=extra_feature_columns,
            num_time_buckets=num_timesteps,
            loss=loss,
            prediction_model_factory=functools.partial(LSTMPredictionModel, num_units=num_units),
        )
        super().__init__(
            model=model,
            state_manager=state_management.FilteringOnlyStateManager(),
            optimizer=get_optimizer_instance(optimizer, learning_rate=0.01),
            model_dir=model_dir,
            config=config,
            head_type=OneShotPredictionHead,
        )


class StateSpaceRegressor(TimeSeriesRegressor):
    """An estimator of a state space model, whose states go on from window to window."""

    def __init__(
        self,
        model: StateSpaceModel,
        state_manager: Any = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: type[TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ):
        if not isinstance(model, StateSpaceModel):
            raise ValueError(
                "StateSpaceRegressor only supports state space models (children of "
                f"StateSpaceModel) in its `model` argument, got {model}."
            )
        super().__init__(
            model=model,
            state_manager=state_manager or state_management.ChainingStateManager(),
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
            head_type=head_type,
        )


class StructuralEnsembleRegressor(StateSpaceRegressor):
    """An estimator of a sum of a trend, a moving average and cycles.

    Args:
      periodicities: lengths of cycles.
      cycle_num_latent_values: by how many numbers a cycle is described; odd.
      exogenous_update_condition: a function of times and features that says for which series
        exogenous features change the state.
      anomaly_prior_probability: if given, values may be anomalies with this probability.
    """

    def __init__(
        self,
        periodicities: Any,
        num_features: int,
        cycle_num_latent_values: Any = 11,
        moving_average_order: int = 4,
        autoregressive_order: int = 0,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        dtype: Any = tf.float64,
        anomaly_prior_probability: float | None = None,
        optimizer: Any = None,
        model_dir: str | None = None,
        config: Any = None,
        head_type: type[TimeSeriesRegressionHead] = TimeSeriesRegressionHead,
    ):
        detector = None
        if anomaly_prior_probability is not None:
            detector = StateInterpolatingAnomalyDetector(
                anomaly_prior_probability=anomaly_prior_probability
            )
        configuration = StateSpaceModelConfiguration(
            num_features=num_features,
            dtype=dtype,
            filtering_postprocessor=detector,
            exogenous_feature_columns=exogenous_feature_columns,
            exogenous_update_condition=exogenous_update_condition,
        )
        model = MultiResolutionStructuralEnsemble(
            cycle_num_latent_values=cycle_num_latent_values,
            moving_average_order=moving_average_order,
            autoregressive_order=autoregressive_order,
            periodicities=periodicities,
            configuration=configuration,
        )
        super().__init__(
            model=model,
            optimizer=optimizer,
            model_dir=model_dir,
            config=config,
            head_type=head_type,
        )
