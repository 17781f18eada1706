"""SqlDataset and ExperimentalSqlDataset: rows of a SQLite database, as in TensorFlow 1.15."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.data.dataset import from_variant

ROWS = [
    (1, "x", 1.5, b"\x00\xff"),
    (-300, "12ab", 2.0, None),
    (2**40, "3.7e2z", 1e300, "n\0n"),
    (0, "-5 ", -0.1, "y"),
    (255, "  7", 123456789.123456789, "1e3"),
]


@pytest.fixture
def database(tmp_path: Path) -> str:
    path = str(tmp_path / "a database?.sqlite")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table t(a, b, c, d)")
        connection.executemany("insert into t values (?, ?, ?, ?)", ROWS)
        connection.commit()
    return path


def _rows(dataset: Any) -> list[Any]:
    with tf.Graph().as_default():
        iterator = dataset().make_initializable_iterator()
        element = iterator.get_next()
        found = []
        with tf.Session() as session:
            session.run(iterator.initializer)
            while True:
                try:
                    found.append(session.run(element))
                except tf.errors.OutOfRangeError:
                    return found


def _queried(database: str, query: str, types: Any, driver: str = "sqlite") -> list[Any]:
    return _rows(lambda: tf.data.experimental.SqlDataset(driver, database, query, types))


@pytest.mark.parametrize(
    ("column", "dtype", "expected"),
    [
        ("a", tf.string, [b"1", b"-300", b"1099511627776", b"0", b"255"]),
        ("c", tf.string, [b"1.5", b"2.0", b"1.0e+300", b"-0.1", b"123456789.123457"]),
        ("d", tf.string, [b"\x00\xff", b"", b"n\x00n", b"y", b"1e3"]),
        ("a", tf.int8, [1, -44, 0, 0, -1]),
        ("b", tf.uint8, [0, 12, 3, 251, 7]),
        ("a", tf.int64, [1, -300, 2**40, 0, 255]),
        ("c", tf.int64, [1, 2, 2**63 - 1, 0, 123456789]),
        ("d", tf.int32, [0, 0, 0, 0, 1]),
        ("b", tf.float64, [0.0, 12.0, 370.0, -5.0, 7.0]),
        ("b", tf.bool, [False, True, True, True, True]),
    ],
)
def test_columns_are_converted(database: str, column: str, dtype: Any, expected: Any) -> None:
    rows = _queried(database, f"select {column} from t", (dtype,))
    assert [row[0] for row in rows] == expected


def test_structures_and_repetition(database: str) -> None:
    def dataset() -> Any:
        types = {"key": tf.int64, "text": tf.string}
        query = "select a, b from t where a > 0 order by a limit 2"
        return tf.data.experimental.SqlDataset("sqlite", database, query, types).repeat(2)

    assert _rows(dataset) == [{"key": 1, "text": b"x"}, {"key": 255, "text": b"  7"}] * 2


def test_the_older_op(database: str) -> None:
    def dataset() -> Any:
        variant = tf.raw_ops.ExperimentalSqlDataset(
            driver_name="sqlite",
            data_source_name=database,
            query="select a from t limit 1",
            output_types=[tf.int64],
            output_shapes=[[]],
        )
        return from_variant(variant, tf.TensorSpec([], tf.int64))

    assert _rows(dataset) == [1]


def test_the_place_is_saved(database: str, tmp_path: Path) -> None:
    with tf.Graph().as_default():
        iterator = tf.data.experimental.SqlDataset(
            "sqlite", database, "select a from t order by a", (tf.int64,)
        ).make_initializable_iterator()
        [number] = iterator.get_next()
        saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
        with tf.Session() as session:
            session.run(iterator.initializer)
            assert [session.run(number) for _ in range(2)] == [-300, 0]
            path = saver.save(session, str(tmp_path / "place"))
            assert session.run(number) == 1
            saver.restore(session, path)
            assert [session.run(number) for _ in range(2)] == [1, 255]


@pytest.mark.parametrize(
    ("query", "error", "message"),
    [
        ("select a, b from t", "InvalidArgument", r"columns in query \(2\) must match .*\(1\)"),
        ("insert into t values (1, 2, 3, 4)", "InvalidArgument", r"columns in query \(0\)"),
        ("", "InvalidArgument", r"columns in query \(0\)"),
        ("select nope from t", "Unknown", "no such column: nope"),
        ("selct", "Unknown", "syntax error"),
    ],
)
def test_wrong_queries(database: str, query: str, error: str, message: str) -> None:
    with pytest.raises(getattr(tf.errors, f"{error}Error"), match=message):
        _queried(database, query, (tf.string,))
    assert len(_queried(database, "select a from t", (tf.string,))) == len(ROWS)


def test_wrong_settings(database: str) -> None:
    query = "select a from t"
    with pytest.raises(tf.errors.InvalidArgumentError, match="The database type, mysql, is not"):
        _queried(database, query, (tf.string,), driver="mysql")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be one of: DT_STRING"):
        _queried(database, query, (tf.float32,))
    with pytest.raises(tf.errors.InvalidArgumentError, match="unable to open database file"):
        _queried(f"{database}.missing", query, (tf.string,))
    assert not Path(f"{database}.missing").exists()
