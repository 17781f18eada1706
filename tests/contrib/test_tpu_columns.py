"""Embeddings for TPUs, which are plain embeddings here, and the dataset of files for them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.tpu import datasets, feature_columns, tpu_function

VECTORS = ((1.0, 2.0), (3.0, 5.0), (7.0, 11.0))


def categories(key: str) -> Any:
    return tf.feature_column.categorical_column_with_identity(key, num_buckets=3)


def known(shape: Any, dtype: Any, partition_info: Any = None) -> Any:
    return VECTORS


def ids() -> Any:
    return tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([2, 0, 1], tf.int64), [3, 2])


def values_of(*tensors: Any) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [value.tolist() for value in session.run(tensors)]


def test_outside_of_tpus_they_are_looked_up() -> None:
    with tf.Graph().as_default():
        column = feature_columns.embedding_column(categories("a"), dimension=2, initializer=known)
        layer = tf.keras.layers.DenseFeatures([column])
        assert values_of(layer({"a": ids()})) == [[[7.0, 11.0], [2.0, 3.5], [0.0, 0.0]]]
        names = [variable.op.name for variable in tf.global_variables()]
        assert names == ["dense_features/a_embedding/embedding_weights"]
        assert column.get_embedding_table_size() == (3, 2)
        assert copy.deepcopy(column).dimension == 2


def test_columns_share_their_vectors() -> None:
    with tf.Graph().as_default():
        both = [categories("b"), categories("a")]
        columns = feature_columns.shared_embedding_columns_v2(both, 2, initializer=known)
        layers = [tf.keras.layers.DenseFeatures([column]) for column in columns]
        results = values_of(*[layer({"a": ids(), "b": ids()}) for layer in layers])
        assert results[0] == results[1] == [[7.0, 11.0], [2.0, 3.5], [0.0, 0.0]]
        assert [each.op.name for each in tf.global_variables()] == ["a_b_shared_embedding"]
        assert columns[0].get_embedding_var_name() == "a_b_shared_embedding"
    with tf.Graph().as_default():
        old = feature_columns.shared_embedding_columns(both, 2, initializer=known)
        assert [column.name for column in old] == ["b_shared_embedding", "a_shared_embedding"]
        layer = tf.feature_column.input_layer({"a": ids(), "b": ids()}, old)
        assert np.array(values_of(layer)).shape == (1, 3, 4)


def test_in_a_shard_the_feature_is_the_embedding() -> None:
    with tf.Graph().as_default(), tpu_function.tpu_shard_context(2):
        column = feature_columns.embedding_column(categories("a"), dimension=2)
        embedded = tf.constant([[1.0, 2.0]])
        with tf.variable_scope("first"):
            assert column._get_dense_tensor({"a": embedded}) is embedded
        message = "the variable scope name is different"
        with tf.variable_scope("second"), pytest.raises(ValueError, match=message):
            column._get_dense_tensor({"a": embedded})
        assert not tf.global_variables()


def test_what_tpus_do_not_hold() -> None:
    hashed = tf.feature_column.categorical_column_with_hash_bucket("a", 3)
    with pytest.raises(TypeError, match="categorical_column for tpu  embedding_column must be"):
        feature_columns.embedding_column(hashed, dimension=2)
    with pytest.raises(ValueError, match="Non zero max_seq_length=4 specified"):
        feature_columns.embedding_column(categories("a"), dimension=2, max_sequence_length=4)
    steps = tf.feature_column.sequence_categorical_column_with_identity("a", 3)
    with pytest.raises(ValueError, match="max_sequence_length must be greater than 0"):
        feature_columns.embedding_column(steps, dimension=2)
    made = feature_columns.embedding_column(steps, dimension=2, max_sequence_length=4)
    plain = feature_columns.embedding_column(categories("b"), dimension=2)
    assert feature_columns.split_sequence_columns([plain, made]) == ([made], [plain])


def test_files_are_read_again_and_again(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f"{number}.txt").write_text(f"{number}a\n{number}b\n")
    with tf.Graph().as_default(), tf.Session() as session:
        elements = datasets.StreamingFilesDataset(
            str(tmp_path / "*.txt"), filetype="text", worker_job="localhost", num_epochs=3
        )
        with tf.device("/job:localhost"):
            iterator = tf.data.make_initializable_iterator(elements)
        session.run(iterator.initializer)
        following = iterator.get_next()
        found = [session.run(following) for _ in range(12)]
        # At the end all files are closed.
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)
    assert sorted(found) == sorted([b"0a", b"0b", b"1a", b"1b"] * 3)
    for files, kind in (("*", "unknown"), ("*", 3), (123, "text")):
        with pytest.raises(ValueError, match="file"):
            datasets.StreamingFilesDataset(files, filetype=kind)
