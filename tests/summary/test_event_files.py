"""Event files: what a writer leaves on disk, when, and what a reader makes of damage."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.summary.event_file import EventsWriter
from penstock.summary.plugin_asset import PluginAsset, get_plugin_asset


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def _summary(tag: str, number: float) -> Any:
    return tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=number)])


def _files(directory: Path) -> list[Path]:
    return sorted(directory.glob("events.out.tfevents.*"))


def _events(directory: Path) -> list[Any]:
    return [event for file in _files(directory) for event in tf.train.summary_iterator(str(file))]


def test_what_a_writer_writes(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(1, name="one")
    with tf.summary.FileWriter(tmp_path / "new", graph, filename_suffix=".mine") as writer:
        assert writer.get_logdir() == str(tmp_path / "new")
        writer.add_summary(_summary("a", 1.0), 10)
        writer.add_summary(_summary("b", 2.0).SerializeToString(), tf.constant(1).shape.ndims)
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 3)
        writer.add_run_metadata(tf.RunMetadata(), "run", 4)
        with pytest.raises(ValueError, match="already used"):
            writer.add_run_metadata(tf.RunMetadata(), "run", 5)
        writer.add_event(tf.Event(wall_time=1.0, step=6))
    (file,) = _files(tmp_path / "new")
    assert re.fullmatch(r"events\.out\.tfevents\.\d{10}\.[^/]+\.mine", file.name)
    events = _events(tmp_path / "new")
    assert events[0].file_version == "brain.Event:2"
    assert [event.WhichOneof("what") for event in events[1:]] == [
        "graph_def",
        "meta_graph_def",
        "summary",
        "summary",
        "session_log",
        "tagged_run_metadata",
        None,
    ]
    assert [event.step for event in events[3:]] == [10, 0, 3, 4, 6]
    assert tf.GraphDef.FromString(events[1].graph_def).node[0].name == "one"
    assert all(event.wall_time > 0 for event in events)


def test_graphs_that_are_none(tmp_path: Path) -> None:
    graph = tf.get_default_graph()
    with pytest.raises(ValueError, match="only graph, or graph_def"):
        tf.summary.FileWriter(str(tmp_path), graph, graph_def=graph.as_graph_def())
    with pytest.raises(TypeError, match="must be an instance of `Graph`"):
        tf.summary.FileWriter(str(tmp_path), "graph")
    with (
        tf.summary.FileWriter(str(tmp_path)) as writer,
        pytest.raises(TypeError, match="MetaGraph"),
    ):
        writer.add_meta_graph(graph.as_graph_def())


def test_flush_brings_events_to_disk(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path), max_queue=2, flush_secs=1000)
    for step in range(20):
        writer.add_summary(_summary("a", step), step)
    writer.flush()
    assert [event.step for event in _events(tmp_path)[1:]] == list(range(20))
    writer.close()


def test_a_closed_writer(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(str(tmp_path))
    writer.add_summary(_summary("a", 1.0), 1)
    writer.close()
    writer.close()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        writer.add_summary(_summary("lost", 1.0), 2)
        writer.flush()
    assert [str(warning.message)[:35] for warning in seen] == [
        "Attempting to use a closed FileWrit"
    ] * 2
    writer.reopen()
    writer.add_summary(_summary("b", 2.0), 3)
    writer.close()
    assert [event.step for event in _events(tmp_path) if event.summary.value] == [1, 3]


def test_a_dropped_writer_still_writes(tmp_path: Path) -> None:
    before = threading.active_count()
    tf.summary.FileWriter(str(tmp_path)).add_summary(_summary("a", 1.0), 1)
    assert [event.step for event in _events(tmp_path)] == [0, 1]
    assert threading.active_count() == before


def test_metadata_is_written_once(tmp_path: Path) -> None:
    value = tf.Summary.Value(tag="a", simple_value=1.0)
    value.metadata.plugin_data.plugin_name = "mine"
    summary = tf.Summary(value=[value])
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(summary, 1)
        writer.add_summary(summary, 2)
    values = [event.summary.value[0] for event in _events(tmp_path)[1:]]
    assert [value.HasField("metadata") for value in values] == [True, False]
    assert summary.value[0].HasField("metadata"), "the caller's message is his own"


@pytest.mark.parametrize("turn", ["flush", "close", "add"])
def test_a_full_disk_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turn: str
) -> None:
    def fail(writer: Any, event: Any) -> None:
        raise tf.errors.ResourceExhaustedError(None, None, "no space left")

    writer = tf.summary.FileWriter(str(tmp_path), max_queue=1)
    monkeypatch.setattr(EventsWriter, "WriteEvent", fail)
    writer.add_summary(_summary("a", 1.0))

    def add_some() -> None:
        for _ in range(10):  # the first of them may come before the thread has failed
            writer.add_summary(_summary("a", 1.0))

    act = {"flush": writer.flush, "close": writer.close, "add": add_some}[turn]
    with pytest.raises(tf.errors.ResourceExhaustedError, match="no space left"):
        act()


def test_writers_of_one_session_share_a_file(tmp_path: Path) -> None:
    with tf.Session() as session, tf.Session() as other:
        for tag in ("one", "two"):
            writer = tf.summary.FileWriter(str(tmp_path), session=session)
            writer.add_summary(_summary(tag, 1.0))
            writer.flush()
        elsewhere = tf.summary.FileWriter(str(tmp_path), filename_suffix=".other", session=other)
        elsewhere.close()
        other_file, shared_file = _files(tmp_path)
        assert (other_file.suffix, shared_file.suffix) == (".other", ".v2")
        events = list(tf.train.summary_iterator(str(shared_file)))
        assert [event.WhichOneof("what") for event in events] == [
            "file_version",
            "summary",
            "summary",
        ]


def test_a_deleted_file_is_followed_by_a_new_one(tmp_path: Path) -> None:
    writer = EventsWriter(str(tmp_path / "events"))
    writer.WriteEvent(tf.Event(step=1))
    writer.Flush()
    _files(tmp_path)[0].unlink()
    writer.WriteEvent(tf.Event(step=2))
    writer.Close()
    assert [event.step for event in _events(tmp_path)] == [0, 2]


def test_one_writer_per_directory(tmp_path: Path) -> None:
    cache = tf.summary.FileWriterCache
    one = cache.get(str(tmp_path / "a"))
    assert cache.get(str(tmp_path / "a")) is one
    assert cache.get(str(tmp_path / "b")) is not one
    cache.clear()
    assert cache.get(str(tmp_path / "a")) is not one
    cache.clear()


def test_files_for_plugins(tmp_path: Path) -> None:
    class Notes(PluginAsset):
        plugin_name = "notes"

        def assets(self) -> dict[str, Any]:
            return {"a.txt": "hello"}

    get_plugin_asset(Notes)
    assert get_plugin_asset(Notes) is get_plugin_asset(Notes)
    with tf.summary.FileWriter(str(tmp_path), tf.get_default_graph()):
        pass
    assert (tmp_path / "plugins" / "notes" / "a.txt").read_text() == "hello"


def test_reading_goes_on_when_the_file_has_grown(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(_summary("a", 1.0), 1)
        writer.flush()
        events = tf.train.summary_iterator(str(_files(tmp_path)[0]))
        assert [event.step for event in events] == [0, 1]
        writer.add_summary(_summary("a", 2.0), 2)
        writer.flush()
        assert [event.step for event in events] == [2]
    missing = tf.train.summary_iterator(str(tmp_path / "missing"))
    with pytest.raises(tf.errors.NotFoundError, match="missing"):
        next(missing)


def test_damage_is_noticed_or_harmless(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for step in range(3):
            writer.add_summary(_summary("a", step), step)
    (file,) = _files(tmp_path)
    original, expected, name = file.read_bytes(), _events(tmp_path), re.escape(file.name)
    for position in range(len(original)):
        file.write_bytes(original[:position])
        found = _events(tmp_path)
        assert found == expected[: len(found)], "a cut file has the events before the cut"
        assert len(found) < len(expected)
        flipped = bytearray(original)
        flipped[position] ^= 1 << position % 8
        file.write_bytes(flipped)
        with pytest.raises(tf.errors.DataLossError, match=rf"record at \d+ .*{name}"):
            _events(tmp_path)
