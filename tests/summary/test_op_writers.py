"""Operations that write event files, and the writers that they share."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock import raw_ops
from penstock.eager.context import eager_mode
from penstock.summary import op_summaries, op_writers

NEVER = 10**9  # milliseconds


@pytest.fixture(autouse=True)
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made
    op_summaries.set_step(None)


def _files(directory: Path) -> list[Path]:
    return sorted(directory.glob("events.out.tfevents.*"))


def _events(file: Path) -> list[Any]:
    return list(tf.train.summary_iterator(str(file)))


def _only_events(directory: Path) -> list[Any]:
    (file,) = _files(directory)
    return _events(file)


def _opened(session: tf.Session, directory: Path, max_queue: int = 0) -> Any:
    """A writer by its operations alone: its handle, once it is open."""
    handle = raw_ops.SummaryWriter(shared_name="writer")
    session.run(
        raw_ops.CreateSummaryFileWriter(
            writer=handle,
            logdir=str(directory),
            max_queue=max_queue,
            flush_millis=NEVER,
            filename_suffix=".mine",
        )
    )
    return handle


def test_every_kind_of_summary(session: tf.Session, tmp_path: Path) -> None:
    writer = _opened(session, tmp_path / "new" / "folder")
    metadata = tf.SummaryMetadata(display_name="shown")
    raw = tf.Summary(value=[tf.Summary.Value(tag="raw", simple_value=3.0)]).SerializeToString()
    writes = [
        raw_ops.WriteScalarSummary(writer=writer, step=1, tag="scalar", value=2),
        raw_ops.WriteHistogramSummary(writer=writer, step=2, tag="histogram", values=[True, False]),
        raw_ops.WriteImageSummary(
            writer=writer,
            step=3,
            tag="image",
            tensor=np.zeros([1, 2, 2, 3], np.float32),
            bad_color=np.array([1, 2, 3], np.uint8),
        ),
        raw_ops.WriteAudioSummary(
            writer=writer, step=4, tag="audio", tensor=[[0.5]], sample_rate=100.0, max_outputs=1
        ),
        raw_ops.WriteSummary(
            writer=writer,
            step=5,
            tensor=["text"],
            tag="tensor",
            summary_metadata=metadata.SerializeToString(),
        ),
        raw_ops.WriteRawProtoSummary(writer=writer, step=6, tensor=[raw, raw]),
    ]
    for write in writes:
        session.run(write)
    (file,) = _files(tmp_path / "new" / "folder")
    assert file.name.endswith(".mine")
    version, *events = _events(file)
    assert version.file_version == "brain.Event:2"
    assert [event.step for event in events] == [1, 2, 3, 4, 5, 6]
    found = [[(v.tag, v.WhichOneof("value")) for v in event.summary.value] for event in events]
    assert found == [
        [("scalar", "simple_value")],
        [("histogram", "histo")],
        [("image/image/0", "image")],
        [("audio/audio", "audio")],
        [("tensor", "tensor")],
        [("raw", "simple_value"), ("raw", "simple_value")],
    ]
    assert events[4].summary.value[0].metadata == metadata
    assert not events[0].summary.value[0].HasField("metadata")


def test_graphs_and_whole_events(session: tf.Session, tmp_path: Path) -> None:
    writer = _opened(session, tmp_path)
    graph = tf.GraphDef(node=[tf.NodeDef(name="n", op="NoOp")])
    event = tf.Event(wall_time=5.0, step=7, summary=tf.Summary())
    session.run(raw_ops.WriteGraphSummary(writer=writer, step=2, tensor=graph.SerializeToString()))
    session.run(raw_ops.ImportEvent(writer=writer, event=event.SerializeToString()))
    _, of_graph, imported = _only_events(tmp_path)
    assert tf.GraphDef.FromString(of_graph.graph_def) == graph
    assert imported == event
    with pytest.raises(tf.errors.DataLossError, match="Bad tf.Event binary proto"):
        session.run(raw_ops.ImportEvent(writer=writer, event=b"\xff"))


def test_events_wait_until_there_are_too_many(session: tf.Session, tmp_path: Path) -> None:
    writer = _opened(session, tmp_path, max_queue=1)
    write = raw_ops.WriteScalarSummary(writer=writer, step=1, tag="a", value=1.0)
    seen = []
    for _ in range(4):
        session.run(write)
        seen.append(len(_only_events(tmp_path)))
    session.run(write)
    session.run(raw_ops.FlushSummaryWriter(writer=writer))
    assert [*seen, len(_only_events(tmp_path))] == [1, 3, 3, 5, 6]
    session.run(write)
    session.run(raw_ops.CloseSummaryWriter(writer=writer))
    assert len(_only_events(tmp_path)) == 7
    for closed in (write, raw_ops.CloseSummaryWriter(writer=writer)):
        with pytest.raises(tf.errors.NotFoundError, match="localhost/writer"):
            session.run(closed)


def test_writers_of_one_name_are_one(session: tf.Session, tmp_path: Path) -> None:
    with op_summaries.always_record_summaries():
        for tag, name in (("one", None), ("two", f"logdir:{tmp_path}"), ("three", "other")):
            suffix = ".other" if name == "other" else None
            writer = op_writers.create_file_writer(tmp_path, name=name, filename_suffix=suffix)
            with writer.as_default():
                op_summaries.scalar(tag, 1.0, step=1)
    session.run(op_writers.summary_writer_initializer_op())
    session.run(op_summaries.all_v2_summary_ops())
    session.run([op_writers.flush(f) for f in _handles()])
    tags = [
        [value.tag for event in _events(file) for value in event.summary.value]
        for file in _files(tmp_path)
    ]
    assert tags == [["three"], ["one", "two"]]


def _handles() -> list[tf.Tensor]:
    graph = tf.get_default_graph()
    return [op.outputs[0] for op in graph.get_operations() if op.type == "SummaryWriter"]


def test_two_writers_of_tensorflow_2_never_share_a_file(
    session: tf.Session, tmp_path: Path
) -> None:
    writers = [op_writers.create_file_writer_v2(str(tmp_path)) for _ in range(2)]
    assert writers[0].init() is writers[0].init()
    session.run([writer.init() for writer in writers])
    assert len(_files(tmp_path)) == 2
    with pytest.raises(ValueError, match="logdir cannot be None"):
        op_writers.create_file_writer_v2(None)


def test_the_default_step(session: tf.Session, tmp_path: Path) -> None:
    writer = op_writers.create_file_writer(str(tmp_path))
    assert not session.run(op_summaries.write("tag", 1.0)), "there is no writer"
    with writer.as_default():
        with pytest.raises(ValueError, match="No step set"):
            op_summaries.write("tag", 1.0)
        step = tf.Variable(3, dtype=tf.int64)
        op_summaries.set_step(step)
        write = op_summaries.write("tag", [1, 2])
        with op_summaries.record_if(lambda: False):
            skipped = op_summaries.write_raw_pb(b"")
    session.run([writer.init(), step.initializer])
    assert session.run([write, skipped]) == [True, False]
    session.run(step.assign_add(1))
    session.run(write)
    session.run(writer.close())
    assert [event.step for event in _only_events(tmp_path)] == [0, 3, 4]


def test_a_scope_gives_a_tag() -> None:
    with tf.name_scope("outer"), op_summaries.summary_scope("a b") as (tag, scope):
        assert (tag, scope) == ("outer/a b", "outer/ab/")


def test_a_writer_that_writes_nothing(session: tf.Session) -> None:
    writer = op_writers.create_file_writer(None)
    assert isinstance(writer, op_writers.NoopSummaryWriter)
    with writer.as_default(), op_summaries.always_record_summaries():
        assert op_summaries.scalar("a", 1.0).type == "NoOp"
    assert writer.init() is writer.flush() is writer.close() is None


def test_what_a_dropped_session_has_not_written(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        session = tf.Session()
        writer = _opened(session, tmp_path, max_queue=100)
        session.run(raw_ops.WriteScalarSummary(writer=writer, step=1, tag="a", value=1.0))
        session.close()
        del session
    gc.collect()
    assert len(_only_events(tmp_path)) == 2


def test_a_writer_of_a_session_follows_its_operations(session: tf.Session, tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path), session=session, filename_suffix=".first")
    writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="one")]), 1)
    shared = op_writers.create_file_writer(str(tmp_path))
    with shared.as_default(), op_summaries.always_record_summaries():
        session.run(op_summaries.scalar("two", 1.0, step=2))
    writer.flush()
    assert [event.step for event in _only_events(tmp_path)] == [0, 1, 2]
    writer.close()
    with pytest.raises(tf.errors.NotFoundError):
        session.run(shared.flush())
    writer.reopen()
    writer.add_session_log(tf.SessionLog(status=tf.SessionLog.STOP), 3)
    writer.close()
    assert [e.step for file in _files(tmp_path) for e in _events(file) if e.step] == [1, 2, 3]


def test_a_writer_of_the_name_of_one_that_is_gone(tmp_path):
    """The first is destroyed with its object; a function then makes another one."""

    @tf.function
    def write():
        with tf.contrib.summary.create_file_writer(str(tmp_path)).as_default():
            pass

    with eager_mode():
        tf.contrib.summary.create_file_writer(str(tmp_path))
        write()
