"""`penstock inspect` and `penstock diff`: what they find in files, and what they say of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.checkpoint.safetensors import save_file
from penstock.cli import main

DATA = Path(__file__).parents[1] / "checkpoint" / "data"
Capture = pytest.CaptureFixture[str]


def _save(prefix: Path, **values: Any) -> str:
    with tf.Graph().as_default(), tf.Session() as sess:
        for name, value in values.items():
            tf.Variable(value, name=name)
        sess.run(tf.global_variables_initializer())
        return str(tf.train.Saver().save(sess, str(prefix)))


def _inspected(capsys: Capture, *arguments: object) -> list[str]:
    assert main(["inspect", *map(str, arguments)]) == 0
    return capsys.readouterr().out.splitlines()


def _refused(capsys: Capture, *arguments: object) -> str:
    assert main(["inspect", *map(str, arguments)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("penstock inspect: ") and error.count("\n") == 1
    return error


def test_checkpoint(tmp_path: Path, capsys: Capture) -> None:
    prefix = _save(tmp_path / "model", a=np.array([[1, 2], [3, np.nan]], np.float32), b=np.int64(7))
    expected = [
        f"V2 checkpoint {prefix}: 2 tensors, 5 numbers, 24 B",
        "a  float32[2,2]",
        "b  int64[]",
    ]
    assert _inspected(capsys, prefix) == expected
    # The folder's state file and the single files lead to it, too.
    assert _inspected(capsys, tmp_path)[1:] == expected
    assert _inspected(capsys, f"{prefix}.index") == expected
    assert _inspected(capsys, f"{prefix}.data-00000-of-00001") == expected
    assert _inspected(capsys, prefix, "--grep", "^b", "--stats")[1:] == [
        "b  int64[] min=7 max=7 mean=7 std=0"
    ]
    assert _inspected(capsys, prefix, "--tensor", "a[1]")[1] == "[ 3. nan]"
    (row,) = map(json.loads, _inspected(capsys, prefix, "--tensor", "a[0]", "--json"))
    assert row["values"] == [1.0, 2.0] and row["nan"] == 1
    assert "Key c not found" in _refused(capsys, prefix, "--tensor", "c")
    assert "[5]: index 5 is out of bounds" in _refused(capsys, prefix, "--tensor", "a[5]")


def test_other_formats_of_checkpoints(tmp_path: Path, capsys: Capture) -> None:
    assert _inspected(capsys, DATA / "plain_v1")[0].startswith("V1 checkpoint")
    save_file({"w": np.ones([2, 3], np.float32)}, str(tmp_path / "weights"))
    assert _inspected(capsys, tmp_path / "weights") == [
        f"safetensors file {tmp_path / 'weights'}: 1 tensor, 6 numbers, 24 B",
        "w  float32[2,3]",
    ]


@pytest.fixture
def graph() -> tf.Graph:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        tf.matmul(x, tf.constant([[1.0], [2.0]], name="w"), name="y")
    return graph


@pytest.mark.parametrize("as_text", [False, True])
def test_graphs(graph: tf.Graph, as_text: bool, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "any_name"
    tf.train.write_graph(graph, str(tmp_path), path.name, as_text=as_text)
    lines = _inspected(capsys, path)
    assert lines[0].startswith(f"GraphDef {path}: 3 nodes")
    assert lines[1:] == ["x = Placeholder()  float32[-1,2]", "w = Const()", "y = MatMul(x, w)"]
    assert _inspected(capsys, path, "--stats", "--grep", "x|y")[1:] == [
        "      1  Placeholder",
        "      1  MatMul",
    ]
    assert _inspected(capsys, path, "--tensor", "w")[0] == (
        "w  float32[2,1] min=1 max=2 mean=1.5 std=0.5"
    )
    assert "transpose_a" in "".join(_inspected(capsys, path, "--tensor", "y:0"))
    assert "no node 'yy' (near it: y)" in _refused(capsys, path, "--tensor", "yy")
    assert len(_inspected(capsys, path, "--limit", "1")) == 2


def test_meta_graphs_and_saved_models(tmp_path: Path, capsys: Capture) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None], name="x")
        v = tf.Variable([2.0], name="v")
        sess.run(v.initializer)
        tf.saved_model.simple_save(sess, str(tmp_path / "model"), {"in": x}, {"out": x * v})
        tf.train.export_meta_graph(str(tmp_path / "graph"))
    lines = _inspected(capsys, tmp_path / "graph")
    assert lines[0].startswith("MetaGraphDef")
    assert "  collection trainable_variables: 1 (bytes_list)" in lines
    lines = _inspected(capsys, tmp_path / "model")
    assert lines[0].startswith("SavedModel") and "v  float32[1]" in lines
    assert "    in  in: x:0  float32[-1]" in lines and "x = Placeholder()" not in "".join(lines)
    assert any(
        line.startswith("mul = Mul(")
        for line in _inspected(capsys, tmp_path / "model", "--grep", "^mul$")
    )
    assert _inspected(capsys, tmp_path / "model", "--tensor", "v")[1] == "[2.]"
    assert 'op: "Placeholder"' in "".join(_inspected(capsys, tmp_path / "model", "--tensor", "x"))
    # The message alone, under whatever name.
    (tmp_path / "model" / "saved_model.pb").rename(tmp_path / "message")
    assert _inspected(capsys, tmp_path / "message")[0].startswith("SavedModel")


def test_event_files(tmp_path: Path, capsys: Capture) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for step in range(3):
            writer.add_summary(
                tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=4.0 - step)]), step
            )
    (path,) = tmp_path.iterdir()
    lines = _inspected(capsys, path)
    assert lines[0].startswith(f"event file {path}: 4 events")
    assert lines[1:] == ["loss  scalar, 3 values, steps 0 to 2, last 2"]
    rows = map(json.loads, _inspected(capsys, path, "--tensor", "loss", "--json"))
    assert [(row["step"], row["value"]) for row in rows] == [(0, 4.0), (1, 3.0), (2, 2.0)]
    assert "no tag 'accuracy'" in _refused(capsys, path, "--tensor", "accuracy")
    path.write_bytes(path.read_bytes()[:-3])
    assert main(["inspect", str(path)]) == 1  # what can be read is shown
    captured = capsys.readouterr()
    assert "loss  scalar, 2 values" in captured.out and "truncated record at" in captured.err


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_record_files(compression: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "records"
    with tf.python_io.TFRecordWriter(str(path), compression) as writer:
        for number in range(3):
            features = tf.train.Features(
                feature={
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                    "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"cat"])),
                }
            )
            writer.write(tf.train.Example(features=features).SerializeToString())
        writer.write(b"something else")
    lines = _inspected(capsys, path)
    assert lines[0].startswith("0  at 0, ") and lines[0].endswith("label: int64[1], name: bytes[1]")
    assert lines[3].endswith("something else") and "4 records" in lines[4]
    assert _inspected(capsys, path, "--tensor", "label") == ["0\t[0]", "1\t[1]", "2\t[2]"]
    assert len(_inspected(capsys, path, "--grep", "something")) == 2
    rows = map(json.loads, _inspected(capsys, path, "--json", "--limit", "1"))
    assert [row.get("features") for row in rows] == [
        {"label": "int64[1]", "name": "bytes[1]"},
        None,
    ]
    assert "feature 'size'" in _refused(capsys, path, "--tensor", "size")


def test_files_of_others(tmp_path: Path, capsys: Capture) -> None:
    def refused(data: bytes) -> str:
        (tmp_path / "file").write_bytes(data)
        return _refused(capsys, tmp_path / "file")

    assert "the file is empty" in refused(b"")
    assert "an HDF5 file" in refused(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert "a Python pickle" in refused(b"\x80\x04\x95" + bytes(20))
    assert "not a checkpoint" in refused(b"print('hello')\n")
    assert "not a checkpoint" in refused(bytes(range(256)))
    assert "a damaged text GraphDef: line 1" in refused(b'node { name: "x" oops }')
    assert "there is no file" in _refused(capsys, tmp_path / "nothing")
    (tmp_path / "folder").mkdir()
    assert "neither a SavedModel nor a checkpoint" in _refused(capsys, tmp_path / "folder")
    assert "several checkpoints: many, partitioned" in _refused(capsys, DATA)
    assert "--grep '('" in _refused(capsys, DATA / "plain", "--grep", "(")


def test_damage_is_an_error_and_never_a_crash(
    graph: tf.Graph, tmp_path: Path, capsys: Capture
) -> None:
    """Every file cut off at every length gives rows or one line of complaint."""
    whole = graph.as_graph_def().SerializeToString()
    path = tmp_path / "file"
    for data in (whole, (DATA / "plain_v1").read_bytes()[-300:]):
        for length in range(0, len(data), 7):
            path.write_bytes(data[:length])
            assert main(["inspect", str(path)]) in (0, 1)
            captured = capsys.readouterr()
            assert captured.out or captured.err.startswith("penstock inspect: ")


def _floats(*values: float) -> Any:
    return np.array(values, np.float32)


def _compared(capsys: Capture, *arguments: object) -> tuple[int, list[str]]:
    status = main(["diff", *map(str, arguments)])
    return status, capsys.readouterr().out.splitlines()


def test_differences(tmp_path: Path, capsys: Capture) -> None:
    one = _save(
        tmp_path / "one",
        a=np.array([1, 2, np.nan], np.float32),
        b=np.zeros(2),
        c=[1],
        s=[b"x", b"y"],
    )
    two = _save(
        tmp_path / "two",
        a=np.array([1, 2.5, np.nan], np.float32),
        b=np.zeros(3),
        d=[1],
        s=[b"x", b"z"],
    )
    assert _compared(capsys, one, one) == (0, ["4 tensors compared, 0 differ"])
    status, lines = _compared(capsys, one, two)
    assert status == 1
    assert lines == [
        "~ a  1 of 3 differ, by 0.5 at most (relative 0.2), at [1]: 2.0 and 2.5",
        "! b  float64[2] in the first, float64[3] in the second",
        "- c  int32[1]",
        "+ d  int32[1]",
        "~ s  1 of 2 differ",
        "5 tensors compared, 5 differ",
    ]
    assert _compared(capsys, one, two, "--grep", "a", "--atol", "0.5")[0] == 0
    assert _compared(capsys, one, two, "--grep", "a", "--rtol", "0.1")[0] == 1
    _, (row,) = _compared(capsys, one, two, "--grep", "a", "--json")
    assert json.loads(row)["max_abs"] == 0.5
    assert main(["diff", one, str(tmp_path / "nothing")]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_formats_are_compared_with_each_other(tmp_path: Path, capsys: Capture) -> None:
    prefix = _save(tmp_path / "model", w=np.ones([2], np.float32))
    save_file({"w": np.ones([2], np.float32)}, str(tmp_path / "weights"))
    assert _compared(capsys, prefix, tmp_path / "weights")[0] == 0
    assert main(["diff", prefix, __file__]) == 2
