"""Examples that are parsed with the first one of their block are those that are parsed alone."""

from __future__ import annotations

import contextlib
import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.kernels.queues import _RandomWords
from penstock.platform.record_files import RecordReader
from penstock.state import read_ahead
from penstock.state.read_ahead import Block, block_of

COUNT = 600  # more than two blocks
FEATURES = {
    "id": tf.FixedLenFeature([], tf.int64),
    "pair": tf.FixedLenFeature([2], tf.float32),
    "words": tf.VarLenFeature(tf.string),
}


def _example(number: int, values: int = 2) -> bytes:
    example = tf.train.Example()
    feature = example.features.feature
    feature["id"].int64_list.value.append(number)
    feature["pair"].float_list.value.extend([number / 2] * values)
    feature["words"].bytes_list.value.extend([b"w%d" % number] * (number % 3))
    return bytes(example.SerializeToString())


def _write(path: Path, wrong: int | None = None) -> str:
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for number in range(COUNT):
            writer.write(_example(number, values=3 if number == wrong else 2))
    return str(path)


def _read(path: str, several: int = 0) -> Any:
    """The key and the features of a record, or of several at once."""
    queue = tf.FIFOQueue(1, tf.string, shapes=[()])
    with tf.control_dependencies([queue.enqueue(path)]):
        started = queue.close()
    reader = tf.TFRecordReader()
    if several:
        key, value = reader.read_up_to(queue, several)
        return started, key, tf.parse_example(value, FEATURES)
    key, value = reader.read(queue)
    return started, key, tf.parse_single_example(value, FEATURES)


@pytest.mark.parametrize("wrong", [None, 300])
def test_one_by_one(tmp_path: Path, wrong: int | None) -> None:
    started, key, found = _read(_write(tmp_path / "records", wrong))
    with tf.Session() as sess:
        sess.run(started)
        for number in range(COUNT):
            if number == wrong:
                with pytest.raises(tf.errors.InvalidArgumentError, match="Key: pair"):
                    sess.run(found)
                continue
            parsed = sess.run(found)
            assert parsed["id"] == number
            assert parsed["pair"].tolist() == [number / 2] * 2
            assert parsed["words"].values.tolist() == [b"w%d" % number] * (number % 3)
            assert parsed["words"].dense_shape.tolist() == [number % 3]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(key)


@pytest.mark.parametrize("several", [7, 64, 1000])
def test_several_at_once(tmp_path: Path, several: int) -> None:
    started, key, found = _read(_write(tmp_path / "records"), several)
    numbers: list[int] = []
    with tf.Session() as sess:
        sess.run(started)
        while len(numbers) < COUNT:
            keys, parsed = sess.run([key, found])
            batch = parsed["id"].tolist()
            assert len(keys) == len(batch) == min(several, COUNT - len(numbers))
            assert parsed["pair"].tolist() == [[number / 2] * 2 for number in batch]
            rows = [row for row, number in enumerate(batch) for _ in range(number % 3)]
            assert parsed["words"].indices[:, 0].tolist() == rows
            assert parsed["words"].values.tolist() == [b"w%d" % batch[row] for row in rows]
            assert parsed["words"].dense_shape[0] == len(batch)
            numbers += batch
    assert numbers == list(range(COUNT))


def test_a_record_that_is_parsed_again_has_values_of_its_own(tmp_path: Path) -> None:
    """What one step writes into is not what another one gets."""
    files = tf.train.string_input_producer([_write(tmp_path / "records")])
    value = tf.TFRecordReader().read(files)[1]
    kept = tf.FIFOQueue(9, tf.string, shapes=[()])
    keep = kept.enqueue(value)
    again = kept.dequeue()
    with tf.control_dependencies([kept.enqueue(again)]):
        pair = tf.parse_single_example(again, FEATURES)["pair"]
    doubled = pair * 2 + pair
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        for _ in range(5):
            sess.run(keep)
        found = [sess.run(doubled).tolist() for _ in range(15)]
        coord.request_stop()
        coord.join(threads)
    assert found == [[1.5 * number] * 2 for number in range(5)] * 3


def test_defaults_that_change(tmp_path: Path) -> None:
    path = str(tmp_path / "empty")
    with tf.python_io.TFRecordWriter(path) as writer:
        for _ in range(20):
            writer.write(tf.train.Example().SerializeToString())
    queue = tf.FIFOQueue(1, tf.string, shapes=[()])
    default = tf.placeholder(tf.float32, [1])
    value = tf.TFRecordReader().read(queue)[1]
    x = tf.parse_single_example(value, {"x": tf.FixedLenFeature([1], tf.float32, default)})["x"]
    with tf.Session() as sess:
        sess.run(queue.enqueue(path))
        assert [sess.run(x, {default: [n]}).tolist() for n in range(20)] == [[n] for n in range(20)]


def test_blocks_are_forgotten() -> None:
    gc.collect()
    before = len(read_ahead._blocks)
    records = [b"record %d" % number for number in range(9)]
    block = Block(records)
    assert block_of(records[4]) is block
    assert block.places[id(records[4])] == 4
    assert block_of(b"record 4"[:-1] + b"4") is None  # equal, but not the same
    del block
    assert block_of(records[4]) is None
    assert len(read_ahead._blocks) == before


@pytest.mark.parametrize("at_once", [1, 3, 100])
def test_records_in_front_of_a_damaged_one(tmp_path: Path, at_once: int) -> None:
    path = Path(_write(tmp_path / "records"))
    data = bytearray(path.read_bytes())
    start = sum(len(_example(number)) + 16 for number in range(10))
    data[start + 12 + 5] ^= 1  # in the data of the record 10
    path.write_bytes(data)
    reader = RecordReader(str(path))
    found: list[bytes] = []
    while len(found) < 10:
        found += reader.read_several(at_once)
    for _ in range(2):
        with pytest.raises(tf.errors.DataLossError, match=f"corrupted record at {start + 12} "):
            reader.read_several(at_once)
    reader.close()
    assert found == [_example(number) for number in range(10)]
    assert reader.offset == start


@pytest.mark.parametrize("damaged", [None, 0, 20, 39, 40, 41, 60])
def test_records_of_one_length_and_others_between_them(tmp_path: Path, damaged: int | None) -> None:
    path = tmp_path / "records"
    records = [b"%05d" % number + b"!" * (number == 40) for number in range(80)]
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    if damaged is not None:
        data = bytearray(path.read_bytes())
        data[sum(len(record) + 16 for record in records[:damaged])] ^= 1  # in a length
        path.write_bytes(data)
    reader = RecordReader(str(path))
    found: list[bytes] = []
    with contextlib.suppress(tf.errors.DataLossError):
        while some := reader.read_several(100):
            found += some
    reader.close()
    assert found == records[:damaged]


@pytest.mark.parametrize("taken", [0, 1, 255, 256, 257, 700])
def test_random_words_go_on(taken: int) -> None:
    words, other = _RandomWords(1, 2), _RandomWords(1, 2)
    drawn = [word for _ in range(taken) for word in words.several(1)]
    assert drawn == other.several(taken)
    restored = _RandomWords(5, 6)
    restored.restore(words.snapshot())
    following = restored.several(600)
    assert following == words.several(600)
    restored.restore(other.snapshot())
    assert restored.several(600) == following
    np.testing.assert_array_less(following, 2**32)
