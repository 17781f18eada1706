"""Decoders that are Keras layers: what they decode comes when they are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.seq2seq.basic_decoder import BasicDecoderOutput, layer_output_size
from penstock.contrib.seq2seq.beam_search_decoder import BeamSearchDecoderMixin
from penstock.contrib.seq2seq.decoder import LayerDecoder, dynamic_decode
from penstock.contrib.seq2seq.samplers import Sampler
from penstock.keras.layers import Layer
from penstock.nest import flatten, map_structure
from penstock.rnn.cell import assert_like_rnncell
from penstock.shapes import TensorShape

__all__ = ["BaseDecoder", "BasicDecoderV2", "BeamSearchDecoderV2"]


class BaseDecoder(LayerDecoder, Layer):
    """A decoder whose call runs it until all sequences are finished; see `dynamic_decode`."""

    def __init__(
        self,
        output_time_major: bool = False,
        impute_finished: bool = False,
        maximum_iterations: Any = None,
        parallel_iterations: int = 32,
        swap_memory: bool = False,
        **kwargs: Any,
    ):
        self.output_time_major = output_time_major
        self.impute_finished = impute_finished
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.swap_memory = swap_memory
        super().__init__(**kwargs)

    def call(self, inputs: Any, initial_state: Any = None, **kwargs: Any) -> Any:
        """Decodes; `initialize` gets the arguments."""
        return self._decoded(inputs, initial_state=initial_state, **kwargs)

    def _decoded(self, inputs: Any, **arguments: Any) -> Any:
        return dynamic_decode(
            self,
            output_time_major=self.output_time_major,
            impute_finished=self.impute_finished,
            maximum_iterations=self.maximum_iterations,
            parallel_iterations=self.parallel_iterations,
            swap_memory=self.swap_memory,
            decoder_init_input=inputs,
            decoder_init_kwargs=arguments,
        )


class BasicDecoderV2(BaseDecoder):
    """Decodes with a cell and a sampler.

    Args:
      cell: the cell.
      sampler: says what a step's output is taken for, and what the next inputs are.
      output_layer: a layer applied to the cell's output before the sampler sees it.
    """

    def __init__(self, cell: Any, sampler: Any, output_layer: Any = None, **kwargs: Any):
        assert_like_rnncell("cell", cell)
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sampler must be a Sampler, received: {sampler}")
        if output_layer is not None and not isinstance(output_layer, Layer):
            raise TypeError(f"output_layer must be a Layer, received: {output_layer}")
        super().__init__(**kwargs)
        self.cell = cell
        self.sampler = sampler
        self.output_layer = output_layer

    def initialize(  # type: ignore[override]
        self, inputs: Any, initial_state: Any = None, **kwargs: Any
    ) -> Any:
        """Returns (finished, first inputs, initial_state)."""
        self._cell_dtype = flatten(initial_state)[0].dtype
        return (*self.sampler.initialize(inputs, **kwargs), initial_state)

    @property
    def batch_size(self) -> Any:
        return self.sampler.batch_size

    def _rnn_output_size(self) -> Any:
        return layer_output_size(TensorShape(self.cell.output_size), self.output_layer)

    @property
    def output_size(self) -> Any:
        return BasicDecoderOutput(self._rnn_output_size(), self.sampler.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        types = map_structure(lambda _: self._cell_dtype, self._rnn_output_size())
        return BasicDecoderOutput(types, self.sampler.sample_ids_dtype)

    def step(self, time: Any, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """Returns (outputs, next state, next inputs, finished)."""
        outputs, state = self.cell(inputs, state)
        if self.output_layer is not None:
            outputs = self.output_layer(outputs)
        ids = self.sampler.sample(time=time, outputs=outputs, state=state)
        finished, next_inputs, next_state = self.sampler.next_inputs(
            time=time, outputs=outputs, state=state, sample_ids=ids
        )
        return BasicDecoderOutput(outputs, ids), next_state, next_inputs, finished


class BeamSearchDecoderV2(BeamSearchDecoderMixin, BaseDecoder):
    """Keeps the `beam_width` best sequences in each step; see `BeamSearchDecoder`.

    Args:
      embedding_fn: makes inputs of classes; else the call gets the table.
    """

    def __init__(
        self,
        cell: Any,
        beam_width: int,
        embedding_fn: Callable[[Any], Any] | None = None,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
        **kwargs: Any,
    ):
        super().__init__(
            cell,
            beam_width,
            output_layer,
            length_penalty_weight,
            coverage_penalty_weight,
            reorder_tensor_arrays,
            **kwargs,
        )
        if embedding_fn is not None and not callable(embedding_fn):
            raise ValueError(f"embedding_fn is expected to be a callable, got {type(embedding_fn)}")
        self._given_embedding_fn = embedding_fn

    def initialize(  # type: ignore[override]
        self, embedding: Any, start_tokens: Any, end_token: Any, initial_state: Any
    ) -> Any:
        """Returns (finished, first inputs, first state)."""
        if embedding is not None and self._given_embedding_fn is not None:
            raise ValueError("embedding and embedding_fn cannot be provided at same time")
        embed = self._given_embedding_fn
        if embed is None:
            embed = _look_up(embedding)
        self._begin(embed, start_tokens, end_token, initial_state)
        return self._first()

    def call(  # type: ignore[override]
        self, embedding: Any, start_tokens: Any, end_token: Any, initial_state: Any, **kwargs: Any
    ) -> Any:
        """Decodes; the first argument is the table of embeddings, or None."""
        return self._decoded(
            embedding,
            start_tokens=start_tokens,
            end_token=end_token,
            initial_state=initial_state,
            **kwargs,
        )


def _look_up(table: Any) -> Callable[[Any], Any]:
    return lambda ids: tf.nn.embedding_lookup(table, ids)
