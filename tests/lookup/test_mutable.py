"""Tables that a program changes while it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

MutableHashTable = tf.contrib.lookup.MutableHashTable
DenseHashTable = tf.contrib.lookup.MutableDenseHashTable


@pytest.fixture
def sess() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _dense(**options: Any) -> Any:
    given = {"default_value": -1, "empty_key": 0, "deleted_key": -1, **options}
    return DenseHashTable(tf.int64, tf.int64, **given)


def _pairs(sess: Any, table: Any) -> list[Any]:
    keys, values = sess.run(table.export())
    return sorted(zip(keys.ravel().tolist(), values.ravel().tolist(), strict=True))


def test_insert_lookup_remove(sess: Any) -> None:
    table = MutableHashTable(tf.string, tf.int64, -1)
    asked = table.lookup(["brain", "tank"])
    assert asked.shape.as_list() == [2]
    assert sess.run(table.size()) == 0
    sess.run(table.insert([["brain", "salad"]], [[0, 1]]))
    sess.run(table.insert(["salad", "tank"], [5, 6]))
    assert sess.run(asked).tolist() == [0, 6]
    sess.run(table.remove(tf.constant(["tank", "unknown"])))
    assert _pairs(sess, table) == [(b"brain", 0), (b"salad", 5)]


def test_of_equal_keys_the_last_counts(sess: Any) -> None:
    table = MutableHashTable(tf.string, tf.float32, -1.5)
    sess.run(table.insert(["a", "b", "a"], [0.5, 1.1, 2.25]))
    assert sess.run(table.lookup(["a", "c"])).tolist() == [2.25, -1.5]


def test_values_may_be_vectors(sess: Any) -> None:
    table = MutableHashTable(tf.string, tf.int64, [-1, -1])
    sess.run(table.insert(["a", "b"], [[0, 1], [2, 3]]))
    found = table.lookup([["b", "x"]])
    assert found.shape.as_list() == [1, 2, 2]
    assert sess.run(found).tolist() == [[[2, 3], [-1, -1]]]
    keys, values = table.export()
    assert (keys.shape.as_list(), values.shape.as_list()) == ([None], [None, 2])
    other = MutableHashTable(tf.string, tf.int64, [-1, -1])
    sess.run(other.insert(keys, values))
    assert sess.run(other.size()) == 2


def test_an_export_does_not_change_later(sess: Any) -> None:
    table = MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    sess.run(table.insert([1], [[1.0, 2.0]]))
    _, before = sess.run(table.export())
    sess.run(table.insert([1], [[3.0, 4.0]]))
    assert before.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("values", [[0, 1, 2, 3], [[0, 1]], [[0], [1]]])
def test_values_of_another_shape(sess: Any, values: Any) -> None:
    table = MutableHashTable(tf.string, tf.int64, [-1, -1])
    with pytest.raises(tf.OpError, match="Expected shape"):
        sess.run(table.insert(["a", "b"], values))


def test_types_that_do_not_fit(sess: Any) -> None:
    table = MutableHashTable(tf.string, tf.int64, -1)
    with pytest.raises((TypeError, ValueError)):
        table.insert(tf.constant([4]), [1])
    with pytest.raises(TypeError, match="Signature mismatch"):
        table.remove(tf.constant([4]))
    with pytest.raises(TypeError):
        MutableHashTable(tf.string, tf.int64, "UNK")
    matrices = MutableHashTable(tf.string, tf.int64, [[-1]])
    with pytest.raises(tf.OpError, match="Default value must be a vector"):
        sess.run(matrices.size())


def test_a_step_reads_before_it_writes(sess: Any) -> None:
    table = MutableHashTable(tf.string, tf.int64, -1)
    insert, found = table.insert(["a"], [1]), table.lookup(["a"])
    assert sess.run([found, insert])[0].tolist() == [-1]
    with tf.control_dependencies([table.insert(["a"], [2])]):
        after = table.lookup(["a"])
    assert sess.run(after).tolist() == [2]


def test_saver_saves_tables(tmp_path: Path) -> None:
    path = str(tmp_path / "tables")
    with tf.Graph().as_default(), tf.Session() as sess:
        words = MutableHashTable(tf.string, tf.int64, -1, name="words")
        ids = _dense(name="ids")
        sess.run([words.insert(["b", "c"], [0, 1]), ids.insert([7, 8], [70, 80])])
        assert tf.train.Saver().save(sess, path) == path
    with tf.Graph().as_default(), tf.Session() as sess:
        words = MutableHashTable(tf.string, tf.int64, -1, name="words")
        ids = _dense(name="ids")
        sess.run([words.insert(["a", "c"], [12, 24]), ids.insert([7], [1])])
        tf.train.Saver().restore(sess, path)
        assert sess.run(words.lookup(["a", "b", "c"])).tolist() == [-1, 0, 1]
        assert sess.run(ids.lookup([7, 8, 9])).tolist() == [70, 80, -1]


# Dense tables ---------------------------------------------------------------------------------


def test_dense_table(sess: Any) -> None:
    table = _dense()
    sess.run(table.insert([11, 12, 13], [0, 1, 2]))
    found = table.lookup([11, 12, 15])
    assert found.shape.as_list() == [3]
    assert sess.run(found).tolist() == [0, 1, -1]
    sess.run(table.remove(tf.constant([12, 99], tf.int64)))
    assert sess.run([table.size(), found])[1].tolist() == [0, -1, -1]


def test_a_dense_table_exports_every_bucket(sess: Any) -> None:
    table = _dense(initial_num_buckets=8)
    sess.run(table.insert([11, 12], [1, 2]))
    sess.run(table.erase(tf.constant([12], tf.int64)))
    assert _pairs(sess, table) == [(-1, 2), *[(0, 0)] * 6, (11, 1)]


def test_buckets_double_when_they_fill_up(sess: Any) -> None:
    table = _dense(initial_num_buckets=4)
    for key, buckets in ((1, 4), (2, 4), (3, 4), (4, 8), (5, 8), (6, 8), (7, 16)):
        sess.run(table.insert([key], [key]))
        assert len(_pairs(sess, table)) == buckets


def test_keys_and_values_may_be_vectors(sess: Any) -> None:
    table = _dense(empty_key=[0, 0], deleted_key=[-1, -1], default_value=[-1, -2, -3])
    sess.run(table.insert_or_assign([[0, 1], [1, 0]], [[1, 2, 3], [4, 5, 6]]))
    assert sess.run(table.lookup([[1, 0], [1, 1]])).tolist() == [[4, 5, 6], [-1, -2, -3]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must end with the table's key shape"):
        sess.run(table.lookup([1, 2, 3]))


def test_reserved_keys_are_refused(sess: Any) -> None:
    table = _dense()
    for key, name in ((0, "empty_key"), (-1, "deleted_key")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=name):
            sess.run(table.insert([key], [1]))
        with pytest.raises(tf.errors.InvalidArgumentError, match=name):
            sess.run(table.lookup([key]))


def test_the_old_op_has_no_deleted_key(sess: Any) -> None:
    handle = tf.raw_ops.MutableDenseHashTable(
        empty_key=tf.constant(0, tf.int64), value_dtype=tf.int64, initial_num_buckets=4
    )
    keys, values = tf.constant([5], tf.int64), tf.constant([50], tf.int64)
    sess.run(tf.raw_ops.LookupTableInsert(table_handle=handle, keys=keys, values=values))
    found = tf.raw_ops.LookupTableFind(table_handle=handle, keys=keys, default_value=np.int64(-1))
    assert sess.run(found).tolist() == [50]


def test_the_keys_of_a_dense_table_come_one_in_a_row(sess: Any) -> None:
    keys = tf.constant([[11, 0], [12, 1]], tf.int64)
    for refused in (_dense().lookup(keys), _dense().insert(keys, keys)):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"Expected key shape \[2\] got \[2,2\]"
        ):
            sess.run(refused)


def test_a_saver_and_a_checkpoint_take_tables(sess: Any, tmp_path: Path) -> None:
    table = _dense(name="table", initial_num_buckets=32)
    sess.run(table.insert(tf.constant([11, 12], tf.int64), tf.constant([1, 2], tf.int64)))
    saved = tf.train.Saver([table]).save(sess, str(tmp_path / "saved"))
    assert [name for name, _ in tf.train.list_variables(saved)] == ["table-keys", "table-values"]
    tracked = tf.train.Checkpoint(owned=table).save(str(tmp_path / "tracked"))
    other = _dense(name="other", initial_num_buckets=64)
    tf.train.Checkpoint(owned=other).restore(tracked).run_restore_ops()
    assert sess.run(other.lookup(tf.constant([11, 12, 13], tf.int64))).tolist() == [1, 2, -1]
    keys, _ = sess.run(other.export())
    assert len(keys) == 32  # the buckets come with their entries
