"""`tf.train.AsyncSaver`: a consistent snapshot, written while training goes on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pytest

import penstock as tf
from penstock.checkpoint import disk


class HeldDisk(disk.Disk):
    """Lets nobody sync before it is told to."""

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()

    def sync(self, file: BinaryIO) -> None:
        self.reached.set()
        assert self.go_on.wait(30)


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def _counters() -> tuple[Any, Any]:
    """Two variables of the two kinds, and an operation that adds 1 to both."""
    a = tf.Variable(tf.zeros([1000]), name="a")
    b = tf.Variable(tf.zeros([1000]), name="b", use_resource=True)
    ones = tf.ones([1000])
    return (a, b), tf.group(a.assign_add(ones), b.assign_add(ones))


def _saved(path: str) -> set[float]:
    reader = tf.train.load_checkpoint(path)
    return {*reader.get_tensor("a").tolist(), *reader.get_tensor("b").tolist()}


@pytest.mark.parametrize("sharded", [False, True])
def test_training_goes_on_and_changes_nothing(
    session: tf.Session, tmp_path: Path, sharded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (a, _), step = _counters()
    saver = tf.train.AsyncSaver(sharded=sharded)
    session.run(tf.global_variables_initializer())
    session.run(step)
    held = HeldDisk()
    monkeypatch.setattr(disk, "current", held)
    path = saver.save(session, str(tmp_path / "model"), global_step=1)
    assert held.reached.wait(30)
    session.run(step)
    assert session.run(a)[0] == 2.0
    assert tf.train.latest_checkpoint(str(tmp_path)) is None, "not complete, so not named"
    held.go_on.set()
    saver.wait()
    assert tf.train.latest_checkpoint(str(tmp_path)) == path == str(tmp_path / "model-1")
    assert _saved(path) == {1.0}
    assert (tmp_path / "model-1.meta").exists()


def test_one_at_a_time_and_old_ones_go(session: tf.Session, tmp_path: Path) -> None:
    _, step = _counters()
    session.run(tf.global_variables_initializer())
    with tf.train.AsyncSaver(max_to_keep=2) as saver:
        for number in range(4):
            saver.save(session, str(tmp_path / "model"), global_step=number)
            session.run(step)
    assert saver.last_checkpoints == [str(tmp_path / "model-2"), str(tmp_path / "model-3")]
    assert _saved(saver.last_checkpoints[-1]) == {3.0}
    assert not (tmp_path / "model-1.index").exists()


def test_a_closed_session_does_not_matter(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        (a, b), _ = _counters()
        saver = tf.train.AsyncSaver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = saver.save(session, str(tmp_path / "model"))
        saver.close()
        with tf.Session() as session:
            saver.restore(session, path)
            np.testing.assert_array_equal(session.run(a), session.run(b))


def test_what_failed_is_raised_once(
    session: tf.Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _counters()
    saver = tf.train.AsyncSaver()
    session.run(tf.global_variables_initializer())

    class Full(disk.Disk):
        def write(self, file: BinaryIO, data: Any) -> None:
            raise OSError(28, "full")

    with monkeypatch.context() as patch:
        patch.setattr(disk, "current", Full())
        saver.save(session, str(tmp_path / "model"))
        with pytest.raises(tf.errors.ResourceExhaustedError, match="model"):
            saver.wait()
    saver.save(session, str(tmp_path / "model"))
    saver.close()
    assert _saved(str(tmp_path / "model")) == {0.0}


def test_in_a_monitored_session(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        _, step = _counters()
        with tf.control_dependencies([step]):
            train = tf.train.get_global_step().assign_add(1)
        scaffold = tf.train.Scaffold(saver=tf.train.AsyncSaver())
        seen = []

        class Listener(tf.train.CheckpointSaverListener):  # type: ignore[misc]
            def after_save(self, session: Any, global_step_value: int) -> None:
                seen.append(tf.train.latest_checkpoint(str(tmp_path)))

        hook = tf.train.CheckpointSaverHook(
            str(tmp_path), save_steps=2, scaffold=scaffold, listeners=[Listener()]
        )
        with tf.train.MonitoredTrainingSession(hooks=[hook], scaffold=scaffold) as session:
            for _ in range(3):
                session.run(train)
    assert seen[-1] == str(tmp_path / "model.ckpt-3")
    assert _saved(seen[-1]) == {3.0}


def test_a_saver_of_what_can_not_be_copied(session: tf.Session, tmp_path: Path) -> None:
    iterator = tf.data.Dataset.range(5).make_initializable_iterator()
    saveable = tf.data.experimental.make_saveable_from_iterator(iterator)
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, saveable)
    value = iterator.get_next()
    session.run(iterator.initializer)
    assert session.run(value) == 0
    saver = tf.train.AsyncSaver()
    path = saver.save(session, str(tmp_path / "model"))
    assert session.run(value) == 1
    saver.restore(session, path)
    assert session.run(value) == 1
