"""What estimators make of time series models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import penstock as tf
from penstock.contrib.timeseries.feature_checks import (
    check_predict_features,
    check_train_eval_features,
)
from penstock.contrib.timeseries.feature_keys import (
    FilteringResults,
    SavedModelLabels,
    State,
    TrainEvalFeatures,
)
from penstock.contrib.timeseries.model import ModelOutputs
from penstock.estimator import EstimatorSpec, ModeKeys
from penstock.estimator.export import PredictOutput
from penstock.estimator.heads.head import _Head

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
_NUMBERED_STATE = re.compile(rf"^{State.STATE_PREFIX}_(\d+)$")


class _NoStatePredictOutput(PredictOutput):
    """Outputs of a signature that takes no states."""

    def as_signature_def(self, receiver_tensors: Mapping[str, Any]) -> Any:
        return super().as_signature_def(_stateless(receiver_tensors))


def _stateless(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in tensors.items()
        if key != State.STATE_TUPLE and not key.startswith(State.STATE_PREFIX)
    }


def state_to_dictionary(state_tuple: Any) -> dict[str, Any]:
    """The tensors of a state by numbered names."""
    return {
        f"{State.STATE_PREFIX}_{number:02d}": value
        for number, value in enumerate(tf.nest.flatten(state_tuple))
    }


def _last_value(name: str, tensor: tf.Tensor) -> tuple[Any, Any]:
    """A metric that is what the last batch gave."""
    kept = tf.Variable(
        tf.zeros([], dtype=tensor.dtype),
        name=f"{name}_identity_metric",
        collections=[tf.GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
        trainable=False,
        use_resource=False,
    )
    updated = tf.assign(kept, tensor, validate_shape=False)
    value = tf.identity(kept)
    return value, updated


def _last_values(name: str, tensors: Any) -> tuple[Any, tf.Operation]:
    metrics = [
        _last_value(f"{name}_{number}", tensor)
        for number, tensor in enumerate(tf.nest.flatten(tensors))
    ]
    values = tf.nest.pack_sequence_as(tensors, [value for value, _ in metrics])
    return values, tf.group(*(update for _, update in metrics))


class TimeSeriesRegressionHead(_Head):
    """Training, evaluation, predictions and exports of a time series model.

    Args:
      state_manager: says with which states windows begin.
      input_statistics_generator: gathers statistics of the series; None for none.
    """

    def __init__(
        self,
        model: Any,
        state_manager: Any,
        optimizer: Any,
        input_statistics_generator: Any = None,
        name: str | None = None,
    ):
        self.model = model
        self.state_manager = state_manager
        self.optimizer = optimizer
        self.input_statistics_generator = input_statistics_generator
        self._name = name

    @property
    def name(self) -> str | None:
        """The head's name."""
        return self._name

    @property
    def logits_dimension(self) -> int:
        """Heads have it; this one sees no logits."""
        return 1

    def create_loss(
        self, features: dict[str, Any], mode: str, logits: Any = None, labels: Any = None
    ) -> ModelOutputs:
        """What the model makes of features; its loss is summarized."""
        outputs: ModelOutputs = self.state_manager.define_loss(self.model, features, mode)
        tf.summary.scalar(f"loss/{self._name}" if self._name else "loss", outputs.loss)
        return outputs

    def _train_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with tf.variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.TRAIN)
        train_op = self.optimizer.minimize(outputs.loss, global_step=tf.train.get_global_step())
        return EstimatorSpec(loss=outputs.loss, mode=ModeKeys.TRAIN, train_op=train_op)

    def _evaluate_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with tf.variable_scope("model", use_resource=True):
            outputs = self.create_loss(features, ModeKeys.EVAL)
        metrics: dict[str, Any] = {
            key: _last_value(key, value) for key, value in outputs.predictions.items()
        }
        metrics[FilteringResults.TIMES] = _last_value(
            FilteringResults.TIMES, outputs.prediction_times
        )
        metrics[FilteringResults.STATE_TUPLE] = _last_values(
            FilteringResults.STATE_TUPLE, outputs.end_state
        )
        metrics["average_loss"] = tf.metrics.mean(outputs.loss, name="average_loss")
        return EstimatorSpec(
            loss=outputs.loss,
            mode=ModeKeys.EVAL,
            eval_metric_ops=metrics,
            predictions=outputs.predictions,
        )

    def _predict_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        with tf.variable_scope("model", use_resource=True):
            predictions = self.model.predict(features=features)
        predictions[_TIMES] = features[_TIMES]
        return EstimatorSpec(predictions=predictions, mode=ModeKeys.PREDICT)

    def _serving_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        """Signatures that predict, and that update a given state or the start state."""
        with tf.variable_scope("model", use_resource=True):
            predictions = self.model.predict(features=features)
        with tf.variable_scope("model", reuse=True):
            filtered = self.create_loss(features, ModeKeys.EVAL)
        with tf.variable_scope("model", reuse=True):
            fresh = self.model.define_loss(features=_stateless(features), mode=ModeKeys.EVAL)
        return EstimatorSpec(
            mode=ModeKeys.PREDICT,
            export_outputs={
                SavedModelLabels.PREDICT: PredictOutput(predictions),
                SavedModelLabels.FILTER: PredictOutput(state_to_dictionary(filtered.end_state)),
                SavedModelLabels.COLD_START_FILTER: _NoStatePredictOutput(
                    state_to_dictionary(fresh.end_state)
                ),
            },
            predictions={},
        )

    def _convert_feature_to_tensor(self, name: str, value: Any) -> Any:
        if name == _TIMES:
            return tf.cast(value, tf.int64)
        if name == _VALUES:
            return tf.cast(value, self.model.dtype)
        if name == State.STATE_TUPLE:
            return value
        return tf.convert_to_tensor_or_sparse_tensor(value)

    def _gather_state(self, features: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        """Features with numbered tensors of a state as a state, and whether there were any."""
        numbered = {
            int(found.group(1)): key for key in features if (found := _NUMBERED_STATE.search(key))
        }
        if not numbered:
            return features, False
        tensors = [features[numbered[number]] for number in sorted(numbered)]
        gathered = {key: value for key, value in features.items() if key not in numbered.values()}
        gathered[State.STATE_TUPLE] = tf.nest.pack_sequence_as(
            self.model.get_start_state(), tensors
        )
        return gathered, True

    def _check_predict_features(self, features: dict[str, Any]) -> None:
        check_predict_features(features)

    def create_estimator_spec(  # type: ignore[override]
        self, features: Mapping[str, Any], mode: str, labels: Any = None
    ) -> EstimatorSpec:
        """What a model function returns."""
        with tf.name_scope(self._name, "head"):
            if labels is not None and labels != {}:
                raise ValueError(
                    "The model received a `labels`, which is not supported. Pass "
                    f"'{_TIMES}' and '{_VALUES}' as features."
                )
            tensors = {
                name: self._convert_feature_to_tensor(name=name, value=value)
                for name, value in features.items()
            }
            statistics = None
            if self.input_statistics_generator is not None:
                statistics = self.input_statistics_generator.initialize_graph(
                    tensors, update_statistics=mode == ModeKeys.TRAIN
                )
            self.model.initialize_graph(input_statistics=statistics)
            tensors, has_state = self._gather_state(tensors)
            if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
                check_train_eval_features(tensors, self.model)
            elif mode == ModeKeys.PREDICT:
                self._check_predict_features(tensors)
            else:
                raise ValueError(f"Unknown mode '{mode}' passed to model_fn.")
            self.state_manager.initialize_graph(model=self.model, input_statistics=statistics)
            if mode == ModeKeys.TRAIN:
                return self._train_ops(tensors)
            if mode == ModeKeys.EVAL:
                return self._evaluate_ops(tensors)
            return self._serving_ops(tensors) if has_state else self._predict_ops(tensors)


class OneShotPredictionHead(TimeSeriesRegressionHead):
    """A head whose exported model takes values and times beyond them, and no states."""

    def _check_predict_features(self, features: dict[str, Any]) -> None:
        check_predict_features(features, with_values=True)

    def _evaluate_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        spec = super()._evaluate_ops(features)
        del spec.eval_metric_ops[State.STATE_TUPLE]
        return spec

    def _serving_ops(self, features: dict[str, Any]) -> EstimatorSpec:
        length = tf.shape(features[_VALUES])[1]
        timed = {
            key: value for key, value in features.items() if key not in (State.STATE_TUPLE, _VALUES)
        }
        known = {key: value[:, :length] for key, value in timed.items()}
        with tf.variable_scope("model", use_resource=True):
            fresh = self.model.define_loss(
                features={**known, _VALUES: features[_VALUES]}, mode=ModeKeys.EVAL
            )
        wanted = {key: value[:, length:] for key, value in timed.items()}
        with tf.variable_scope("model", reuse=True):
            predictions = self.model.predict(
                features={**wanted, State.STATE_TUPLE: fresh.end_state}
            )
        return EstimatorSpec(
            mode=ModeKeys.PREDICT,
            export_outputs={SavedModelLabels.PREDICT: _NoStatePredictOutput(predictions)},
            predictions={},
        )
