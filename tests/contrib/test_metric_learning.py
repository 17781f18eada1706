"""`tf.contrib.losses.metric_learning`, next to loops over pairs and triplets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

metric_learning = tf.contrib.losses.metric_learning

LABELS = np.array([0, 1, 0, 2, 1, 0])
EMBEDDINGS = np.random.default_rng(0).normal(size=[6, 4]).astype(np.float32)
OTHERS = np.random.default_rng(1).normal(size=[6, 4]).astype(np.float32)


def value(tensor: Any) -> Any:
    with tf.Session(graph=tensor.graph) as session:
        return session.run(tensor)


def squared_distances() -> Any:
    return np.sum((EMBEDDINGS[:, None] - EMBEDDINGS[None]) ** 2, axis=2)


def pairs() -> list[tuple[int, int]]:
    return [(i, j) for i in range(6) for j in range(6) if i != j and LABELS[i] == LABELS[j]]


def test_contrastive() -> None:
    same = np.array([1, 0, 0, 1, 0, 1])
    distance = np.sqrt(np.sum((EMBEDDINGS - OTHERS) ** 2, axis=1))
    expected = np.mean(np.where(same, distance**2, np.maximum(3.0 - distance, 0) ** 2))
    loss = metric_learning.contrastive_loss(same, EMBEDDINGS, OTHERS, margin=3.0)
    assert value(loss) == pytest.approx(expected, rel=1e-5)


def test_triplets() -> None:
    distances = squared_distances()
    total = 0.0
    for anchor, positive in pairs():
        strangers = distances[anchor, LABELS[anchor] != LABELS]
        further = strangers[strangers > distances[anchor, positive]]
        negative = further.min() if further.size else strangers.max()
        total += max(0.0, 1.5 + distances[anchor, positive] - negative)
    loss = metric_learning.triplet_semihard_loss(LABELS, EMBEDDINGS, margin=1.5)
    assert value(loss) == pytest.approx(total / len(pairs()), rel=1e-4)


def test_lifted_structure() -> None:
    distances = np.sqrt(squared_distances())
    total = 0.0
    for i, j in pairs():
        far = [np.exp(1.0 - distances[k, LABELS[k] != LABELS]) for k in (i, j)]
        total += max(0.0, np.log(np.sum(far[0]) + np.sum(far[1])) + distances[i, j]) ** 2
    expected = 0.25 * total / (len(pairs()) / 2)
    loss = metric_learning.lifted_struct_loss(LABELS, EMBEDDINGS)
    assert value(loss) == pytest.approx(expected, rel=1e-4)


def expected_npairs(alike: Any) -> float:
    logits = EMBEDDINGS @ OTHERS.T
    log_softmax = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    entropy = -np.sum(alike / alike.sum(axis=1, keepdims=True) * log_softmax, axis=1).mean()
    sizes = np.mean(np.sum(EMBEDDINGS**2, 1)) + np.mean(np.sum(OTHERS**2, 1))
    return float(entropy + 0.25 * 0.002 * sizes)


def test_npairs() -> None:
    alike = (LABELS[:, None] == LABELS[None]).astype(np.float64)
    loss = metric_learning.npairs_loss(LABELS, EMBEDDINGS, OTHERS)
    assert value(loss) == pytest.approx(expected_npairs(alike), rel=1e-5)


def test_npairs_of_several_labels() -> None:
    sets = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1], [0, 0, 1], [0, 1, 1], [1, 1, 1]])
    sparse = [tf.SparseTensor(np.argwhere(row), np.ones(row.sum(), np.int32), [3]) for row in sets]
    loss = metric_learning.npairs_loss_multilabel(sparse, EMBEDDINGS, OTHERS)
    assert value(loss) == pytest.approx(expected_npairs((sets @ sets.T).astype(float)), rel=1e-5)
    with pytest.raises(TypeError, match="must be a list of SparseTensors"):
        metric_learning.npairs_loss_multilabel([LABELS], EMBEDDINGS, OTHERS)


def test_gradients_are_finite_at_equal_embeddings() -> None:
    same = tf.ones([4, 3])
    loss = metric_learning.lifted_struct_loss(tf.constant([0, 0, 1, 1]), same)
    assert np.isfinite(value(tf.gradients(loss, same)[0])).all()
