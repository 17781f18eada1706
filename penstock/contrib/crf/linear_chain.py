"""Linear-chain conditional random fields: scores, likelihoods, decoding.

`inputs` are the unary scores of tags, `[batch, time, tags]`; `transition_params` are the scores of
one tag after another, `[tags, tags]`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import penstock as tf
from penstock.layers.smart_cond import smart_cond

__all__ = [
    "CrfDecodeBackwardRnnCell",
    "CrfDecodeForwardRnnCell",
    "CrfForwardRnnCell",
    "crf_binary_score",
    "crf_decode",
    "crf_log_likelihood",
    "crf_log_norm",
    "crf_multitag_sequence_score",
    "crf_sequence_score",
    "crf_unary_score",
    "viterbi_decode",
]


def _by_length(inputs: Any, one_step: Callable[[], Any], steps: Callable[[], Any]) -> Any:
    """Chooses what to compute for sequences of one step, or of more."""
    length = inputs.shape.as_list()[1] or tf.shape(inputs)[1]
    return smart_cond(tf.equal(length, 1), one_step, steps)


def _zero_where_empty(values: Any, sequence_lengths: Any) -> Any:
    return tf.where(tf.less_equal(sequence_lengths, 0), tf.zeros_like(values), values)


def _one_less(lengths: Any) -> Any:
    return tf.maximum(tf.constant(0, dtype=lengths.dtype), lengths - 1)


def _first_and_rest(inputs: Any) -> tuple[Any, Any]:
    first = tf.squeeze(tf.slice(inputs, [0, 0, 0], [-1, 1, -1]), [1])
    return first, tf.slice(inputs, [0, 1, 0], [-1, -1, -1])


def crf_sequence_score(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The score of each sequence of tags, not normalized."""
    tag_indices = tf.convert_to_tensor(tag_indices)

    def one_step() -> Any:
        batch = tf.shape(inputs, out_type=tag_indices.dtype)[0]
        rows = tf.reshape(tf.range(batch, dtype=tag_indices.dtype), [-1, 1])
        places = tf.concat([rows, tag_indices], axis=1)
        scores = tf.gather_nd(tf.squeeze(inputs, [1]), places)
        return _zero_where_empty(scores, sequence_lengths)

    def steps() -> Any:
        unary = crf_unary_score(tag_indices, sequence_lengths, inputs)
        return unary + crf_binary_score(tag_indices, sequence_lengths, transition_params)

    return _by_length(inputs, one_step, steps)


def crf_multitag_sequence_score(
    inputs: Any, tag_bitmap: Any, sequence_lengths: Any, transition_params: Any
) -> Any:
    """The logarithm of the sum over all sequences of the tags allowed at each step."""

    def allowed() -> Any:
        return tf.where(tag_bitmap, inputs, tf.fill(tf.shape(inputs), float("-inf")))

    return _by_length(
        inputs,
        lambda: tf.reduce_logsumexp(allowed(), axis=[1, 2]),
        lambda: crf_log_norm(allowed(), sequence_lengths, transition_params),
    )


def crf_log_norm(inputs: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The logarithm of the sum over all sequences of tags, by which scores are normalized."""
    first, rest = _first_and_rest(inputs)

    def one_step() -> Any:
        return _zero_where_empty(tf.reduce_logsumexp(first, [1]), sequence_lengths)

    def steps() -> Any:
        _, alphas = tf.nn.dynamic_rnn(
            cell=CrfForwardRnnCell(transition_params),
            inputs=rest,
            sequence_length=_one_less(sequence_lengths),
            initial_state=first,
            dtype=tf.float32,
        )
        return _zero_where_empty(tf.reduce_logsumexp(alphas, [1]), sequence_lengths)

    return _by_length(inputs, one_step, steps)


def crf_log_likelihood(
    inputs: Any, tag_indices: Any, sequence_lengths: Any, transition_params: Any = None
) -> tuple[Any, Any]:
    """The logarithm of the likelihood of each sequence of tags, and the transition scores.

    Args:
      transition_params: by default a variable `transitions`.
    """
    if transition_params is None:
        tags = inputs.shape.as_list()[2]
        transition_params = tf.get_variable("transitions", [tags, tags])
    sequence_lengths = tf.convert_to_tensor(sequence_lengths)
    scores = crf_sequence_score(inputs, tag_indices, sequence_lengths, transition_params)
    norm = crf_log_norm(inputs, sequence_lengths, transition_params)
    return scores - norm, transition_params


def _mask(tag_indices: Any, sequence_lengths: Any) -> Any:
    return tf.sequence_mask(sequence_lengths, maxlen=tf.shape(tag_indices)[1], dtype=tf.float32)


def crf_unary_score(tag_indices: Any, sequence_lengths: Any, inputs: Any) -> Any:
    """The sum of the scores of the tags of each sequence."""
    tag_indices = tf.convert_to_tensor(tag_indices)
    sizes = tf.shape(inputs)
    batch, steps, tags = sizes[0], sizes[1], sizes[2]
    offsets = tf.expand_dims(tf.range(batch) * steps * tags, 1)
    offsets += tf.expand_dims(tf.range(steps) * tags, 0)
    places = tf.reshape(tf.cast(offsets, tag_indices.dtype) + tag_indices, [-1])
    scores = tf.reshape(tf.gather(tf.reshape(inputs, [-1]), places), [batch, steps])
    return tf.reduce_sum(scores * _mask(tag_indices, sequence_lengths), 1)


def crf_binary_score(tag_indices: Any, sequence_lengths: Any, transition_params: Any) -> Any:
    """The sum of the scores of the transitions of each sequence."""
    tag_indices = tf.convert_to_tensor(tag_indices)
    tags = transition_params.get_shape().as_list()[0]
    count = tf.shape(tag_indices)[1] - 1
    starts = tf.slice(tag_indices, [0, 0], [-1, count])
    ends = tf.slice(tag_indices, [0, 1], [-1, count])
    scores = tf.gather(tf.reshape(transition_params, [-1]), starts * tags + ends)
    mask = tf.slice(_mask(tag_indices, sequence_lengths), [0, 1], [-1, -1])
    return tf.reduce_sum(scores * mask, 1)


class _ChainCell(tf.nn.rnn_cell.RNNCell):
    """A step along the chain: the state has a score for each tag."""

    def __init__(self, transition_params: Any):
        transitions = tf.convert_to_tensor(transition_params)
        self._transition_params = tf.expand_dims(transitions, 0)
        self._num_tags: Any = transitions.shape.as_list()[0]

    @property
    def state_size(self) -> int:
        return int(self._num_tags)

    @property
    def output_size(self) -> int:
        return int(self._num_tags)

    def _scores(self, state: Any) -> Any:
        return tf.expand_dims(state, 2) + self._transition_params


class CrfForwardRnnCell(_ChainCell):
    """Sums over all ways to each tag, in logarithms."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        alphas = inputs + tf.reduce_logsumexp(self._scores(state), [1])
        return alphas, alphas


class CrfDecodeForwardRnnCell(_ChainCell):
    """Finds the best way to each tag, and where it comes from."""

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        scores = self._scores(state)
        backpointers = tf.cast(tf.argmax(scores, 1), tf.int32)
        return backpointers, inputs + tf.reduce_max(scores, [1])


class CrfDecodeBackwardRnnCell(tf.nn.rnn_cell.RNNCell):
    """Follows the best way back, from tag to tag."""

    def __init__(self, num_tags: int):
        self._num_tags = num_tags

    @property
    def state_size(self) -> int:
        return 1

    @property
    def output_size(self) -> int:
        return 1

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        tags = tf.squeeze(state, axis=[1])
        places = tf.stack([tf.range(tf.shape(inputs)[0]), tags], axis=1)
        before = tf.expand_dims(tf.gather_nd(inputs, places), axis=-1)
        return before, before


def viterbi_decode(score: Any, transition_params: Any) -> tuple[list[Any], Any]:
    """The best sequence of tags of one sequence, and its score, in NumPy."""
    best = np.zeros_like(score)
    origins = np.zeros_like(score, dtype=np.int32)
    best[0] = score[0]
    for step in range(1, score.shape[0]):
        ways = best[step - 1][:, np.newaxis] + transition_params
        best[step] = score[step] + ways.max(0)
        origins[step] = ways.argmax(0)
    tags = [best[-1].argmax()]
    for origin in origins[:0:-1]:
        tags.append(origin[tags[-1]])
    return tags[::-1], best[-1].max()


def crf_decode(potentials: Any, transition_params: Any, sequence_length: Any) -> tuple[Any, Any]:
    """The best tags of each sequence, and their scores."""
    lengths = tf.convert_to_tensor(sequence_length)

    def one_step() -> tuple[Any, Any]:
        scores = tf.squeeze(potentials, [1])
        tags = tf.expand_dims(tf.argmax(scores, axis=1), 1)
        return tf.cast(tags, tf.int32), tf.reduce_max(scores, axis=1)

    def steps() -> tuple[Any, Any]:
        first, rest = _first_and_rest(potentials)
        backpointers, last_score = tf.nn.dynamic_rnn(
            CrfDecodeForwardRnnCell(transition_params),
            inputs=rest,
            sequence_length=_one_less(lengths),
            initial_state=first,
            dtype=tf.int32,
        )
        last_tag = tf.expand_dims(tf.cast(tf.argmax(last_score, axis=1), tf.int32), axis=-1)
        tags, _ = tf.nn.dynamic_rnn(
            CrfDecodeBackwardRnnCell(potentials.shape.as_list()[2]),
            inputs=tf.reverse_sequence(backpointers, _one_less(lengths), seq_axis=1),
            sequence_length=_one_less(lengths),
            initial_state=last_tag,
            dtype=tf.int32,
        )
        backwards = tf.concat([last_tag, tf.squeeze(tags, axis=[2])], axis=1)
        return tf.reverse_sequence(backwards, lengths, seq_axis=1), tf.reduce_max(last_score, 1)

    return tuple(_by_length(potentials, one_step, steps))
