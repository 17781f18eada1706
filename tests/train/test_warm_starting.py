"""Warm starts: values of a checkpoint, for the same and for other vocabularies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("w", initializer=[1.0, 2.0])
        tf.get_variable("words", initializer=np.arange(8, dtype=np.float32).reshape(4, 2))
        tf.get_variable("columns", initializer=np.arange(8, dtype=np.float32).reshape(2, 4))
        sess.run(tf.global_variables_initializer())
        return str(tf.train.Saver().save(sess, str(tmp_path / "model"), global_step=3))


@pytest.fixture
def vocabularies(tmp_path: Path) -> tuple[str, str]:
    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("apple\nbanana\nguava\norange\n")
    new.write_text("orange\nguava\nbanana\napple\nraspberry\nblueberry\n")
    return str(old), str(new)


def values(*names: str) -> list[Any]:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(f"{name}:0").tolist() for name in names]


def test_variables_by_name(checkpoint: str) -> None:
    tf.get_variable("w", [2])
    tf.get_variable("cold", [1], trainable=False, initializer=tf.ones_initializer())
    tf.train.warm_start(checkpoint)
    assert values("w", "cold") == [[1.0, 2.0], [1.0]]


def test_directories_lists_and_other_names(checkpoint: str) -> None:
    tf.get_variable("renamed", [2])
    tf.get_variable("other", [1], initializer=tf.zeros_initializer())
    tf.train.warm_start(
        str(Path(checkpoint).parent),
        vars_to_warm_start=["renamed"],
        var_name_to_prev_var_name={"renamed": "w"},
    )
    assert values("renamed", "other") == [[1.0, 2.0], [0.0]]


def test_parts_of_a_variable(checkpoint: str) -> None:
    tf.get_variable("w", [2], partitioner=tf.fixed_size_partitioner(2))
    tf.train.warm_start(checkpoint)
    assert values("w/part_0", "w/part_1") == [[1.0], [2.0]]


def test_rows_move_to_another_vocabulary(checkpoint: str, vocabularies: tuple[str, str]) -> None:
    old, new = vocabularies
    tf.get_variable("words", [6, 2])
    info = tf.train.VocabInfo(
        new, 5, 1, old, backup_initializer=lambda shape, **_: tf.fill(shape, 9.0)
    )
    tf.train.warm_start(checkpoint, var_name_to_vocab_info={"words": info})
    assert values("words") == [[[6, 7], [4, 5], [2, 3], [0, 1], [9, 9], [9, 9]]]


def test_a_part_of_the_old_vocabulary(checkpoint: str, vocabularies: tuple[str, str]) -> None:
    old, new = vocabularies
    tf.get_variable("words", [5, 2])
    info = tf.train.VocabInfo(new, 5, 0, old, old_vocab_size=2)
    tf.train.warm_start(checkpoint, None, {"words": info})
    assert values("words") == [[[0, 0], [0, 0], [2, 3], [0, 1], [0, 0]]]


def test_parts_of_rows_move(checkpoint: str, vocabularies: tuple[str, str]) -> None:
    old, new = vocabularies
    tf.get_variable("words", [6, 2], partitioner=tf.fixed_size_partitioner(2))
    info = tf.train.VocabInfo(new, 6, 0, old)
    tf.train.warm_start(checkpoint, ".*words.*", {"words": info})
    assert values("words/part_0", "words/part_1") == [
        [[6, 7], [4, 5], [2, 3]],
        [[0, 1], [0, 0], [0, 0]],
    ]


def test_columns_move(checkpoint: str, vocabularies: tuple[str, str]) -> None:
    old, new = vocabularies
    tf.get_variable("columns", [2, 6])
    info = tf.train.VocabInfo(new, 5, 1, old, axis=1)
    tf.train.warm_start(checkpoint, var_name_to_vocab_info={"columns": info})
    assert values("columns") == [[[3, 2, 1, 0, 0, 0], [7, 6, 5, 4, 0, 0]]]


def test_names_that_are_not_used(checkpoint: str, vocabularies: tuple[str, str]) -> None:
    tf.get_variable("w", [2])
    with pytest.raises(ValueError, match="var_name_to_prev_var_name that were not used: {'x'}"):
        tf.train.warm_start(checkpoint, var_name_to_prev_var_name={"x": "w"})
    info = tf.train.VocabInfo(*vocabularies[::-1], vocabularies[0], vocabularies[1])
    with pytest.raises(ValueError, match="var_name_to_vocab_info that were not used"):
        tf.train.warm_start(checkpoint, var_name_to_vocab_info={"x": info})
    with pytest.raises(ValueError, match="must be a `list` or `str`"):
        tf.train.warm_start(checkpoint, vars_to_warm_start=3)
    with pytest.raises(ValueError, match="axis argument are 0 and 1"):
        tf.train.VocabInfo("new", 1, 0, "old", axis=2)


def test_words_that_are_in_both(vocabularies: tuple[str, str]) -> None:
    old, new = vocabularies
    remapping = tf.raw_ops.GenerateVocabRemapping(
        new_vocab_file=new, old_vocab_file=old, new_vocab_offset=1, num_new_vocab=4
    )
    assert remapping.remapping.shape.as_list() == [4]
    with tf.Session() as sess:
        rows, present = sess.run(list(remapping))
    assert rows.tolist() == [2, 1, 0, -1] and present == 3


def test_a_matrix_needs_all_its_values(checkpoint: str) -> None:
    def load(rows: list[int], initial: list[float]) -> Any:
        return tf.raw_ops.LoadAndRemapMatrix(
            ckpt_path=checkpoint,
            old_tensor_name="words",
            row_remapping=rows,
            col_remapping=[1, -1],
            initializing_values=initial,
            num_rows=2,
            num_cols=2,
        )

    with tf.Session() as sess:
        loaded = sess.run(load([3, -1], [10.0, 11.0, 12.0]))
        assert loaded.tolist() == [[7.0, 10.0], [11.0, 12.0]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="initializing_values"):
            sess.run(load([3, -1], [10.0]))
        with pytest.raises(tf.errors.UnimplementedError, match="more than once"):
            sess.run(load([3, 3], [10.0, 11.0]))
