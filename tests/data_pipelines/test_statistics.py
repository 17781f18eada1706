"""Statistics of pipelines.

Besides the ops that the functions build, there are the older names
ExperimentalStatsAggregatorHandle, ExperimentalStatsAggregatorSummary,
ExperimentalSetStatsAggregatorDataset, ExperimentalLatencyStatsDataset and
ExperimentalBytesProducedStatsDataset.
"""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.data.dataset import from_variant
from penstock.data.experimental.statistics import set_stats_aggregator
from penstock.ops.datasets import statistics as nodes

NUMBERS = {"output_types": [tf.int64], "output_shapes": [[]]}


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def _recorded(dataset, aggregator, prefix=""):
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    options.experimental_stats.prefix = prefix
    return dataset.with_options(options)


def _values_after(dataset, summary, count):
    """The values of the summary, by tag, after so many elements."""
    iterator = dataset.make_initializable_iterator()
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(count):
            session.run(following)
        message = tf.Summary.FromString(session.run(summary))
    return {value.tag: value for value in message.value}


def test_latencies_and_sizes():
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = tf.data.Dataset.range(9).map(lambda x: (tf.fill([x], 1.0), "word"))
    dataset = dataset.apply(tf.data.experimental.latency_stats("took"))
    dataset = dataset.apply(tf.data.experimental.bytes_produced_stats("size"))
    types = {dataset._variant_tensor.op.type, dataset._inputs()[0]._variant_tensor.op.type}
    assert types == {"LatencyStatsDataset", "BytesProducedStatsDataset"}
    found = _values_after(_recorded(dataset, aggregator), aggregator.get_summary(), 4)
    assert found.keys() == {"took", "size"}
    assert (found["took"].histo.num, found["took"].histo.min >= 0) == (4, True)
    size = found["size"].histo
    assert (size.num, size.sum, size.min, size.max) == (4, 4 * 4 + 4 * (0 + 1 + 2 + 3), 4, 16)
    assert sum(size.bucket) == 4 and len(size.bucket) == len(size.bucket_limit)


def test_nothing_is_recorded_without_an_aggregator():
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = tf.data.Dataset.range(3).apply(tf.data.experimental.latency_stats("took"))
    assert _values_after(dataset, aggregator.get_summary(), 3) == {}


def test_pipelines_with_prefixes_share_an_aggregator():
    aggregator = tf.data.experimental.StatsAggregator()
    timed = tf.data.Dataset.range(3).apply(tf.data.experimental.latency_stats("took"))
    both = [_recorded(timed, aggregator, prefix).make_initializable_iterator() for prefix in "ab"]
    assert aggregator._resource.op.type == "StatsAggregatorHandle"
    sums = both[0].get_next() + both[1].get_next()
    summary = aggregator.get_summary()
    assert summary.op.type == "StatsAggregatorSummary"
    with tf.Session() as session:
        session.run([iterator.initializer for iterator in both])
        assert [session.run(sums) for _ in range(2)] == [0, 2]
        message = tf.Summary.FromString(session.run(summary))
    counts = {value.tag: value.histo.num for value in message.value}
    assert counts == {"a::took": 2, "b::took": 2}


def test_buffers_and_filters_tell_how_full_they_are():
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = tf.data.Dataset.range(10).prefetch(2).filter(lambda x: tf.equal(x % 2, 1)).prefetch(1)
    found = _values_after(_recorded(dataset, aggregator), aggregator.get_summary(), 5)
    # The numbers are the places of the datasets in the order of the pipeline's nodes.
    first, second = "PrefetchDataset/_5::buffer_", "PrefetchDataset/_8::buffer_"
    assert (found[f"{first}capacity"].simple_value, found[f"{second}capacity"].simple_value) == (
        2,
        1,
    )
    assert 1 <= found[f"{first}size"].simple_value <= 2
    shares = found[f"{second}utilization"].histo
    assert (shares.num, shares.min, shares.max) == (5, 1, 1)
    assert found["FilterDataset/_6::filtered_elements"].simple_value == 5
    assert found["FilterDataset/_6::dropped_elements"].simple_value == 5


@pytest.mark.parametrize("batched", [False, True])
def test_parallel_calls_are_timed(batched):
    aggregator = tf.data.experimental.StatsAggregator()
    dataset = tf.data.Dataset.range(8)
    if batched:
        dataset = dataset.apply(tf.data.experimental.map_and_batch(lambda x: x, 4))
    else:
        dataset = dataset.map(lambda x: x, num_parallel_calls=2)
    dataset = dataset.apply(set_stats_aggregator(aggregator, "pipeline"))
    assert dataset._variant_tensor.op.type == "SetStatsAggregatorDataset"
    found = _values_after(dataset, aggregator.get_summary(), 2 if batched else 8)
    name = "MapAndBatch" if batched else "ParallelMap"
    (utilization,) = [tag for tag in found if tag.endswith("::thread_utilization")]
    assert utilization.startswith(f"pipeline::{name}Dataset/_")
    assert 0 <= found[utilization].simple_value <= 1
    (times,) = [tag for tag in found if tag.endswith("::execution_time")]
    assert times.startswith(f"pipeline::{name}::") and found[times].histo.num == 8


def test_older_ops():
    handle = nodes.ExperimentalStatsAggregatorHandle()
    variant = tf.data.Dataset.range(5)._variant_tensor
    variant = nodes.ExperimentalLatencyStatsDataset(variant, "took", **NUMBERS)
    variant = nodes.ExperimentalBytesProducedStatsDataset(variant, "size", **NUMBERS)
    variant = nodes.ExperimentalSetStatsAggregatorDataset(variant, handle, "", "", **NUMBERS)
    dataset = from_variant(variant, tf.TensorSpec([], tf.int64))
    found = _values_after(dataset, nodes.ExperimentalStatsAggregatorSummary(handle), 3)
    assert {tag: value.histo.num for tag, value in found.items()} == {"took": 3, "size": 3}
