"""`tf.contrib.legacy_seq2seq`: shapes, names of variables, losses, and what training does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

legacy = tf.contrib.legacy_seq2seq
GRU = tf.nn.rnn_cell.GRUCell
LSTM = tf.nn.rnn_cell.BasicLSTMCell


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        yield graph


def run(fetches: Any, feed: Any = None) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def names() -> list[str]:
    return sorted(v.op.name for v in tf.trainable_variables())


def vectors(count: int) -> list[Any]:
    return [tf.constant(0.5, shape=[2, 2])] * count


def symbols(count: int) -> list[Any]:
    return [tf.constant(i, tf.int32, shape=[2]) for i in range(count)]


def test_rnn_decoder_feeds_outputs_back() -> None:
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        fed: list[Any] = []

        def loop(prev: Any, i: int) -> Any:
            fed.append((prev, i))
            return prev

        outputs, state = legacy.rnn_decoder(vectors(3), tf.zeros([2, 2]), GRU(2), loop)
    assert [(entry, i) for entry, i in fed] == [(outputs[0], 1), (outputs[1], 2)]
    assert names()[0] == "root/rnn_decoder/gru_cell/candidate/bias"
    values, last = run((outputs, state))
    assert len(values) == 3 and values[0].shape == (2, 2)
    np.testing.assert_array_equal(values[-1], last)


def test_encoder_and_decoder_have_variables_of_their_own() -> None:
    legacy.basic_rnn_seq2seq(vectors(2), vectors(3), GRU(2))
    assert {name.rsplit("/gru_cell", 1)[0] for name in names()} == {
        "basic_rnn_seq2seq/rnn",
        "basic_rnn_seq2seq/rnn_decoder",
    }


def test_tied_models_have_one_set_of_variables() -> None:
    legacy.tied_rnn_seq2seq(vectors(2), vectors(3), GRU(2))
    assert {name.rsplit("/gru_cell", 1)[0] for name in names()} == {
        "combined_tied_rnn_seq2seq/tied_rnn_seq2seq"
    }


@pytest.mark.parametrize("state_is_tuple", [True, False])
def test_embedding_models_choose_at_run_time_what_to_feed(state_is_tuple: bool) -> None:
    feeds = tf.placeholder(tf.bool, [])
    models = {
        "rnn": (legacy.embedding_rnn_seq2seq, (2, 5, 2)),
        "attention": (legacy.embedding_attention_seq2seq, (2, 5, 2)),
        "tied": (legacy.embedding_tied_rnn_seq2seq, (5, 2)),
    }
    for name, (model, sizes) in models.items():
        cell = LSTM(2, state_is_tuple=state_is_tuple)
        with tf.variable_scope(name, initializer=tf.random_normal_initializer(seed=2)):
            outputs, state = model(symbols(2), symbols(3), cell, *sizes, feed_previous=feeds)
        with tf.variable_scope(name, reuse=True):
            given, _ = model(symbols(2), symbols(3), cell, *sizes)
        with tf.variable_scope(name, reuse=True):
            fed, _ = model(symbols(2), symbols(3), cell, *sizes, feed_previous=True)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for choice, expected in ((False, given), (True, fed)):
                values, last = session.run((outputs, state), {feeds: choice})
                np.testing.assert_allclose(values, session.run(expected), rtol=1e-5)
                assert values[0].shape == (2, 5)
                assert np.shape(last[0]) == ((2, 2) if state_is_tuple else (4,))


def test_names_of_the_attention_model() -> None:
    legacy.embedding_attention_seq2seq(symbols(2), symbols(3), GRU(2), 2, 5, 2)
    decoder = "embedding_attention_seq2seq/embedding_attention_decoder"
    assert {
        f"{decoder}/embedding",
        f"{decoder}/attention_decoder/AttnW_0",
        f"{decoder}/attention_decoder/AttnV_0",
        f"{decoder}/attention_decoder/Attention_0/kernel",
        f"{decoder}/attention_decoder/AttnOutputProjection/kernel",
        f"{decoder}/attention_decoder/kernel",
        "embedding_attention_seq2seq/rnn/embedding_wrapper/embedding",
    } <= set(names())


def test_attention_decoder_with_heads_and_initial_attention() -> None:
    memory = tf.placeholder_with_default(np.ones((2, 4, 3), np.float32), [None, None, 3])
    outputs, state = legacy.attention_decoder(
        vectors(3), tf.zeros([2, 2]), memory, GRU(2), 4, 2, initial_state_attention=True
    )
    values, last = run((outputs, state))
    assert [value.shape for value in values] == [(2, 4)] * 3
    assert last.shape == (2, 2)
    with pytest.raises(ValueError, match="at least 1 input"):
        legacy.attention_decoder([], None, memory, GRU(2))
    with pytest.raises(ValueError, match="less than 1 heads"):
        legacy.attention_decoder(vectors(1), None, memory, GRU(2), num_heads=0)


def test_one_encoder_with_several_decoders() -> None:
    outputs, states = legacy.one2many_rnn_seq2seq(
        symbols(2),
        {"a": symbols(2), "b": symbols(3)},
        LSTM(2),
        {"a": LSTM(2), "b": LSTM(2)},
        2,
        {"a": 4, "b": 5},
        2,
    )
    values, last = run((outputs, states))
    assert [len(values["a"]), len(values["b"])] == [2, 3]
    assert [values["a"][0].shape, values["b"][0].shape] == [(2, 4), (2, 5)]
    assert last["b"].c.shape == (2, 2)
    assert any(n.startswith("one2many_rnn_seq2seq/one2many_decoder_a/") for n in names())


def test_losses() -> None:
    logits = [tf.constant(i + 0.5, shape=[2, 5]) for i in range(3)]
    targets, weights = symbols(3), [tf.constant(1.0, shape=[2])] * 3
    each = legacy.sequence_loss_by_example(logits, targets, weights)
    summed = legacy.sequence_loss_by_example(
        logits, targets, weights, average_across_timesteps=False
    )
    loss = legacy.sequence_loss(logits, targets, weights)
    total = legacy.sequence_loss(logits, targets, weights, average_across_batch=False)
    values = run((each, summed, loss, total))
    expected = np.log(5)
    np.testing.assert_allclose(values[0], [expected] * 2, rtol=1e-5)
    np.testing.assert_allclose(values[1], [3 * expected] * 2, rtol=1e-5)
    np.testing.assert_allclose(values[2], expected, rtol=1e-5)
    np.testing.assert_allclose(values[3], 2 * expected, rtol=1e-5)
    with pytest.raises(ValueError, match="must be the same"):
        legacy.sequence_loss(logits, targets, weights[:2])


def test_buckets_share_variables_and_train() -> None:
    """The loss of copying a sequence falls, in the bucket that is trained and in the other."""
    inputs = [tf.placeholder(tf.int32, [None]) for _ in range(4)]
    starts = [tf.zeros_like(inputs[0]), *inputs[:-1]]
    weights = [tf.ones_like(i, dtype=tf.float32) for i in inputs]

    def model(encoder: Any, decoder: Any) -> Any:
        return legacy.embedding_rnn_seq2seq(encoder, decoder, GRU(16), 4, 4, 8)

    with tf.variable_scope("model"):
        outputs, losses = legacy.model_with_buckets(
            inputs, starts, inputs, weights, [(2, 2), (4, 4)], model
        )
    assert [len(found) for found in outputs] == [2, 4]
    step = tf.train.AdamOptimizer(0.02).minimize(losses[1])
    rng = np.random.RandomState(0)

    def feed() -> dict[Any, Any]:
        return dict(zip(inputs, rng.randint(0, 4, (4, 32)), strict=True))

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run(losses, feed())
        for _ in range(60):
            session.run(step, feed())
        last = session.run(losses, feed())
    assert last[1] < 0.6 * first[1]
    with pytest.raises(ValueError, match="at least that of last bucket"):
        legacy.model_with_buckets(inputs, starts, inputs, weights, [(5, 2)], model)
