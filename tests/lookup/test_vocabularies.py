"""Tables made of vocabularies, with buckets for unknown words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.lookup import vocabularies

lookup = tf.contrib.lookup
WORDS = ["brain", "salad", "surgery"]


@pytest.fixture
def sess() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.fixture
def vocabulary(tmp_path: Path) -> str:
    path = tmp_path / "words.txt"
    path.write_text("\n".join(WORDS) + "\n")
    return str(path)


def test_index_table_from_tensor(sess: Any) -> None:
    ids = lookup.index_table_from_tensor(WORDS, default_value=-42).lookup(
        tf.constant(["salad", "tarkus"])
    )
    with pytest.raises(tf.OpError):
        sess.run(ids)
    sess.run(tf.tables_initializer())
    assert sess.run(ids).tolist() == [1, -42]


def test_index_table_of_integers(sess: Any) -> None:
    table = lookup.index_table_from_tensor([42, 1, -1000], 1, dtype=tf.int32)
    ids = table.lookup(tf.constant([1, -1000, 11], tf.int32))
    sess.run(tf.tables_initializer())
    assert sess.run(ids).tolist() == [1, 2, 3]


def test_unknown_words_share_buckets(sess: Any, vocabulary: str) -> None:
    """The bucket is the word's FarmHash, as in TensorFlow: "tarkus" is in bucket 864 of 1000."""
    table = lookup.index_table_from_file(vocabulary, num_oov_buckets=1000)
    ids = table.lookup(tf.constant(["salad", "surgery", "tarkus"]))
    sess.run(table.initializer)
    assert sess.run(ids).tolist() == [1, 2, 3 + 864]
    assert sess.run(table.size()) == 1003


def test_strong_hash(sess: Any) -> None:
    spec = lookup.StrongHashSpec((1, 2))
    table = lookup.IdTableWithHashBuckets(None, 100, hasher_spec=spec, name="strong/")
    assert table.name == "strong"
    sess.run(table.initializer)
    ids = sess.run(table.lookup(tf.SparseTensor([[0], [1]], ["toto", "tata"], [2])))
    direct = tf.string_to_hash_bucket_strong(["toto", "tata"], 100, key=[1, 2])
    assert ids.values.tolist() == sess.run(direct).tolist()


def test_static_vocabulary_table(sess: Any, vocabulary: str) -> None:
    initializer = tf.lookup.TextFileInitializer(vocabulary, tf.string, -2, tf.int64, -1)
    table = tf.lookup.StaticVocabularyTable(initializer, 1)
    ids = table.lookup(tf.constant([["surgery"], ["tank"]]))
    sess.run(table.initializer)
    assert sess.run(ids).tolist() == [[2], [3]]


def test_index_to_string(sess: Any, vocabulary: str) -> None:
    ids = tf.constant([2, 5], tf.int64)
    words = [
        lookup.index_to_string_table_from_file(vocabulary).lookup(ids),
        lookup.index_to_string_table_from_tensor(WORDS, default_value="?").lookup(ids),
        lookup.index_to_string(ids, mapping=WORDS),
    ]
    sess.run(tf.initialize_all_tables())
    assert [word.tolist() for word in sess.run(words)] == [
        [b"surgery", b"UNK"],
        [b"surgery", b"?"],
        [b"surgery", b"UNK"],
    ]


def test_old_functions(sess: Any, vocabulary: str) -> None:
    words = tf.constant(["salad", "x"])
    ids = [
        lookup.string_to_index(words, mapping=WORDS),
        lookup.string_to_index_table_from_tensor(mapping=WORDS).lookup(words),
        lookup.string_to_index_table_from_file(vocabulary).lookup(words),
    ]
    sess.run(tf.tables_initializer())
    assert [each.tolist() for each in sess.run(ids)] == [[1, -1]] * 3


def test_equal_words_contradict_each_other(sess: Any) -> None:
    lookup.index_table_from_tensor(["hello", "hello"])
    with pytest.raises(tf.OpError, match="different value for same key"):
        sess.run(tf.tables_initializer())


def test_arguments_are_checked(vocabulary: str) -> None:
    with pytest.raises(ValueError, match="vocabulary_file must be specified"):
        lookup.index_table_from_file("")
    with pytest.raises(ValueError, match="vocab_size must be greater than 0, got 0"):
        lookup.index_table_from_file(vocabulary, vocab_size=0)
    with pytest.raises(ValueError, match="num_oov_buckets must be greater or equal than 0, got -1"):
        lookup.index_table_from_file(vocabulary, num_oov_buckets=-1)
    with pytest.raises(TypeError, match="Only integer and string keys"):
        lookup.index_table_from_file(vocabulary, key_dtype=tf.float32)
    with pytest.raises(ValueError, match="mapping must be specified"):
        lookup.index_table_from_tensor(None)
    with pytest.raises(ValueError, match="vocabulary_list must be specified"):
        vocabularies.index_table_from_tensor(None)
    with pytest.raises(ValueError, match="Expected non-integer"):
        lookup.index_table_from_tensor([1, 2])
    with pytest.raises(ValueError, match="oov_buckets must be > 0"):
        lookup.IdTableWithHashBuckets(None, 0)
    with pytest.raises(TypeError, match="hasher_spec must be of type HasherSpec"):
        lookup.IdTableWithHashBuckets(None, 1, hasher_spec=1)
    with pytest.raises(ValueError, match="key must have size 2"):
        lookup.StrongHashSpec([1])
    with pytest.raises(TypeError, match="Must be unsigned integer"):
        lookup.StrongHashSpec([1, "a"])


def test_tables_must_map_to_ids() -> None:
    initializer = tf.lookup.KeyValueTensorInitializer(WORDS, [0.5, 1.0, 2.0])
    with pytest.raises(TypeError, match="Invalid value dtype"):
        tf.lookup.StaticVocabularyTable(initializer, 1)
    numbers = tf.lookup.KeyValueTensorInitializer([1, 2], [0, 1], tf.int64, tf.int64)
    with pytest.raises(TypeError, match="Invalid key dtype"):
        tf.lookup.StaticVocabularyTable(numbers, 1, lookup_key_dtype=tf.string)


def test_a_saved_vocabulary_is_filled_when_it_is_loaded(vocabulary: str, tmp_path: Path) -> None:
    """In a session of its own, which knows nothing of the table that was saved."""
    module = tf.train.Checkpoint()
    with tf.Graph().as_default():
        module.words = tf.lookup.StaticVocabularyTable(
            tf.lookup.TextFileInitializer(
                vocabulary,
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            num_oov_buckets=1,
        )
        signature = [tf.TensorSpec([None], tf.string)]
        module.ids = tf.function(module.words.lookup, input_signature=signature)
        with tf.Session() as sess:
            sess.run(tf.tables_initializer())
            tf.saved_model.save(module, str(tmp_path / "saved"))
    with tf.Graph().as_default(), tf.Session() as sess:
        loaded = tf.saved_model.load_v2(str(tmp_path / "saved"))
        ids = loaded.ids(tf.constant(["surgery", "tarkus"]))
        sess.run(tf.tables_initializer())
        assert sess.run(ids).tolist() == [2, 3]
