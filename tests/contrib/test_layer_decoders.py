"""Decoders that are layers, and their samplers, in graphs and in eager programs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.seq2seq import samplers
from penstock.contrib.seq2seq.beam_search_decoder import tile_batch
from penstock.contrib.seq2seq.keras_losses import SequenceLoss
from penstock.contrib.seq2seq.layer_decoders import BasicDecoderV2, BeamSearchDecoderV2
from penstock.eager import context

RANDOM = np.random.RandomState(0)
INPUTS = RANDOM.randn(3, 5, 4).astype(np.float32)
TABLE = RANDOM.randn(6, 4).astype(np.float32)
LENGTHS = [3, 5, 2]


def _cell() -> Any:
    return tf.nn.rnn_cell.LSTMCell(4, initializer=tf.constant_initializer(0.2))


def _state() -> Any:
    return tf.nn.rnn_cell.LSTMStateTuple(tf.zeros([3, 4]), tf.zeros([3, 4]))


def _classes() -> Any:
    return tf.keras.layers.Dense(6, kernel_initializer=tf.constant_initializer(TABLE.T))


def _run(tensors: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(tensors)


def _old(helper: Any, layer: Any = None, **options: Any) -> Any:
    decoder = tf.contrib.seq2seq.BasicDecoder(_cell(), helper, _state(), layer)
    return tf.contrib.seq2seq.dynamic_decode(decoder, **options)


def _assert_equal(new: Any, old: Any) -> None:
    for one, other in zip(*map(tf.nest.flatten, _run((new, old))), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_training_equals_that_of_helpers() -> None:
    decoder = BasicDecoderV2(_cell(), samplers.TrainingSampler(), impute_finished=True)
    new = decoder(tf.constant(INPUTS), initial_state=_state(), sequence_length=LENGTHS)
    assert new[0].rnn_output.shape.as_list() == [3, None, 4]
    helper = tf.contrib.seq2seq.TrainingHelper(INPUTS, LENGTHS)
    _assert_equal(new, _old(helper, impute_finished=True))


def test_greedy_decoding_equals_that_of_helpers() -> None:
    layer = _classes()
    decoder = BasicDecoderV2(
        _cell(), samplers.GreedyEmbeddingSampler(), layer, maximum_iterations=4
    )
    tokens = {"start_tokens": [0, 1, 2], "end_token": 3}
    new = decoder(tf.constant(TABLE), initial_state=_state(), **tokens)
    helper = tf.contrib.seq2seq.GreedyEmbeddingHelper(TABLE, **tokens)
    _assert_equal(new, _old(helper, layer, maximum_iterations=4))


def test_scheduled_samples() -> None:
    never = samplers.ScheduledEmbeddingTrainingSampler(0.0)
    always = samplers.ScheduledOutputTrainingSampler(1.0)
    plain = samplers.TrainingSampler()
    found = []
    for sampler, more in ((plain, {}), (never, {"embedding": TABLE}), (always, {})):
        decoder = BasicDecoderV2(_cell(), sampler)
        outputs, _, _ = decoder(
            tf.constant(INPUTS), initial_state=_state(), sequence_length=LENGTHS, **more
        )
        found.append(outputs.rnn_output)
    plain_outputs, same, others = _run(found)
    np.testing.assert_array_equal(plain_outputs, same)
    np.testing.assert_array_equal(plain_outputs[:, 0], others[:, 0])
    assert not np.allclose(plain_outputs[:, 1], others[:, 1])


def test_samplers_of_functions() -> None:
    def is_over(samples: Any) -> Any:
        return tf.reduce_sum(samples, 1) > 4

    def sampled(outputs: Any) -> Any:
        return tf.cast(outputs > 0, tf.float32)

    inference = samplers.InferenceSampler(sampled, [4], tf.float32, is_over)
    decoder = BasicDecoderV2(_cell(), inference, maximum_iterations=3)
    outputs, _, lengths = decoder(tf.constant(INPUTS[:, 0]), initial_state=_state())
    custom = samplers.CustomSampler(
        initialize_fn=lambda inputs: (tf.tile([False], [3]), inputs),
        sample_fn=lambda time, outputs, state: sampled(outputs),
        next_inputs_fn=lambda time, outputs, state, sample_ids: (
            is_over(sample_ids),
            sample_ids,
            state,
        ),
        sample_ids_shape=[4],
        sample_ids_dtype=tf.float32,
    )
    decoder = BasicDecoderV2(_cell(), custom, maximum_iterations=3)
    again, _, _ = decoder(tf.constant(INPUTS[:, 0]), initial_state=_state())
    first, second, steps = _run([outputs.sample_id, again.sample_id, lengths])
    np.testing.assert_array_equal(first, second)
    assert first.shape == (3, 3, 4) and steps.tolist() == [3, 3, 3]


def test_beam_search_equals_the_older_one() -> None:
    layer, tokens = _classes(), {"start_tokens": [0, 1, 2], "end_token": 3}
    decoder = BeamSearchDecoderV2(_cell(), 2, output_layer=layer, maximum_iterations=4)
    state = tile_batch(_state(), 2)
    new, _, _ = decoder(tf.constant(TABLE), initial_state=state, **tokens)
    old = tf.contrib.seq2seq.BeamSearchDecoder(
        _cell(), TABLE, initial_state=state, beam_width=2, output_layer=layer, **tokens
    )
    found, _, _ = tf.contrib.seq2seq.dynamic_decode(old, maximum_iterations=4)
    _assert_equal(new.predicted_ids, found.predicted_ids)


def test_eager_decoding() -> None:
    with context.eager_mode():
        decoder = BasicDecoderV2(_cell(), samplers.TrainingSampler())
        outputs, _, lengths = decoder(
            tf.constant(INPUTS), initial_state=_state(), sequence_length=tf.constant(LENGTHS)
        )
        assert outputs.rnn_output.numpy().shape == (3, 5, 4)
        assert lengths.numpy().tolist() == LENGTHS


def test_refusals() -> None:
    with pytest.raises(TypeError, match="sampler must be a Sampler"):
        BasicDecoderV2(_cell(), None)
    with pytest.raises(ValueError, match="batch_size accessed before initialize"):
        assert samplers.TrainingSampler().batch_size
    with pytest.raises(ValueError, match="sequence_length is required"):
        samplers.TrainingSampler().initialize(INPUTS)
    with pytest.raises(ValueError, match="embedding_fn is expected to be a callable"):
        samplers.GreedyEmbeddingSampler(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="embedding is required"):
        samplers.ScheduledEmbeddingTrainingSampler(0.1).initialize(INPUTS, LENGTHS)
    decoder = BeamSearchDecoderV2(_cell(), 2, embedding_fn=tf.identity)
    with pytest.raises(ValueError, match="cannot be provided at same time"):
        decoder.initialize(TABLE, [0], 1, None)


def test_the_loss_of_sequences_as_a_class() -> None:
    logits, targets = np.zeros((2, 3, 4), np.float32), np.ones((2, 3), np.int64)
    weights = np.array([[1, 1, 0], [1, 0.5, 0]], np.float32)
    total = SequenceLoss()(tf.constant(targets), tf.constant(logits), tf.constant(weights))
    shaped = SequenceLoss().call(tf.constant(targets), tf.constant(logits))
    mean, each = _run([total, shaped])
    assert mean == pytest.approx(np.log(4) * 3.5 / 4, rel=1e-5)
    assert each.shape == (2, 3)
