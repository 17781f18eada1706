"""Statistics of pipelines: what they record, and the resource that adds it up."""

from __future__ import annotations

import collections
import threading
import time

import numpy as np
import torch

from penstock import proto
from penstock.kernels.datasets.recipes import dataset_kernel, rebuilt
from penstock.kernels.queues import place_of
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.summary_media import RunningHistogram
from penstock.state.datasets import Dataset, DerivedDataset, UnaryElements, same_number


class StatisticsResource:
    """Histograms and numbers by name, from all pipelines that record into it."""

    def __init__(self):
        self._lock = threading.Lock()
        self._histograms = {}
        self._numbers = {}

    def add_to_histogram(self, name, number):
        with self._lock:
            self._histograms.setdefault(name, RunningHistogram()).add(number)

    def set_number(self, name, number):
        with self._lock:
            self._numbers[name] = float(number)

    def summary(self):
        """All of it as a serialized Summary."""
        message = proto.Summary()
        with self._lock:
            for name, histogram in self._histograms.items():
                message.value.add(tag=name, histo=histogram.message())
            for name, number in self._numbers.items():
                message.value.add(tag=name, simple_value=number)
        return message.SerializeToString()


class WrittenStatisticsResource(StatisticsResource):
    """Statistics of which each change is an event of a summary writer, once there is one."""

    def __init__(self):
        super().__init__()
        self._steps = collections.Counter()
        self.writer = None

    def add_to_histogram(self, name, number):
        super().add_to_histogram(name, number)
        with self._lock:
            message = proto.Summary()
            message.value.add(tag=name, histo=self._histograms[name].message())
            self._write(name, message)

    def set_number(self, name, number):
        super().set_number(name, number)
        with self._lock:
            message = proto.Summary()
            message.value.add(tag=name, simple_value=float(number))
            self._write(name, message)

    def _write(self, name, message):
        if self.writer is not None:
            self.writer.add_summary(self._steps[name], message)
        self._steps[name] += 1


class _Recorder:
    """The statistics of one pipeline, whose names begin with its prefix."""

    def __init__(self, resource, prefix):
        self._resource = resource
        self._prefix = f"{prefix}::" if prefix else ""

    def add_to_histogram(self, name, number):
        self._resource.add_to_histogram(self._prefix + name, number)

    def set_number(self, name, number):
        self._resource.set_number(self._prefix + name, number)


def statistics_name(node):
    """How statistics call a dataset: its type, and its place in the order of its pipeline."""
    before = set()
    waiting = [node.origin]
    while waiting:
        for tensor in waiting.pop().inputs:
            if tensor.op not in before:
                before.add(tensor.op)
                waiting.append(tensor.op)
    return f"{node.origin.type.removesuffix('V2')}/_{len(before)}"


@kernel("StatsAggregatorHandle", "ExperimentalStatsAggregatorHandle", devices=HOST)
def _(node, env):
    resources, name = place_of(node, env)
    return lambda: resources.get_or_create(
        StatisticsResource, node.attrs["container"], name, StatisticsResource
    )


@kernel("StatsAggregatorHandleV2", devices=HOST)
def _(node, env):
    resources, name = place_of(node, env)
    return lambda: resources.get_or_create(
        WrittenStatisticsResource, node.attrs["container"], name, WrittenStatisticsResource
    )


@kernel("StatsAggregatorSetSummaryWriter", devices=HOST)
def _(node):
    def run(resource, writer):
        resource.writer = writer

    return run


@kernel("StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary", devices=HOST)
def _(node):
    return lambda resource: np.array(resource.summary(), dtype=object)


class _RecordedDataset(Dataset):
    """A dataset whose pipeline records into a resource."""

    def __init__(self, source, recorder):
        self._source, self._recorder = source, recorder

    def iterate(self, context):
        return self._source.iterate(context.recorded_by(self._recorder))

    def cardinality(self):
        return self._source.cardinality()


@dataset_kernel("SetStatsAggregatorDataset", "ExperimentalSetStatsAggregatorDataset")
def _(node):
    # The prefix of counters concerns counts that a server of TensorFlow's shows, not the summary.
    def run(source, resource, prefix, counter_prefix):
        return _RecordedDataset(source, _Recorder(resource, _text(prefix)))

    return run


class _Latencies(UnaryElements):
    """Records how many microseconds each element takes."""

    def __init__(self, source, tag, recorder):
        super().__init__(source)
        self._tag, self._recorder = tag, recorder

    def next(self):
        begin = time.perf_counter_ns()
        element = self._source.next()
        if element is not None:
            took = (time.perf_counter_ns() - begin) // 1000
            self._recorder.add_to_histogram(self._tag, took)
        return element


def timed(dataset):
    """The dataset with the time of each element of each of its parts among the statistics."""
    if dataset.recipe is None:
        return dataset
    made = rebuilt(dataset, timed)
    tag = f"record_latency::{statistics_name(dataset.recipe.node)}"
    return DerivedDataset(made, _recorded(_Latencies, tag), same_number)


class _Sizes(_Latencies):
    """Records how many bytes each element has."""

    def next(self):
        element = self._source.next()
        if element is not None:
            self._recorder.add_to_histogram(self._tag, sum(map(_byte_count, element)))
        return element


def _byte_count(value):
    if isinstance(value, torch.Tensor):
        return value.numel() * value.element_size()
    if isinstance(value, np.ndarray):
        return sum(len(each) for each in value.ravel() if isinstance(each, bytes))
    return 0


def _text(value):
    return value.item().decode()


def _recording(kind):
    def factory(node):
        def run(source, tag):
            return DerivedDataset(source, _recorded(kind, _text(tag)), same_number)

        return run

    return factory


def _recorded(kind, tag):
    """What makes elements of a kind of others, where somebody asked for statistics."""

    def make(elements, context):
        recorder = context.statistics
        return elements if recorder is None else kind(elements, tag, recorder)

    return make


dataset_kernel("LatencyStatsDataset", "ExperimentalLatencyStatsDataset")(_recording(_Latencies))
dataset_kernel("BytesProducedStatsDataset", "ExperimentalBytesProducedStatsDataset")(
    _recording(_Sizes)
)
