"""Functions around the CTC loss: labels of either kind, the place of the blank, decoders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.internal_paths import ctc_states

LABELS = np.array([[1, 2, 2, 0], [3, 1, 0, 0]], np.int32)
LENGTHS = np.array([3, 2], np.int32)
TIMES = np.array([6, 5], np.int32)
LOGITS = np.random.RandomState(0).randn(6, 2, 4).astype(np.float32)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def run(fetch: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetch)


def _sparse(offset: int) -> Any:
    entries = [(b, t) for b in range(2) for t in range(LENGTHS[b])]
    values = [LABELS[b, t] + offset for b, t in entries]
    return tf.SparseTensor(np.array(entries, np.int64), np.array(values, np.int32), [2, 3])


def _expected() -> Any:
    """The blank is class 0 in the dense form; for `ctc_loss` it is moved to the end."""
    moved = np.concatenate([LOGITS[:, :, 1:], LOGITS[:, :, :1]], 2)
    return run(tf.nn.ctc_loss(_sparse(-1), moved, TIMES))


@pytest.mark.parametrize("time_major", [True, False])
def test_dense_labels(time_major: bool) -> None:
    logits = tf.constant(LOGITS if time_major else LOGITS.transpose(1, 0, 2))
    loss = tf.nn.ctc_loss_v2(LABELS, logits, LENGTHS, TIMES, logits_time_major=time_major)
    np.testing.assert_allclose(run(loss), _expected(), rtol=1e-5)
    gradient = run(tf.gradients(loss, logits)[0])
    assert gradient.shape == logits.shape
    assert (gradient[5, 1] if time_major else gradient[1, 5]).tolist() == [0, 0, 0, 0]


def test_sparse_labels_and_a_given_blank() -> None:
    loss = tf.nn.ctc_loss_v2(_sparse(0), LOGITS, None, TIMES, blank_index=0)
    np.testing.assert_allclose(run(loss), _expected(), rtol=1e-5)
    last = tf.nn.ctc_loss_v2(_sparse(-1), LOGITS, None, TIMES, blank_index=-1)
    np.testing.assert_allclose(run(last), run(tf.nn.ctc_loss(_sparse(-1), LOGITS, TIMES)))
    with pytest.raises(ValueError, match="blank_index must be given"):
        tf.nn.ctc_loss_v2(_sparse(0), LOGITS, None, TIMES)


def test_arguments_of_the_loss() -> None:
    with pytest.raises(TypeError, match="to be a SparseTensor"):
        tf.nn.ctc_loss(LABELS, LOGITS, TIMES)
    batch_major = tf.nn.ctc_loss(
        _sparse(-1), logits=LOGITS.transpose(1, 0, 2), sequence_length=TIMES, time_major=False
    )
    np.testing.assert_allclose(
        run(batch_major), run(tf.nn.ctc_loss(_sparse(-1), LOGITS, TIMES)), rtol=1e-6
    )


def test_there_is_no_second_derivative() -> None:
    logits = tf.constant(LOGITS)
    first = tf.gradients(tf.nn.ctc_loss(_sparse(-1), logits, TIMES), logits)[0]
    with pytest.raises(LookupError, match="second derivative"):
        tf.gradients(first, logits)


def test_collapse_repeated() -> None:
    labels, lengths = tf.nn.collapse_repeated([[1, 3, 3, 3, 0], [1, 4, 4, 4, 0]], [4, 5])
    values = run([labels, lengths])
    assert values[0].tolist() == [[1, 3, 0], [1, 4, 0]]
    assert values[1].tolist() == [2, 3]


def test_unique_labels() -> None:
    values, places = run(tf.nn.ctc_unique_labels([[3, 4, 4, 3], [1, 1, 1, 0]]))
    assert values.tolist() == [[3, 4, 0, 0], [1, 0, 0, 0]]
    assert places.tolist() == [[0, 1, 1, 0], [0, 0, 0, 1]]


def test_decoders() -> None:
    best = np.array([0, 0, 3, 0, 1, 1])
    logits = np.log(np.eye(4, dtype=np.float32)[best][:, None] * 0.97 + 0.01)
    (greedy,), score = tf.nn.ctc_greedy_decoder(logits, [6])
    found, total = run([greedy, score])
    assert found.values.tolist() == [0, 0, 1]
    np.testing.assert_allclose(total, [[-6 * np.log(0.98)]], rtol=1e-5)
    (merged,), _ = tf.nn.ctc_beam_search_decoder(logits, [6], beam_width=8)
    (kept,), _ = tf.nn.ctc_beam_search_decoder_v2(logits, [6], beam_width=8)
    assert run(merged).values.tolist() == [0, 1]
    assert run(kept).values.tolist() == [0, 0, 1]


class TestStatesOfAlignments:
    """The private functions of TensorFlow's module, which some programs take from there."""

    def test_states_are_summed_by_class(self) -> None:
        labels = [[3, 4, 3], [1, 1, 0]]
        states = np.arange(1.0, 17.0, dtype=np.float32).reshape(1, 2, 8)
        with tf.Graph().as_default(), tf.Session() as session:
            logs = tf.log(tf.constant(states))
            found = ctc_states._state_to_olabel(labels, 6, logs)
            unique = tf.nn.ctc_unique_labels(labels)
            assert isinstance(unique, list)
            again = ctc_states._state_to_olabel_unique(labels, 6, logs, unique)
            by_class, same = session.run([tf.exp(found), tf.exp(again)])
        # The start, three labels, four blanks; a label 0 is padding.
        expected = [[[26.0, 0.0, 0.0, 6.0, 3.0, 0.0], [58.0, 21.0, 0.0, 0.0, 0.0, 0.0]]]
        np.testing.assert_allclose(by_class, expected, rtol=1e-5)
        np.testing.assert_allclose(same, expected, rtol=1e-5)

    def test_states_are_summed_by_number(self) -> None:
        states = np.array([[[1.0, 2.0, 3.0]]], np.float32)
        with tf.Graph().as_default(), tf.Session() as session:
            summed = session.run(tf.exp(ctc_states._sum_states([[1, 0, 1]], np.log(states))))
        np.testing.assert_allclose(summed, [[[2.0, 4.0, 0.0]]], rtol=1e-5)

    @pytest.mark.parametrize(
        ("options", "expected"),
        [
            ({}, [11.0, 13.0]),
            ({"inclusive": True}, [10.0, 11.0, 13.0]),
            ({"reverse": True}, [13.0, 12.0]),
            ({"reverse": True, "inclusive": True}, [13.0, 12.0, 10.0]),
            ({"final_only": True}, 13.0),
        ],
    )
    def test_scan(self, options: dict[str, bool], expected: Any) -> None:
        with tf.Graph().as_default(), tf.Session() as session:
            rows = tf.constant([1.0, 2.0])
            found = ctc_states._scan(lambda total, row: total + row, rows, 10.0, **options)
            assert session.run(found).tolist() == expected


def test_rows_without_labels_are_blanks_alone():
    logits = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(4, 2, 3) ** 2
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.constant(logits)
        loss = tf.nn.ctc_loss_v2([[1, 2], [2, 1]], given, [0, 2], [3, 4])
        found, slope = session.run([loss, tf.gradients(loss, given)[0]])
    shares = np.exp(logits) / np.exp(logits).sum(2, keepdims=True)
    assert found[0] == pytest.approx(-np.log(shares[:3, 0, 0]).sum(), rel=1e-5)
    np.testing.assert_allclose(slope[:3, 0], shares[:3, 0] - [1, 0, 0], rtol=1e-5)
    assert not slope[3, 0].any()
