"""The nodes and collections of lookup tables."""

from __future__ import annotations

from typing import Any


def _vocabulary(tf: Any) -> Any:
    whole, number = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER
    return tf.lookup.TextFileInitializer("words.txt", tf.string, whole, tf.int64, number)


def static_table(tf: Any) -> Any:
    table = tf.lookup.StaticHashTable(_vocabulary(tf), -1, name="words")
    keys = tf.placeholder(tf.string, [None], name="keys")
    sparse = tf.SparseTensor([[0, 0]], ["a"], [1, 1])
    return [
        table.lookup(keys),
        table.lookup(sparse, name="sparse").values,
        table.size(),
        table.name,
        table.initializer,
        table.default_value,
        tf.tables_initializer(),
    ]


def vocabulary_table(tf: Any) -> Any:
    table = tf.lookup.StaticVocabularyTable(_vocabulary(tf), 3)
    return [
        table.lookup(tf.constant(["a"])),
        table.size(),
        table.name,
        table.initializer,
        tf.tables_initializer(name="init"),
    ]


def dense_table(tf: Any) -> Any:
    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.float32, [0.0, 0.0], empty_key=-1, deleted_key=-2, initial_num_buckets=8
    )
    return [
        table.insert([1], [[1.0, 2.0]]),
        table.lookup([1, 2]),
        table.size(),
        table.export(),
        table.erase(tf.constant([1], tf.int64)),
        table.name,
    ]


def without_tables(tf: Any) -> Any:
    return [tf.tables_initializer(), tf.initialize_all_tables(name="old")]
