"""Samplers: helpers of decoders that get their inputs when decoding begins."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.seq2seq.inference_helpers import (
    CustomHelper,
    GreedyEmbeddingHelper,
    Helper,
    InferenceHelper,
    SampleEmbeddingHelper,
)
from penstock.contrib.seq2seq.training_helpers import (
    ScheduledEmbeddingTrainingHelper,
    ScheduledOutputTrainingHelper,
    TrainingHelper,
    checked_probability,
)
from penstock.shapes import TensorShape

__all__ = [
    "CustomSampler",
    "GreedyEmbeddingSampler",
    "InferenceSampler",
    "SampleEmbeddingSampler",
    "Sampler",
    "ScheduledEmbeddingTrainingSampler",
    "ScheduledOutputTrainingSampler",
    "TrainingSampler",
]


class Sampler(abc.ABC):
    """What a decoder that is a layer asks for samples and next inputs."""

    @abc.abstractmethod
    def initialize(self, inputs: Any, **kwargs: Any) -> Any:
        """Returns (finished, first inputs)."""

    @abc.abstractmethod
    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        """Returns samples of the outputs of a step."""

    @abc.abstractmethod
    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        """Returns (finished, next inputs, next state)."""

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


class _OfHelper(Sampler):
    """A sampler that makes a helper when decoding begins, and lets it do the rest."""

    _helper: Helper | None = None

    def _begun(self) -> Helper:
        if self._helper is None:
            raise ValueError("batch_size accessed before initialize was called")
        return self._helper

    def _begin(self, helper: Helper) -> Any:
        self._helper = helper
        return helper.initialize()

    @property
    def batch_size(self) -> Any:
        return self._begun().batch_size

    @property
    def sample_ids_shape(self) -> Any:
        return TensorShape([])

    @property
    def sample_ids_dtype(self) -> Any:
        return tf.int32

    def sample(self, time: Any, outputs: Any, state: Any) -> Any:
        return self._begun().sample(time=time, outputs=outputs, state=state)

    def next_inputs(self, time: Any, outputs: Any, state: Any, sample_ids: Any) -> Any:
        return self._begun().next_inputs(
            time=time, outputs=outputs, state=state, sample_ids=sample_ids
        )


class CustomSampler(_OfHelper):
    """A sampler made of three functions.

    Args:
      initialize_fn: gets the inputs, and gives (finished, first inputs).
    """

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
        self._sample_ids_shape = TensorShape(sample_ids_shape or [])
        self._sample_ids_dtype = sample_ids_dtype or tf.int32

    @property
    def sample_ids_shape(self) -> Any:
        return self._sample_ids_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self._sample_ids_dtype

    def initialize(self, inputs: Any, **kwargs: Any) -> Any:
        return self._begin(
            CustomHelper(
                lambda: self._initialize_fn(inputs, **kwargs),
                self._sample_fn,
                self._next_inputs_fn,
                self._sample_ids_shape,
                self._sample_ids_dtype,
            )
        )


class TrainingSampler(_OfHelper):
    """Feeds given inputs, whatever the outputs are; see `TrainingHelper`."""

    def __init__(self, time_major: bool = False):
        self.time_major = time_major

    def initialize(self, inputs: Any, sequence_length: Any = None) -> Any:  # type: ignore[override]
        lengths = self._required(sequence_length)
        return self._begin(TrainingHelper(inputs, lengths, self.time_major))

    def _required(self, sequence_length: Any) -> Any:
        if sequence_length is None:
            raise ValueError("sequence_length is required for TrainingSampler")
        return sequence_length


def _checked_function(embedding_fn: Any, article: str = "a callable") -> Any:
    if embedding_fn is not None and not callable(embedding_fn):
        raise ValueError(f"embedding_fn is expected to be {article}, got {type(embedding_fn)}")
    return embedding_fn


class ScheduledEmbeddingTrainingSampler(TrainingSampler):
    """Feeds, with a probability, embeddings of drawn classes in place of the true inputs.

    Args:
      embedding_fn: makes inputs of classes; else `initialize` gets the table `embedding`.
      seed: the seed of the classes; `scheduling_seed`, that of the choice to sample.
    """

    def __init__(
        self,
        sampling_probability: Any,
        embedding_fn: Callable[[Any], Any] | None = None,
        time_major: bool = False,
        seed: int | None = None,
        scheduling_seed: int | None = None,
    ):
        self.embedding_fn = _checked_function(embedding_fn, "callable")
        self.sampling_probability = checked_probability(sampling_probability)
        self.seed = seed
        self.scheduling_seed = scheduling_seed
        super().__init__(time_major)

    def initialize(  # type: ignore[override]
        self, inputs: Any, sequence_length: Any = None, embedding: Any = None
    ) -> Any:
        if self.embedding_fn is None and embedding is None:
            raise ValueError(
                "embedding is required as a keyword argument for ScheduledEmbeddingTrainingSampler"
            )
        return self._begin(
            ScheduledEmbeddingTrainingHelper(
                inputs,
                self._required(sequence_length),
                embedding if self.embedding_fn is None else self.embedding_fn,
                self.sampling_probability,
                self.time_major,
                self.seed,
                self.scheduling_seed,
            )
        )


class ScheduledOutputTrainingSampler(TrainingSampler):
    """Feeds, with a probability, the output of the last step in place of the true input.

    Args:
      next_inputs_fn: makes inputs of outputs, which are the inputs themselves if None.
    """

    def __init__(
        self,
        sampling_probability: Any,
        time_major: bool = False,
        seed: int | None = None,
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ):
        self.sampling_probability = checked_probability(sampling_probability)
        self.seed = seed
        self.next_inputs_fn = next_inputs_fn
        super().__init__(time_major)

    def initialize(  # type: ignore[override]
        self, inputs: Any, sequence_length: Any = None, auxiliary_inputs: Any = None
    ) -> Any:
        return self._begin(
            ScheduledOutputTrainingHelper(
                inputs,
                self._required(sequence_length),
                self.sampling_probability,
                self.time_major,
                self.seed,
                self.next_inputs_fn,
                auxiliary_inputs,
            )
        )


class GreedyEmbeddingSampler(_OfHelper):
    """Feeds the embedding of the likeliest class.

    Args:
      embedding_fn: makes inputs of classes; else `initialize` gets the table.
    """

    def __init__(self, embedding_fn: Callable[[Any], Any] | None = None):
        self.embedding_fn = _checked_function(embedding_fn)

    def initialize(  # type: ignore[override]
        self, embedding: Any, start_tokens: Any = None, end_token: Any = None
    ) -> Any:
        embed = embedding if self.embedding_fn is None else self.embedding_fn
        return self._begin(self._made(embed, start_tokens, end_token))

    def _made(self, embedding: Any, start_tokens: Any, end_token: Any) -> Helper:
        return GreedyEmbeddingHelper(embedding, start_tokens, end_token)


class SampleEmbeddingSampler(GreedyEmbeddingSampler):
    """Feeds the embedding of a class drawn by the outputs as logits."""

    def __init__(
        self,
        embedding_fn: Callable[[Any], Any] | None = None,
        softmax_temperature: Any = None,
        seed: int | None = None,
    ):
        super().__init__(embedding_fn)
        self.softmax_temperature = softmax_temperature
        self.seed = seed

    def _made(self, embedding: Any, start_tokens: Any, end_token: Any) -> Helper:
        return SampleEmbeddingHelper(
            embedding, start_tokens, end_token, self.softmax_temperature, self.seed
        )


class InferenceSampler(_OfHelper):
    """Feeds what functions make of outputs; see `InferenceHelper`."""

    def __init__(
        self,
        sample_fn: Callable[[Any], Any],
        sample_shape: Any,
        sample_dtype: Any,
        end_fn: Callable[[Any], Any],
        next_inputs_fn: Callable[[Any], Any] | None = None,
    ):
        self.sample_fn = sample_fn
        self.sample_shape = TensorShape(sample_shape)
        self.sample_dtype = sample_dtype
        self.end_fn = end_fn
        self.next_inputs_fn = next_inputs_fn

    @property
    def sample_ids_shape(self) -> Any:
        return self.sample_shape

    @property
    def sample_ids_dtype(self) -> Any:
        return self.sample_dtype

    def initialize(self, start_inputs: Any) -> Any:  # type: ignore[override]
        return self._begin(
            InferenceHelper(
                self.sample_fn,
                self.sample_shape,
                self.sample_dtype,
                start_inputs,
                self.end_fn,
                self.next_inputs_fn,
            )
        )
