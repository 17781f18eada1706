"""`tf.print`: what it prints, and where."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import penstock as tf


def _run(*operations: Any) -> None:
    with tf.Session() as session:
        session.run(operations)


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: tf.print(tf.range(10)), "[0 1 2 ... 7 8 9]\n"),
        (lambda: tf.print(tf.range(10), summarize=-1), "[0 1 2 3 4 5 6 7 8 9]\n"),
        (lambda: tf.print("x:", tf.constant(2), sep="-", end="!"), "x:-2!"),
        (lambda: tf.print("{}", tf.constant(2)), "{} 2\n"),
        (lambda: tf.print({"a": tf.constant(1), "b": [tf.constant(2)]}), "{'a': 1, 'b': [2]}\n"),
        (lambda: tf.print(tf.constant("text")), "text\n"),
        (lambda: tf.print(3, (4, "five")), "3 (4, 'five')\n"),
    ],
)
def test_lines(make: Any, expected: str, capsys: Any) -> None:
    _run(make())
    assert capsys.readouterr().err == expected


def test_sparse_tensors(capsys: Any) -> None:
    _run(tf.print(tf.SparseTensor([[0, 1]], [5], [2, 2]), output_stream=sys.stdout))
    found = capsys.readouterr().out
    assert re.sub(r"\s+", "", found) == "'SparseTensor(indices=[[01]],values=[5],shape=[22])'"


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    once = tf.print(tf.constant([1]), output_stream=f"file://{path}")
    _run(once)
    _run(once)
    assert path.read_text() == "[1]\n[1]\n"


def test_unknown_streams_and_arguments() -> None:
    with pytest.raises(ValueError, match="Unsupported output stream"):
        tf.print(1, output_stream="nowhere")
    with pytest.raises(ValueError, match="Unrecognized keyword arguments"):
        tf.print(1, flush=True)


def test_timestamp() -> None:
    with tf.Session() as session:
        assert abs(session.run(tf.timestamp()) - time.time()) < 5
