"""Statistics of pipelines: what to record, and where it is added up."""

from __future__ import annotations

import tempfile
from typing import Any

from penstock import dtypes
from penstock.data.dataset import DatasetV2, UnaryDataset
from penstock.data.experimental.transformations import Transformation
from penstock.data.rearranged import RecordedDataset
from penstock.ir.convert import convert_to_tensor
from penstock.ir.tensor import Tensor
from penstock.ops.datasets import statistics as nodes

__all__ = ["StatsAggregator", "bytes_produced_stats", "latency_stats", "set_stats_aggregator"]


class StatsAggregator:
    """Adds up the statistics of the pipelines that have it in their options.

    >>> options = tf.data.Options()
    >>> options.experimental_stats.aggregator = tf.data.experimental.StatsAggregator()
    """

    def __init__(self) -> None:
        self._resource = nodes.StatsAggregatorHandle()

    def get_summary(self) -> Tensor:
        """A scalar string: all statistics so far as a serialized `Summary`."""
        summary: Tensor = nodes.StatsAggregatorSummary(self._resource)
        return summary


StatsAggregatorV1 = StatsAggregator


class StatsAggregatorV2:
    """Writes each statistic of the pipelines that have it in their options as an event.

    The file is in a folder of its own, whose path is `_logdir`.
    """

    def __init__(self) -> None:
        from penstock.summary.op_writers import create_file_writer_v2

        self._resource = nodes.StatsAggregatorHandleV2()
        self._logdir = tempfile.mkdtemp()
        writer: Any = create_file_writer_v2(self._logdir, max_queue=1, flush_millis=1)
        self._summary_writer = writer
        nodes.StatsAggregatorSetSummaryWriter(self._resource, writer._resource)


def set_stats_aggregator(
    stats_aggregator: StatsAggregator, prefix: str = "", counter_prefix: str = ""
) -> Transformation:
    """Lets a dataset record its statistics; their names begin with `prefix`."""
    return lambda dataset: RecordedDataset(dataset, stats_aggregator, prefix, counter_prefix)


class _StatsDataset(UnaryDataset):
    """The same elements, of which something is recorded."""

    def __init__(self, input_dataset: DatasetV2, op_function: Any, tag: Any):
        name = convert_to_tensor(tag, dtypes.string)
        variant = op_function(input_dataset._variant_tensor, name, **input_dataset._flat_structure)
        super().__init__(input_dataset, variant)


def latency_stats(tag: Any) -> Transformation:
    """Records how many microseconds each element takes."""
    return lambda dataset: _StatsDataset(dataset, nodes.LatencyStatsDataset, tag)


def bytes_produced_stats(tag: Any) -> Transformation:
    """Records how many bytes each element has."""
    return lambda dataset: _StatsDataset(dataset, nodes.BytesProducedStatsDataset, tag)
