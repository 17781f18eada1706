"""One model unrolled for several lengths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.legacy_seq2seq.losses import sequence_loss, sequence_loss_by_example


def model_with_buckets(
    encoder_inputs: Sequence[Any],
    decoder_inputs: Sequence[Any],
    targets: Sequence[Any],
    weights: Sequence[Any],
    buckets: Sequence[tuple[int, int]],
    seq2seq: Callable[[Any, Any], tuple[Any, Any]],
    softmax_loss_function: Callable[..., Any] | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """Builds a model once per bucket, a pair of lengths of inputs and outputs.

    Args:
      seq2seq: A function of encoder and decoder inputs that returns outputs and states.
      per_example_loss: Whether a loss is `[batch]` and not a number.

    Returns:
      The outputs and the losses, one per bucket.
    """
    for what, given, needed in (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]),
        ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    ):
        if len(given) < needed:
            raise ValueError(
                f"Length of {what} ({len(given)}) must be at least that of last bucket ({needed})."
            )
    everything = [*encoder_inputs, *decoder_inputs, *targets, *weights]
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs: list[Any] = []
    losses: list[Any] = []
    with tf.name_scope(name, "model_with_buckets", everything):
        for j, (length, decoded) in enumerate(buckets):
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if j > 0 else None):
                found, _ = seq2seq(encoder_inputs[:length], decoder_inputs[:decoded])
                outputs.append(found)
                loss = loss_of(
                    found,
                    targets[:decoded],
                    weights[:decoded],
                    softmax_loss_function=softmax_loss_function,
                )
                losses.append(loss)
    return outputs, losses
