"""The feature columns of tf.contrib.layers, against TensorFlow 1.15 with the same models."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.contrib.column_scenarios import SCENARIOS, features
from tests.contrib.outlying_results import results

layers = tf.contrib.layers
RECORDED = json.loads((pathlib.Path(__file__).parent / "recorded" / "columns.json").read_text())


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(name: str) -> None:
    found, expected = results(tf, SCENARIOS[name]), RECORDED[name]
    assert found["variables"] == expected["variables"]
    assert found["shapes"] == expected["shapes"]
    assert found["values"].keys() == expected["values"].keys()
    for key, (dtype, value) in expected["values"].items():
        assert found["values"][key][0] == dtype, key
        if dtype == "object":
            assert found["values"][key][1] == value
        else:
            np.testing.assert_allclose(
                found["values"][key][1], value, rtol=1e-5, atol=1e-6, err_msg=key
            )


def hashed(name: str = "word", **options: Any) -> Any:
    return layers.sparse_column_with_hash_bucket(name, 10, **options)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: layers.sparse_column_with_hash_bucket("a", 0), ValueError, "at least 1"),
        (lambda: hashed(dtype=tf.float32), ValueError, "dtype must be string or integer"),
        (lambda: hashed(hash_keys=[[1]]), ValueError, "must be a pair of integers"),
        (lambda: layers.sparse_column_with_vocabulary_file("a", "f"), ValueError, "vocab_size"),
        (lambda: layers.weighted_sparse_column(hashed(), "w", tf.string), ValueError, "to float"),
        (lambda: layers.embedding_column(hashed(), 4, initializer=3), ValueError, "callable"),
        (lambda: layers.embedding_column(hashed(), 4, ckpt_to_load_from="x"), ValueError, "both"),
        (lambda: layers.shared_embedding_columns("a", 3), TypeError, "non-string sequence"),
        (lambda: layers.shared_embedding_columns([], 3), ValueError, "at least one"),
        (lambda: layers.scattered_embedding_column("a", 0, 3, 1), ValueError, "greater than 0"),
        (lambda: layers.real_valued_column("a", 0), ValueError, "greater than 0"),
        (lambda: layers.real_valued_column("a", "0"), TypeError, "must be an integer"),
        (lambda: layers.real_valued_column("a", 2, [1]), ValueError, "equal to dimension"),
        (lambda: layers.real_valued_column("a", 1, 1.5, tf.int32), TypeError, "compatible"),
        (lambda: layers.bucketized_column(hashed(), [1]), TypeError, "_RealValuedColumn"),
        (
            lambda: layers.bucketized_column(layers.real_valued_column("a"), [2, 1]),
            ValueError,
            "sorted list",
        ),
        (lambda: layers.crossed_column([hashed()], 10), ValueError, "at least 2 elements"),
        (lambda: layers.check_feature_columns([hashed(), hashed()]), ValueError, "Duplicate"),
        (lambda: layers.create_feature_spec_for_parsing([3]), TypeError, "_FeatureColumn"),
        (lambda: layers.multi_class_target(1), ValueError, "must be > 1"),
    ],
)
def test_what_columns_refuse(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_what_models_refuse() -> None:
    given = features(tf)
    crossed = layers.crossed_column([hashed(), hashed("other")], 9)
    with pytest.raises(ValueError, match="SparseColumn is not supported in DNN"):
        layers.input_from_feature_columns(given, [hashed()])
    with pytest.raises(ValueError, match=r"doesn't contain key \(other\)"):
        layers.weighted_sum_from_feature_columns(given, [crossed], 1)
    with pytest.raises(ValueError, match="not supported in linear models"):
        layers.weighted_sum_from_feature_columns(given, [layers.embedding_column(hashed(), 2)], 1)
    with pytest.raises(NotImplementedError, match="Real-valued columns are not supported"):
        layers.joint_weighted_sum_from_feature_columns(
            given, [layers.real_valued_column("price", 2)], 1
        )
    with pytest.raises(ValueError, match="_CrossedColumn, which is not currently supported"):
        layers.sequence_input_from_feature_columns(given, [layers.embedding_column(crossed, 3)])


def test_embedding_from_a_checkpoint(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "model")
    table = np.arange(20, dtype=np.float32).reshape(10, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(table, name="table")
        session.run(variable.initializer)
        tf.train.Saver().save(session, path)
    column = layers.embedding_column(
        layers.sparse_column_with_integerized_feature("id", 10),
        2,
        ckpt_to_load_from=path,
        tensor_name_in_ckpt="table",
    )
    layer = layers.input_from_feature_columns(features(tf), [column])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(layer), [[14, 15], [5, 6], [0, 1], [0, 0]])
