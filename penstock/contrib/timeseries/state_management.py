"""Which states windows of a series begin with."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import penstock as tf
from penstock.contrib.timeseries.feature_keys import FilteringFeatures, State, TrainEvalFeatures
from penstock.contrib.timeseries.model import ModelOutputs
from penstock.contrib.timeseries.state_tables import TupleOfTensorsLookup, replicate_state
from penstock.estimator import ModeKeys

flatten, pack = tf.nest.flatten, tf.nest.pack_sequence_as


class PassthroughStateManager:
    """Every window begins with the model's start state."""

    def __init__(self) -> None:
        self._input_statistics: Any = None
        self._graph_initialized = False

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        """To be called once, before all others."""
        self._graph_initialized = True
        self._input_statistics = input_statistics

    def define_loss(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        """What the model makes of a batch."""
        if State.STATE_TUPLE in features:
            raise ValueError("Overriding start state is not supported for this model.")
        outputs: ModelOutputs = model.define_loss(features, mode)
        return outputs


class _OverridableStateManager(PassthroughStateManager):
    """Features may say with which state windows begin, but not in training."""

    @abstractmethod
    def _define_loss_with_saved_state(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        """What the model makes of a batch that says nothing of states."""

    def define_loss(self, model: Any, features: dict[str, Any], mode: str) -> ModelOutputs:
        key = FilteringFeatures.STATE_TUPLE
        if key not in features:
            return self._define_loss_with_saved_state(model=model, features=features, mode=mode)
        if mode == ModeKeys.TRAIN:
            raise ValueError(
                "Overriding saved state for training is not supported (but a value for feature "
                f"{key} was specified)."
            )
        others = {name: value for name, value in features.items() if name != key}
        outputs: ModelOutputs = model.get_batch_loss(
            features=others, mode=mode, state=features[key]
        )
        return outputs


class FilteringOnlyStateManager(_OverridableStateManager):
    """Windows begin with the model's start state, or with one that features have."""

    def _define_loss_with_saved_state(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        outputs: ModelOutputs = model.define_loss(features, mode)
        return outputs


class ChainingStateManager(_OverridableStateManager):
    """Windows begin with the state that the last one that ended there has left.

    Args:
      state_saving_interval: for how many units of time one state is kept.
      checkpoint_state: whether checkpoints have the kept states.
    """

    def __init__(self, state_saving_interval: int = 20, checkpoint_state: bool = False):
        super().__init__()
        self._checkpoint_state = checkpoint_state
        self._state_saving_interval = state_saving_interval
        self._start_state: Any = None
        self._cached_states: Any = None

    def initialize_graph(self, model: Any, input_statistics: Any = None) -> None:
        super().initialize_graph(model=model, input_statistics=input_statistics)
        self._start_state = model.get_start_state()
        self._cached_states = TupleOfTensorsLookup(
            key_dtype=tf.int64,
            default_values=self._start_state,
            empty_key=-1,
            deleted_key=-2,
            name="cached_states",
            checkpoint=self._checkpoint_state,
        )

    def _define_loss_with_saved_state(
        self, model: Any, features: dict[str, Any], mode: str
    ) -> ModelOutputs:
        if not self._graph_initialized:
            raise ValueError(
                "ChainingStateManager requires initialize_graph() to be called before use."
            )
        times = features[TrainEvalFeatures.TIMES]
        loss, states, predictions = model.per_step_batch_loss(
            features=features, mode=mode, state=self._states_before(times[:, 0])
        )
        with tf.control_dependencies([self._kept(times, states)]):
            loss = tf.identity(loss)
        predictions["observed"] = features[TrainEvalFeatures.VALUES]
        last = [element[:, -1][-1][None] for element in flatten(states)]
        return ModelOutputs(
            loss=loss,
            end_state=pack(states, last),
            predictions=predictions,
            prediction_times=times,
        )

    def _chunk(self, time: Any) -> Any:
        return time // self._state_saving_interval

    def _states_before(self, times: tf.Tensor) -> Any:
        """The states that are kept for these times, the start state for the first of all."""
        chunks = self._chunk(times)
        kept = self._cached_states.lookup(tf.cast(chunks, tf.int64))
        statistics = self._input_statistics
        first = self._chunk(statistics.start_time if statistics is not None else 0)
        starts = replicate_state(self._start_state, tf.shape(times)[0])
        is_first = tf.equal(chunks, first)
        chosen = [
            tf.where(is_first, start, state)
            for start, state in zip(flatten(starts), flatten(kept), strict=True)
        ]
        return pack(kept, chosen)

    def _kept(self, times: tf.Tensor, states: Any) -> tf.Operation:
        """Keeps each state for the chunk of the time after it, never for one that has begun."""
        following = tf.concat([times[:, 1:], times[:, -1:] + 1], axis=1)
        chunks = tf.maximum(self._chunk(following), self._chunk(times) + 1)
        kept: tf.Operation = self._cached_states.insert(keys=chunks, values=states)
        return kept
