"""Files by name and file objects: values, errors and their classes as TensorFlow has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import penstock as tf
from penstock import errors
from penstock.platform import file_io, io_gfile


@pytest.fixture(autouse=True)
def _in_an_empty_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(name: str, contents: str = "") -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(contents.encode())
    return name


# File objects -----------------------------------------------------------------------------------


def test_reading_and_writing() -> None:
    with tf.gfile.GFile("f", "w") as file:
        file.write("line 1\n")
        file.write(b"line 2\nrest")
    with tf.gfile.GFile("f") as file:
        assert file.size() == 18
        assert file.read(4) == "line"
        assert file.tell() == 4
        assert file.readline() == " 1\n"
        assert list(file) == ["line 2\n", "rest"]
        assert file.readline() == file.read() == ""
    assert tf.gfile.FastGFile("f", "rb").read() == b"line 1\nline 2\nrest"


def test_text_is_utf_8_whatever_the_locale() -> None:
    file_io.write_string_to_file("ü", "é")
    assert Path("ü").read_bytes() == "é".encode()
    assert file_io.read_file_to_string("ü") == "é"
    assert file_io.read_file_to_string(b"\xc3\xbc", binary_mode=True) == "é".encode()


def test_lines_lose_their_carriage_returns_and_contents_keep_them() -> None:
    put("f", "a\r\nb\n")
    assert tf.gfile.GFile("f").readlines() == ["a\n", "b\n"]
    assert tf.gfile.GFile("f").read() == "a\r\nb\n"


def test_appending() -> None:
    put("f", "old ")
    with tf.gfile.Open("f", "a") as file:
        file.write("new")
    assert Path("f").read_text() == "old new"


def test_a_file_is_made_by_the_first_write() -> None:
    tf.gfile.GFile("f", "w").close()
    assert not os.path.exists("f")
    with tf.gfile.GFile("f", "w") as file:
        file.write("")
    assert os.path.exists("f")


def test_a_dropped_file_is_written_out() -> None:
    tf.gfile.GFile("f", "w").write("contents")
    assert Path("f").read_text() == "contents"


def test_seeking() -> None:
    put("f", "0123456789")
    file = tf.gfile.GFile("f")
    file.seek(5)
    assert file.read(1) == "5"
    file.seek(2, 1)
    assert file.read(1) == "8"
    file.seek(-1, 2)
    assert file.read() == "9"
    file.seek(position=3)
    assert file.tell() == 3
    for arguments, error in (
        ({"offset": -1}, errors.InvalidArgumentError),
        ({"offset": 0, "whence": 3}, errors.InvalidArgumentError),
        ({"offset": 11}, errors.OutOfRangeError),
        ({}, TypeError),
        ({"offset": 0, "position": 0}, TypeError),
    ):
        with pytest.raises(error):
            file.seek(**arguments)


def test_reading_what_was_just_written() -> None:
    file = tf.gfile.GFile("f", "w+")
    file.write("abc")
    file.flush()
    assert file.read() == "abc"


@pytest.mark.parametrize(
    ("act", "error", "message"),
    [
        (lambda: tf.gfile.GFile("none").read(), errors.NotFoundError, "none; No such file"),
        (lambda: tf.gfile.GFile("").read(), errors.NotFoundError, "No such file"),
        (lambda: tf.gfile.GFile(put("f"), "x"), errors.InvalidArgumentError, "mode is not"),
        (lambda: tf.gfile.GFile(put("f")).write("a"), errors.PermissionDeniedError, "for writing"),
        (lambda: tf.gfile.GFile("f", "w").read(), errors.PermissionDeniedError, "for reading"),
        (lambda: tf.gfile.GFile(put("f")).read(-2), errors.InvalidArgumentError, "negative"),
        (lambda: tf.gfile.GFile("no/f", "w").write("a"), errors.NotFoundError, "no/f; No such"),
        (lambda: tf.gfile.GFile(".").read(), errors.FailedPreconditionError, "Is a directory"),
        (lambda: tf.gfile.GFile("f", "w").write(3), TypeError, "binary or unicode"),
    ],
)
def test_errors_of_file_objects(act: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        act()


def test_numpy_can_load_from_it() -> None:
    import numpy as np

    np.savez("a.npz", x=np.arange(3))
    with tf.gfile.GFile("a.npz", "rb") as file:
        assert np.load(file)["x"].tolist() == [0, 1, 2]


# Names ------------------------------------------------------------------------------------------


def test_directories() -> None:
    tf.gfile.MakeDirs("a/b/c")
    tf.gfile.MakeDirs("a/b/c")
    tf.gfile.MkDir("a/d")
    tf.gfile.MkDir("a/d")
    put("a/f", "x")
    assert sorted(tf.gfile.ListDirectory("a")) == ["b", "d", "f"]
    assert tf.gfile.IsDirectory("a/b") and not tf.gfile.IsDirectory("a/f")
    assert not tf.gfile.IsDirectory("none")
    assert tf.gfile.Stat("a/f").length == 1
    assert tf.gfile.Stat("a").is_directory
    assert tf.gfile.Stat("a/f").mtime_nsec == os.stat("a/f").st_mtime_ns
    tf.gfile.DeleteRecursively("a")
    assert not tf.gfile.Exists("a")


def test_copy_and_rename() -> None:
    put("f", "contents")
    put("g", "other")
    for function in (tf.gfile.Copy, tf.gfile.Rename):
        with pytest.raises(errors.AlreadyExistsError, match="file already exists"):
            function("f", "g")
    tf.gfile.Copy("f", "g", overwrite=True)
    assert Path("g").read_text() == "contents"
    tf.gfile.Rename("f", "h")
    assert not tf.gfile.Exists("f") and Path("h").read_text() == "contents"
    tf.gfile.Remove("h")
    assert not tf.gfile.Exists("h")


@pytest.mark.parametrize(
    ("act", "error"),
    [
        (lambda: tf.gfile.Remove("none"), errors.NotFoundError),
        (lambda: tf.gfile.Remove("."), errors.FailedPreconditionError),
        (lambda: tf.gfile.DeleteRecursively("none"), errors.NotFoundError),
        (lambda: tf.gfile.MkDir("no/dir"), errors.NotFoundError),
        (lambda: tf.gfile.MakeDirs(put("f") + "/d"), errors.FailedPreconditionError),
        (lambda: tf.gfile.ListDirectory("none"), errors.NotFoundError),
        (lambda: tf.gfile.Stat("none"), errors.NotFoundError),
        (lambda: tf.gfile.Copy("none", "g"), errors.NotFoundError),
        (lambda: tf.gfile.Rename("none", "g"), errors.NotFoundError),
    ],
)
def test_errors_of_names(act: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        act()


def test_other_schemes_are_refused_by_name() -> None:
    assert tf.gfile.Exists(f"file://{put(os.path.abspath('f'))}")
    assert not tf.gfile.IsDirectory("gs://bucket")
    for act in (tf.gfile.Exists, tf.gfile.ListDirectory, lambda name: tf.gfile.GFile(name).read()):
        with pytest.raises((errors.UnimplementedError, errors.NotFoundError), match="gs"):
            act("gs://bucket/file")
    with pytest.raises(errors.UnimplementedError, match="scheme 'hdfs' not implemented"):
        tf.gfile.Exists("hdfs://x")


# Recorded from TensorFlow 2.21.
GLOBS = {
    "dir/*": ["dir/.hidden", "dir/b"],
    "*": ["./[x]", "./a.txt", "./dir"],
    "**": ["./[x]", "./a.txt", "./dir"],
    "[a-b].txt": ["./a.txt"],
    "[!b].txt": ["./a.txt"],
    "[^a].txt": [],
    "\\a.txt": ["./a.txt"],
    "?.t?t": ["./a.txt"],
    "a.txt": ["a.txt"],
    "none.txt": [],
    "none/*": [],
    "./dir/*": ["./dir/.hidden", "./dir/b"],
    "d*/b": ["./dir/b"],
    "dir/": ["dir/"],
    "\\[x\\]": ["./[x]"],
}


@pytest.mark.parametrize("pattern", GLOBS)
def test_glob(pattern: str) -> None:
    for name in ("a.txt", "dir/.hidden", "dir/b", "[x]"):
        put(name)
    assert sorted(tf.gfile.Glob(pattern)) == GLOBS[pattern]


def test_glob_of_several_patterns() -> None:
    assert tf.gfile.Glob([put("a"), put("b"), "c*"]) == ["a", "b"]
    assert tf.gfile.Glob(()) == []


def test_walk() -> None:
    for name in ("top/f1", "top/d1/f2", "top/d2/d3/f3"):
        put(name)
    found = {where: (sorted(dirs), files) for where, dirs, files in tf.gfile.Walk("top")}
    assert found == {
        "top": (["d1", "d2"], ["f1"]),
        "top/d1": ([], ["f2"]),
        "top/d2": (["d3"], []),
        "top/d2/d3": ([], ["f3"]),
    }
    assert [where for where, _, _ in tf.gfile.Walk("top", in_order=False)][-1] == "top"
    assert list(tf.gfile.Walk("none")) == []
    seen: list[errors.OpError] = []
    assert list(io_gfile.walk("none", onerror=seen.append)) == []
    assert isinstance(seen[0], errors.NotFoundError)


def test_atomic_writes() -> None:
    file_io.atomic_write_string_to_file("f", "old", overwrite=False)
    with pytest.raises(errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file("f", "new", overwrite=False)
    assert os.listdir() == ["f"] and Path("f").read_text() == "old"


def test_comparing_files() -> None:
    assert file_io.file_crc32(put("a", "contents")) == file_io.file_crc32(put("b", "contents"), 3)
    assert file_io.filecmp("a", "b")
    assert not file_io.filecmp("a", put("c", "contentz"))
    assert not file_io.filecmp("a", put("d", "longer contents"))


def test_new_names_and_path_objects(tmp_path: Path) -> None:
    io_gfile.makedirs(tmp_path / "x" / "y")
    with io_gfile.GFile(tmp_path / "x" / "f", "w") as file:
        file.write("a")
    assert io_gfile.exists(path=tmp_path / "x" / "f") and io_gfile.isdir(tmp_path / "x")
    io_gfile.copy(src=tmp_path / "x" / "f", dst=tmp_path / "x" / "g")
    io_gfile.rename(tmp_path / "x" / "g", tmp_path / "x" / "h")
    assert sorted(io_gfile.listdir(tmp_path / "x")) == ["f", "h", "y"]
    assert io_gfile.glob(str(tmp_path / "x" / "h*")) == [str(tmp_path / "x" / "h")]
    io_gfile.remove(tmp_path / "x" / "h")
    io_gfile.rmtree(tmp_path / "x")
    assert not io_gfile.exists(tmp_path / "x")
