"""Graphs of datasets and iterators; `recorded_graphs.json` has the nodes of TensorFlow 1.15."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

GRAPHS: dict[str, Callable[[Any], Any]] = {}


def graph(build: Callable[[Any], Any]) -> Callable[[Any], Any]:
    GRAPHS[build.__name__] = build
    return build


def nodes(tf: Any, build: Callable[[Any], Any]) -> list[list[Any]]:
    """The names, types and inputs of the nodes of a graph."""
    with tf.Graph().as_default() as made:
        build(tf)
    return [[node.name, node.op, list(node.input)] for node in made.as_graph_def().node]


@graph
def one_shot(tf: Any) -> Any:
    dataset = tf.data.Dataset.from_tensor_slices(([1, 2, 3], {"a": [1.0, 2.0, 3.0]}))
    dataset = dataset.map(lambda x, y: (x + 1, y)).shuffle(10).repeat().batch(2).prefetch(1)
    return [*dataset.make_one_shot_iterator().get_next()[:1]]


@graph
def seeded(tf: Any) -> Any:
    dataset = tf.data.Dataset.range(10).shuffle(10, seed=3).repeat(2)
    return dataset.make_one_shot_iterator().get_next()


@graph
def initializable(tf: Any) -> Any:
    dataset = tf.data.Dataset.range(1, 10, 2).map(lambda x: x + 1, num_parallel_calls=2)
    dataset = dataset.take(5).skip(1).shard(2, 0).cache().filter(lambda x: x > 0)
    dataset = dataset.padded_batch(2, [], drop_remainder=True)
    iterator = dataset.make_initializable_iterator()
    return [iterator.get_next(), iterator.initializer, iterator.string_handle("handle")]


@graph
def reinitializable(tf: Any) -> Any:
    records = tf.data.TFRecordDataset(["a", "b"])
    lines, fixed = tf.data.TextLineDataset("x"), tf.data.FixedLengthRecordDataset(["x"], 3)
    dataset = tf.data.Dataset.zip((records, lines))
    dataset = dataset.concatenate(tf.data.Dataset.zip((lines, fixed)))
    iterator = tf.data.Iterator.from_structure(dataset.output_types, dataset.output_shapes)
    return [iterator.make_initializer(dataset), *iterator.get_next(name="next")]


@graph
def feedable(tf: Any) -> Any:
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(handle, (tf.int64, tf.float32), ([], [None]))
    return [*iterator.get_next()]


@graph
def functions(tf: Any) -> Any:
    numbers = tf.data.Dataset.range(9)
    windows = numbers.window(2).flat_map(lambda window: window.batch(2))
    total = numbers.reduce(tf.constant(0, tf.int64), lambda state, n: state + n)
    turns = numbers.interleave(tf.data.Dataset.from_tensors, cycle_length=2, num_parallel_calls=2)
    return [
        windows.make_initializable_iterator().initializer,
        total,
        turns.make_initializable_iterator().initializer,
    ]


@graph
def listed_files(tf: Any) -> Any:
    dataset = tf.data.Dataset.list_files("*.txt", seed=1)
    dataset = dataset.apply(
        tf.data.experimental.parallel_interleave(tf.data.TextLineDataset, cycle_length=2)
    )
    dataset = dataset.apply(tf.data.experimental.map_and_batch(lambda x: x, 4))
    dataset = dataset.apply(tf.data.experimental.unbatch())
    return dataset.make_initializable_iterator().initializer
