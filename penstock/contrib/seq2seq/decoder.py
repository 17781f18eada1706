"""Decoders, and the loop that runs them: `outputs, state, lengths = dynamic_decode(decoder)`."""

from __future__ import annotations

import abc
import contextlib
from typing import Any

import penstock as tf
from penstock.contrib.seq2seq.dimensions import known_number
from penstock.nest import assert_same_structure, map_structure
from penstock.rnn.dynamic import transpose_batch_time
from penstock.rnn.sizes import zero_state_tensors
from penstock.rnn.step import cache_variables
from penstock.shapes import TensorShape

__all__ = ["Decoder", "dynamic_decode"]


class Decoder(abc.ABC):
    """What decodes step by step: it says how it begins, and what follows from a step."""

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        raise NotImplementedError

    @property
    def output_size(self) -> Any:
        """The shapes of one step's outputs, without the batch dimension."""
        raise NotImplementedError

    @property
    def output_dtype(self) -> Any:
        """The types of the outputs."""
        raise NotImplementedError

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """Returns (finished, first inputs, first state) before the first step."""

    @abc.abstractmethod
    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns (outputs, next state, next inputs, finished) of a step."""

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Returns the outputs and the state in their last form; is called after the loop."""
        raise NotImplementedError

    @property
    def tracks_own_finished(self) -> bool:
        """Whether `step` says itself which sequences are finished, and may take it back."""
        return False


class LayerDecoder(Decoder):
    """A decoder that gets what it begins with when it is called, as layers do."""

    @abc.abstractmethod
    def initialize(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """Returns (finished, first inputs, first state) before the first step."""


def dynamic_decode(
    decoder: Decoder,
    output_time_major: bool = False,
    impute_finished: bool = False,
    maximum_iterations: Any = None,
    parallel_iterations: int = 32,
    swap_memory: bool = False,
    scope: Any = None,
    **kwargs: Any,
) -> tuple[Any, Any, Any]:
    """Runs a decoder until all sequences are finished.

    Args:
      output_time_major: Whether the outputs are `[time, batch, …]` and not `[batch, time, …]`.
      impute_finished: Whether a finished sequence gives zeros and keeps its state.
      maximum_iterations: The greatest number of steps.
      decoder_init_input, decoder_init_kwargs: What a `LayerDecoder` begins with.

    Returns:
      The outputs, the last state, and the lengths of the sequences.
    """
    if not isinstance(decoder, Decoder):
        raise TypeError(f"Expected decoder to be type Decoder, but saw: {type(decoder)}")
    with tf.variable_scope(scope, "decoder") as opened:
        cache_variables(opened)
        if maximum_iterations is not None:
            maximum_iterations = tf.convert_to_tensor(
                maximum_iterations, dtype=tf.int32, name="maximum_iterations"
            )
            if maximum_iterations.get_shape().ndims != 0:
                raise ValueError("maximum_iterations must be a scalar")
        if isinstance(decoder, LayerDecoder):
            given = kwargs.get("decoder_init_kwargs") or {}
            first = decoder.initialize(kwargs.get("decoder_init_input"), **given)
        else:
            first = decoder.initialize()
        loop = _Loop(decoder, first, impute_finished, maximum_iterations)
        outputs, state, lengths = loop.run(parallel_iterations, swap_memory)
        with contextlib.suppress(NotImplementedError):
            outputs, state = decoder.finalize(outputs, state, lengths)
        if not output_time_major:
            outputs = map_structure(transpose_batch_time, outputs)
    return outputs, state, lengths


class _Loop:
    """The loop over steps of one call."""

    def __init__(self, decoder: Decoder, first: Any, impute_finished: bool, limit: Any):
        self.decoder = decoder
        self.impute_finished = impute_finished
        self.limit = limit
        finished, self.inputs, self.state = first
        batch_size = decoder.batch_size
        self.zeros = map_structure(
            lambda size, dtype: zero_state_tensors(size, batch_size, dtype),
            decoder.output_size,
            decoder.output_dtype,
        )
        if limit is not None:
            finished = tf.logical_or(finished, limit <= 0)
        self.finished = finished

    def run(self, parallel_iterations: int, swap_memory: bool) -> tuple[Any, Any, Any]:
        lengths = tf.zeros_like(self.finished, dtype=tf.int32)
        time = tf.constant(0, dtype=tf.int32)
        arrays = map_structure(self._array, self.decoder.output_size, self.decoder.output_dtype)
        _, arrays, state, _, _, lengths = tf.while_loop(
            lambda time, arrays, state, inputs, finished, lengths: tf.logical_not(
                tf.reduce_all(finished)
            ),
            self._body,
            (time, arrays, self.state, self.inputs, self.finished, lengths),
            parallel_iterations=parallel_iterations,
            maximum_iterations=self.limit,
            swap_memory=swap_memory,
        )
        return map_structure(lambda array: array.stack(), arrays), state, lengths

    def _array(self, size: Any, dtype: Any) -> Any:
        shape = None
        if isinstance(size, TensorShape) and size.ndims != 0:
            batch_size = tf.convert_to_tensor(self.decoder.batch_size, name="batch_size")
            shape = TensorShape([known_number(batch_size)]).concatenate(size)
        return tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=shape)

    def _body(
        self, time: Any, arrays: Any, state: Any, inputs: Any, finished: Any, lengths: Any
    ) -> Any:
        outputs, next_state, next_inputs, next_finished = self.decoder.step(time, inputs, state)
        if not self.decoder.tracks_own_finished:
            next_finished = tf.logical_or(next_finished, finished)
        goes_on = tf.logical_not(finished)
        lengths = tf.where(goes_on, tf.fill(tf.shape(lengths), time + 1), lengths)
        assert_same_structure(state, next_state)
        assert_same_structure(arrays, outputs)
        assert_same_structure(inputs, next_inputs)
        if self.impute_finished:
            outputs = map_structure(
                lambda out, zero: tf.where(finished, zero, out), outputs, self.zeros
            )
            next_state = map_structure(
                lambda new, old: _kept_if(finished, new, old), next_state, state
            )
        arrays = map_structure(lambda array, out: array.write(time, out), arrays, outputs)
        return time + 1, arrays, next_state, next_inputs, next_finished, lengths


def _kept_if(finished: Any, new: Any, old: Any) -> Any:
    """The old state of finished sequences; arrays and scalars belong to no sequence."""
    if isinstance(old, tf.TensorArray):
        return new
    new.set_shape(old.shape)
    return new if new.shape.ndims == 0 else tf.where(finished, old, new)
