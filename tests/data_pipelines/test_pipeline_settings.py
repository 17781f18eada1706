"""What is said of a pipeline: what follows a place in it, its threads, its rewritings."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.data.threadpool import PrivateThreadPool, override_threadpool
from penstock.data.experimental.pipeline_probes import assert_next, non_serializable, sleep
from tests.data_pipelines.test_older_ops import run_all

Dataset = tf.data.Dataset
experimental = tf.data.experimental


def _not_rewritten(dataset):
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.autotune = False
    return dataset.with_options(options)


# assert_next --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "follow"),
    [
        (["Map", "BatchV2"], lambda d: d.map(lambda n: n).batch(2)),
        (["ParallelMap", "Filter"], lambda d: d.map(lambda n: n, 2).filter(lambda n: n >= 0)),
        (["FiniteRepeat", "FiniteTake", "FiniteSkip"], lambda d: d.repeat(2).take(9).skip(0)),
        (["ForeverRepeat", "FiniteTake"], lambda d: d.repeat().take(3)),
        (["MemoryCacheImpl", "Prefetch", "Shuffle"], lambda d: d.cache().prefetch(1).shuffle(2)),
        (["Zip[1]"], lambda d: Dataset.zip((Dataset.range(3), d))),
        (["Concatenate[1]"], lambda d: Dataset.range(2).concatenate(d)),
        (["DirectedInterleave[0]"], lambda d: experimental.choose_from_datasets([d], _zeros())),
        (
            ["ParallelInterleave"],
            lambda d: d.apply(experimental.parallel_interleave(lambda n: Dataset.range(n), 1)),
        ),
        (["NonSerializable", "Sleep"], lambda d: d.apply(non_serializable()).apply(sleep(1))),
    ],
)
def test_what_follows(names, follow):
    run_all(_not_rewritten(follow(Dataset.range(3).apply(assert_next(names)))))


def _zeros():
    return Dataset.from_tensors(np.int64(0)).repeat(3)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["Whoops"], "Asserted Whoops transformation at offset 0 but encountered Map"),
        (["Map", "Whoops"], "Asserted next 2 transformations but encountered only 1."),
    ],
)
def test_what_does_not_follow(names, message):
    dataset = _not_rewritten(Dataset.from_tensors(0).apply(assert_next(names)).map(lambda n: n))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run_all(dataset)
    one_shot = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(one_shot)
    total = dataset.reduce(0, lambda total, n: total + n)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(total)


def test_where_rewritings_are_asked_for_nothing_is_said():
    dataset = Dataset.from_tensors(0).apply(assert_next(["MapAndBatch"])).map(lambda n: n).batch(1)
    assert run_all(dataset) == [[0]]


# Threads ------------------------------------------------------------------------------------------


def _threads_of(dataset):
    """A dataset of the threads that its elements are computed in."""

    def thread(_):
        busy.wait(0.02)
        return np.int64(threading.get_ident())

    busy = threading.Event()
    return dataset.map(lambda n: tf.py_func(thread, [n], tf.int64), num_parallel_calls=8)


def _limited_by_option(dataset):
    options = tf.data.Options()
    options.experimental_threading.private_threadpool_size = 2
    return dataset.with_options(options)


@pytest.mark.parametrize(
    "limited",
    [_limited_by_option, lambda dataset: override_threadpool(dataset, PrivateThreadPool(2, "two"))],
)
def test_a_limited_number_of_threads(limited):
    assert len(set(run_all(_threads_of(Dataset.range(12))))) > 2
    assert len(set(run_all(limited(_threads_of(Dataset.range(12)))))) <= 2


@pytest.mark.parametrize(
    ("name", "number", "message"),
    [
        ("private_threadpool_size", 0, "`num_threads` must be >= 1"),
        ("max_intra_op_parallelism", -1, "`max_intra_op_parallelism` must be >= 0"),
    ],
)
def test_wrong_numbers_of_threads(name, number, message):
    options = tf.data.Options()
    setattr(options.experimental_threading, name, number)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run_all(Dataset.range(3).with_options(options))


def test_wrong_pools():
    pool = PrivateThreadPool(0, "none")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be greater than zero"):
        run_all(override_threadpool(Dataset.range(3), pool))
    with pytest.raises(TypeError, match="display_name"):
        PrivateThreadPool(2)


# Rewritings ---------------------------------------------------------------------------------------


def _prefetched():
    return Dataset.range(2).prefetch(1)


def _with_slack(dataset):
    options = tf.data.Options()
    options.experimental_slack = True
    return dataset.with_options(options)


@pytest.mark.parametrize(
    "follow", [lambda d: d, lambda d: d.map(lambda n: n).take(2), lambda d: Dataset.zip((d, d))]
)
def test_slack_of_the_last_prefetch(follow):
    dataset = follow(Dataset.range(3).prefetch(1))
    assert run_all(_with_slack(dataset)) == run_all(dataset)


@pytest.mark.parametrize(
    ("op", "dataset"),
    [
        ("RangeDataset", lambda: Dataset.range(3)),
        ("RangeDataset", lambda: Dataset.range(3).prefetch(0)),
        ("BatchDatasetV2", lambda: Dataset.range(3).prefetch(1).batch(2)),
        (
            "FlatMapDataset",
            lambda: Dataset.range(3).flat_map(lambda n: Dataset.range(2).prefetch(1)),
        ),
        ("RangeDataset", lambda: Dataset.zip((Dataset.range(3).prefetch(1), Dataset.range(3)))),
    ],
)
def test_slack_without_a_last_prefetch(op, dataset):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f'unsupported op "{op}"'):
        run_all(_with_slack(dataset()))


def test_the_time_of_each_part_is_recorded():
    options = tf.data.Options()
    options.experimental_stats.latency_all_edges = True
    options.experimental_stats.aggregator = experimental.StatsAggregator()
    dataset = Dataset.from_tensors(1).map(lambda n: n * n).prefetch(1).with_options(options)
    iterator = dataset.make_initializable_iterator()
    element, summary = iterator.get_next(), options.experimental_stats.aggregator.get_summary()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        assert sess.run(element) == 1
        found = tf.Summary.FromString(sess.run(summary))
    counts = {value.tag.partition("/")[0]: value.histo.num for value in found.value}
    for kind in ("TensorDataset", "MapDataset", "PrefetchDataset"):
        assert counts[f"record_latency::{kind}"] == 1
