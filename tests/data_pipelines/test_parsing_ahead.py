"""Examples that a map parses many at once are those that it would parse one by one."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf
from penstock.kernels.datasets import parsing_ahead
from penstock.ops.datasets.iterators import DeserializeIterator, SerializeIterator
from tests.data_pipelines.running import plain

COUNT = 90  # more than are parsed at once


def _features():
    return {
        "id": tf.FixedLenFeature([], tf.int64),
        "name": tf.FixedLenFeature([], tf.string, default_value="none"),
        "pair": tf.FixedLenFeature([2], tf.float32),
        "words": tf.VarLenFeature(tf.string),
        "ids": tf.VarLenFeature(tf.int64),
        "rows": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
    }


def _record(number, pair=2):
    example = tf.train.Example()
    feature = example.features.feature
    feature["id"].int64_list.value.append(number * 1000 - 3000)
    feature["pair"].float_list.value.extend([number / 2] * pair)
    if number % 3:
        feature["name"].bytes_list.value.append(b"n%d" % number)
    feature["words"].bytes_list.value.extend([b"w"] * (number % 4))
    feature["ids"].int64_list.value.extend(range(number % 3))
    feature["rows"].int64_list.value.extend([number] * 2 * (number % 3))
    return example.SerializeToString()


def _dataset(records, **settings):
    dataset = tf.data.Dataset.from_tensor_slices(np.array(records, dtype=object))
    return dataset.map(lambda one: tf.parse_single_example(one, _features()), **settings)


def _elements(dataset, limit=200):
    element = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as sess:
        while len(found) < limit:
            try:
                found.append(plain(sess.run(element)))
            except tf.errors.OutOfRangeError:
                break
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message.split("Key: ")[1].split(" (")[0])
    return found


@pytest.fixture
def one_by_one(monkeypatch):
    """The elements of a dataset, of which each is parsed alone."""

    def elements(make):
        with monkeypatch.context() as patch, tf.Graph().as_default():
            patch.setattr(parsing_ahead, "_PARSERS", {})
            return _elements(make())

    return elements


@pytest.mark.parametrize("settings", [{}, {"num_parallel_calls": 2}])
def test_parsed_ahead_as_one_by_one(settings, one_by_one):
    records = [_record(number) for number in range(COUNT)]
    with tf.Graph().as_default():
        found = _elements(_dataset(records, **settings))
    assert len(found) == COUNT
    assert found == one_by_one(lambda: _dataset(records, **settings))


def test_just_the_wrong_examples_fail(one_by_one):
    records = [_record(number, pair=3 if number in (5, 40) else 2) for number in range(COUNT)]
    with tf.Graph().as_default():
        found = _elements(_dataset(records))
    assert [place for place, element in enumerate(found) if isinstance(element, str)] == [5, 40]
    assert found == one_by_one(lambda: _dataset(records))


def test_the_rest_of_the_function_is_called_for_each():
    calls = []

    def seen(number):
        calls.append(int(number))
        return number

    def parsed(one):
        number = tf.parse_single_example(one, {"id": tf.FixedLenFeature([], tf.int64)})["id"]
        return tf.py_func(seen, [number * 2], tf.int64)

    with tf.Graph().as_default(), tf.Session() as sess:
        records = np.array([_record(number) for number in range(9)], dtype=object)
        element = tf.data.Dataset.from_tensor_slices(records).map(parsed)
        element = element.make_one_shot_iterator().get_next()
        assert [sess.run(element) for _ in range(2)] == [-6000, -4000]
        assert calls == [-6000, -4000]


def test_a_generator_is_not_read_ahead():
    given = []

    def records():
        for number in range(9):
            given.append(number)
            yield _record(number)

    features = {"id": tf.FixedLenFeature([], tf.int64)}
    with tf.Graph().as_default(), tf.Session() as sess:
        dataset = tf.data.Dataset.from_generator(records, tf.string, [])
        dataset = dataset.map(lambda one: tf.parse_single_example(one, features)["id"])
        element = dataset.make_one_shot_iterator().get_next()
        for _ in range(4):
            sess.run(element)
        assert given == [0, 1, 2, 3]


@pytest.mark.parametrize("taken", [0, 1, 2, 9, 70])
def test_saved_and_restored(taken):
    records = [_record(number, pair=1 if number == 71 else 2) for number in range(COUNT)]

    def some(sess, element, count):
        found = []
        for _ in range(count):
            try:
                found.append(plain(sess.run(element)))
            except tf.errors.InvalidArgumentError:
                found.append("failed")
        return found

    with tf.Graph().as_default():
        iterator = _dataset(records).make_initializable_iterator()
        element = iterator.get_next()
        state = SerializeIterator(iterator._iterator_resource)
        fed = tf.placeholder(tf.variant)
        restore = DeserializeIterator(iterator._iterator_resource, fed)
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            some(sess, element, taken)
            saved = sess.run(state)
            expected = some(sess, element, 12)
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            sess.run(restore, {fed: saved})
            assert some(sess, element, 12) == expected
