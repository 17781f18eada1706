"""Models of symbols: their inputs are embedded, their outputs are logits."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.contrib.legacy_seq2seq.unrolled import (
    _extract_argmax_and_embed,
    check_projection,
    either,
    rnn_decoder,
    tied_rnn_seq2seq,
)
from penstock.contrib.rnn import EmbeddingWrapper, OutputProjectionWrapper


def embedding_rnn_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Decodes symbols, `[batch]` each.

    Args:
      output_projection: A pair (W, B) that makes logits of the cell's outputs, or None.
      feed_previous: Whether all inputs but the first are the symbols decoded before.
      update_embedding_for_previous: Whether such a symbol trains the embedding.
    """
    with tf.variable_scope(scope or "embedding_rnn_decoder") as opened:
        check_projection(output_projection, num_symbols, opened.dtype)
        table = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = _extract_argmax_and_embed(
                table, output_projection, update_embedding_for_previous
            )
        embedded = (tf.nn.embedding_lookup(table, i) for i in decoder_inputs)
        return rnn_decoder(embedded, initial_state, cell, loop_function=loop_function)


def embedding_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Encodes symbols and decodes others; `feed_previous` may be a boolean tensor."""
    with tf.variable_scope(scope or "embedding_rnn_seq2seq") as opened:
        if dtype is not None:
            opened.set_dtype(dtype)
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        _, state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(feeds: bool, update: bool = False) -> tuple[list[Any], Any]:
            return embedding_rnn_decoder(
                decoder_inputs,
                state,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=feeds,
                update_embedding_for_previous=update,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous, update=True)
        return either(feed_previous, decode, len(decoder_inputs), state)


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Encoder and decoder share the embedding and the cell's variables.

    `num_decoder_symbols` is the number of logits, `num_symbols` if None.
    """
    with tf.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as opened:
        dtype = opened.dtype
        check_projection(output_projection, num_symbols, dtype)
        table = tf.get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        encoded = [tf.nn.embedding_lookup(table, x) for x in encoder_inputs]
        decoded = [tf.nn.embedding_lookup(table, x) for x in decoder_inputs]
        symbols = num_symbols if num_decoder_symbols is None else num_decoder_symbols
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, symbols)

        def decode(feeds: bool, update: bool = False) -> tuple[list[Any], Any]:
            loop_function = None
            if feeds:
                loop_function = _extract_argmax_and_embed(table, output_projection, update)
            return tied_rnn_seq2seq(
                encoded, decoded, cell, loop_function=loop_function, dtype=dtype
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous, update=True)
        return either(feed_previous, decode, len(decoder_inputs), cell.state_size)


def one2many_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs_dict: dict[Any, Sequence[Any]],
    enc_cell: Any,
    dec_cells_dict: dict[Any, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: dict[Any, int],
    embedding_size: int,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """One encoder and several decoders, by their names; returns dicts of outputs and of states."""
    if not isinstance(enc_cell, tf.nn.rnn_cell.RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decoder_inputs_dict")
    for each in dec_cells_dict.values():
        if not isinstance(each, tf.nn.rnn_cell.RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(each)}")
    outputs: dict[Any, Any] = {}
    states: dict[Any, Any] = {}
    with tf.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(enc_cell, num_encoder_symbols, embedding_size)
        _, state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with tf.variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)
                outputs[name], states[name] = _decoded(
                    inputs, state, cell, symbols, embedding_size, feed_previous
                )
    return outputs, states


def _decoded(
    inputs: Sequence[Any], state: Any, cell: Any, symbols: int, size: int, feed_previous: Any
) -> tuple[list[Any], Any]:
    def decode(feeds: bool) -> tuple[list[Any], Any]:
        return embedding_rnn_decoder(inputs, state, cell, symbols, size, feed_previous=feeds)

    if isinstance(feed_previous, bool):
        return decode(feed_previous)
    return either(feed_previous, decode, len(inputs), state)
