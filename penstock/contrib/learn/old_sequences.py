"""`tf.contrib.learn.ops`: sequences of the first TensorFlow programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf


def sequence_classifier(
    decoding: Sequence[Any],
    labels: Sequence[Any],
    sampling_decoding: Sequence[Any] | None = None,
    name: str | None = None,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Probabilities at each step, and the sum of their cross entropies.

    Args:
      decoding: logits of each step.
      sampling_decoding: logits that predictions are made of instead.
    """
    with tf.name_scope(name, "sequence_classifier", [decoding, labels]):
        losses = [
            tf.nn.softmax_cross_entropy_with_logits(
                labels=labels[step], logits=logits, name=f"sequence_loss/xent_raw{step}"
            )
            for step, logits in enumerate(decoding)
        ]
        predictions = [tf.nn.softmax(logits) for logits in sampling_decoding or decoding]
        total = tf.add_n(losses, name="sequence_loss/xent")
        loss = tf.reduce_sum(total, name="sequence_loss")
        return tf.stack(predictions, axis=1), loss


def seq2seq_inputs(
    x: Any,
    y: Any,
    input_length: int,
    output_length: int,
    sentinel: Any = None,
    name: str | None = None,
) -> tuple[list[Any], list[Any], list[Any]]:
    """Steps of the encoder's inputs, of the decoder's, and of what is to be predicted."""
    with tf.name_scope(name, "seq2seq_inputs", [x, y]):
        encoder_steps, steps = tf.unstack(x, axis=1), tf.unstack(y, axis=1)
        if sentinel is None:
            sentinel = tf.zeros(tf.stack([tf.shape(x)[0], steps[0].get_shape()[1]]))
            sentinel.set_shape(steps[0].get_shape())
        return encoder_steps, [sentinel, *steps], [*steps, sentinel]


def rnn_decoder(
    decoder_inputs: Sequence[Any], initial_state: Any, cell: Any, scope: Any = None
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """Outputs and states of a cell, fed with inputs, and once more with its own outputs."""
    with tf.variable_scope(scope or "dnn_decoder"):
        states, sampled_states = [initial_state], [initial_state]
        outputs: list[Any] = []
        sampled: list[Any] = []
        with tf.name_scope("training", values=[decoder_inputs, initial_state]):
            for step, fed in enumerate(decoder_inputs):
                if step > 0:
                    tf.get_variable_scope().reuse_variables()
                output, state = cell(fed, states[-1])
                outputs.append(output)
                states.append(state)
        with tf.name_scope("sampling", values=[initial_state]):
            for step in range(len(decoder_inputs)):
                if step == 0:
                    output, state = outputs[0], states[0]
                else:
                    output, state = cell(sampled[-1], sampled_states[-1])
                sampled.append(output)
                sampled_states.append(state)
    return outputs, states, sampled, sampled_states


def rnn_seq2seq(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    encoder_cell: Any,
    decoder_cell: Any = None,
    dtype: Any = tf.float32,
    scope: Any = None,
) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """`rnn_decoder` from the state that an encoder ends with."""
    with tf.variable_scope(scope or "rnn_seq2seq"):
        _, state = tf.nn.static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, decoder_cell or encoder_cell)
