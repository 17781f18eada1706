"""Models that go through a window step by step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.timeseries.feature_keys import PredictionFeatures, TrainEvalFeatures
from penstock.contrib.timeseries.model import (
    Features,
    ModelOutputs,
    TimeSeriesModel,
    exogenous,
)
from penstock.shapes import dimension_value

flatten, pack = tf.nest.flatten, tf.nest.pack_sequence_as


class _Written:
    """What a `tf.TensorArray` is to a loop, for steps that are made one after the other."""

    def __init__(self) -> None:
        self._values: list[tf.Tensor] = []

    def write(self, index: Any, value: tf.Tensor) -> _Written:
        self._values.append(value)
        return self

    def by_series(self) -> tf.Tensor:
        return tf.stack(self._values, axis=1)


def _by_series(array: Any) -> tf.Tensor:
    """What was written at each time, with the batch as the first dimension."""
    if isinstance(array, _Written):
        return array.by_series()
    stacked = array.stack()
    others = tf.range(2, tf.rank(stacked))
    return tf.transpose(stacked, perm=tf.concat([[1, 0], others], 0))


class SequentialTimeSeriesModel(TimeSeriesModel):
    """A model given by what happens at a step: prediction, and then filtering by what is observed.

    Args:
      train_output_names: of the outputs of filtering steps.
      predict_output_names: of the outputs of prediction steps.
      normalize_features: whether the model sees values of mean 0 and variance 1.
      exogenous_update_condition: a function of times and features that says for which series
        exogenous features change the state.
      static_unrolling_window_size_threshold: windows of up to this size are unrolled.
    """

    def __init__(
        self,
        train_output_names: Sequence[str],
        predict_output_names: Sequence[str],
        num_features: int,
        normalize_features: bool = False,
        dtype: Any = tf.float32,
        exogenous_feature_columns: Sequence[Any] | None = None,
        exogenous_update_condition: Callable[..., Any] | None = None,
        static_unrolling_window_size_threshold: int | None = None,
    ):
        super().__init__(
            num_features=num_features,
            dtype=dtype,
            exogenous_feature_columns=exogenous_feature_columns,
        )
        self._exogenous_update_condition = exogenous_update_condition
        self._train_output_names = train_output_names
        self._predict_output_names = predict_output_names
        self._normalize_features = normalize_features
        self._static_unrolling_window_size_threshold = static_unrolling_window_size_threshold

    def _scale_back_predictions(self, predictions: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError(
            "SequentialTimeSeriesModel normalized input data (normalize_features=True), but no "
            "method was provided to transform the predictions back to the input scale."
        )

    @abstractmethod
    def _filtering_step(
        self, current_times: Any, current_values: Any, state: Any, predictions: dict[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """The state after an observation, and outputs, a `loss` among them."""

    @abstractmethod
    def _prediction_step(self, current_times: Any, state: Any) -> tuple[Any, dict[str, Any]]:
        """The state at a time, and predictions for it."""

    @abstractmethod
    def _imputation_step(self, current_times: Any, state: Any) -> Any:
        """The state after the time since the last observation."""

    @abstractmethod
    def _exogenous_input_step(
        self, current_times: Any, current_exogenous_regressors: Any, state: Any
    ) -> Any:
        """The state after exogenous features are known."""

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        """What the loss has besides that of observations."""
        return 0.0

    def _window_initializer(self, times: Any, state: Any) -> None:
        """Called before the steps of a window."""

    def get_batch_loss(self, features: Features, mode: str, state: Any) -> ModelOutputs:
        loss, states, outputs = self.per_step_batch_loss(features, mode, state)
        outputs["observed"] = features[TrainEvalFeatures.VALUES]
        return ModelOutputs(
            loss=loss,
            end_state=pack(states, [element[:, -1] for element in flatten(states)]),
            predictions=outputs,
            prediction_times=features[TrainEvalFeatures.TIMES],
        )

    def _apply_exogenous_update(
        self,
        current_times: Any,
        step_number: Any,
        state: Any,
        raw_features: Features,
        embedded_exogenous_regressors: Any,
    ) -> Any:
        if embedded_exogenous_regressors is None:
            return state
        updated = self._exogenous_input_step(
            current_times=current_times,
            current_exogenous_regressors=embedded_exogenous_regressors[:, step_number, :],
            state=state,
        )
        if self._exogenous_update_condition is None:
            return updated
        now = {key: value[:, step_number] for key, value in exogenous(raw_features).items()}
        chosen = [
            tf.where(self._exogenous_update_condition(times=current_times, features=now), new, old)
            for new, old in zip(flatten(updated), flatten(state), strict=True)
        ]
        return pack(state, chosen)

    def per_step_batch_loss(
        self, features: Features, mode: str, state: Any
    ) -> tuple[Any, Any, dict[str, Any]]:
        """The loss of windows, the states after each of their steps, and all outputs."""
        self._check_graph_initialized()
        times = tf.cast(features[TrainEvalFeatures.TIMES], dtype=tf.int64)
        values = tf.cast(features[TrainEvalFeatures.VALUES], dtype=self.dtype)
        if self._normalize_features:
            values = self._scale_data(values)
        regressors = self._process_exogenous_features(times=times, features=exogenous(features))

        def step(step_number: Any, current_times: Any, state: Any) -> tuple[Any, dict[str, Any]]:
            state = self._apply_exogenous_update(
                current_times, step_number, state, features, regressors
            )
            state, predictions = self._prediction_step(current_times=current_times, state=state)
            return self._filtering_step(
                current_times=current_times,
                current_values=values[:, step_number, :],
                state=state,
                predictions=predictions,
            )

        states, outputs = self._state_update_loop(
            times=times,
            state=state,
            state_update_fn=step,
            outputs=["loss", *self._train_output_names],
        )
        losses = outputs.pop("loss")
        losses.set_shape(times.get_shape())
        count = tf.cast(tf.reduce_prod(tf.shape(times)), dtype=self.dtype)
        loss = tf.reduce_sum(losses) / count + self._loss_additions(times, values, mode)
        if self._normalize_features:
            outputs = self._scale_back_predictions(outputs)
        return loss, states, outputs

    def predict(self, features: Features) -> dict[str, Any]:
        times = tf.convert_to_tensor(features[PredictionFeatures.TIMES], tf.int64)
        regressors = self._process_exogenous_features(times=times, features=exogenous(features))

        def step(step_number: Any, current_times: Any, state: Any) -> tuple[Any, dict[str, Any]]:
            state = self._apply_exogenous_update(
                current_times, step_number, state, features, regressors
            )
            return self._prediction_step(current_times=current_times, state=state)

        _, predictions = self._state_update_loop(
            times=times,
            state=features[PredictionFeatures.STATE_TUPLE],
            state_update_fn=step,
            outputs=self._predict_output_names,
        )
        if self._normalize_features:
            predictions = self._scale_back_predictions(predictions)
        return predictions

    def _unrolled_steps(self, times: tf.Tensor) -> int | None:
        """How many steps are built one by one; None for a loop."""
        size: int | None = dimension_value(times.shape[1])
        threshold = self._static_unrolling_window_size_threshold
        if threshold is None or size is None or size > threshold:
            return None
        return size

    def _state_update_loop(
        self,
        times: Any,
        state: Any,
        state_update_fn: Callable[..., tuple[Any, dict[str, Any]]],
        outputs: Sequence[str],
    ) -> tuple[Any, dict[str, Any]]:
        """The states after each step, and the outputs of all steps by their names."""
        times = tf.convert_to_tensor(times, dtype=tf.int64)
        self._window_initializer(times, state)

        def step(
            number: Any, state: Any, states: Any, results: Any, reuse: bool = False
        ) -> tuple[Any, Any, Any, Any]:
            with tf.variable_scope("state_update_step", reuse=reuse):
                now = times[:, number]
                state = self._imputation_step(current_times=now, state=state)
                following, made = state_update_fn(
                    step_number=number, current_times=now, state=state
                )
                assert set(made) == set(outputs)
                for new, old in zip(flatten(following), flatten(state), strict=True):
                    new.set_shape(old.get_shape())
                flat = flatten(following)
                states = [array.write(number, e) for array, e in zip(states, flat, strict=True)]
                results = [
                    array.write(number, made[name])
                    for array, name in zip(results, outputs, strict=True)
                ]
                return number + 1, pack(state, flat), states, results

        unrolled = self._unrolled_steps(times)
        size = tf.shape(times)[1]

        def array(dtype: Any) -> Any:
            return tf.TensorArray(dtype=dtype, size=size) if unrolled is None else _Written()

        arguments = (
            tf.zeros([], tf.int32),
            state,
            [array(element.dtype) for element in flatten(state)],
            [array(self.dtype) for _ in outputs],
        )
        if unrolled is None:
            arguments = tf.while_loop(lambda number, *_: tf.less(number, size), step, arguments)
        else:
            for number in range(unrolled):
                arguments = step(tf.constant(number), *arguments[1:], reuse=number > 0)
        _, _, states, results = arguments
        named = {name: _by_series(result) for name, result in zip(outputs, results, strict=True)}
        return pack(state, [_by_series(element) for element in states]), named
