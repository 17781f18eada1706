"""One step of a beam search: the best continuations of all beams of a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.seq2seq.attention_wrapper import AttentionWrapperState
from penstock.contrib.seq2seq.dimensions import known_number, size_of
from penstock.ir.constants import constant_value
from penstock.nest import map_structure
from penstock.shapes import TensorShape


class BeamSearchDecoderState(NamedTuple):
    """The state of the search; every tensor is `[batch, beam, …]`."""

    cell_state: Any
    log_probs: Any
    finished: Any
    lengths: Any
    accumulated_attention_probs: Any


class BeamSearchDecoderOutput(NamedTuple):
    """What a step keeps of each beam, `[batch, beam]`."""

    scores: Any
    predicted_ids: Any
    parent_ids: Any


def _beam_search_step(
    time: Any,
    logits: Any,
    next_cell_state: Any,
    beam_state: BeamSearchDecoderState,
    batch_size: Any,
    beam_width: int,
    end_token: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
) -> tuple[BeamSearchDecoderOutput, BeamSearchDecoderState]:
    """Chooses the `beam_width` best of all continuations, by `logits` `[batch, beam, classes]`."""
    finished = beam_state.finished
    unfinished = tf.logical_not(finished)
    step_probs = _mask_probs(tf.nn.log_softmax(logits), end_token, finished)
    total_probs = tf.expand_dims(beam_state.log_probs, 2) + step_probs
    classes = size_of(logits, -1)
    lengths = _lengths_of_continuations(beam_state.lengths, unfinished, end_token, classes)
    attention = get_attention_probs(next_cell_state, coverage_penalty_weight)
    if attention is not None:
        attention *= tf.expand_dims(tf.cast(unfinished, tf.float32), 2)
        attention = beam_state.accumulated_attention_probs + attention
    scores = _get_scores(
        log_probs=total_probs,
        sequence_lengths=lengths,
        length_penalty_weight=length_penalty_weight,
        coverage_penalty_weight=coverage_penalty_weight,
        finished=finished,
        accumulated_attention_probs=attention,
    )
    best, places = tf.nn.top_k(tf.reshape(scores, tf.stack([batch_size, -1])), k=beam_width)
    static_batch_size = known_number(batch_size)
    best.set_shape([static_batch_size, beam_width])
    places.set_shape([static_batch_size, beam_width])
    words = tf.cast(tf.mod(places, classes, name="next_beam_word_ids"), tf.int32)
    parents = tf.cast(places // classes, tf.int32, name="next_beam_parent_ids")

    def of_parents(values: Any, gather_shape: Sequence[Any], name: str | None = None) -> Any:
        return _tensor_gather_helper(
            parents, values, batch_size, beam_width, gather_shape, name=name
        )

    was_finished = of_parents(finished, [-1])
    merged = [batch_size * beam_width, -1]
    next_attention: Any = ()
    if attention is not None:
        next_attention = of_parents(attention, merged, "next_accumulated_attention_probs")
    state = BeamSearchDecoderState(
        cell_state=map_structure(
            lambda values: _maybe_tensor_gather_helper(
                parents, values, batch_size, beam_width, merged
            ),
            next_cell_state,
        ),
        log_probs=_tensor_gather_helper(
            places, total_probs, batch_size, beam_width * classes, [-1], name="next_beam_probs"
        ),
        finished=tf.logical_or(was_finished, tf.equal(words, end_token), name="next_beam_finished"),
        lengths=of_parents(beam_state.lengths, [-1])
        + tf.cast(tf.logical_not(was_finished), tf.int64),
        accumulated_attention_probs=next_attention,
    )
    return BeamSearchDecoderOutput(best, words, parents), state


def _lengths_of_continuations(lengths: Any, unfinished: Any, end_token: Any, classes: Any) -> Any:
    """How long each continuation is; the end itself and what follows it do not count."""
    zero, one = tf.constant(0, tf.int64), tf.constant(1, tf.int64)
    ends = tf.fill(tf.shape(lengths), end_token)
    added = tf.one_hot(ends, depth=classes, on_value=zero, off_value=one, dtype=tf.int64)
    added *= tf.expand_dims(tf.cast(unfinished, tf.int64), 2)
    return added + tf.expand_dims(lengths, 2)


def _mask_probs(probs: Any, eos_token: Any, finished: Any) -> Any:
    """Log probabilities of which a finished beam has one only: to end again."""
    classes = tf.shape(probs)[2]
    row = tf.one_hot(
        eos_token,
        classes,
        dtype=probs.dtype,
        on_value=tf.convert_to_tensor(0.0, dtype=probs.dtype),
        off_value=probs.dtype.min,
    )
    rows = tf.tile(tf.reshape(row, [1, 1, -1]), tf.concat([tf.shape(finished), [1]], 0))
    return tf.where(tf.tile(tf.expand_dims(finished, 2), [1, 1, classes]), rows, probs)


def _get_scores(
    log_probs: Any,
    sequence_lengths: Any,
    length_penalty_weight: Any,
    coverage_penalty_weight: Any,
    finished: Any,
    accumulated_attention_probs: Any,
) -> Any:
    """What beams are compared by: log probabilities with penalties of length and coverage."""
    penalty = tf.cast(_length_penalty(sequence_lengths, length_penalty_weight), log_probs.dtype)
    scores = log_probs / penalty
    weight = tf.convert_to_tensor(coverage_penalty_weight, name="coverage_penalty_weight")
    if weight.shape.ndims != 0:
        raise ValueError(
            f"coverage_penalty_weight should be a scalar, but saw shape: {weight.shape}"
        )
    if constant_value(weight) == 0.0:
        return scores
    if accumulated_attention_probs is None:
        raise ValueError(
            "accumulated_attention_probs can be None only if coverage penalty is disabled."
        )
    # What was never attended to counts nothing, so that a finished beam is not cut off at once.
    never = tf.equal(accumulated_attention_probs, 0.0)
    attended = tf.where(
        never, tf.ones_like(accumulated_attention_probs), accumulated_attention_probs
    )
    coverage = tf.reduce_sum(tf.log(tf.minimum(attended, 1.0)), 2)
    coverage *= tf.cast(finished, tf.float32)
    return scores + tf.expand_dims(coverage * weight, 2)


def _length_penalty(sequence_lengths: Any, penalty_factor: Any) -> Any:
    """`((5 + length) / 6) ** factor` (Wu and others: arXiv:1609.08144)."""
    factor = tf.convert_to_tensor(penalty_factor, name="penalty_factor")
    factor.set_shape(())
    known = constant_value(factor)
    if known is not None and known == 0:
        return 1.0
    return (5.0 + tf.cast(sequence_lengths, tf.float32)) ** factor / (5.0 + 1.0) ** factor


def get_attention_probs(next_cell_state: Any, coverage_penalty_weight: Any) -> Any:
    """The mean alignments of all attentional cells; None if there is no penalty of coverage."""
    if coverage_penalty_weight == 0.0:
        return None
    states: Any = ()
    if isinstance(next_cell_state, AttentionWrapperState):
        states = (next_cell_state,)
    elif isinstance(next_cell_state, tuple):
        states = next_cell_state
    attentional = [s for s in states if isinstance(s, AttentionWrapperState)]
    if not attentional:
        raise ValueError("coverage_penalty_weight must be 0.0 if no cell is attentional.")
    return _mean([attention_probs_from_attn_state(state) for state in attentional])


def attention_probs_from_attn_state(attention_state: AttentionWrapperState) -> Any:
    """The alignments of a state, the mean of them where there are several mechanisms."""
    alignments = attention_state.alignments
    return _mean(list(alignments)) if isinstance(alignments, tuple) else alignments


def _mean(tensors: Sequence[Any]) -> Any:
    if len(tensors) == 1:
        return tensors[0]
    return tf.reduce_mean(tf.stack(tensors, axis=-1), -1)


def _maybe_tensor_gather_helper(
    gather_indices: Any, gather_from: Any, batch_size: Any, range_size: Any, gather_shape: Any
) -> Any:
    """The same for what belongs to beams; arrays and scalars are left as they are."""
    if isinstance(gather_from, tf.TensorArray):
        return gather_from
    _check_ndims(gather_from)
    if gather_from.shape.ndims < len(gather_shape):
        return gather_from
    return _tensor_gather_helper(gather_indices, gather_from, batch_size, range_size, gather_shape)


def _tensor_gather_helper(
    gather_indices: Any,
    gather_from: Any,
    batch_size: Any,
    range_size: Any,
    gather_shape: Sequence[Any],
    name: str | None = None,
) -> Any:
    """Rows of each batch entry, by indices within the entry.

    Args:
      gather_indices: `[batch, beam]`.
      gather_from: `[batch, beam, …]`.
      range_size: The number of rows of an entry.
      gather_shape: The shape in which `gather_from` has all rows in its first dimension.
    """
    with tf.name_scope(name, "tensor_gather_helper"):
        starts = tf.expand_dims(tf.range(batch_size) * range_size, 1)
        flat = tf.reshape(gather_indices + starts, [-1])
        rows = tf.gather(tf.reshape(gather_from, tf.stack(list(gather_shape))), flat)
        kept = 1 + len(gather_shape)
        output = tf.reshape(rows, tf.shape(gather_from)[:kept], name="output")
        batch = TensorShape([known_number(batch_size)])
        output.set_shape(batch.concatenate(gather_from.shape[1:kept]))
        return output


def _check_ndims(t: Any) -> None:
    if t.shape.ndims is None:
        raise ValueError(f"Expected tensor ({t}) to have known rank, but ndims == None.")
