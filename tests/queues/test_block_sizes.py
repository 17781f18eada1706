"""A reader's blocks are as long where the file's buffer ends, and damage there is told in time."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock as tf
from penstock.platform.record_files import FRAME_SIZE
from penstock.state.readers import _TFRecords

SIZE, COUNT = 1000, 900  # several buffers, each of which holds a little more than a block


def _write(path: Path) -> bytes:
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for number in range(COUNT):
            writer.write(b"%04d" % number + bytes(SIZE - 4))
    return str(path).encode()


def test_blocks_end_where_they_would_without_a_buffer(tmp_path: Path) -> None:
    records = _TFRecords(_write(tmp_path / "records"), "")
    whole, rest = divmod(COUNT, _TFRecords._MOST_AHEAD)
    sizes = [len(records.several(COUNT)[0]) for _ in range(whole + 1)]
    records.close()
    assert sizes == [_TFRecords._MOST_AHEAD] * whole + [rest]


@pytest.mark.parametrize("damaged", [100, 256, 257, 258, 259, COUNT - 1])
def test_what_is_in_front_of_a_damaged_record_is_read(tmp_path: Path, damaged: int) -> None:
    work = _write(tmp_path / "records")
    with open(work, "r+b") as file:
        file.seek(damaged * (SIZE + FRAME_SIZE) + 20)
        file.write(b"!")
    records = _TFRecords(work, "")
    for number in range(damaged):
        key, value = next(records)
        assert value.startswith(b"%04d" % number)
        assert key.endswith(b":%d" % (number * (SIZE + FRAME_SIZE)))
    for _ in range(2):  # there it stays
        with pytest.raises(tf.errors.DataLossError, match="corrupted record"):
            next(records)
    records.close()
