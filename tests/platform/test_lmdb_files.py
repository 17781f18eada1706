"""LMDBReader, LMDBDataset, ExperimentalLMDBDataset: a database that LMDB itself has written.

`lmdb_database.gz` has 401 entries, written in two transactions: leaves below a branch, unused
pages, and a value on overflow pages.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import penstock as tf
from penstock.contrib.data import LMDBDataset
from penstock.platform.lmdb_files import LmdbReader

ENTRIES = [(b"%04d" % i, b"%d," % i * (i % 40)) for i in range(400)] + [(b"large", b"x" * 9000)]


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "data.mdb"
    path.write_bytes(gzip.decompress(Path(__file__).with_name("lmdb_database.gz").read_bytes()))
    return path


def _all(dataset):
    following = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


def test_all_entries_in_the_order_of_keys(database):
    reader = LmdbReader(str(database))
    assert reader.read_several(3) == ENTRIES[:3]
    assert list(reader) == ENTRIES[3:]
    assert reader.read_several(3) == []
    reader.close()


def test_a_dataset_of_files_and_folders(database):
    with tf.Graph().as_default():
        dataset = LMDBDataset([str(database), str(database.parent)])
        assert dataset.output_types == (tf.string, tf.string)
        assert _all(dataset) == ENTRIES * 2


@pytest.mark.parametrize("op_type", ["LMDBDataset", "ExperimentalLMDBDataset"])
def test_op_types(op_type, database):
    with tf.Graph().as_default():
        made = getattr(tf.raw_ops, op_type)(
            filenames=[str(database)], output_types=[tf.string] * 2, output_shapes=[[], []]
        )
        assert made.dtype is tf.variant


def test_a_saved_place(database, tmp_path):
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(LMDBDataset([str(database)]))
        following = iterator.get_next()
        saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
        with tf.Session() as session:
            session.run(iterator.initializer)
            for _ in range(5):
                session.run(following)
            path = saver.save(session, str(tmp_path / "place"))
            after = session.run(following)
            session.run(following)
            saver.restore(session, path)
            assert session.run(following) == after == ENTRIES[5]


def test_a_reader(database):
    with tf.Graph().as_default(), tf.Session() as session:
        reader = tf.LMDBReader()
        assert reader.reader_ref.op.type == "LMDBReader"
        assert not reader.supports_serialize
        queue = tf.FIFOQueue(2, [tf.string], shapes=())
        session.run(queue.enqueue(str(database)))
        session.run(queue.close())
        entry = reader.read(queue)
        assert [tuple(session.run(entry)) for _ in ENTRIES] == ENTRIES
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(entry)
        assert session.run(reader.num_records_produced()) == len(ENTRIES)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "it is empty"),
        (lambda data: data[:30], "it ends too early"),
        (lambda data: b"\0" * len(data), "a page with its description is missing"),
        (lambda data: data[:16] + b"\0" * 4 + data[20:], "it begins with 0x0"),
    ],
)
def test_damaged_files_are_refused(change, message, database):
    database.write_bytes(change(database.read_bytes()))
    with pytest.raises(tf.errors.DataLossError, match=message):
        LmdbReader(str(database))


def test_cut_files_are_refused_where_they_end(database):
    data = database.read_bytes()
    database.write_bytes(data[: len(data) // 2])
    with pytest.raises(tf.errors.DataLossError, match="no database of LMDB"):
        list(LmdbReader(str(database)))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        LmdbReader(str(tmp_path / "none"))
