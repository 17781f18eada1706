"""Elements that go through a pipeline as rows are those that would go through it one by one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.kernels.datasets import parsing_ahead
from penstock.ops.datasets.iterators import DeserializeIterator, SerializeIterator
from tests.data_pipelines.running import plain

COUNT = 70
FEATURES = {
    "id": tf.FixedLenFeature([], tf.int64),
    "weight": tf.FixedLenFeature([], tf.float32, default_value=0.5),
    "name": tf.FixedLenFeature([], tf.string),
    "matrix": tf.FixedLenFeature([2, 3], tf.float32),
    "labels": tf.FixedLenFeature([2], tf.string),
    "nothing": tf.FixedLenFeature([0], tf.int64),
    "words": tf.VarLenFeature(tf.string),
    "ids": tf.VarLenFeature(tf.int64),
}
BROKEN = 37  # an example without a name, in files that have it


def _record(number: int, broken: int | None) -> bytes:
    example = tf.train.Example()
    feature = example.features.feature
    feature["id"].int64_list.value.append(number * 1000 - 3000)
    if number % 2:
        feature["weight"].float_list.value.append(number / 7)
    if number != broken:
        feature["name"].bytes_list.value.append(b"n%d" % number)
    feature["matrix"].float_list.value.extend([number / 2] * 6)
    feature["labels"].bytes_list.value.extend([b"a", b"b%d" % number])
    feature["nothing"].int64_list.SetInParent()
    feature["words"].bytes_list.value.extend([b"w"] * (number % 4))
    feature["ids"].int64_list.value.extend(range(number % 3))
    return bytes(example.SerializeToString())


def _records(folder: Path, broken: int | None = None) -> Any:
    names = []
    for part in range(2):
        names.append(str(folder / f"part{part}-{broken}"))
        with tf.python_io.TFRecordWriter(names[-1]) as writer:
            for number in range(part * 40, min(COUNT, part * 40 + 40)):
                writer.write(_record(number, broken))
    return tf.data.TFRecordDataset(names)


def _parsed(records: Any, **settings: Any) -> Any:
    return records.map(lambda one: tf.parse_single_example(one, FEATURES), **settings)


def _parsed_batches(batches: Any, **settings: Any) -> Any:
    return batches.map(lambda batch: tf.parse_example(batch, FEATURES), **settings)


PIPELINES = {
    "alone": lambda records: _parsed(records),
    "in parallel": lambda records: _parsed(records, num_parallel_calls=2).batch(8),
    "batched": lambda records: _parsed(records).batch(8),
    "whole batches": lambda records: _parsed(records).batch(8, drop_remainder=True),
    "shuffled": lambda records: _parsed(records.repeat(2)).shuffle(20, seed=3).batch(8),
    "shuffled each time": lambda records: _parsed(records).shuffle(20, seed=3).repeat(2).batch(8),
    "shuffled in one": lambda records: _parsed(records).shuffle(100, seed=3).batch(8),
    "hardly shuffled": lambda records: _parsed(records).shuffle(1, seed=3).batch(8),
    "taken": lambda records: _parsed(records).skip(3).take(50).repeat(2).batch(8),
    "shuffled files": lambda records: _parsed(records.shuffle(9, seed=4).skip(2)).batch(8),
    "padded": lambda records: (
        _parsed(records).map(lambda found: found["matrix"]).padded_batch(8, [None, 4])
    ),
    "mapped again": lambda records: _parsed(records).shuffle(9, seed=5).map(lambda found: found),
    "two kinds": lambda records: _parsed(records).concatenate(_parsed(records)).batch(9),
    "batches parsed": lambda records: _parsed_batches(records.batch(8)),
    "batches of strings shuffled": lambda records: _parsed_batches(
        records.shuffle(30, seed=2).batch(8).shuffle(3, seed=1), num_parallel_calls=2
    ).prefetch(1),
    "ahead": lambda records: _parsed(records).shuffle(7, seed=2).prefetch(3).batch(8),
}


def _elements(sess: Any, element: Any, limit: int = 300) -> list[Any]:
    found: list[Any] = []
    while len(found) < limit:
        try:
            found.append(plain(sess.run(element)))
        except tf.errors.OutOfRangeError:
            found.append("end")
            break
        except tf.errors.InvalidArgumentError as error:
            found.append(error.message.split("Feature: ")[1].split(" (")[0])
    return found


@pytest.mark.parametrize("broken", [None, BROKEN])
@pytest.mark.parametrize("name", PIPELINES)
def test_as_one_by_one(
    name: str, broken: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elements() -> list[Any]:
        with tf.Graph().as_default(), tf.Session() as sess:
            dataset = PIPELINES[name](_records(tmp_path, broken))
            return _elements(sess, dataset.make_one_shot_iterator().get_next())

    found = elements()
    monkeypatch.setattr(parsing_ahead, "_PARSERS", {})
    monkeypatch.setattr(parsing_ahead, "_BATCH_PARSERS", {})
    assert found == elements()
    assert found[-1] == "end"
    assert ("name" in found) == (broken is not None)


@pytest.mark.parametrize("taken", [0, 1, 4, 9, 15])
@pytest.mark.parametrize(
    "name", ["batched", "shuffled", "shuffled each time", "taken", "batches parsed"]
)
def test_saved_and_restored(name: str, taken: int, tmp_path: Path) -> None:
    with tf.Graph().as_default():
        iterator = PIPELINES[name](_records(tmp_path, BROKEN)).make_initializable_iterator()
        element = iterator.get_next()
        state = SerializeIterator(iterator._iterator_resource)
        fed = tf.placeholder(tf.variant)
        restore = DeserializeIterator(iterator._iterator_resource, fed)
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            _elements(sess, element, taken)
            saved = sess.run(state)
            expected = _elements(sess, element)
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            _elements(sess, element, 1)
            sess.run(restore, {fed: saved})
            assert _elements(sess, element) == expected


def test_large_rows_keep_no_other_memory(tmp_path: Path) -> None:
    values = np.arange(5 * 2000, dtype=np.float32).reshape(5, 2000)
    with tf.python_io.TFRecordWriter(str(tmp_path / "large")) as writer:
        for row in values:
            example = tf.train.Example()
            example.features.feature["x"].float_list.value.extend(row)
            writer.write(example.SerializeToString())
    features = {"x": tf.FixedLenFeature([2000], tf.float32)}
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.TFRecordDataset(str(tmp_path / "large"))
        dataset = dataset.map(lambda one: tf.parse_single_example(one, features)["x"])
        batch = dataset.batch(5).make_one_shot_iterator().get_next()
        np.testing.assert_array_equal(sess.run(batch), values)


def _drawn(number: Any) -> Any:
    return number + tf.random_uniform([], 0, 1000, tf.int64, seed=7)


RANDOM = {
    "map": lambda numbers: numbers.map(_drawn),
    "map in parallel": lambda numbers: numbers.map(_drawn, num_parallel_calls=1),
    "filter": lambda numbers: numbers.filter(lambda n: _drawn(n) % 2 < 1),
    "map inside": lambda numbers: numbers.flat_map(
        lambda n: tf.data.Dataset.from_tensors(n).repeat(4).map(_drawn)
    ),
    "scan": lambda numbers: numbers.apply(
        tf.data.experimental.scan(tf.constant(0, tf.int64), lambda s, n: (s + n, _drawn(s)))
    ),
    "two draws": lambda numbers: numbers.map(lambda n: _drawn(n) * _drawn(n)).shuffle(5, seed=1),
}


@pytest.mark.parametrize("taken", [0, 1, 6])
@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_go_on(name: str, taken: int) -> None:
    with tf.Graph().as_default():
        dataset = RANDOM[name](tf.data.Dataset.range(40))
        iterator = dataset.make_initializable_iterator()
        element = iterator.get_next()
        state = SerializeIterator(iterator._iterator_resource)
        fed = tf.placeholder(tf.variant)
        restore = DeserializeIterator(iterator._iterator_resource, fed)
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            for _ in range(taken):
                sess.run(element)
            saved = sess.run(state)
            expected = [sess.run(element) for _ in range(9)]
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            for _ in range(2):
                sess.run(element)
            sess.run(restore, {fed: saved})
            assert [sess.run(element) for _ in range(9)] == expected
