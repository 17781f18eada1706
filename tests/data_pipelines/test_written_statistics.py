"""Statistics of pipelines that are written as they come.

Its ops are StatsAggregatorHandleV2 and StatsAggregatorSetSummaryWriter.
"""

import os

import penstock as tf
from penstock.data.experimental.statistics import StatsAggregatorV2, bytes_produced_stats
from penstock.internal_paths.graph_mode import eager_mode


def test_each_element_is_an_event():
    with eager_mode():
        aggregator = StatsAggregatorV2()
        options = tf.data.Options()
        options.experimental_stats.aggregator = aggregator
        options.experimental_stats.latency_all_edges = False
        dataset = tf.data.Dataset.range(3).apply(bytes_produced_stats("bytes"))
        assert len(list(dataset.with_options(options))) == 3
        aggregator._summary_writer.close()
    (name,) = os.listdir(aggregator._logdir)
    events = list(tf.train.summary_iterator(os.path.join(aggregator._logdir, name)))
    found = [(e.step, v.tag, v.histo.num, v.histo.sum) for e in events for v in e.summary.value]
    assert found == [(0, "bytes", 1, 8), (1, "bytes", 2, 16), (2, "bytes", 3, 24)]
