"""Bad input in a pipeline of queue runners: the error reaches the main thread; nothing hangs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

GRACE_SECONDS = 10


def _example(**features: Any) -> bytes:
    example = tf.train.Example()
    for key, value in features.items():
        if isinstance(value, bytes):
            example.features.feature[key].bytes_list.value.append(value)
        else:
            example.features.feature[key].float_list.value.extend(value)
    return bytes(example.SerializeToString())


def _jpeg() -> bytes:
    with tf.Graph().as_default(), tf.Session() as sess:
        image = np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3)
        return bytes(sess.run(tf.image.encode_jpeg(image)))


def _parsed(record: Any, kind: Any) -> Any:
    return tf.parse_single_example(record, {"x": kind})["x"]


# What is made of a record, a good record, a bad one, the error's class and a phrase of it.
CASES: dict[str, tuple[Callable[[Any], Any], Callable[[], bytes], bytes, Any, str]] = {
    "wrong type of a feature": (
        lambda record: _parsed(record, tf.FixedLenFeature([2], tf.float32)),
        lambda: _example(x=[1.0, 2.0]),
        _example(x=b"text"),
        tf.errors.InvalidArgumentError,
        "Key: x.  Data types don't match",
    ),
    "missing key": (
        lambda record: _parsed(record, tf.FixedLenFeature([2], tf.float32)),
        lambda: _example(x=[1.0, 2.0]),
        _example(y=[1.0, 2.0]),
        tf.errors.InvalidArgumentError,
        "Feature: x .* is required but could not be found",
    ),
    "no example at all": (
        lambda record: _parsed(record, tf.FixedLenFeature([2], tf.float32)),
        lambda: _example(x=[1.0, 2.0]),
        b"\xff\xff",
        tf.errors.InvalidArgumentError,
        "Could not parse example input",
    ),
    "missing fields": (
        lambda record: tf.decode_csv(record, [[0], [0], [0]])[0],
        lambda: b"1,2,3",
        b"1,2",
        tf.errors.InvalidArgumentError,
        "Expect 3 fields but have 2 in record 0",
    ),
    "broken JPEG": (
        lambda record: tf.image.resize_images(tf.image.decode_jpeg(record, channels=3), [4, 4]),
        _jpeg,
        b"\xff\xd8\xff no picture",
        tf.errors.InvalidArgumentError,
        "(?i)jpeg",
    ),
}


def _run_pipeline(path: Path, make: Callable[[Any], Any], batches: int) -> list[Any]:
    """The first batches of two; raises what a runner failed with."""
    files = tf.train.string_input_producer([str(path)], num_epochs=1)
    record = tf.TFRecordReader().read(files).value
    batch = tf.train.batch([make(record)], 2)
    coord = tf.train.Coordinator()
    found = []
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(sess, coord)
        with coord.stop_on_exception():
            for _ in range(batches):
                found.append(sess.run(batch))
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=GRACE_SECONDS)
    return found


def _write(path: Path, records: list[bytes]) -> bytes:
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    return path.read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_a_bad_record_is_the_error_of_the_program(case: str, tmp_path: Path) -> None:
    make, good, bad, error, phrase = CASES[case]
    _write(tmp_path / "records", [good()] * 2)
    assert len(_run_pipeline(tmp_path / "records", make, 1)) == 1
    _write(tmp_path / "records", [good(), bad])
    with pytest.raises(error, match=phrase):
        _run_pipeline(tmp_path / "records", make, 1)


@pytest.mark.parametrize("damage", ["truncated", "corrupted"])
def test_a_damaged_file_is_the_error_of_the_program(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "records"
    data = bytearray(_write(path, [b"one", b"two"]))
    if damage == "truncated":
        del data[-1]
    else:
        data[19 + 12] ^= 1
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match=rf"{damage} record at \d+ \(file: {path}\)"):
        _run_pipeline(path, tf.identity, 1)


def test_the_end_of_the_input_ends_the_program_quietly(tmp_path: Path) -> None:
    """A dequeue from a closed queue without enough elements is no error of the program."""
    _write(tmp_path / "records", [b"one", b"two", b"three"])
    assert len(_run_pipeline(tmp_path / "records", tf.identity, 5)) == 1


@pytest.mark.parametrize("form", ["dequeue", "dequeue_many", "dequeue_up_to"])
def test_nothing_comes_out_of_a_closed_empty_queue(form: str) -> None:
    queue = tf.FIFOQueue(3, tf.float32, shapes=[[]])
    take = queue.dequeue() if form == "dequeue" else getattr(queue, form)(2)
    with tf.Session() as sess:
        sess.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient"):
            sess.run(take)
