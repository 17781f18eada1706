"""Scores of generated images by a classifier, beside their formulas in NumPy."""

from __future__ import annotations

import io
import tarfile

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.gan import eval as gan_eval
from penstock.contrib.gan.eval import classifier_metrics

RANDOM = np.random.default_rng(1)
REAL = RANDOM.normal(size=(64, 5)).astype(np.float32)
MADE = (RANDOM.normal(size=(64, 5)) * 2 + 1).astype(np.float32)


def _value(tensor):
    with tf.Session() as session:
        return session.run(tensor)


def _classifier_graph():
    graph = tf.Graph()
    with graph.as_default():
        pixels = tf.placeholder(tf.float32, [None, 8, 8, 3], name="Mul")
        pooled = tf.reduce_mean(pixels, axis=[1, 2], keepdims=True, name="pool_3")
        tf.identity(pooled * [1.0, 2.0, 3.0], name="logits")
    return graph.as_graph_def()


def test_the_score_of_logits():
    logits = np.array([[1.0, 2.0, 0.5], [4.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    divergence = (p * (np.log(p) - np.log(p.mean(0)))).sum(1)
    score = gan_eval.classifier_score(tf.constant(logits), lambda x: x, num_batches=3)
    assert _value(score) == pytest.approx(np.exp(divergence.mean()))


def test_frechet_distances():
    spread = np.sum((REAL.mean(0) - MADE.mean(0)) ** 2)
    covariances = [np.cov(x, rowvar=False) for x in (REAL, MADE)]
    root = np.sqrt(np.linalg.eigvals(covariances[0] @ covariances[1]).real).sum()
    expected = spread + np.trace(covariances[0]) + np.trace(covariances[1]) - 2 * root
    whole = gan_eval.frechet_classifier_distance(REAL, MADE, lambda x: x, num_batches=2)
    assert _value(whole) == pytest.approx(expected, rel=1e-4)
    mean = gan_eval.mean_only_frechet_classifier_distance_from_activations(REAL, MADE)
    assert _value(mean) == pytest.approx(spread, rel=1e-4)
    diagonal = gan_eval.diagonal_only_frechet_classifier_distance_from_activations(REAL, MADE)
    deviations = np.sum((REAL.std(0) - MADE.std(0)) ** 2)
    assert _value(diagonal) == pytest.approx(spread + deviations, rel=1e-4)


def _kernel(a, b):
    return (a.astype(np.float64) @ b.T.astype(np.float64) / 5 + 1) ** 3


def test_kernel_distances():
    within = sum((_kernel(x, x).sum() - np.trace(_kernel(x, x))) / (64 * 63) for x in (REAL, MADE))
    expected = within - 2 * _kernel(REAL, MADE).mean()
    whole = gan_eval.kernel_classifier_distance_from_activations(REAL, MADE)
    assert _value(whole) == pytest.approx(expected, rel=1e-4)
    parts, error = gan_eval.kernel_classifier_distance_and_std_from_activations(
        REAL, MADE, max_block_size=20
    )
    assert _value(parts) == pytest.approx(expected, abs=4 * float(_value(error)))


def test_a_frozen_classifier(tmp_path):
    graph_def = _classifier_graph()
    images = tf.ones([4, 8, 8, 3])
    logits, pool = gan_eval.run_inception(
        images, graph_def, image_size=8, output_tensor=["logits:0", "pool_3:0"]
    )
    np.testing.assert_allclose(_value(logits), [[1, 2, 3]] * 4)
    assert pool.shape.as_list() == [4, 3]
    with pytest.raises(ValueError, match="incompatible"):
        gan_eval.run_inception(tf.ones([4, 9, 9, 3]), graph_def, image_size=8)
    archive = tmp_path / "graphs.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("graph.pb")
        member.size = len(graph_def.SerializeToString())
        tar.addfile(member, io.BytesIO(graph_def.SerializeToString()))
    found = gan_eval.get_graph_def_from_url_tarball("nowhere", "graph.pb", str(archive))
    assert found == graph_def


def test_refused_types():
    whole = tf.zeros([8, 10])
    with pytest.raises(ValueError, match="must be floating type"):
        classifier_metrics._kl_divergence(tf.zeros([8, 10], tf.int32), whole, tf.zeros([10]))
    with pytest.raises(ValueError, match="must have rank 1"):
        classifier_metrics._kl_divergence(whole, whole, whole)


def test_images_as_inception_takes_them():
    prepared = gan_eval.preprocess_image(tf.constant(255, tf.uint8, [5, 4, 3]), 6, 6)
    np.testing.assert_allclose(_value(prepared), np.full([6, 6, 3], 127 / 128), rtol=1e-5)
