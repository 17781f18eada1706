"""Helpers of a decoder: they choose the inputs of a step by the outputs of the one before."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.seq2seq.sampling import categorical_sample
from penstock.nest import flatten
from penstock.shapes import TensorShape

__all__ = [
    "CustomHelper",
    "GreedyEmbeddingHelper",
    "Helper",
    "InferenceHelper",
    "SampleEmbeddingHelper",
]


class Helper(abc.ABC):
    """What a BasicDecoder asks for samples and next inputs."""

    @property
    @abc.abstractmethod
    def batch_size(self) -> Any:
        """The number of sequences."""

    @property
    @abc.abstractmethod
    def sample_ids_shape(self) -> Any:
        """The shape of a sample, without the batch dimension."""

    @property
    @abc.abstractmethod
    def sample_ids_dtype(self) -> Any:
        """The type of a sample."""

    @abc.abstractmethod
    def initialize(self, name: str | None = None) -> Any:
        """Returns (finished, first inputs)."""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns samples of the outputs of a step."""

    @abc.abstractmethod
    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        """Returns (finished, next inputs, next state)."""


class CustomHelper(Helper):
    """A helper made of three functions."""

    def __init__(
        self,
        initialize_fn: Callable[..., Any],
        sample_fn: Callable[..., Any],
        next_inputs_fn: Callable[..., Any],
        sample_ids_shape: Any = None,
        sample_ids_dtype: Any = None,
    ):
        self._initialize_fn = initialize_fn
        self._sample_fn = sample_fn
        self._next_inputs_fn = next_inputs_fn
        self._batch_size: Any = None
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or tf.int32

    @property
    def batch_size(self) -> Any:
        if self._batch_size is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype

    def initialize(self, name: str | None = None) -> Any:
        with tf.name_scope(name, f"{type(self).__name__}Initialize"):
            finished, next_inputs = self._initialize_fn()
            if self._batch_size is None:
                self._batch_size = tf.size(finished)
        return finished, next_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        values = flatten((time, outputs, state))
        with tf.name_scope(name, f"{type(self).__name__}Sample", values):
            return self._sample_fn(time=time, outputs=outputs, state=state)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        values = flatten((time, outputs, state))
        with tf.name_scope(name, f"{type(self).__name__}NextInputs", values):
            return self._next_inputs_fn(
                time=time, outputs=outputs, state=state, sample_ids=sample_ids
            )


def embedding_function(embedding: Any) -> Callable[[Any], Any]:
    """A function of ids: the given one, or a lookup in the given table."""
    if callable(embedding):
        return embedding
    return lambda ids: tf.nn.embedding_lookup(embedding, ids)


class GreedyEmbeddingHelper(Helper):
    """Takes the most probable class of each step, and feeds its embedding to the next.

    Args:
      embedding: A function of ids, or the table for `tf.nn.embedding_lookup`.
      start_tokens: `[batch]`: the classes that sequences begin with.
      end_token: The class that ends a sequence.
    """

    def __init__(self, embedding: Any, start_tokens: Any, end_token: Any):
        self._embedding_fn = embedding_function(embedding)
        self._start_tokens = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
        self._end_token = tf.convert_to_tensor(end_token, dtype=tf.int32, name="end_token")
        if self._start_tokens.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._batch_size = tf.size(start_tokens)
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._start_inputs = self._embedding_fn(self._start_tokens)

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return tf.int32

    def initialize(self, name: str | None = None) -> Any:
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        _check_one_tensor(outputs)
        return tf.argmax(outputs, axis=-1, output_type=tf.int32)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        finished = tf.equal(sample_ids, self._end_token)
        next_inputs = tf.cond(
            tf.reduce_all(finished),
            lambda: self._start_inputs,  # nobody uses them any more
            lambda: self._embedding_fn(sample_ids),
        )
        return finished, next_inputs, state


class SampleEmbeddingHelper(GreedyEmbeddingHelper):
    """Draws the class of each step, and feeds its embedding to the next.

    Args:
      softmax_temperature: What to divide the logits by: above 1 draws are more even.
    """

    def __init__(
        self,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ):
        super().__init__(embedding, start_tokens, end_token)
        self._softmax_temperature = softmax_temperature
        self._seed = seed

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        _check_one_tensor(outputs)
        temperature = self._softmax_temperature
        logits = outputs if temperature is None else outputs / temperature
        return categorical_sample(logits=logits, seed=self._seed)


def _check_one_tensor(outputs: Any) -> None:
    if not isinstance(outputs, tf.Tensor):
        raise TypeError(f"Expected outputs to be a single Tensor, got: {type(outputs)}")


class InferenceHelper(Helper):
    """A helper whose samples, their use as inputs and the end are functions.

    Args:
      sample_fn: Makes a sample of outputs.
      sample_shape, sample_dtype: Shape (without batch) and type of a sample.
      start_inputs: The first inputs.
      end_fn: Says of samples which end their sequence.
      next_inputs_fn: Makes inputs of samples, which are the inputs themselves if None.
    """

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        start_inputs: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ):
        self._sample_fn = sample_fn
        self._end_fn = end_fn
        self._sample_shape = TensorShape(sample_shape)
        self._sample_dtype = sample_dtype
        self._next_inputs_fn = next_inputs_fn
        self._batch_size = tf.shape(start_inputs)[0]
        self._start_inputs = tf.convert_to_tensor(start_inputs, name="start_inputs")

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_dtype

    def initialize(self, name: str | None = None) -> Any:
        return tf.tile([False], [self._batch_size]), self._start_inputs

    def sample(self, time: Any, outputs: Any, state: Any, name: str | None = None) -> Any:
        return self._sample_fn(outputs)

    def next_inputs(
        self, time: Any, outputs: Any, state: Any, sample_ids: Any, name: str | None = None
    ) -> Any:
        make = self._next_inputs_fn
        next_inputs = sample_ids if make is None else make(sample_ids)
        return self._end_fn(sample_ids), next_inputs, state
