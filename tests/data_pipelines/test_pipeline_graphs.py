"""Pipelines as graphs: written and made again, shared out among workers, kept in snapshots.

DatasetToGraph DatasetFromGraph AutoShardDataset ExperimentalAutoShardDataset SnapshotDataset
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock import proto
from penstock.data.dataset import from_variant
from penstock.data.experimental.snapshots import snapshot
from penstock.data.experimental.workers import _AutoShardDataset, replicate
from penstock.data.readers import _TFRecordDataset
from penstock.ops.datasets import pipeline_graphs
from tests.data_pipelines.test_older_ops import run_all

Dataset = tf.data.Dataset


def _graph(dataset, **kwargs):
    with tf.Session() as sess:
        return proto.GraphDef.FromString(sess.run(dataset._as_serialized_graph(**kwargs)))


# Written and read ---------------------------------------------------------------------------------


def test_a_pipeline_as_a_graph():
    dataset = Dataset.range(10).map(lambda n: (n + 1, tf.constant("a"))).batch(3).prefetch(1)
    graph = _graph(dataset)
    assert [(node.name, list(node.input)) for node in graph.node if node.op != "Const"] == [
        ("RangeDataset/_3", ["Const/_0", "Const/_1", "Const/_2"]),
        ("MapDataset/_4", ["RangeDataset/_3"]),
        ("BatchDatasetV2/_7", ["MapDataset/_4", "Const/_5", "Const/_6"]),
        ("PrefetchDataset/_9", ["BatchDatasetV2/_7", "Const/_8"]),
        ("dataset", ["PrefetchDataset/_9"]),
    ]
    assert len(graph.library.function) == 1
    assert graph.node[-1].op == "_Retval"


def test_a_function_with_state_is_refused_unless_it_is_allowed():
    dataset = Dataset.range(3).map(lambda _: tf.random_uniform([]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="RandomUniform is stateful"):
        _graph(dataset)
    assert _graph(dataset, stateful_whitelist=["RandomUniform"]).library.function


def test_a_captured_variable_is_refused():
    counter = tf.get_variable("counter", [], tf.int64, use_resource=True)
    dataset = Dataset.range(3).map(lambda n: counter.assign_add(n))
    with pytest.raises(tf.errors.FailedPreconditionError, match="AssignAddVariableOp is stateful"):
        _graph(dataset)


def test_the_same_pipeline_on_other_devices():
    shift = tf.constant(10, tf.int64)
    dataset = Dataset.range(4).flat_map(lambda n: Dataset.range(n)).map(lambda n: n + shift)
    copies = replicate(dataset, ["/cpu:0", "/device:CPU:0"])
    assert list(copies) == ["/cpu:0", "/device:CPU:0"]
    assert run_all(copies["/cpu:0"]) == [10, 10, 11, 10, 11, 12]
    one_shot = copies["/cpu:0"].make_one_shot_iterator().get_next()
    with tf.Session() as sess:
        assert sess.run(one_shot) == 10
    with pytest.raises(TypeError, match="must be a `tf.data.Dataset` object"):
        replicate(3, [])


def test_what_is_no_graph_of_a_dataset():
    handle = pipeline_graphs.DatasetFromGraph("nonsense")
    with pytest.raises(tf.errors.InvalidArgumentError, match="no graph of a dataset"):
        run_all(from_variant(handle, tf.TensorSpec([], tf.int64)))


# Shares of workers --------------------------------------------------------------------------------


def _record_files(folder):
    names = [os.path.join(folder, f"{number}.tfrecord") for number in range(6)]
    for number, name in enumerate(names):
        with tf.python_io.TFRecordWriter(name) as writer:
            for record in range(2):
                writer.write(b"%d%d" % (number, record))
    return names


def _flat(elements):
    return [value for element in elements for value in np.ravel(element)]


@pytest.mark.parametrize("shuffle", [False, True])
def test_files_are_shared_out(tmp_path, shuffle):
    _record_files(tmp_path)
    files = Dataset.list_files(str(tmp_path / "*.tfrecord"), shuffle=shuffle)
    dataset = files.flat_map(tf.data.TFRecordDataset).map(lambda text: text).batch(2)
    found = _flat(run_all(_AutoShardDataset(dataset, 3, 1)))
    assert sorted(found) == [b"10", b"11", b"40", b"41"]
    assert shuffle or found == sorted(found)


def test_files_of_several_datasets_are_shared_out(tmp_path):
    names = _record_files(tmp_path)
    both = [tf.data.TFRecordDataset(names), tf.data.TFRecordDataset(names, num_parallel_reads=2)]
    pairs = run_all(_AutoShardDataset(Dataset.zip(tuple(both)), 6, 5))
    assert pairs == [(b"50", b"50"), (b"51", b"51")]
    twice = run_all(_AutoShardDataset(both[0].concatenate(both[1]), 6, 0))
    assert twice == [b"00", b"01", b"00", b"01"]


def test_elements_are_shared_out_where_no_files_are_read_or_more_is_done_to_them(tmp_path):
    assert run_all(_AutoShardDataset(Dataset.range(5), 2, 1)) == [1, 3]
    names = _record_files(tmp_path)
    assert run_all(_AutoShardDataset(_TFRecordDataset(names), 6, 0)) == [b"00", b"30"]
    unique = tf.data.TFRecordDataset(names).apply(tf.data.experimental.unique())
    assert run_all(_AutoShardDataset(unique, 6, 0)) == [b"00", b"30"]


def test_more_workers_than_there_is_work(tmp_path):
    names = _record_files(tmp_path)
    assert run_all(_AutoShardDataset(tf.data.TFRecordDataset(names), 7, 6)) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="# elems = 5, # shards = 10"):
        run_all(_AutoShardDataset(Dataset.range(5), 10, 0))
    assert run_all(_AutoShardDataset(Dataset.range(0), 10, 0)) == []


@pytest.mark.parametrize(
    ("workers", "index", "message"),
    [(0, 0, "num_workers must be greater than zero"), (2, 2, "index must be between 0 and 1")],
)
def test_a_worker_that_there_is_not(workers, index, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run_all(_AutoShardDataset(Dataset.range(5), workers, index))


def test_the_older_name_of_the_op():
    source = Dataset.range(5)
    node = pipeline_graphs.ExperimentalAutoShardDataset(
        source._variant_tensor, 2, 1, **source._flat_structure
    )
    assert run_all(from_variant(node, source.element_spec)) == [1, 3]


# Snapshots ----------------------------------------------------------------------------------------


def _files(folder):
    return sorted(
        str(path.relative_to(folder)) for path in Path(folder).rglob("*") if path.is_file()
    )


def _metadata(folder):
    (path,) = Path(folder).glob("*/snapshot.metadata")
    return proto.SnapshotMetadataRecord.FromString(path.read_bytes()[8:])


def _numbers(count=4):
    return Dataset.range(count).map(lambda n: (n, tf.as_string(n)))


@pytest.mark.parametrize("compression", [None, "GZIP"])
def test_a_snapshot_is_read_instead_of_the_source(tmp_path, compression):
    folder, records = str(tmp_path / "snapshot"), _record_files(tmp_path)
    settings = {"compression": compression}
    expected = run_all(_TFRecordDataset(records).apply(snapshot(folder, **settings)))
    for name in records:
        os.remove(name)
    found = run_all(_TFRecordDataset(records).apply(snapshot(folder, **settings)))
    assert found == expected == [b"%d%d" % (f, r) for f in range(6) for r in range(2)]
    assert _metadata(folder).finalized


def test_files_of_a_snapshot(tmp_path):
    assert run_all(_numbers().apply(snapshot(str(tmp_path)))) == run_all(_numbers())
    known = _metadata(tmp_path)
    assert _files(tmp_path) == [
        f"{known.graph_hash}/{known.run_id}/00000000.snapshot",
        f"{known.graph_hash}/snapshot.metadata",
    ]
    data = (tmp_path / known.graph_hash / known.run_id / "00000000.snapshot").read_bytes()
    first = proto.SnapshotRecord.FromString(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert [tensor.dtype for tensor in first.tensor] == [
        tf.int64.as_datatype_enum,
        tf.string.as_datatype_enum,
    ]


def test_other_pipelines_have_other_snapshots(tmp_path):
    for dataset in (_numbers(4), _numbers(5), _numbers(4)):
        run_all(dataset.apply(snapshot(str(tmp_path))))
    assert sum(name.endswith("metadata") for name in _files(tmp_path)) == 2


def test_a_snapshot_that_is_being_written_is_left_alone_until_it_expires(tmp_path):
    def first_elements(**settings):
        iterator = _numbers().apply(snapshot(str(tmp_path), **settings))
        iterator = iterator.make_initializable_iterator()
        element = iterator.get_next()
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            return [sess.run(element)[0] for _ in range(2)]

    assert first_elements() == [0, 1]
    begun = _metadata(tmp_path)
    assert not begun.finalized
    assert first_elements() == [0, 1]
    assert _metadata(tmp_path) == begun
    assert first_elements(pending_snapshot_expiry_seconds=0) == [0, 1]
    assert _metadata(tmp_path).run_id != begun.run_id


def test_large_snapshots_have_several_files_and_so_have_those_of_several_writers(tmp_path):
    large = Dataset.range(6).map(lambda n: tf.fill([1000], n))
    expected = run_all(large)
    for name, settings, files in (
        ("sizes", {"shard_size_bytes": 10000}, 3),
        ("writers", {"num_writer_threads": 4}, 4),
    ):
        folder = tmp_path / name
        run_all(large.apply(snapshot(str(folder), **settings)))
        assert sum(each.endswith(".snapshot") for each in _files(folder)) == files
        again = run_all(large.apply(snapshot(str(folder), **settings)))
        assert sorted(map(list, again)) == list(map(list, expected))


def test_a_snapshot_that_is_cut_off(tmp_path):
    run_all(_numbers().apply(snapshot(str(tmp_path))))
    (path,) = tmp_path.rglob("00000000.snapshot")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(tf.errors.DataLossError, match="cut off"):
        run_all(_numbers().apply(snapshot(str(tmp_path))))


def test_snapshots_know_two_ways_to_write(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="either '' or 'GZIP'"):
        run_all(_numbers().apply(snapshot(str(tmp_path), compression="LZ4")))


def test_the_place_in_a_snapshot_is_saved(tmp_path):
    run_all(_numbers().apply(snapshot(str(tmp_path), compression="GZIP")))
    assert gzip.decompress(next(tmp_path.rglob("*.snapshot")).read_bytes())
    iterator = _numbers().apply(snapshot(str(tmp_path), compression="GZIP"))
    iterator = iterator.make_initializable_iterator()
    saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
    element, saver = iterator.get_next(), tf.train.Saver()
    with tf.Session() as sess:
        sess.run(iterator.initializer)
        assert [sess.run(element)[0] for _ in range(3)] == [0, 1, 2]
        path = saver.save(sess, str(tmp_path / "place"))
        sess.run(iterator.initializer)
        saver.restore(sess, path)
        assert sess.run(element) == (3, b"3")
