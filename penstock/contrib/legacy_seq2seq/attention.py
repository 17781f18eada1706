"""Decoders that attend to the outputs of an encoder."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.contrib.legacy_seq2seq.unrolled import (
    LoopFunction,
    _extract_argmax_and_embed,
    either,
    next_input,
)
from penstock.contrib.rnn import EmbeddingWrapper, OutputProjectionWrapper
from penstock.nest import flatten, is_nested
from penstock.rnn.linear import Linear
from penstock.shapes import dimension_value


class _Heads:
    """The heads of attention over `attention_states`, `[batch, length, depth]`."""

    def __init__(self, attention_states: Any, num_heads: int, dtype: Any):
        shape = attention_states.get_shape()
        self.dtype = dtype
        self.length = (
            tf.shape(attention_states)[1]
            if dimension_value(shape[1]) is None
            else dimension_value(shape[1])
        )
        self.depth = dimension_value(shape[2])
        self.hidden = tf.reshape(attention_states, [-1, self.length, 1, self.depth])
        self.features: list[Any] = []
        self.weights: list[Any] = []
        for a in range(num_heads):
            k = tf.get_variable(f"AttnW_{a}", [1, 1, self.depth, self.depth], dtype=dtype)
            self.features.append(tf.nn.conv2d(self.hidden, k, [1, 1, 1, 1], "SAME"))
            self.weights.append(tf.get_variable(f"AttnV_{a}", [self.depth], dtype=dtype))

    def start(self, batch_size: Any) -> list[Any]:
        """Zeros, before anything is attended to."""
        zeros = [
            tf.zeros(tf.stack([batch_size, self.depth]), dtype=self.dtype) for _ in self.weights
        ]
        for each in zeros:
            each.set_shape([None, self.depth])
        return zeros

    def attend(self, query: Any) -> list[Any]:
        """What each head sees, given the state of the cell as the query."""
        if is_nested(query):
            query = tf.concat(flatten(query), 1)
        seen = []
        for a, (features, weights) in enumerate(zip(self.features, self.weights, strict=True)):
            with tf.variable_scope(f"Attention_{a}"):
                y = Linear(query, self.depth, True)(query)
                y = tf.cast(tf.reshape(y, [-1, 1, 1, self.depth]), self.dtype)
                score = tf.reduce_sum(weights * tf.tanh(features + y), [2, 3])
                mask = tf.cast(tf.nn.softmax(tf.cast(score, tf.float32)), self.dtype)
                mask = tf.reshape(mask, [-1, self.length, 1, 1])
                context = tf.reduce_sum(mask * self.hidden, [1, 2])
                seen.append(tf.reshape(context, [-1, self.depth]))
        return seen


def attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: LoopFunction | None = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Runs a cell over inputs that are mixed with what it attends to.

    Args:
      attention_states: `[batch, length, depth]`.
      output_size: The depth of the outputs; the cell's if None.
      num_heads: How many places of the states are attended to in each step.
      loop_function: See `rnn_decoder`.
      initial_state_attention: Whether the first step attends by the initial state, not to zeros.
    """
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    shape = attention_states.get_shape()
    if dimension_value(shape[2]) is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {shape}")
    size = cell.output_size if output_size is None else output_size
    with tf.variable_scope(scope or "attention_decoder", dtype=dtype) as opened:
        batch_size = tf.shape(decoder_inputs[0])[0]
        heads = _Heads(attention_states, num_heads, opened.dtype)
        seen = heads.start(batch_size)
        if initial_state_attention:
            seen = heads.attend(initial_state)
        state, prev = initial_state, None
        outputs: list[Any] = []
        for i, given in enumerate(decoder_inputs):
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            value = next_input(loop_function, prev, i, given)
            output, state = cell(_mixed(value, seen, opened.dtype), state)
            known = True if i == 0 and initial_state_attention else None
            with tf.variable_scope(tf.get_variable_scope(), reuse=known):
                seen = heads.attend(state)
            with tf.variable_scope("AttnOutputProjection"):
                parts = [tf.cast(output, opened.dtype), *seen]
                prev = Linear(parts, size, True)(parts)
            outputs.append(prev)
    return outputs, state


def _mixed(value: Any, seen: list[Any], dtype: Any) -> Any:
    """The input of the cell: a linear map of the given one and of what was seen."""
    input_size = dimension_value(value.get_shape().with_rank(2)[1])
    if input_size is None:
        raise ValueError(f"Could not infer input size from input: {value.name}")
    parts = [tf.cast(part, dtype) for part in (value, *seen)]
    return Linear(parts, input_size, True)(parts)


def embedding_attention_decoder(
    decoder_inputs: Sequence[Any],
    initial_state: Any,
    attention_states: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Decodes symbols with attention; see `embedding_rnn_decoder` and `attention_decoder`."""
    size = cell.output_size if output_size is None else output_size
    if output_projection is not None:
        biases = tf.convert_to_tensor(output_projection[1], dtype=dtype)
        biases.get_shape().assert_is_compatible_with([num_symbols])
    with tf.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        table = tf.get_variable("embedding", [num_symbols, embedding_size])
        loop_function = None
        if feed_previous:
            loop_function = _extract_argmax_and_embed(
                table, output_projection, update_embedding_for_previous
            )
        return attention_decoder(
            [tf.nn.embedding_lookup(table, i) for i in decoder_inputs],
            initial_state,
            attention_states,
            cell,
            output_size=size,
            num_heads=num_heads,
            loop_function=loop_function,
            initial_state_attention=initial_state_attention,
        )


def embedding_attention_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """Encodes symbols and decodes others with attention to the encoder's outputs.

    `feed_previous` may be a boolean tensor.
    """
    with tf.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as opened:
        encoder = EmbeddingWrapper(copy.deepcopy(cell), num_encoder_symbols, embedding_size)
        encoded, state = tf.nn.static_rnn(encoder, encoder_inputs, dtype=opened.dtype)
        rows = [tf.reshape(each, [-1, 1, cell.output_size]) for each in encoded]
        attention_states = tf.concat(rows, 1)
        output_size = None
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
            output_size = num_decoder_symbols

        def decode(feeds: bool, update: bool = False) -> tuple[list[Any], Any]:
            return embedding_attention_decoder(
                decoder_inputs,
                state,
                attention_states,
                cell,
                num_decoder_symbols,
                embedding_size,
                num_heads=num_heads,
                output_size=output_size,
                output_projection=output_projection,
                feed_previous=feeds,
                update_embedding_for_previous=update,
                initial_state_attention=initial_state_attention,
            )

        if isinstance(feed_previous, bool):
            return decode(feed_previous, update=True)
        return either(feed_previous, decode, len(decoder_inputs), state)
