"""How often a hook saves that decides by itself."""

import pytest

import penstock as tf
from penstock.train.checkpoint_interval import CheckpointInterval


def test_dear_saves_are_rare_and_cheap_ones_frequent():
    cheap, dear = CheckpointInterval(), CheckpointInterval()
    for interval in (cheap, dear):
        interval.session_made(0.0)
    cheap.saved(0.01)
    dear.saved(1.0)
    assert cheap.seconds(0.0) == pytest.approx((2 * 0.01 * 86400) ** 0.5)
    assert dear.seconds(0.0) == pytest.approx((2 * 86400) ** 0.5)


def test_failures_make_saves_more_frequent_until_they_are_long_ago():
    interval = CheckpointInterval()
    interval.session_made(0.0)
    interval.saved(1.0)
    calm = interval.seconds(100.0)
    interval.session_made(100.0)
    assert interval.seconds(100.0) == pytest.approx(200**0.5)
    assert interval.seconds(5000.0) == pytest.approx(10_000**0.5)
    assert interval.seconds(5000.0) < calm


def test_the_interval_has_bounds():
    interval = CheckpointInterval(shortest=5.0, longest=600.0)
    assert interval.seconds(0.0) == 5.0  # nothing is known
    interval.session_made(0.0)
    interval.saved(100.0)
    assert interval.seconds(1.0) == 600.0
    for _ in range(10):
        interval.session_made(1.0)
        interval.saved(0.0001)
    assert interval.seconds(1.0) == 5.0


def test_a_training_session_that_saves_by_itself(tmp_path):
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        up = tf.assign_add(step, 1)
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), save_checkpoint_secs="auto"
        ) as sess:
            assert [sess.run(up) for _ in range(3)] == [1, 2, 3]
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("-3")
