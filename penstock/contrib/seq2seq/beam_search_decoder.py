"""The decoder that searches with a beam."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.seq2seq import gather_trees
from penstock.contrib.seq2seq.basic_decoder import check_output_layer, layer_output_size
from penstock.contrib.seq2seq.beam_step import (
    BeamSearchDecoderOutput,
    BeamSearchDecoderState,
    _beam_search_step,
    _check_ndims,
    get_attention_probs,
)
from penstock.contrib.seq2seq.decoder import Decoder
from penstock.contrib.seq2seq.dimensions import known_number, known_shape
from penstock.contrib.seq2seq.gather_trees import gather_tree_from_array
from penstock.contrib.seq2seq.inference_helpers import embedding_function
from penstock.nest import flatten, map_structure
from penstock.platform import logging
from penstock.rnn.cell import assert_like_rnncell
from penstock.shapes import TensorShape

__all__ = [
    "BeamSearchDecoder",
    "BeamSearchDecoderMixin",
    "BeamSearchDecoderOutput",
    "BeamSearchDecoderState",
    "FinalBeamSearchDecoderOutput",
    "gather_tree_from_array",
    "tile_batch",
]


class FinalBeamSearchDecoderOutput(
    namedtuple("FinalBeamDecoderOutput", ("predicted_ids", "beam_search_decoder_output"))
):
    """The whole beams, `[batch, time, beam]` with the best first, and what each step gave."""


def tile_batch(t: Any, multiplier: int, name: str | None = None) -> Any:
    """Repeats each entry of the batch `multiplier` times, in all tensors of a structure."""
    with tf.name_scope(name, "tile_batch", [*flatten(t), multiplier]):
        return map_structure(lambda each: _tile_batch(each, multiplier), t)


def _tile_batch(t: Any, multiplier: int) -> Any:
    t = tf.convert_to_tensor(t, name="t")
    sizes, rank = tf.shape(t), t.shape.ndims
    if rank is None or rank < 1:
        raise ValueError("t must have statically known rank")
    tiled = tf.tile(tf.expand_dims(t, 1), [1, multiplier, *[1] * (rank - 1)])
    tiled = tf.reshape(tiled, tf.concat([[sizes[0] * multiplier], sizes[1:]], 0))
    known = t.shape.dims[0].value
    batch, times = None, known_number(multiplier)
    if known is not None and times is not None:
        batch = known * times
    tiled.set_shape(TensorShape([batch]).concatenate(t.shape[1:]))
    return tiled


_REORDERING = (
    "Consider setting reorder_tensor_arrays to False to disable TensorArray reordering during "
    "the beam search."
)


def _check_static_batch_beam_maybe(shape: Any, batch_size: int | None, beam_width: int) -> bool:
    """Whether elements of a shape may be those of beams, as far as it is known."""
    first = shape.dims[0].value
    if batch_size is None or first is None:
        return True
    second = shape.dims[1].value if shape.ndims >= 2 else None
    split = second is not None and (first != batch_size or second != beam_width)
    if first != batch_size * beam_width or split:
        logging.warn(
            "TensorArray reordering expects elements to be reshapable to %s which is incompatible "
            "with the current shape %s. %s",
            TensorShape([batch_size, beam_width, None]),
            shape,
            _REORDERING,
        )
        return False
    return True


def _check_batch_beam(t: Any, batch_size: Any, beam_width: int) -> Any:
    """An assertion that the elements of a stacked array are those of beams."""
    sizes = tf.shape(t)
    fits = tf.equal(sizes[1], batch_size * beam_width)
    if t.shape.ndims != 2:
        split = tf.logical_and(tf.equal(sizes[1], batch_size), tf.equal(sizes[2], beam_width))
        fits = tf.logical_or(fits, split)
    return tf.Assert(
        fits,
        [
            "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, "
            f"-1] which is incompatible with the dynamic shape of {t.name} elements. {_REORDERING}"
        ],
    )


class BeamSearchDecoderMixin:
    """The steps of a beam search, for decoders of both kinds; see `BeamSearchDecoder`."""

    _embedding_fn: Any
    _end_token: Any
    _batch_size: Any
    _initial_cell_state: Any
    _start_tokens: Any
    _start_inputs: Any
    _finished: Any

    def __init__(
        self,
        cell: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
        **kwargs: Any,
    ):
        assert_like_rnncell("cell", cell)
        check_output_layer(output_layer)
        super().__init__(**kwargs)
        self._cell = cell
        self._output_layer = output_layer
        self._reorder_tensor_arrays = reorder_tensor_arrays
        self._beam_width = beam_width
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight

    def _begin(
        self, embedding_fn: Any, start_tokens: Any, end_token: Any, initial_state: Any
    ) -> None:
        self._embedding_fn = embedding_fn
        tokens = tf.convert_to_tensor(start_tokens, dtype=tf.int32, name="start_tokens")
        if tokens.get_shape().ndims != 1:
            raise ValueError("start_tokens must be a vector")
        self._end_token = tf.convert_to_tensor(end_token, dtype=tf.int32, name="end_token")
        if self._end_token.get_shape().ndims != 0:
            raise ValueError("end_token must be a scalar")
        self._batch_size = tf.size(start_tokens)
        self._initial_cell_state = map_structure(
            self._maybe_split_batch_beams, initial_state, self._cell.state_size
        )
        self._start_tokens = tf.tile(tf.expand_dims(tokens, 1), [1, self._beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        # At first all beams of a sequence are the same: one of them is enough.
        self._finished = self._first_beam(False, True, tf.bool)

    def _first_beam(self, on_value: Any, off_value: Any, dtype: Any) -> Any:
        first = tf.zeros([self._batch_size], dtype=tf.int32)
        return tf.one_hot(first, self._beam_width, on_value, off_value, dtype=dtype)

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    def _rnn_output_size(self) -> Any:
        return layer_output_size(self._cell.output_size, self._output_layer)

    @property
    def tracks_own_finished(self) -> bool:
        """True: beams change places, so that a place may be unfinished again."""
        return True

    @property
    def output_size(self) -> Any:
        width = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=width, predicted_ids=width, parent_ids=width)

    @property
    def output_dtype(self) -> Any:
        dtype = flatten(self._initial_cell_state)[0].dtype
        return BeamSearchDecoderOutput(
            scores=map_structure(lambda _: dtype, self._rnn_output_size()),
            predicted_ids=tf.int32,
            parent_ids=tf.int32,
        )

    def _first(self) -> Any:
        """(finished, first inputs, first state)."""
        dtype = flatten(self._initial_cell_state)[0].dtype
        zero = tf.convert_to_tensor(0.0, dtype=dtype)
        never = tf.convert_to_tensor(-np.inf, dtype=dtype)
        attention = get_attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=self._first_beam(zero, never, dtype),
            finished=self._finished,
            lengths=tf.zeros([self._batch_size, self._beam_width], dtype=tf.int64),
            accumulated_attention_probs=() if attention is None else attention,
        )
        return self._finished, self._start_inputs, state

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        """Puts the steps together to whole beams."""
        longest = tf.cast(tf.reduce_max(final_state.lengths, axis=1), tf.int32)
        ids = gather_trees.gather_tree(
            outputs.predicted_ids, outputs.parent_ids, longest, self._end_token
        )
        if self._reorder_tensor_arrays:
            reordered = map_structure(
                lambda t: self._maybe_sort_array_beams(t, outputs.parent_ids, final_state.lengths),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=reordered)
        final = FinalBeamSearchDecoderOutput(predicted_ids=ids, beam_search_decoder_output=outputs)
        return final, final_state

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns (outputs, next state, next inputs, finished)."""
        with tf.name_scope(name, "BeamSearchDecoderStep", flatten((time, inputs, state))):
            inputs = map_structure(lambda i: self._merge_batch_beams(i, i.shape[2:]), inputs)
            sizes = self._cell.state_size
            cell_state = map_structure(self._maybe_merge_batch_beams, state.cell_state, sizes)
            outputs, cell_state = self._cell(inputs, cell_state)
            outputs = map_structure(lambda o: self._split_batch_beams(o, o.shape[1:]), outputs)
            cell_state = map_structure(self._maybe_split_batch_beams, cell_state, sizes)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            kept, state = _beam_search_step(
                time=time,
                logits=outputs,
                next_cell_state=cell_state,
                beam_state=state,
                batch_size=self._batch_size,
                beam_width=self._beam_width,
                end_token=self._end_token,
                length_penalty_weight=self._length_penalty_weight,
                coverage_penalty_weight=self._coverage_penalty_weight,
            )
            next_inputs = tf.cond(
                tf.reduce_all(state.finished),
                lambda: self._start_inputs,  # nobody uses them any more
                lambda: self._embedding_fn(kept.predicted_ids),
            )
        return kept, state, next_inputs, state.finished

    def _merge_batch_beams(self, t: Any, s: Any = None) -> Any:
        """`[batch, beam, …]` as `[batch * beam, …]`."""
        merged = tf.concat([[self._batch_size * self._beam_width], tf.shape(t)[2:]], 0)
        result = tf.reshape(t, merged)
        batch = known_number(self._batch_size)
        rows = None if batch is None else batch * self._beam_width
        result.set_shape(TensorShape([rows]).concatenate(known_shape(s)))
        return result

    def _split_batch_beams(self, t: Any, s: Any = None) -> Any:
        """`[batch * beam, …]` as `[batch, beam, …]`."""
        sizes = tf.concat([[self._batch_size, self._beam_width], tf.shape(t)[1:]], 0)
        result = tf.reshape(t, sizes)
        batch = known_number(self._batch_size)
        expected = TensorShape([batch, self._beam_width]).concatenate(known_shape(s))
        if not result.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size. The "
                f"reshaped tensor has shape: {result.shape}. We expected it to have shape "
                f"(batch_size, beam_width, depth) == {expected}. Perhaps you forgot to create a "
                "zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        result.set_shape(expected)
        return result

    def _maybe_split_batch_beams(self, t: Any, s: Any) -> Any:
        if isinstance(t, tf.TensorArray):
            return t
        _check_ndims(t)
        return self._split_batch_beams(t, s) if t.shape.ndims >= 1 else t

    def _maybe_merge_batch_beams(self, t: Any, s: Any) -> Any:
        if isinstance(t, tf.TensorArray):
            return t
        _check_ndims(t)
        return self._merge_batch_beams(t, s) if t.shape.ndims >= 2 else t

    def _maybe_sort_array_beams(self, t: Any, parent_ids: Any, sequence_length: Any) -> Any:
        """The elements of an array in the state, stacked, along the beams of the result."""
        if not isinstance(t, tf.TensorArray):
            return t
        shape = t.element_shape
        if shape.ndims is None or shape.ndims < 1:
            logging.warn(
                "The TensorArray %s in the cell state is not amenable to sorting based on the "
                "beam search result. For a TensorArray to be sorted, its elements shape must be "
                "defined and have at least a rank of 1, but saw shape: %s",
                t.handle.name,
                shape,
            )
            return t
        batch = known_number(self._batch_size)
        if not _check_static_batch_beam_maybe(shape, batch, self._beam_width):
            return t
        stacked = t.stack()
        fits = _check_batch_beam(stacked, self._batch_size, self._beam_width)
        with tf.control_dependencies([fits]):
            return gather_tree_from_array(stacked, parent_ids, sequence_length)


class BeamSearchDecoder(BeamSearchDecoderMixin, Decoder):
    """Keeps the `beam_width` best sequences in each step.

    The memory of attention and the initial state must be tiled (`tile_batch`) by `beam_width`.

    Args:
      cell: The cell.
      embedding: A function of ids, or the table for `tf.nn.embedding_lookup`.
      start_tokens: `[batch]`: the classes that sequences begin with.
      end_token: The class that ends a sequence.
      initial_state: The cell's first state, `[batch * beam, …]`.
      output_layer: A layer that makes logits of the cell's output.
      length_penalty_weight: The power of the length by which log probabilities are divided.
      coverage_penalty_weight: How much to prefer sequences that attended to everything.
      reorder_tensor_arrays: Whether arrays in the cell's state are put in the order of the beams.
    """

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Any = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ):
        super().__init__(
            cell,
            beam_width,
            output_layer,
            length_penalty_weight,
            coverage_penalty_weight,
            reorder_tensor_arrays,
        )
        self._begin(embedding_function(embedding), start_tokens, end_token, initial_state)

    def initialize(self, name: str | None = None) -> Any:
        """Returns (finished, first inputs, first state)."""
        return self._first()
