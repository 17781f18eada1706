"""What building a dataset checks and tells, and corners that have no recorded pipeline."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import penstock as tf
from penstock.data import nest


@pytest.fixture(autouse=True)
def fresh_graph():
    with tf.Graph().as_default():
        yield


def elements_of(dataset):
    element = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as sess:
        while True:
            try:
                found.append(sess.run(element))
            except tf.errors.OutOfRangeError:
                return found


def test_batches_of_datasets():
    dataset = tf.data.Dataset.range(10).map(tf.data.Dataset.from_tensors).batch(5).map(lambda x: x)
    assert elements_of(dataset.unbatch().flat_map(lambda x: x)) == list(range(10))


def test_sparse_values_in_functions():
    def sparse(n):
        return tf.SparseTensorValue(indices=[[0]], values=n * [1], dense_shape=[1])

    batches = elements_of(tf.data.Dataset.range(10).map(sparse).batch(5).batch(2))
    assert batches[0].values.tolist() == list(range(10))
    assert batches[0].dense_shape.tolist() == [2, 5, 1]


def test_sparse_tensors_of_different_shapes():
    def sparse(n):
        positions = tf.expand_dims(tf.range(n, dtype=tf.int64), 1)
        return tf.SparseTensorValue(positions, tf.fill([tf.to_int32(n)], n), tf.expand_dims(n, 0))

    (batch,) = elements_of(tf.data.Dataset.range(5).map(sparse).batch(5))
    assert batch.dense_shape.tolist() == [5, 4]
    assert batch.values.tolist() == [1, 2, 2, 3, 3, 3, 4, 4, 4, 4]


def test_structures():
    Pair = collections.namedtuple("Pair", ["x", "y"])
    dataset = tf.data.Dataset.from_tensors({"p": Pair(1, [2.0, 3.0]), "q": ("a", b"b")})
    assert dataset.output_types == {"p": Pair(tf.int32, tf.float32), "q": (tf.string, tf.string)}
    assert dataset.output_shapes["p"].y.as_list() == [2]
    assert dataset.output_classes["q"] == (tf.Tensor, tf.Tensor)
    (element,) = elements_of(dataset)
    assert element["p"].x == 1
    assert element["q"] == (b"a", b"b")


def test_repr():
    dataset = tf.data.Dataset.range(3).map(lambda n: (n, tf.cast(n, tf.float32)))
    assert repr(dataset) == "<DatasetV1Adapter shapes: ((), ()), types: (tf.int64, tf.float32)>"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda d: d.map(lambda n: object()),
            TypeError,
            "Unsupported return value",
        ),
        (lambda d: d.filter(lambda n: n), ValueError, "scalar boolean tensor"),
        (lambda d: d.flat_map(lambda n: n), TypeError, "must return a `Dataset` object"),
        (lambda d: d.interleave(lambda n: n, 2), TypeError, "must return a `Dataset` object"),
        (lambda d: d.apply(lambda d: 3), TypeError, "must return a Dataset"),
        (lambda d: tf.data.Dataset.zip([d, d]), TypeError, "do not support Python lists"),
        (lambda d: tf.data.Dataset.range(), ValueError, "Invalid arguments to RangeDataset"),
        (
            lambda d: d.concatenate(tf.data.Dataset.from_tensors("x")),
            TypeError,
            "have different types",
        ),
        (
            lambda d: tf.data.Dataset.from_tensor_slices(([1, 2], [1, 2, 3])),
            ValueError,
            "are not compatible",
        ),
        (lambda d: tf.data.Dataset.from_tensor_slices(3), ValueError, "insufficient rank"),
        (lambda d: d.padded_batch(2, [3]), ValueError, "not compatible with the corresponding"),
        (lambda d: d.padded_batch(2, [], 1.5), TypeError, "does not match output type"),
        (lambda d: d.reduce(0, lambda s, n: n), TypeError, "element types for the new state"),
        (lambda d: d.unbatch(), ValueError, "Cannot unbatch an input with scalar components"),
        (lambda d: tf.data.Dataset.from_generator(3, tf.int32), TypeError, "must be callable"),
        (lambda d: iter(d), RuntimeError, "only supported inside of tf.function"),
        (
            lambda d: d.apply(tf.data.experimental.take_while(lambda n: n)),
            ValueError,
            "must return a scalar boolean tensor",
        ),
    ],
)
def test_building_refuses(make, error, message):
    with pytest.raises(error, match=message):
        make(tf.data.Dataset.range(4))


def test_reduce():
    total = tf.data.Dataset.range(5).reduce(np.int64(0), lambda state, n: state + n)
    pair = tf.data.Dataset.range(3).reduce(
        (np.int64(1), tf.constant([], tf.int64)),
        lambda state, n: (state[0] * 2, tf.concat([state[1], [n]], 0)),
    )
    with tf.Session() as sess:
        assert sess.run(total) == 10
        doubled, collected = sess.run(pair)
    assert doubled == 8
    assert collected.tolist() == [0, 1, 2]


def test_single_element():
    dataset = tf.data.Dataset.range(7).skip(2).take(3).batch(3)
    element = tf.data.experimental.get_single_element(dataset)
    empty = tf.data.experimental.get_single_element(tf.data.Dataset.range(0))
    several = tf.data.experimental.get_single_element(tf.data.Dataset.range(2))
    with tf.Session() as sess:
        assert sess.run(element).tolist() == [2, 3, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dataset was empty"):
            sess.run(empty)
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than one element"):
            sess.run(several)


def test_cardinality():
    numbers = tf.data.Dataset.range(10)
    datasets = [
        numbers,
        numbers.batch(3),
        numbers.batch(3, drop_remainder=True),
        numbers.repeat(),
        numbers.repeat(3).take(7).skip(2),
        numbers.filter(lambda n: n > 2),
        tf.data.Dataset.zip((numbers, numbers.repeat())),
        numbers.concatenate(numbers.shard(3, 1)),
        numbers.shuffle(3).prefetch(2).cache(),
        tf.data.Dataset.range(9, 0, -2),
    ]
    sizes = [tf.data.experimental.cardinality(dataset) for dataset in datasets]
    with tf.Session() as sess:
        assert sess.run(sizes) == [10, 4, 3, -1, 5, -2, 10, 13, 10, 5]


def test_written_records_are_read(tmp_path):
    path = str(tmp_path / "out.tfrecord")
    words = tf.data.Dataset.from_tensor_slices(["a", "bc", ""])
    write = tf.data.experimental.TFRecordWriter(path).write(words)
    with tf.Session() as sess:
        sess.run(write)
    assert elements_of(tf.data.TFRecordDataset(path)) == [b"a", b"bc", b""]


def test_options_are_merged():
    first, second = tf.data.Options(), tf.data.Options()
    first.experimental_threading.private_threadpool_size = 4
    second.experimental_deterministic = False
    dataset = tf.data.Dataset.range(3).with_options(first).map(lambda n: n).with_options(second)
    assert dataset.options().experimental_threading.private_threadpool_size == 4
    assert dataset.options().experimental_deterministic is False
    with pytest.raises(AttributeError, match="Cannot set the property"):
        first.experimental_deterministics = True
    with pytest.raises(TypeError, match="must be of type"):
        first.experimental_deterministic = 3
    assert elements_of(dataset) == [0, 1, 2]


def test_state_in_functions_outlives_elements():
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    iterator = tf.data.Dataset.from_tensor_slices(["b", "x", "a"]).map(table.lookup)
    iterator = iterator.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as sess:
        sess.run([tf.tables_initializer(), iterator.initializer])
        assert [sess.run(element) for _ in range(3)] == [1, -1, 0]


def test_no_gradients():
    component = tf.constant([1.0])
    value = tf.data.Dataset.from_tensor_slices(component).map(lambda x: x + 1.0)
    value = value.make_one_shot_iterator().get_next()
    assert tf.gradients(value, component) == [None]


def test_failing_one_shot_iterator_fails_again():
    dataset = tf.data.Dataset.from_tensors(tf.gather([0], [4]))
    element = dataset.make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(element)


def test_old_names():
    data = tf.contrib.data
    dataset = data.Dataset.range(5).apply(data.batch_and_drop_remainder(2))
    assert dataset.output_shapes.as_list() == [2]
    windows = tf.data.Dataset.range(5).apply(data.sliding_window_batch(3, window_shift=2))
    assert [window.tolist() for window in elements_of(windows)] == [[0, 1, 2], [2, 3, 4]]
    total = data.reduce_dataset(
        tf.data.Dataset.range(5),
        data.Reducer(lambda _: np.int64(0), lambda total, n: total + n, lambda total: total),
    )
    with tf.Session() as sess:
        assert sess.run(total) == 10
    shaped = tf.data.Dataset.range(2).map(lambda n: tf.py_func(lambda n: [n], [n], tf.int64))
    assert shaped.apply(data.assert_element_shape([1])).output_shapes.as_list() == [1]


def test_nest_takes_lists_as_leaves():
    structure = {"b": [1, 2], "a": (3, {"c": [4]})}
    assert nest.flatten(structure) == [3, [4], [1, 2]]
    assert nest.pack_sequence_as(structure, [1, 2, 3]) == {"b": 3, "a": (1, {"c": 2})}
    assert nest.map_structure(lambda leaf: leaf, structure) == structure
    with pytest.raises(ValueError, match="same set of keys"):
        nest.assert_same_structure({"a": 1}, {"b": 1})


def test_seeded_functions_begin_again_with_the_iterator():
    dataset = tf.data.Dataset.range(3).map(lambda _: tf.random_uniform([], seed=11)).repeat(2)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    rounds = []
    with tf.Session() as sess:
        for _ in range(2):
            sess.run(iterator.initializer)
            rounds.append([sess.run(element) for _ in range(6)])
    assert rounds[0] == rounds[1]
    assert len(set(rounds[0])) == 6
    np.testing.assert_allclose(rounds[0][:2], [0.08955085, 0.26522362], rtol=1e-6)
