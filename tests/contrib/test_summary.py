"""`tf.contrib.summary`: operations that write events."""

from __future__ import annotations

import glob
from typing import Any

import pytest

import penstock as tf

summary = tf.contrib.summary


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def events(folder: Any) -> list[Any]:
    (path,) = glob.glob(f"{folder}/*")
    return list(tf.train.summary_iterator(path))


def values(folder: Any) -> list[tuple[int, str, float]]:
    return [
        (event.step, value.tag, value.simple_value)
        for event in events(folder)
        for value in event.summary.value
    ]


def test_scalars_are_written_at_every_second_step(tmp_path: Any) -> None:
    step = tf.train.get_or_create_global_step()
    count = tf.assign_add(step, 1)
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
        summary.scalar("loss", tf.cast(step, tf.float32) * 10)
        summary.scalar("rate", 0.5, family="training")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            summary.initialize(session=session)
            for _ in range(4):
                session.run(summary.all_summary_ops())
                session.run(count)
            session.run(summary.flush())
    assert values(tmp_path) == [
        (0, "loss", 0.0),
        (0, "training/training/rate", 0.5),
        (2, "loss", 20.0),
        (2, "training/training/rate", 0.5),
    ]


def test_nothing_is_recorded_unless_asked_for(tmp_path: Any) -> None:
    tf.train.get_or_create_global_step()
    with summary.create_file_writer(str(tmp_path)).as_default():
        summary.scalar("silent", 1.0)
        with summary.always_record_summaries(), summary.never_record_summaries():
            summary.scalar("silenced", 1.0)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            summary.initialize(graph=tf.get_default_graph(), session=session)
            session.run(summary.all_summary_ops())
            session.run(summary.flush())
    assert values(tmp_path) == []
    assert any(event.graph_def for event in events(tmp_path))


def test_without_a_writer_nothing_is_made() -> None:
    with summary.always_record_summaries():
        assert summary.scalar("loss", 1.0).type == "NoOp"
    assert summary.all_summary_ops() == []
    with pytest.raises(RuntimeError, match="No default tf.contrib.summary.SummaryWriter found"):
        summary.initialize()


def test_writing_before_initialization_is_an_error(tmp_path: Any) -> None:
    writer = summary.create_file_writer(str(tmp_path))
    with writer.as_default(), summary.always_record_summaries(), tf.Session() as session:
        write = summary.scalar("loss", 1.0, step=tf.constant(3, tf.int64))
        with pytest.raises(tf.errors.NotFoundError, match="the summary writer is not open"):
            session.run(write)
        session.run([writer.init()])
        session.run(write)
        session.run(writer.close())
    assert values(tmp_path) == [(3, "loss", 1.0)]


def test_all_kinds_are_written(tmp_path: Any) -> None:
    writer = summary.create_file_writer(str(tmp_path))
    step = tf.constant(1, tf.int64)
    with writer.as_default(), summary.always_record_summaries(), tf.Session() as session:
        summary.histogram("histogram", [1.0, 2.0], step=step)
        summary.image("image", tf.zeros([2, 3, 3, 1]), max_images=1, step=step)
        summary.audio("audio", tf.zeros([1, 8]), 8000, 1, step=step)
        summary.generic("generic", [1, 2], step=step)
        summary.initialize(session=session)
        session.run(summary.all_summary_ops())
        session.run(summary.flush())
    found = {
        value.tag: value.WhichOneof("value")
        for event in events(tmp_path)
        for value in event.summary.value
    }
    assert found == {
        "histogram": "histo",
        "image/image": "image",
        "audio/audio": "audio",
        "generic": "tensor",
    }
