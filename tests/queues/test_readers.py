"""Readers, and records from files to batches."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.ops import readers as reader_ops
from penstock.ops.record_input import RecordInput
from tests.queues.waiting_steps import Background


def _queue_of(sess: Any, *names: Any, close: bool = True) -> Any:
    queue = tf.FIFOQueue(99, tf.string, shapes=[()])
    if names:
        sess.run(queue.enqueue_many([[str(name) for name in names]]))
    if close:
        sess.run(queue.close())
    return queue


def _all(sess: Any, read: Any) -> list[tuple[bytes, bytes]]:
    """All records, to the OutOfRangeError at their end."""
    found = []

    def read_on() -> None:
        while True:
            found.append(tuple(sess.run(read)))

    with pytest.raises(tf.errors.OutOfRangeError, match=r"\(requested 1, current size 0\)"):
        read_on()
    return found


def test_text_lines(tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_bytes(b"one\r\n\ntwo\n")
    second.write_bytes(b"header\nlast")
    with tf.Session() as sess:
        read = tf.TextLineReader().read(_queue_of(sess, first, second))
        expected = [(first, 1, b"one"), (first, 2, b""), (first, 3, b"two")]
        expected += [(second, 1, b"header"), (second, 2, b"last")]
        assert _all(sess, read) == [(f"{f}:{n}".encode(), text) for f, n, text in expected]
        read = tf.TextLineReader(skip_header_lines=1).read(_queue_of(sess, second))
        assert _all(sess, read) == [(f"{second}:2".encode(), b"last")]


@pytest.mark.parametrize("encoding", ["", "ZLIB"])
@pytest.mark.parametrize(("hop", "expected"), [(0, "abc def"), (2, "abc cde efg"), (5, "abc fgh")])
def test_records_of_fixed_length(tmp_path: Path, encoding: str, hop: int, expected: str) -> None:
    file = tmp_path / "records"
    data = b"HHabcdefghF"
    file.write_bytes(zlib.compress(data) if encoding else data)
    reader = tf.FixedLengthRecordReader(
        3, header_bytes=2, footer_bytes=1, hop_bytes=hop, encoding=encoding
    )
    with tf.Session() as sess:
        records = _all(sess, reader.read(_queue_of(sess, file)))
    assert records == [
        (f"{file}:{i}".encode(), text.encode()) for i, text in enumerate(expected.split())
    ]


@pytest.mark.parametrize("compression", ["NONE", "GZIP", "ZLIB"])
def test_tfrecords(tmp_path: Path, compression: str) -> None:
    kind = getattr(tf.python_io.TFRecordCompressionType, compression)
    options = tf.python_io.TFRecordOptions(kind)
    file = tmp_path / "records"
    with tf.python_io.TFRecordWriter(str(file), options=options) as writer:
        for text in (b"a", b"bcd", b""):
            writer.write(text)
    if compression == "GZIP":
        assert gzip.decompress(file.read_bytes())
    with tf.Session() as sess:
        records = _all(sess, tf.TFRecordReader(options=options).read(_queue_of(sess, file)))
    offsets = [0, 17, 36]
    assert records == [
        (f"{file}:{offset}".encode(), text)
        for offset, text in zip(offsets, (b"a", b"bcd", b""), strict=True)
    ]


def test_a_damaged_file_and_a_missing_one(tmp_path: Path) -> None:
    file = tmp_path / "records"
    with tf.python_io.TFRecordWriter(str(file)) as writer:
        writer.write(b"abcdef")
    file.write_bytes(file.read_bytes()[:-1])
    with tf.Session() as sess:
        read = tf.TFRecordReader().read(_queue_of(sess, file, tmp_path / "none"))
        for _ in range(2):  # the reader stays there
            with pytest.raises(tf.errors.DataLossError, match="truncated"):
                sess.run(read)
    with tf.Session() as sess:
        whole, lines = tf.WholeFileReader(), tf.TextLineReader()
        queue = _queue_of(sess, tmp_path / "none", file)
        for _ in range(2):
            with pytest.raises(tf.errors.NotFoundError):
                sess.run(whole.read(queue))
        sess.run(whole.reset())
        assert sess.run(whole.read(queue)).key == str(file).encode()
        queue = _queue_of(sess, tmp_path / "none", file)
        with pytest.raises(tf.errors.NotFoundError):
            sess.run(lines.read(queue))
        assert sess.run(lines.read(queue)).key == str(file).encode() + b":1"


def test_whole_files_are_counted_and_the_state_is_saved(tmp_path: Path) -> None:
    files = [tmp_path / name for name in "abc"]
    for file in files:
        file.write_bytes(file.name.encode() * 3)
    reader = tf.WholeFileReader("whole")
    produced, completed = reader.num_records_produced(), reader.num_work_units_completed()
    with tf.Session() as sess:
        queue = _queue_of(sess, *files)
        read = reader.read(queue)
        assert tuple(sess.run(read)) == (str(files[0]).encode(), b"aaa")
        state = sess.run(reader.serialize_state())
        assert sess.run([produced, completed]) == [1, 1]
        assert sess.run(reader.read_up_to(queue, 5)).values.tolist() == [b"bbb"]
        sess.run(reader.restore_state(state))
        assert sess.run([produced, completed]) == [1, 1]
        for damaged in (b"BOGUS" + state[5:], state[1:], state[:-1], state + b"ExtraJunk"):
            with pytest.raises(
                tf.errors.InvalidArgumentError,
                match="Could not parse state for WholeFileReader 'whole'",
            ):
                sess.run(reader.restore_state(damaged))
        sess.run(reader.reset())
        assert sess.run([produced, completed]) == [0, 0]


def test_reading_several_stays_in_one_work_unit(tmp_path: Path) -> None:
    files = [tmp_path / name for name in "ab"]
    for file in files:
        file.write_bytes(b"1\n2\n3\n")
    with tf.Session() as sess:
        read = tf.TextLineReader().read_up_to(_queue_of(sess, *files), 2)
        counts = [len(sess.run(read).keys) for _ in range(4)]
        assert counts == [2, 1, 2, 1]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(read)


def test_a_waiting_reader_holds_up_nobody_else() -> None:
    with tf.Session() as sess:
        queue = _queue_of(sess, close=False)
        read = tf.IdentityReader().read(queue)
        call = Background(sess.run, read)
        call.assert_waits()
        sess.run(queue.enqueue("x"))
        assert tuple(call.result()) == (b"x", b"x")
        call = Background(sess.run, read)
        call.assert_waits()
    with pytest.raises(tf.errors.CancelledError):
        call.result()


_SETTINGS: dict[str, dict[str, Any]] = {
    "WholeFileReader": {},
    "TextLineReader": {},
    "FixedLengthRecordReader": {"record_bytes": 2},
    "TFRecordReader": {},
    "IdentityReader": {},
}


@pytest.mark.parametrize("kind", _SETTINGS)
def test_old_handles(kind: str) -> None:
    """ReaderRead, ReaderReadUpTo, ReaderNumRecordsProduced, ReaderNumWorkUnitsCompleted,
    ReaderReset, ReaderSerializeState, ReaderRestoreState take the reference that the op types
    without V2 make; the classes use WholeFileReaderV2, TextLineReaderV2, IdentityReaderV2,
    FixedLengthRecordReaderV2, TFRecordReaderV2 and, of the reading ones, ReaderReadV2,
    ReaderReadUpToV2, ReaderNumRecordsProducedV2, ReaderNumWorkUnitsCompletedV2, ReaderResetV2,
    ReaderSerializeStateV2, ReaderRestoreStateV2."""
    handle = getattr(reader_ops, f"_{kind}")(**_SETTINGS[kind])
    reader = tf.ReaderBase(handle)
    with tf.Session() as sess:
        queue = _queue_of(sess, "name")
        sess.run(reader.reset())
        assert sess.run(reader.num_work_units_completed()) == 0
        read, several = reader.read(queue), reader.read_up_to(queue, 2)
        assert (read.key.op.type, several.keys.op.type) == ("ReaderRead", "ReaderReadUpTo")
        if kind == "IdentityReader":
            assert tuple(sess.run(read)) == (b"name", b"name")
            sess.run(reader.restore_state(reader.serialize_state()))
            assert sess.run(reader.num_records_produced()) == 1
        else:
            with pytest.raises(tf.errors.NotFoundError):
                sess.run(several)


def test_record_input_gives_every_record_once_in_an_epoch(tmp_path: Path) -> None:
    for number in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part{number}")) as writer:
            for i in range(4):
                writer.write(b"%d" % (4 * number + i))
    source = RecordInput(
        str(tmp_path / "part*"), batch_size=2, buffer_size=5, shift_ratio=0.33, seed=10
    )
    records = source.get_yield_op()
    everything = sorted(b"%d" % i for i in range(12))
    with tf.Session() as sess:
        epochs = [sorted(r for _ in range(6) for r in sess.run(records)) for _ in range(3)]
        assert epochs == [everything] * 3
        with pytest.raises(tf.errors.NotFoundError):
            sess.run(RecordInput(str(tmp_path / "none*")).get_yield_op())
        with pytest.raises(tf.errors.InvalidArgumentError, match="file_buffer_size"):
            sess.run(RecordInput(str(tmp_path / "part*"), batch_size=2).get_yield_op())
        lists = RecordInput(str(tmp_path / "part*"), batch_size=2, buffer_size=9, batches=3)
        assert [len(batch) for batch in sess.run(lists.get_yield_op())] == [2, 2, 2]
