"""Helpers of a decoder in training: they know the true inputs, and may mix samples in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.seq2seq.inference_helpers import Helper, embedding_function
from penstock.contrib.seq2seq.sampling import bernoulli_sample, categorical_sample
from penstock.nest import flatten, map_structure
from penstock.rnn.dynamic import transpose_batch_time
from penstock.shapes import TensorShape

__all__ = [
    "ScheduledEmbeddingTrainingHelper",
    "ScheduledOutputTrainingHelper",
    "TrainingHelper",
]


def _unstack_ta(inp: Any) -> Any:
    array = tf.TensorArray(inp.dtype, tf.shape(inp)[0], element_shape=inp.get_shape()[1:])
    return array.unstack(inp)


class TrainingHelper(Helper):
    """Feeds given inputs, whatever the outputs are.

    Args:
      inputs: `[batch, time, …]`, or `[time, batch, …]` if `time_major`; may be a structure.
      sequence_length: `[batch]`: after so many steps a sequence is finished.
    """

    def __init__(
        self, inputs: Any, sequence_length: Any, time_major: bool = False, name: str | None = None
    ):
        with tf.name_scope(name, "TrainingHelper", [*flatten(inputs), sequence_length]):
            inputs = map_structure(lambda i: tf.convert_to_tensor(i, name="inputs"), inputs)
            self._inputs = inputs
            if not time_major:
                inputs = map_structure(transpose_batch_time, inputs)
            self._input_tas = map_structure(_unstack_ta, inputs)
            self._sequence_length = tf.convert_to_tensor(sequence_length, name="sequence_length")
            if self._sequence_length.get_shape().ndims != 1:
                raise ValueError(
                    "Expected sequence_length to be a vector, but received shape: "
                    f"{self._sequence_length.get_shape()}"
                )
            self._zero_inputs = map_structure(lambda i: tf.zeros_like(i[0, :]), inputs)
            self._batch_size = tf.size(sequence_length)

    @property
    def inputs(self) -> Any:
        """The inputs as they were given."""
        return self._inputs

    @property
    def sequence_length(self) -> Any:
        return self._sequence_length

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return tf.int32

    def _read(self, time: Any, finished: Any) -> Any:
        """The inputs of a time; zeros after all sequences have ended."""
        return tf.cond(
            tf.reduce_all(finished),
            lambda: self._zero_inputs,
            lambda: map_structure(lambda array: array.read(time), self._input_tas),
        )

    def initialize(self, name: str | None = None) -> Any:
        with tf.name_scope(name, "TrainingHelperInitialize"):
            finished = tf.equal(0, self._sequence_length)
            return finished, self._read(0, finished)

    def sample(
        self, time: Any, outputs: Any, state: Any = None, name: str | None = None, **_: Any
    ) -> Any:
        with tf.name_scope(name, "TrainingHelperSample", flatten([time, outputs])):
            return tf.cast(tf.argmax(outputs, axis=-1), tf.int32)

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
        **_: Any,
    ) -> Any:
        values = flatten([time, outputs, state])
        with tf.name_scope(name, "TrainingHelperNextInputs", values):
            next_time = time + 1
            finished = next_time >= self._sequence_length
            return finished, self._read(next_time, finished), state


def checked_probability(sampling_probability: Any) -> Any:
    probability = tf.convert_to_tensor(sampling_probability, name="sampling_probability")
    if probability.get_shape().ndims not in (0, 1):
        raise ValueError(
            "sampling_probability must be either a scalar or a vector. saw shape: "
            f"{probability.get_shape()}"
        )
    return probability


def _mixed(sampled: Any, base: Any, of_sampled: Callable[[Any], Any]) -> Any:
    """`base`, but in the rows where `sampled` is true, what `of_sampled(indices)` gives."""
    chosen = tf.cast(tf.where(sampled), tf.int32)
    others = tf.cast(tf.where(tf.logical_not(sampled)), tf.int32)
    shape = tf.shape(base)
    return tf.scatter_nd(chosen, of_sampled(chosen), shape) + tf.scatter_nd(
        others, tf.gather_nd(base, others), shape
    )


class ScheduledEmbeddingTrainingHelper(TrainingHelper):
    """Feeds, with a probability, the embedding of a drawn class in place of the true input.

    Args:
      embedding: A function of ids, or the table for `tf.nn.embedding_lookup`.
      sampling_probability: How often to use samples; one number, or one per sequence.
      seed: The seed of the classes; `scheduling_seed`, that of the choice to sample.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        embedding: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
        name: str | None = None,
    ):
        values = [sampling_probability] if callable(embedding) else [embedding]
        with tf.name_scope(name, "ScheduledEmbeddingSamplingWrapper", values):
            self._embedding_fn = embedding_function(embedding)
            self._sampling_probability = checked_probability(sampling_probability)
            self._seed, self._scheduling_seed = seed, scheduling_seed
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(
        self, time: Any, outputs: Any, state: Any = None, name: str | None = None, **_: Any
    ) -> Any:
        values = flatten([time, outputs, state])
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperSample", values):
            chosen = bernoulli_sample(
                probs=self._sampling_probability,
                dtype=tf.bool,
                sample_shape=self.batch_size,
                seed=self._scheduling_seed,
            )
            drawn = categorical_sample(logits=outputs, seed=self._seed)
            return tf.where(chosen, drawn, tf.fill([self.batch_size], -1))

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
        **_: Any,
    ) -> Any:
        values = flatten([time, outputs, state, sample_ids])
        with tf.name_scope(name, "ScheduledEmbeddingTrainingHelperNextInputs", values):
            finished, base, state = super().next_inputs(time, outputs, state, sample_ids, name)

            def embedded(places: Any) -> Any:
                return self._embedding_fn(tf.gather_nd(sample_ids, places))

            next_inputs = tf.cond(
                tf.reduce_all(finished),
                lambda: base,
                lambda: _mixed(sample_ids > -1, base, embedded),
            )
            return finished, next_inputs, state


class ScheduledOutputTrainingHelper(TrainingHelper):
    """Feeds, with a probability, the output of the last step in place of the true input.

    Args:
      sampling_probability: How often to use outputs; one number, or one per sequence.
      next_inputs_fn: Makes inputs of outputs, which are the inputs themselves if None.
      auxiliary_inputs: Further inputs that are appended in both cases.
    """

    def __init__(
        self,
        inputs: Any,
        sequence_length: Any,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
        auxiliary_inputs: Any = None,
        name: str | None = None,
    ):
        values = [v for v in (inputs, auxiliary_inputs, sampling_probability) if v is not None]
        with tf.name_scope(name, "ScheduledOutputTrainingHelper", values):
            self._sampling_probability = checked_probability(sampling_probability)
            self._auxiliary_input_tas: Any = None
            if auxiliary_inputs is not None:
                inputs = tf.convert_to_tensor(inputs, name="inputs")
                auxiliary = tf.convert_to_tensor(auxiliary_inputs, name="auxiliary_inputs")
                inputs = tf.concat([inputs, auxiliary], -1)
                by_time = auxiliary if time_major else transpose_batch_time(auxiliary)
                self._auxiliary_input_tas = _unstack_ta(by_time)
            self._seed = seed
            self._next_inputs_fn = next_inputs_fn
            super().__init__(inputs, sequence_length, time_major, name)

    def sample(
        self, time: Any, outputs: Any, state: Any = None, name: str | None = None, **_: Any
    ) -> Any:
        values = flatten([time, outputs, state])
        with tf.name_scope(name, "ScheduledOutputTrainingHelperSample", values):
            return bernoulli_sample(
                probs=self._sampling_probability, sample_shape=self.batch_size, seed=self._seed
            )

    def next_inputs(
        self,
        time: Any,
        outputs: Any,
        state: Any,
        sample_ids: Any = None,
        name: str | None = None,
        **_: Any,
    ) -> Any:
        values = flatten([time, outputs, state, sample_ids])
        with tf.name_scope(name, "ScheduledOutputTrainingHelperNextInputs", values):
            finished, base, state = super().next_inputs(time, outputs, state, sample_ids, name)
            sampled = tf.cast(sample_ids, tf.bool)
            none_sampled = tf.logical_not(tf.reduce_any(sampled))
            next_inputs = tf.cond(
                tf.logical_or(tf.reduce_all(finished), none_sampled),
                lambda: base,
                lambda: self._with_outputs(time, outputs, sampled, base),
            )
            return finished, next_inputs, state

    def _with_outputs(self, time: Any, outputs: Any, sampled: Any, base: Any) -> Any:
        make = self._next_inputs_fn
        if make is None:
            return tf.where(sampled, self._with_auxiliary(time, outputs), base)
        return _mixed(
            sampled,
            base,
            lambda places: self._with_auxiliary(time, make(tf.gather_nd(outputs, places)), places),
        )

    def _with_auxiliary(self, time: Any, inputs: Any, places: Any = None) -> Any:
        if self._auxiliary_input_tas is None:
            return inputs
        auxiliary = self._auxiliary_input_tas.read(time + 1)
        if places is not None:
            auxiliary = tf.gather_nd(auxiliary, places)
        return tf.concat([inputs, auxiliary], -1)
