"""`tf.contrib.crf` against sums and maxima over all sequences of tags."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import penstock as tf

crf = tf.contrib.crf

SCORES = np.random.RandomState(0).rand(3, 4, 3).astype(np.float32)
TRANSITIONS = np.random.RandomState(1).rand(3, 3).astype(np.float32)
TAGS = np.random.RandomState(2).randint(0, 3, (3, 4)).astype(np.int32)
LENGTHS = np.int32([4, 2, 1])


def by_sequence(scores: Any) -> dict[tuple[int, ...], float]:
    """The score of each sequence of tags."""
    return {
        tags: sum(row[tag] for row, tag in zip(scores, tags, strict=True))
        + sum(TRANSITIONS[pair] for pair in itertools.pairwise(tags))
        for tags in itertools.product(range(3), repeat=len(scores))
    }


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("steps", [4, 1])
def test_likelihood_and_decoding(steps: int) -> None:
    scores, tags = SCORES[:, :steps], TAGS[:, :steps]
    lengths = np.minimum(LENGTHS, steps)
    likelihood, _ = crf.crf_log_likelihood(
        tf.constant(scores), tf.constant(tags), tf.constant(lengths), tf.constant(TRANSITIONS)
    )
    decoded = crf.crf_decode(tf.constant(scores), tf.constant(TRANSITIONS), tf.constant(lengths))
    with tf.Session() as session:
        likelihoods, (found, best) = session.run([likelihood, decoded])
    for example, length in enumerate(lengths):
        known = by_sequence(scores[example, :length])
        norm = np.log(np.sum(np.exp(list(known.values()))))
        own = known[tuple(int(tag) for tag in tags[example, :length])]
        assert likelihoods[example] == pytest.approx(own - norm, rel=1e-5)
        winner = max(known, key=lambda each: known[each])
        assert tuple(found[example, :length]) == winner
        assert best[example] == pytest.approx(known[winner])
        assert tuple(crf.viterbi_decode(scores[example, :length], TRANSITIONS)[0]) == winner


def test_transitions_are_a_variable_by_default() -> None:
    _, transitions = crf.crf_log_likelihood(
        tf.constant(SCORES), tf.constant(TAGS), tf.constant(LENGTHS)
    )
    assert transitions.name == "transitions:0"
    assert transitions.shape.as_list() == [3, 3]
