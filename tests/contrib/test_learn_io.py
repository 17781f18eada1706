"""`tf.contrib.learn.io`: batches for estimators of arrays, generators, tables and records."""

import contextlib
from typing import Any

import numpy as np
import pytest
from penstock.contrib.learn.python.learn.learn_io import generator_io

import penstock as tf

io = tf.contrib.learn.io
SPEC = {"v": tf.FixedLenFeature([], tf.int64), "s": tf.VarLenFeature(tf.int64)}


def batches(tensors: Any) -> list[Any]:
    found = []
    with tf.Session() as session:
        session.run([tf.local_variables_initializer(), tf.global_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coord=coordinator)
        with contextlib.suppress(tf.errors.OutOfRangeError):
            while True:
                found.append(session.run(tensors))
        coordinator.request_stop()
        coordinator.join(threads)
    return found


@pytest.fixture
def pattern(tmp_path: Any) -> str:
    for file in range(2):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"{file}.rec")) as writer:
            for i in range(5):
                example = tf.train.Example()
                example.features.feature["v"].int64_list.value.append(10 * file + i)
                example.features.feature["s"].int64_list.value.extend(range(i))
                writer.write(example.SerializeToString())
    return str(tmp_path / "*.rec")


def test_the_program_that_everyone_began_with(tmp_path: Any) -> None:
    line = tf.contrib.learn.LinearRegressor(
        [tf.contrib.layers.real_valued_column("x", dimension=1)], model_dir=str(tmp_path)
    )
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, -1.0, -2.0, -3.0])
    input_fn = io.numpy_input_fn({"x": x}, y, 4, num_epochs=100, shuffle=False)
    line.fit(input_fn=input_fn, steps=40)
    assert line.evaluate(input_fn=input_fn, steps=2)["loss"] < 1


def rows() -> Any:
    for i in range(4):
        yield {"a": np.full(1, i), "b": np.full(2, i, np.float32), "y": np.full(1, -i)}


def test_dictionaries_of_a_generator() -> None:
    features, target = io.generator_input_fn(rows, "y", 2, shuffle=False)()
    first = batches([features, target])[0]
    assert sorted(first[0]) == ["a", "b"]
    assert first[0]["b"].tolist() == [[0, 0], [1, 1]] and first[1].tolist() == [[0], [-1]]


@pytest.mark.parametrize(
    ("x", "target", "error", "message"),
    [
        ([1], None, TypeError, "x must be generator function; got list"),
        (lambda: 3, None, TypeError, "must be generator; got int"),
        (rows, 3, TypeError, "str or Container of str; got int"),
        (rows, ["y", "q"], KeyError, "got q"),
    ],
)
def test_generators_that_are_refused(x: Any, target: Any, error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        generator_io.generator_input_fn(x, target)


def test_parsed_records_in_order(pattern: str) -> None:
    keys, features = io.read_keyed_batch_features(
        pattern, 4, SPEC, tf.TFRecordReader, False, num_epochs=1, num_enqueue_threads=1
    )
    assert features["v"].shape.as_list() == [None]
    found = batches([keys, features])
    assert np.concatenate([each["v"] for _, each in found]).tolist() == [*range(5), *range(10, 15)]
    assert [len(names) for names, _ in found] == [4, 4, 2]
    assert found[0][1]["s"].values.tolist() == [0, 0, 1, 0, 1, 2]


@pytest.mark.parametrize("shared", [False, True])
def test_records_as_a_function_parses_them(pattern: str, shared: bool) -> None:
    read = io.read_keyed_batch_examples_shared_queue if shared else io.read_keyed_batch_examples
    _, features = read(
        *(pattern, 2, tf.TFRecordReader, True, 1, 20),
        parse_fn=lambda record: tf.parse_single_example(record, {"v": SPEC["v"]}),
    )
    found = np.concatenate([batch["v"] for batch in batches(features)])
    assert sorted(found.tolist()) == [*range(5), *range(10, 15)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"file_pattern": "none*"}, r"No files match none\*"),
        ({"file_pattern": []}, "No files given"),
        ({"batch_size": 100, "queue_capacity": 100}, "batch_size 100, with queue_capacity 100"),
        ({"num_threads": 0}, "Invalid num_threads 0"),
        ({"num_epochs": -1}, "Invalid num_epochs -1"),
        ({"read_batch_size": 0}, "Invalid read_batch_size 0"),
    ],
)
def test_arguments_that_are_refused(pattern: str, arguments: Any, message: str) -> None:
    given = {"file_pattern": pattern, "batch_size": 2, "reader": tf.TFRecordReader, **arguments}
    with pytest.raises(ValueError, match=message):
        tf.contrib.learn.read_batch_examples(**given)


def test_tables() -> None:
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1, 2], "b": [True, False]})
    assert io.extract_pandas_data(table).tolist() == [[1, 1], [2, 0]]
    assert io.extract_pandas_labels(table[["a"]]).tolist() == [[1], [2]]
    with pytest.raises(ValueError, match="Only one column"):
        io.extract_pandas_labels(table)
    with pytest.raises(ValueError, match="must be int, float, or bool"):
        io.extract_pandas_data(pandas.DataFrame({"a": ["x"]}))


def test_what_is_no_table_is_left_alone() -> None:
    data = [1, 2]
    assert io.extract_pandas_data(data) is io.extract_pandas_matrix(data) is data
    assert io.extract_pandas_labels(data) is data
