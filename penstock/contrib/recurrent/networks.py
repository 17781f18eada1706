"""Recurrent networks by loops over their cells."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.recurrent.histories import loop_with_history

flatten, pack = tf.nest.flatten, tf.nest.pack_sequence_as


def _within(lengths: Any, time: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
    """Of shape (time, batch, 1): 1 where a sequence has not ended yet."""
    return tf.expand_dims(tf.cast(tf.range(time)[:, tf.newaxis] < lengths, dtype), -1)


def _last_of(history: tf.Tensor, lengths: Any) -> tf.Tensor:
    """The row of each sequence's last step, zeros for an empty one."""
    times = tf.range(tf.shape(history)[0])[:, tf.newaxis]
    is_last = tf.cast(tf.equal(times, lengths - 1), history.dtype)
    return tf.reduce_sum(is_last[:, :, tf.newaxis] * history, 0)


def functional_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    time_major: bool = False,
    scope: Any = None,
    use_tpu: bool = False,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """`tf.nn.dynamic_rnn`, with the steps of the longest sequence made for all.

    Args:
      reverse: whether the network goes backward in time; outputs are in the order of the inputs.
    """
    with tf.variable_scope(scope or "rnn"):
        if not time_major:
            inputs = tf.nest.map_structure(lambda each: tf.transpose(each, [1, 0, 2]), inputs)
        sample = flatten(inputs)[0]
        time, batch = tf.shape(sample)[0], tf.shape(sample)[1]
        if initial_state is None:
            initial_state = cell.zero_state(batch, dtype)
        if reverse:
            inputs = tf.nest.map_structure(lambda each: tf.reverse(each, [0]), inputs)
        if sequence_length is not None:
            sequence_length = tf.cast(sequence_length, tf.int32)
        steps = time if sequence_length is None else tf.reduce_max(sequence_length)

        arrays = [tf.TensorArray(each.dtype, size=time).unstack(each) for each in flatten(inputs)]

        def step(now: tf.Tensor, state: list[Any]) -> tuple[list[Any], list[Any]]:
            fed = pack(inputs, [array.read(now) for array in arrays])
            output, following = cell(fed, pack(initial_state, state))
            flat = flatten(following)
            return flat, [output, *flat]

        start = flatten(initial_state)
        like_output = tf.placeholder_with_default(
            tf.zeros([batch, cell.output_size], sample.dtype),
            [sample.shape[1], *tf.TensorShape(cell.output_size)],
        )
        first, end = (time - steps, time) if reverse else (tf.constant(0), steps)
        final, histories = loop_with_history(step, start, [like_output, *start], first, end, time)
    output = tf.reverse(histories[0], [0]) if reverse else histories[0]
    if sequence_length is not None:
        output *= _within(sequence_length, time, output.dtype)
        if not reverse:
            final = [_last_of(history, sequence_length) for history in histories[1:]]
    output.set_shape([sample.shape[0], *like_output.shape])
    for each, like in zip(final, start, strict=True):
        each.set_shape(like.shape)
    if not time_major:
        output = tf.transpose(output, [1, 0, 2])
    return output, pack(initial_state, final)


def _reversed(inputs: tf.Tensor, lengths: Any, time_major: bool) -> tf.Tensor:
    time, batch = (0, 1) if time_major else (1, 0)
    if lengths is None:
        return tf.reverse(inputs, [time])
    return tf.reverse_sequence(inputs, lengths, seq_axis=time, batch_axis=batch)


def bidirectional_functional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: Any = None,
) -> tuple[Any, Any]:
    """`tf.nn.bidirectional_dynamic_rnn` by `functional_rnn`.

    Args:
      fast_reverse: whether the backward network begins at the end of the longest sequence for all.
    """
    shared = {"sequence_length": sequence_length, "dtype": dtype, "time_major": time_major}
    with tf.variable_scope(scope or "bidirectional_rnn"):
        with tf.variable_scope("fw") as fw_scope:
            output_fw, state_fw = functional_rnn(
                cell_fw, inputs, initial_state=initial_state_fw, scope=fw_scope, **shared
            )
        with tf.variable_scope("bw") as bw_scope:
            if not fast_reverse:
                inputs = _reversed(inputs, sequence_length, time_major)
            output_bw, state_bw = functional_rnn(
                cell_bw,
                inputs,
                initial_state=initial_state_bw,
                scope=bw_scope,
                reverse=fast_reverse,
                **shared,
            )
    if not fast_reverse:
        output_bw = _reversed(output_bw, sequence_length, time_major)
    return (output_fw, output_bw), (state_fw, state_bw)
