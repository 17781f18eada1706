"""Quantile streams. Recorded values are TensorFlow 1.15's.

BoostedTreesQuantileStreamResourceHandleOp IsBoostedTreesQuantileStreamResourceInitialized
BoostedTreesCreateQuantileStreamResource BoostedTreesMakeQuantileSummaries
BoostedTreesFlushQuantileSummaries BoostedTreesQuantileStreamResourceAddSummaries
BoostedTreesQuantileStreamResourceDeserialize BoostedTreesQuantileStreamResourceFlush
BoostedTreesQuantileStreamResourceGetBucketBoundaries BoostedTreesBucketize
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import penstock as tf
from penstock.estimator.trees.resources import QuantileAccumulator
from penstock.state.quantile_streams import (
    QuantileStream,
    approximation_error,
    merged,
    summarized,
)

ops = tf.raw_ops
VALUES, WEIGHTS = np.arange(20, dtype="f") ** 2, np.arange(20, dtype="f")


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_a_summary(session: Any) -> None:
    [summary] = session.run(
        ops.BoostedTreesMakeQuantileSummaries(
            float_values=[VALUES], example_weights=WEIGHTS, epsilon=0.2
        )
    )
    assert summary.tolist() == [
        [1, 1, 0, 1],
        [49, 7, 21, 28],
        [121, 11, 55, 66],
        [169, 13, 78, 91],
        [256, 16, 120, 136],
        [324, 18, 153, 171],
        [361, 19, 171, 190],
    ]


def test_boundaries_and_quantiles(session: Any) -> None:
    accumulator = QuantileAccumulator(epsilon=0.2, num_streams=1, num_quantiles=4)
    session.run(accumulator.initializer)
    exact = ops.BoostedTreesQuantileStreamResourceFlush(
        quantile_stream_resource_handle=accumulator.resource_handle,
        num_buckets=4,
        generate_quantiles=True,
    )
    for flush, expected in (
        (accumulator.flush(), [0, 98, 256, 512, 722]),
        (exact, [0, 1, 256, 722]),
    ):
        for k in range(3):
            session.run(accumulator.add_summaries([VALUES * k], WEIGHTS))
        session.run(flush)
        [boundaries] = session.run(accumulator.get_bucket_boundaries())
        assert boundaries.tolist() == expected


def test_summaries_of_a_stream_can_be_taken(session: Any) -> None:
    accumulator = QuantileAccumulator(epsilon=0.01, num_streams=2, num_quantiles=4)
    session.run(accumulator.initializer)
    session.run(accumulator.add_summaries([[1.0, 2.0], [3.0, 3.0]], [1.0, 1.0]))
    flush = ops.BoostedTreesFlushQuantileSummaries(
        quantile_stream_resource_handle=accumulator.resource_handle, num_features=2
    )
    first, second = session.run(flush)
    assert first.tolist() == [[1, 1, 0, 1], [2, 1, 1, 2]] and second.tolist() == [[3, 2, 0, 2]]
    assert [len(table) for table in session.run(flush)] == [0, 0]


def test_streams_must_exist(session: Any) -> None:
    accumulator = QuantileAccumulator(epsilon=0.0, num_streams=1, num_quantiles=4)
    assert not session.run(accumulator.is_initialized())
    with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
        session.run(accumulator.flush())
    with pytest.raises(tf.errors.InvalidArgumentError, match="epsilon value of zero"):
        session.run(accumulator.initializer)


def test_buckets(session: Any) -> None:
    made = ops.BoostedTreesBucketize(
        float_values=[[-5.0, 1.0, 1.5, 2.0, 9.0], [7.0]], bucket_boundaries=[[1.0, 2.0, 3.0], []]
    )
    first, second = session.run(made)
    assert first.tolist() == [0, 0, 1, 1, 2] and second.tolist() == [0]


def test_boundaries_are_saved(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        accumulator = QuantileAccumulator(0.1, num_streams=2, num_quantiles=3, name="Q")
        tf.train.get_or_create_global_step()
        saver = tf.train.Saver()
        session.run([tf.global_variables_initializer(), accumulator.initializer])
        session.run(accumulator.add_summaries([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]], [1.0]))
        session.run(accumulator.flush())
        expected = session.run(accumulator.get_bucket_boundaries())
        path = saver.save(session, str(tmp_path / "model"))
        reader = tf.train.load_checkpoint(path)
        np.testing.assert_array_equal(reader.get_tensor("Q:0_bucket_boundaries_1"), expected[1])
        tf.Session.reset("")
    with tf.Graph().as_default(), tf.Session() as session:
        accumulator = QuantileAccumulator(0.1, num_streams=2, num_quantiles=3, name="Q")
        tf.train.get_or_create_global_step()
        tf.train.Saver().restore(session, path)
        for found, wanted in zip(
            session.run(accumulator.get_bucket_boundaries()), expected, strict=True
        ):
            np.testing.assert_array_equal(found, wanted)


numbers = st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 5)), min_size=1, max_size=60)


@given(numbers, numbers)
def test_merging_exact_summaries_is_exact(a: Any, b: Any) -> None:
    tables = [summarized(*np.array(part, "f").T) for part in (a, b, a + b)]
    np.testing.assert_array_equal(merged(*tables[:2]), tables[2])


@given(st.lists(numbers, min_size=1, max_size=6), st.sampled_from([0.05, 0.1, 0.3]))
def test_a_stream_keeps_within_its_error(parts: Any, error: float) -> None:
    stream = QuantileStream(error, 10_000)
    for part in parts:
        stream.push(*np.array(part, "f").T)
    summary = stream.summary()
    everything = summarized(*np.concatenate([np.array(part, "f") for part in parts]).T)
    assert summary[-1, 3] == everything[-1, 3]  # no weight is lost
    assert approximation_error(summary) <= error + 1e-6
