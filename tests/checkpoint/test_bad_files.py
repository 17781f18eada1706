"""What is said about files that are no checkpoints, or not the right ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.checkpoint.reader import open_checkpoint

FOREIGN = {
    "empty": b"",
    "one byte": b"\0",
    "text": b"this is a text, and no checkpoint at all, which anyone can see\n" * 3,
    "picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
    "zeros": bytes(4096),
    "archive": b"PK\x03\x04" + bytes(200),
    "all ones": b"\xff" * 300,
}


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


@pytest.mark.parametrize("suffix", ["", ".index"], ids=["file", "index"])
@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files(tmp_path: Path, kind: str, suffix: str) -> None:
    (tmp_path / f"model{suffix}").write_bytes(FOREIGN[kind])
    with pytest.raises(tf.errors.DataLossError, match=re.escape(str(tmp_path / "model"))):
        tf.train.NewCheckpointReader(str(tmp_path / "model"))


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.OpError, match=re.escape(str(tmp_path))):
        tf.train.NewCheckpointReader(str(tmp_path))


def _saved(session: tf.Session, prefix: Path, *, sharded: bool = False) -> str:
    with tf.device("/cpu:0"):
        tf.Variable([1.0, 2.0], name="dense/kernel")
    tf.Variable([3.0], name="dense/bias", use_resource=True)
    session.run(tf.global_variables_initializer())
    return str(tf.train.Saver(sharded=sharded).save(session, str(prefix)))


@pytest.mark.parametrize("suffix", [".index", ".data-00000-of-00001", ".meta"])
def test_the_path_of_one_file(session: tf.Session, tmp_path: Path, suffix: str) -> None:
    path = _saved(session, tmp_path / "model")
    with pytest.raises(ValueError) as refused:
        tf.train.Saver().restore(session, path + suffix)
    with pytest.raises(tf.errors.DataLossError) as unreadable:
        tf.train.NewCheckpointReader(path + suffix)
    for caught in (refused, unreadable):
        assert f"give the prefix that they share, {path}, without '{suffix}'" in str(caught.value)


def test_a_missing_data_file(session: tf.Session, tmp_path: Path) -> None:
    path = _saved(session, tmp_path / "model", sharded=True)
    (tmp_path / "model.data-00001-of-00002").unlink()
    with pytest.raises(tf.errors.NotFoundError, match="model.data-00001-of-00002"):
        tf.train.Saver(sharded=True).restore(session, path)


def test_a_missing_variable_is_named_with_its_neighbours(
    session: tf.Session, tmp_path: Path
) -> None:
    path = _saved(session, tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as other:
        tf.Variable([0.0], name="dense_1/bias")
        with pytest.raises(tf.errors.NotFoundError) as caught:
            tf.train.Saver().restore(other, path)
    assert "Key dense_1/bias not found in checkpoint" in caught.value.message
    assert "nearest names in it: dense/bias" in caught.value.message


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("sharded", [False, True])
def test_another_shape_is_named(
    session: tf.Session, tmp_path: Path, use_resource: bool, sharded: bool
) -> None:
    path = _saved(session, tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as other:
        v = tf.Variable([[0.0, 0.0]], name="dense/kernel", use_resource=use_resource)
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            tf.train.Saver(sharded=sharded).restore(other, path)
        assert "Assign requires shapes of both tensors to match" in caught.value.message
        assert "lhs shape= [1,2] rhs shape= [2]" in caught.value.message
        assert "variable dense/kernel" in caught.value.message
        tf.train.Saver(reshape=True).restore(other, path)
        np.testing.assert_array_equal(other.run(v), [[1.0, 2.0]])


def test_a_variable_of_unknown_shape_takes_any(session: tf.Session, tmp_path: Path) -> None:
    path = _saved(session, tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as other:
        v = tf.Variable(
            tf.placeholder_with_default([0.0], None),
            name="dense/kernel",
            use_resource=True,
            validate_shape=False,
        )
        tf.train.Saver().restore(other, path)
        np.testing.assert_array_equal(other.run(v), [1.0, 2.0])


def test_damage_of_any_shard_is_noticed(session: tf.Session, tmp_path: Path) -> None:
    path = _saved(session, tmp_path / "model", sharded=True)
    files = sorted(tmp_path.glob("model.data-*"))
    assert len(files) == 2
    for file in files:
        original = file.read_bytes()
        for position in range(len(original)):
            damaged = bytearray(original)
            damaged[position] ^= 1 << position % 8
            file.write_bytes(damaged)
            with pytest.raises(tf.errors.DataLossError, match=re.escape(file.name)):
                _read_all(path)
        for size in range(len(original)):
            file.write_bytes(original[:size])
            with pytest.raises(tf.errors.DataLossError, match=re.escape(file.name)):
                _read_all(path)
        file.write_bytes(original)
    _read_all(path)


def _read_all(path: str) -> None:
    reader = open_checkpoint(path)
    for name in reader.names():
        reader.read(name)


def test_a_state_file_that_is_damaged(session: tf.Session, tmp_path: Path) -> None:
    path = _saved(session, tmp_path / "model")
    state = tmp_path / "checkpoint"
    original = state.read_bytes()
    for position in range(len(original)):
        damaged = bytearray(original)
        damaged[position] ^= 0x80
        state.write_bytes(damaged)
        assert tf.train.latest_checkpoint(str(tmp_path)) in (None, path)
    for size in range(len(original) // 2, len(original)):
        state.write_bytes(original[:size])
        try:
            found = tf.train.latest_checkpoint(str(tmp_path))
        except ValueError as error:
            assert "Invalid checkpoint state" in str(error)  # noqa: PT017
        else:
            assert found in (None, path)
