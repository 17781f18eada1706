"""Feature columns: arguments, protocols, layers, sequences, serialization, custom columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from penstock.python.feature_column import feature_column as fc_old
from penstock.python.feature_column import feature_column_v2 as fc_new
from penstock.python.feature_column import sequence_feature_column, serialization

import penstock as tf

fc = tf.feature_column


@pytest.fixture(autouse=True)
def _new_graph() -> Any:
    with tf.Graph().as_default():
        yield


def run(tensors: Any) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(tensors)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: fc.numeric_column(1), ValueError, "key must be a string"),
        (lambda: fc.numeric_column("a", shape=[0]), ValueError, "greater than 0"),
        (lambda: fc.numeric_column("a", shape=[1.5]), TypeError, "must be integer"),
        (lambda: fc.numeric_column("a", default_value=[1, 2]), ValueError, "The shape of default"),
        (lambda: fc.numeric_column("a", dtype=tf.string), ValueError, "convertible to float"),
        (lambda: fc.numeric_column("a", normalizer_fn="f"), TypeError, "must be a callable"),
        (lambda: fc.bucketized_column(fc.numeric_column("a"), [2, 1]), ValueError, "sorted"),
        (lambda: fc.bucketized_column(fc.numeric_column("a"), []), ValueError, "not be empty"),
        (lambda: fc.categorical_column_with_hash_bucket("a", 0), ValueError, "at least 1"),
        (lambda: fc.categorical_column_with_identity("a", 2, 2), ValueError, "not in range"),
        (
            lambda: fc.categorical_column_with_vocabulary_list("a", ["x", "x"]),
            ValueError,
            "Duplicate",
        ),
        (
            lambda: fc.categorical_column_with_vocabulary_file("a", "none"),
            ValueError,
            "does not exist",
        ),
        (lambda: fc.crossed_column(["a"], 3), ValueError, "length > 1"),
        (
            lambda: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("b", 3)], 3),
            ValueError,
            "not supported for crossing",
        ),
        (
            lambda: fc.embedding_column(fc.categorical_column_with_identity("a", 2), 0),
            ValueError,
            "Invalid dimension",
        ),
    ],
)
def test_wrong_arguments(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize(
    ("features", "columns", "message"),
    [
        ({"a": [1.0]}, [3], "must be a _FeatureColumn"),
        ({"a": [1]}, [fc.categorical_column_with_identity("a", 2)], "must be a _DenseColumn"),
        ({"a": [1.0]}, [fc.numeric_column("b")], "b is not in features dictionary"),
        ({"a": 1.0}, [fc.numeric_column("a")], "cannot have rank 0"),
        ({"a": [1.0], "b": [1.0, 2.0]}, [fc.numeric_column("a"), fc.numeric_column("b")], "Batch"),
        ({"a": [1.0]}, [fc.numeric_column("a"), fc.numeric_column("a")], "Duplicate feature"),
        ({"a": [1.0]}, [], "must not be empty"),
        ({"a": [1.0]}, {"a": fc.numeric_column("a")}, "found dict"),
    ],
)
def test_wrong_inputs(features: Any, columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fc.input_layer({key: tf.constant(value) for key, value in features.items()}, columns)


def test_ids_out_of_range_are_an_error() -> None:
    column = fc.indicator_column(fc.categorical_column_with_identity("a", 3))
    layer = fc.input_layer({"a": tf.constant([[1, 7]])}, [column])
    with pytest.raises(tf.errors.InvalidArgumentError, match="exceeds number of buckets"):
        run(layer)


def test_parse_example_spec() -> None:
    columns = [
        fc.numeric_column("a", shape=(2,), default_value=1),
        fc.crossed_column(["b", "c"], 5),
        fc.weighted_categorical_column(fc.categorical_column_with_identity("k", 3), "w"),
    ]
    assert fc.make_parse_example_spec(columns) == {
        "a": tf.FixedLenFeature((2,), tf.float32, (1, 1)),
        "b": tf.VarLenFeature(tf.string),
        "c": tf.VarLenFeature(tf.string),
        "k": tf.VarLenFeature(tf.int64),
        "w": tf.VarLenFeature(tf.float32),
    }
    with pytest.raises(ValueError, match="different parse_spec for key a"):
        fc.make_parse_example_spec([columns[0], fc.numeric_column("a")])


def test_vocabulary_file(tmp_path: Any) -> None:
    path = tmp_path / "words"
    path.write_text("x\ny\nz\n")
    column = fc.categorical_column_with_vocabulary_file("s", str(path), num_oov_buckets=1)
    assert column.num_buckets == 4
    layer = fc.input_layer({"s": tf.constant([["z"], ["q"]])}, [fc.indicator_column(column)])
    np.testing.assert_array_equal(run(layer), [[0, 0, 1, 0], [0, 0, 0, 1]])


def test_dense_features_make_their_variables_once() -> None:
    column = fc.embedding_column(fc.categorical_column_with_identity("k", 3), 2)
    layer = fc_new.DenseFeatures([column, fc.numeric_column("n")])
    features = {"k": tf.constant([[0], [2]]), "n": tf.constant([1.0, 2.0])}
    parts: dict[Any, Any] = {}
    first, second = layer(features, cols_to_output_tensors=parts), layer(features)
    assert [each.name for each in layer.trainable_variables] == [
        "dense_features/k_embedding/embedding_weights:0"
    ]
    assert set(parts) == {column, fc.numeric_column("n")}
    a, b = run([first, second])
    np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="expected a dictionary"):
        fc_new.DenseFeatures([fc.numeric_column("n")])(tf.constant([1.0]))


def test_linear_model_layer() -> None:
    model = fc_new.LinearModel([fc.numeric_column("n")], units=2)
    sums = model({"n": tf.constant([1.0, 2.0])})
    assert [each.name for each in model.variables] == [
        "linear_model/n/weights:0",
        "linear_model/bias_weights:0",
    ]
    assert model.bias.shape.as_list() == [2]
    np.testing.assert_array_equal(run(sums), np.zeros((2, 2)))


def test_sequences() -> None:
    numbers = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
    categories = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], np.array([1, 2, 0], np.int64), [2, 2])
    columns = [
        fc.sequence_numeric_column("n"),
        fc.indicator_column(fc.sequence_categorical_column_with_identity("k", 3)),
    ]
    layer = sequence_feature_column.SequenceFeatures(columns)
    values, lengths = run(layer({"n": numbers, "k": categories}))
    np.testing.assert_array_equal(lengths, [2, 1])
    np.testing.assert_array_equal(
        values, [[[0, 1, 0, 1], [0, 0, 1, 2]], [[1, 0, 0, 3], [0, 0, 0, 0]]]
    )
    with pytest.raises(ValueError, match="must not be of type _SequenceCategoricalColumn"):
        fc.input_layer({"k": categories}, [columns[1]])


@pytest.mark.parametrize(
    "column",
    [
        fc.numeric_column("a", shape=(2,)),
        fc.bucketized_column(fc.numeric_column("a"), [1, 2]),
        fc.crossed_column(["a", fc.categorical_column_with_identity("k", 3)], 5),
        fc.indicator_column(fc.categorical_column_with_vocabulary_list("k", ["a", "b"])),
        fc.sequence_numeric_column("a"),
    ],
)
def test_serialization(column: Any) -> None:
    plain = serialization.serialize_feature_column(column)
    assert serialization.deserialize_feature_column(plain) == column


def test_serialized_functions_come_from_the_caller() -> None:
    def double(x: Any) -> Any:
        return 2 * x

    plain = serialization.serialize_feature_column(fc.numeric_column("a", normalizer_fn=double))
    with pytest.raises(ValueError, match="Unknown function: double"):
        serialization.deserialize_feature_column(plain)
    found = serialization.deserialize_feature_column(plain, {"double": double})
    assert found.normalizer_fn is double


def test_a_column_of_the_older_protocol() -> None:
    class Doubled(fc_old._DenseColumn):
        name = property(lambda self: "doubled")
        _parse_example_spec = property(lambda self: {})
        _variable_shape = property(lambda self: tf.TensorShape([1]))

        def _transform_feature(self, inputs: Any) -> Any:
            return inputs.get("n") * 2

        def _get_dense_tensor(self, inputs: Any, weight_collections=None, trainable=None) -> Any:
            return inputs.get(self)

    layer = fc.input_layer({"n": tf.constant([1.0, 2.0])}, [Doubled(), fc.numeric_column("n")])
    np.testing.assert_array_equal(run(layer), [[2, 1], [4, 2]])
    assert not fc_new.is_feature_column_v2([Doubled()])


def test_features_are_transformed_once() -> None:
    calls = []

    def count(x: Any) -> Any:
        calls.append(x)
        return x

    column = fc.numeric_column("n", normalizer_fn=count)
    builder = fc_old._LazyBuilder({"n": tf.constant([1.0])})
    assert builder.get(column) is builder.get(column)
    assert len(calls) == 1
    with pytest.raises(TypeError, match='must be either a "str" or "_FeatureColumn"'):
        builder.get(3)


def test_embedding_from_a_checkpoint(tmp_path: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("table", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    column = fc.embedding_column(
        fc.categorical_column_with_identity("k", 3),
        2,
        ckpt_to_load_from=path,
        tensor_name_in_ckpt="table",
    )
    layer = fc.input_layer({"k": tf.constant([[2], [0]])}, [column])
    np.testing.assert_array_equal(run(layer), [[4, 5], [0, 1]])
