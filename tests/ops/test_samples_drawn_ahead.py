"""Candidate samplers without a seed, which draw for several steps at a time."""

import numpy as np
import pytest

import penstock as tf
from penstock.kernels import candidate_sampling

SAMPLERS = [tf.random.uniform_candidate_sampler, tf.random.log_uniform_candidate_sampler]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("unique", [True, False])
@pytest.mark.parametrize("tables", [0, 3, 64])
def test_steps_agree_with_themselves(sampler, unique, tables, monkeypatch):
    """A class is expected as often among the true classes as among those drawn."""
    monkeypatch.setattr(candidate_sampling, "_MOST_TABLES", tables)
    monkeypatch.setattr(candidate_sampling, "_DRAWN_AHEAD", 20)
    everything = tf.constant(np.arange(12).reshape(12, 1))
    drawn = sampler(everything, 1, 5, unique, 12)
    with tf.Session() as session:
        steps = [session.run(drawn) for _ in range(30)]
    for sampled, true_count, sampled_count in steps:
        assert sampled.dtype == np.int64 and sampled.shape == (5,) and true_count.shape == (12, 1)
        assert not unique or len(set(sampled)) == 5
        np.testing.assert_allclose(true_count[sampled, 0], sampled_count, rtol=1e-6)
    assert len({tuple(sampled) for sampled, _, _ in steps}) > 20


def test_classes_are_drawn_as_often_as_expected():
    drawn = tf.random.log_uniform_candidate_sampler([[0], [1], [40]], 1, 4, False, 50)
    with tf.Session() as session:
        steps = [session.run(drawn) for _ in range(2000)]
    counts = np.bincount(np.concatenate([sampled for sampled, _, _ in steps]), minlength=50) / 2000
    expected = np.mean([true_count[:, 0] for _, true_count, _ in steps], axis=0)
    np.testing.assert_allclose(counts[[0, 1, 40]], expected, atol=0.06)


def test_a_step_leaves_what_others_have_drawn():
    sampled, _, counts = tf.random.uniform_candidate_sampler([[1]], 1, 8, True, 100)
    with tf.Session() as session:
        first = session.run([sampled, counts])
        copies = [each.copy() for each in first]
        first[0][:] = -1  # an array that a step has given is the caller's
        others = [session.run(sampled) for _ in range(300)]
    np.testing.assert_array_equal(first[1], copies[1])
    assert all((each >= 0).all() for each in others)


@pytest.mark.parametrize("size", [30, 70000])  # looked up, and computed
@pytest.mark.parametrize("wrong", [-1, 10**6])
def test_true_classes_out_of_range(size, wrong):
    true = tf.placeholder(tf.int64, [None, 1])
    drawn = tf.random.log_uniform_candidate_sampler(true, 1, 8, True, size)
    with tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"received {wrong}"):
            session.run(drawn, {true: [[2], [wrong]]})
        assert session.run(drawn[1], {true: [[2], [3]]}).shape == (2, 1)
