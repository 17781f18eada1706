"""Datasets of serialized Examples that are parsed batch by batch."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from tests.data_pipelines.test_older_ops import run_all

parse = tf.data.experimental.parse_example_dataset


def _example(**values):
    features = {
        key: tf.train.Feature(int64_list=tf.train.Int64List(value=value))
        for key, value in values.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


FEATURES = {
    "a": tf.FixedLenFeature([2], tf.int64, [7, 8]),
    "b": tf.VarLenFeature(tf.int64),
    "q": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
}
EXAMPLES = [_example(a=[1, 2], b=[3], q=[4]), _example(b=[5, 6])]


@pytest.mark.parametrize("calls", [1, 3])
def test_features(calls):
    dataset = tf.data.Dataset.from_tensors(EXAMPLES).apply(parse(FEATURES, calls))
    assert dataset.output_shapes["a"].as_list() == [2, 2]
    assert list(dataset.output_shapes) == ["a", "b", "q"]
    (found,) = run_all(dataset)
    assert found["a"].tolist() == [[1, 2], [7, 8]]
    assert found["q"].tolist() == [[4], [0]]
    assert found["b"].values.tolist() == [3, 5, 6]
    types = {node.op for node in tf.get_default_graph().as_graph_def().node}
    assert "ParseExampleDataset" in types
    assert "MapDataset" not in types


def test_sparse_features():
    features = {"s": tf.SparseFeature("i", "v", tf.int64, 9), "i": tf.VarLenFeature(tf.int64)}
    examples = [_example(i=[4, 2], v=[40, 20])]
    (found,) = run_all(tf.data.Dataset.from_tensors(examples).apply(parse(features)))
    assert found["s"].indices.tolist() == [[0, 2], [0, 4]]
    assert found["s"].values.tolist() == [20, 40]
    assert set(found) == {"s", "i"}


def test_the_graph_is_read_again():
    iterator = tf.data.Dataset.from_tensors(EXAMPLES).apply(parse(FEATURES))
    iterator = iterator.make_initializable_iterator()
    name = iterator.get_next()["a"].name
    written = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default():
        tf.import_graph_def(written, name="")
        with tf.Session() as sess:
            sess.run("MakeIterator")
            assert sess.run(name).tolist() == [[1, 2], [7, 8]]


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        (None, ValueError, "Missing: features was None"),
        ({}, ValueError, "Must provide at least one sparse key or dense key"),
        ({"a": tf.FixedLenFeature(None, tf.int64)}, ValueError, "Missing shape for feature a"),
        ({"a": 3}, ValueError, "Invalid feature a:3"),
    ],
)
def test_wrong_features(features, error, message):
    with pytest.raises(error, match=message):
        tf.data.Dataset.from_tensors(EXAMPLES).apply(parse(features))


def test_wrong_elements():
    with pytest.raises(TypeError, match="dataset of vectors of strings"):
        tf.data.Dataset.range(3).apply(parse(FEATURES))
    required = {"a": tf.FixedLenFeature([2], tf.int64)}
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Feature: a \(data type: int64\)"):
        run_all(tf.data.Dataset.from_tensors(EXAMPLES).apply(parse(required)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be greater than zero"):
        run_all(tf.data.Dataset.from_tensors(EXAMPLES).apply(parse(FEATURES, 0)))


def test_counts_of_features_are_recorded():
    options = tf.data.Options()
    aggregator = options.experimental_stats.aggregator = tf.data.experimental.StatsAggregator()
    options.experimental_stats.prefix = "read"
    dataset = tf.data.Dataset.from_tensors(EXAMPLES).apply(parse(FEATURES, 2))
    iterator = dataset.with_options(options).make_initializable_iterator()
    element, summary = iterator.get_next(), aggregator.get_summary()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        sess.run(element)
        found = tf.Summary.FromString(sess.run(summary))
    histograms = {value.tag.rpartition("::")[2]: value.histo for value in found.value}
    assert all(value.tag.startswith("read::") for value in found.value)
    assert (histograms["features_count"].num, histograms["features_count"].sum) == (2, 4)
    assert histograms["feature_values_count"].sum == np.size([1, 2, 3, 4, 5, 6])
