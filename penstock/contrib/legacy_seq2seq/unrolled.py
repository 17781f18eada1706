"""Encoders and decoders of lists of inputs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import penstock as tf
from penstock.nest import flatten, is_nested, pack_sequence_as

LoopFunction = Callable[[Any, int], Any]


def _extract_argmax_and_embed(
    embedding: Any, output_projection: Any = None, update_embedding: bool = True
) -> LoopFunction:
    """A loop function: the embedding of the most probable symbol of the last output.

    Args:
      output_projection: A pair (W, B) that makes logits of outputs, or None.
      update_embedding: Whether gradients flow into the embedding here.
    """

    def loop_function(prev: Any, _: int) -> Any:
        if output_projection is not None:
            prev = tf.nn.xw_plus_b(prev, output_projection[0], output_projection[1])
        embedded = tf.nn.embedding_lookup(embedding, tf.argmax(prev, 1))
        return embedded if update_embedding else tf.stop_gradient(embedded)

    return loop_function


def next_input(loop_function: LoopFunction | None, prev: Any, i: int, given: Any) -> Any:
    """The input of step i: the given one, or what the loop function makes of the last output."""
    if loop_function is None or prev is None:
        return given
    with tf.variable_scope("loop_function", reuse=True):
        return loop_function(prev, i)


def rnn_decoder(
    decoder_inputs: Iterable[Any],
    initial_state: Any,
    cell: Any,
    loop_function: LoopFunction | None = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs a cell over a list of inputs; returns the list of outputs and the last state.

    Args:
      loop_function: Makes the input of a step, but the first, of the last output and the number
        of the step; the given inputs are used if None.
    """
    with tf.variable_scope(scope or "rnn_decoder"):
        state, prev = initial_state, None
        outputs: list[Any] = []
        for i, given in enumerate(decoder_inputs):
            value = next_input(loop_function, prev, i, given)
            if i > 0:
                tf.get_variable_scope().reuse_variables()
            prev, state = cell(value, state)
            outputs.append(prev)
    return outputs, state


def basic_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    dtype: Any = tf.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """An encoder, and a decoder that begins with its last state; each has its own variables."""
    with tf.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = tf.nn.static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    cell: Any,
    loop_function: LoopFunction | None = None,
    dtype: Any = tf.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """An encoder and a decoder with the same variables."""
    with tf.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = tf.nn.static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        tf.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def either(
    feed_previous: Any,
    decode: Callable[[bool], tuple[list[Any], Any]],
    steps: int,
    state_like: Any,
) -> tuple[list[Any], Any]:
    """Decodes in both ways, and takes the outputs and the state that a boolean tensor chooses."""

    def flat(feeds: bool) -> list[Any]:
        # The second branch uses the variables of the first.
        with tf.variable_scope(tf.get_variable_scope(), reuse=None if feeds else True):
            outputs, state = decode(feeds)
            return [*outputs, *flatten(state)]

    chosen = tf.cond(feed_previous, lambda: flat(True), lambda: flat(False))
    outputs, parts = list(chosen[:steps]), list(chosen[steps:])
    state = pack_sequence_as(state_like, parts) if is_nested(state_like) else parts[0]
    return outputs, state


def check_projection(output_projection: Any, num_symbols: int, dtype: Any) -> None:
    """Raises ValueError where (W, B) do not make logits of `num_symbols` classes."""
    if output_projection is None:
        return
    weights = tf.convert_to_tensor(output_projection[0], dtype=dtype)
    weights.get_shape().assert_is_compatible_with([None, num_symbols])
    biases = tf.convert_to_tensor(output_projection[1], dtype=dtype)
    biases.get_shape().assert_is_compatible_with([num_symbols])
