"""Tables that an initializer fills: from tensors and from vocabulary files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

WORDS = ["brain", "salad", "surgery"]
WHOLE_LINE, LINE_NUMBER = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER


@pytest.fixture
def sess() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


@pytest.fixture
def vocabulary(tmp_path: Path) -> str:
    path = tmp_path / "words.txt"
    path.write_text("\n".join(WORDS) + "\n")
    return str(path)


def _table(values: Any = (0, 1, 2), default: Any = -1, **options: Any) -> Any:
    initializer = tf.lookup.KeyValueTensorInitializer(WORDS, values, value_dtype=tf.int64)
    return tf.lookup.StaticHashTable(initializer, default, **options)


def _from_file(
    filename: Any,
    key: tuple[Any, int] = (tf.string, WHOLE_LINE),
    value: tuple[Any, int] = (tf.int64, LINE_NUMBER),
    default: Any = -1,
    **options: Any,
) -> Any:
    initializer = tf.lookup.TextFileInitializer(filename, *key, *value, **options)
    return tf.lookup.StaticHashTable(initializer, default)


def test_lookup_of_any_rank(sess: Any) -> None:
    table = _table()
    sess.run(table.initializer)
    found = table.lookup(tf.constant([["brain", "tank"], ["surgery", "salad"]]))
    assert found.shape.as_list() == [2, 2]
    assert sess.run(found).tolist() == [[0, -1], [2, 1]]
    assert sess.run(table.size()) == 3
    assert sess.run(table[tf.constant("salad")]) == 1


def test_lookup_of_a_sparse_tensor(sess: Any) -> None:
    table = _table()
    sess.run(tf.tables_initializer())
    found = table.lookup(tf.SparseTensor([[0, 0], [1, 1]], ["salad", "x"], [2, 2]))
    value = sess.run(found)
    assert value.values.tolist() == [1, -1]
    assert value.indices.tolist() == [[0, 0], [1, 1]]
    assert value.dense_shape.tolist() == [2, 2]


def test_lookup_takes_a_variable(sess: Any) -> None:
    table = _table()
    word = tf.Variable("salad")
    sess.run([table.initializer, word.initializer])
    assert sess.run(table.lookup(word)) == 1


def test_initializing_twice_is_allowed(sess: Any) -> None:
    table = _table()
    for _ in range(2):
        sess.run(table.init)
    assert sess.run(table.size()) == 3


def test_export(sess: Any) -> None:
    table = _table()
    sess.run(table.initializer)
    keys, values = sess.run(table.export())
    assert dict(zip(keys.tolist(), values.tolist(), strict=True)) == {
        b"brain": 0,
        b"salad": 1,
        b"surgery": 2,
    }


def test_an_uninitialized_table_says_so(sess: Any) -> None:
    found = _table().lookup(tf.constant(["brain"]))
    with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
        sess.run(found)


def test_each_session_initializes_its_own() -> None:
    with tf.Graph().as_default():
        table = _table()
        size = table.size()
        with tf.Session() as first, tf.Session() as second:
            first.run(table.initializer)
            assert (first.run(size), second.run(size)) == (3, 0)


def test_tables_made_in_a_loop_are_initialized_outside(sess: Any) -> None:
    def ids(word: Any) -> Any:
        return _table().lookup(word)

    found = tf.map_fn(ids, tf.constant(["salad", "x"]), dtype=tf.int64)
    sess.run(tf.tables_initializer())
    assert sess.run(found).tolist() == [1, -1]


def test_types_that_do_not_fit(sess: Any) -> None:
    table = _table()
    with pytest.raises(TypeError, match="Signature mismatch"):
        table.lookup(tf.constant([1], tf.int64))
    with pytest.raises(TypeError):
        _table(default="UNK")
    with pytest.raises(ValueError, match=r"Dimension|equal"):
        _table(values=(0, 1))


def test_key_types_without_a_table(sess: Any) -> None:
    initializer = tf.lookup.KeyValueTensorInitializer((42, 1), (0, 1), tf.int32, tf.int64)
    table = tf.lookup.StaticHashTable(initializer, -1)
    with pytest.raises(tf.OpError, match="No OpKernel was registered"):
        sess.run(table.initializer)


def test_shared_name_means_one_table(sess: Any) -> None:
    def make(values: Any) -> Any:
        initializer = tf.contrib.lookup.KeyValueTensorInitializer(
            WORDS, values, tf.string, tf.int64
        )
        return tf.contrib.lookup.HashTable(initializer, -1, shared_name="words")

    first, second = make([0, 1, 2]), make([5, 6, 7])
    sess.run(first.init)
    assert sess.run(second.lookup(tf.constant(["salad"]))).tolist() == [1]


# Files ----------------------------------------------------------------------------------------


def test_words_to_line_numbers(sess: Any, vocabulary: str) -> None:
    table = _from_file(vocabulary)
    sess.run(table.initializer)
    assert sess.run(table.lookup(tf.constant(["brain", "salad", "tank"]))).tolist() == [0, 1, -1]


def test_line_numbers_to_words(sess: Any, vocabulary: str) -> None:
    table = _from_file(vocabulary, (tf.int64, LINE_NUMBER), (tf.string, WHOLE_LINE), "UNK")
    sess.run(table.initializer)
    found = sess.run(table.lookup(tf.constant([2, 3], tf.int64)))
    assert found.tolist() == [b"surgery", b"UNK"]


def test_columns(sess: Any, tmp_path: Path) -> None:
    path = tmp_path / "columns.txt"
    path.write_text("0 brain 1.5\r\n1 salad -5\r\n")
    table = _from_file(str(path), (tf.string, 1), (tf.float32, 2), 0.0, delimiter=" ")
    sess.run(table.initializer)
    assert sess.run(table.lookup(tf.constant(["salad", "brain"]))).tolist() == [-5.0, 1.5]


@pytest.mark.parametrize("size", [1, 3])
def test_vocab_size_limits_what_is_read(sess: Any, vocabulary: str, size: int) -> None:
    table = _from_file(vocabulary, vocab_size=size)
    sess.run(table.initializer)
    assert sess.run(table.size()) == size


@pytest.mark.parametrize(
    ("content", "key", "options", "error", "message"),
    [
        ("a\nb\n", WHOLE_LINE, {"vocab_size": 3}, tf.errors.InvalidArgumentError, "vocab_size in"),
        ("a\nb\n", 1, {}, tf.errors.InvalidArgumentError, "Invalid number of columns"),
        ("a\n\nb\n", WHOLE_LINE, {}, tf.errors.InvalidArgumentError, "empty line found"),
        ("a\na\n", WHOLE_LINE, {}, tf.errors.FailedPreconditionError, "different value for same"),
        ("", WHOLE_LINE, {}, tf.errors.OutOfRangeError, "no lines"),
        ("a\n", WHOLE_LINE, {"delimiter": "ab"}, tf.errors.InvalidArgumentError, "only 1 char"),
    ],
)
def test_bad_files(
    sess: Any, tmp_path: Path, content: str, key: int, options: Any, error: Any, message: str
) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(content)
    table = _from_file(str(path), (tf.string, key), **options)
    with pytest.raises(error, match=message):
        sess.run(table.initializer)


def test_a_field_that_is_no_number(sess: Any, vocabulary: str) -> None:
    table = _from_file(vocabulary, (tf.int64, WHOLE_LINE))
    with pytest.raises(tf.errors.InvalidArgumentError, match="brain in line 0 is not a valid"):
        sess.run(table.initializer)


def test_the_file_can_be_fed(sess: Any, vocabulary: str) -> None:
    table = _from_file("old_file.txt")
    with pytest.raises(tf.errors.NotFoundError, match=r"old_file\.txt"):
        sess.run(table.initializer)
    (filename,) = tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)
    sess.run(table.initializer, {filename: vocabulary})
    assert sess.run(table.lookup(tf.constant(["salad"]))).tolist() == [1]


def test_initializers_check_their_arguments() -> None:
    file = tf.lookup.TextFileInitializer
    with pytest.raises(ValueError, match="Filename required"):
        file("", tf.string, WHOLE_LINE, tf.int64, LINE_NUMBER)
    with pytest.raises(ValueError, match="Keys must be dtype"):
        file("f", tf.string, LINE_NUMBER, tf.int64, LINE_NUMBER)
    with pytest.raises(ValueError, match="Values must be dtype"):
        file("f", tf.string, WHOLE_LINE, tf.string, LINE_NUMBER)
    with pytest.raises(ValueError, match="Invalid key index"):
        file("f", tf.string, -3, tf.int64, LINE_NUMBER)
    with pytest.raises(ValueError, match="Invalid vocab_size"):
        file("f", tf.string, WHOLE_LINE, tf.int64, LINE_NUMBER, vocab_size=0)


def test_numpy_strings_are_keys(sess: Any) -> None:
    initializer = tf.lookup.KeyValueTensorInitializer(np.array(WORDS), np.arange(3))
    table = tf.lookup.StaticHashTable(initializer, -1)
    sess.run(table.initializer)
    assert sess.run(table.lookup(tf.constant(["surgery"]))).tolist() == [2]
