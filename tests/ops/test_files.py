"""Files read and written by ops, and what a graph may assume about them."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock as tf


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = str(tmp_path / "new" / "folders" / "file.bin")
    with tf.Session() as sess:
        sess.run(tf.write_file(path, b"\x00\xff contents"))
        assert sess.run(tf.read_file(path)) == b"\x00\xff contents"
        sess.run(tf.write_file(path, "shorter"))
        assert sess.run(tf.io.read_file(f"file://{path}")) == b"shorter"


def test_a_file_is_read_anew_in_every_step(tmp_path: Path) -> None:
    """Its name is a constant, its contents are not."""
    path = tmp_path / "file"
    length = tf.strings.length(tf.read_file(str(path)))
    found = tf.matching_files(str(tmp_path / "*"))
    with tf.Session() as sess:
        for text in ("a", "abc"):
            path.write_text(text)
            assert sess.run(length) == len(text)
        path.with_name("other").write_text("")
        assert len(sess.run(found)) == 2


def test_matching_files_are_sorted(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "a.bin", ".hidden.txt"):
        (tmp_path / name).write_text("")
    with tf.Session() as sess:
        names = sess.run(tf.matching_files([f"{tmp_path}/b*", f"{tmp_path}/*.txt"]))
    assert [Path(name.decode()).name for name in names] == [
        ".hidden.txt",
        "a.txt",
        "b.txt",
        "b.txt",
    ]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = str(tmp_path / "missing")
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.NotFoundError, match=f"{path}; No such file"),
    ):
        sess.run(tf.read_file(path))
