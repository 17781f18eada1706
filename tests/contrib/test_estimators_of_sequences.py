"""`RNNClassifier`, `RNNEstimator` and networks with layer annotations of `tf.contrib.estimator`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.estimator import layer_annotations, recurrent

# A cell of two units and its logits, and what TensorFlow's contrib tests say they compute.
CELL = ([[0.1, -0.2], [0.2, -0.3], [0.3, -0.4]], [0.2, 0.5])
LOGITS = ([[-1.0], [1.0]], [0.3])
NAMES = {
    "rnn/rnn/basic_rnn_cell/kernel": CELL[0],
    "rnn/rnn/basic_rnn_cell/bias": CELL[1],
    "rnn/logits/dense/kernel": LOGITS[0],
    "rnn/logits/dense/bias": LOGITS[1],
}


def prices() -> dict[str, Any]:
    return {"price": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [10.0, 5.0, 2.0], [2, 2])}


def price_columns() -> list[Any]:
    return [tf.contrib.feature_column.sequence_numeric_column("price")]


def save_known_model(directory: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variables = [tf.Variable(value, name=name) for name, value in NAMES.items()]
        step = tf.train.create_global_step()
        session.run(tf.global_variables_initializer())
        tf.train.Saver([*variables, step]).save(session, str(directory / "model"))


@pytest.mark.parametrize(
    ("sequences", "expected"),
    [
        (False, [[-0.6033], [0.0197]]),
        (True, [[[-1.4388], [-0.6033]], [[0.0197], [0.3]]]),
    ],
)
def test_logits_of_the_last_step_or_of_all(sequences: bool, expected: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.variable_scope("rnn"):
            logit_fn = recurrent._rnn_logit_fn_builder(
                output_units=1,
                rnn_cell_fn=recurrent._make_rnn_cell_fn([2]),
                sequence_feature_columns=price_columns(),
                context_feature_columns=[],
                input_layer_partitioner=None,
                return_sequences=sequences,
            )
            logits, real_steps = logit_fn(features=prices(), mode="infer")
        for variable in tf.global_variables():
            session.run(variable.assign(NAMES[variable.op.name]))
        np.testing.assert_allclose(session.run(logits), expected, atol=1e-4)
        assert session.run(real_steps).tolist() == [[True, True], [True, False]]


def test_a_classifier_evaluates_a_known_model(tmp_path: Path) -> None:
    save_known_model(tmp_path)
    classifier = tf.contrib.estimator.RNNClassifier(
        price_columns(), num_units=[2], model_dir=str(tmp_path)
    )
    metrics = classifier.evaluate(lambda: (prices(), [[0], [1]]), steps=1)
    assert metrics["loss"] == pytest.approx(0.559831, abs=1e-5)
    assert metrics["accuracy"] == 1.0


def test_names_of_variables_are_tensorflows(tmp_path: Path) -> None:
    tokens = tf.contrib.feature_column.sequence_categorical_column_with_hash_bucket("tokens", 10)
    column = tf.feature_column.embedding_column(tokens, dimension=2)

    def words() -> Any:
        found = tf.SparseTensor([[0, 0], [0, 1]], ["the", "cat"], [1, 2])
        return {"tokens": found}, [[1]]

    estimator = tf.contrib.estimator.RNNEstimator(
        tf.contrib.estimator.multi_class_head(3),
        [column],
        num_units=[4, 2],
        cell_type="gru",
        model_dir=str(tmp_path),
    )
    estimator.train(words, steps=2)
    shapes = dict(tf.train.list_variables(str(tmp_path)))
    assert shapes["rnn/rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel"] == [6, 4]
    embedding = "rnn/sequence_input_layer/sequence_input_layer/tokens_embedding/embedding_weights"
    assert shapes[embedding] == [10, 2]
    assert shapes["rnn/logits/dense/kernel"] == [2, 3]


def test_settings_that_contradict_each_other() -> None:
    make = tf.contrib.estimator.RNNClassifier
    for more in ({"num_units": [4]}, {"cell_type": "lstm"}):
        with pytest.raises(ValueError, match="must not be specified when using rnn_cell_fn"):
            make(price_columns(), rnn_cell_fn=lambda mode: mode, **more)
    with pytest.raises(ValueError, match="must be a `_SequentialHead` object"):
        tf.contrib.estimator.RNNEstimator(
            tf.contrib.estimator.multi_class_head(3), price_columns(), return_sequences=True
        )


@pytest.mark.parametrize(
    "make",
    [
        tf.contrib.estimator.DNNClassifierWithLayerAnnotations,
        tf.contrib.estimator.DNNRegressorWithLayerAnnotations,
    ],
)
def test_annotations_tell_features_and_columns(make: Any, tmp_path: Path) -> None:
    vocabulary = tf.feature_column.categorical_column_with_vocabulary_list("y", ["a", "b"])
    columns = [
        tf.feature_column.numeric_column("x"),
        tf.feature_column.embedding_column(vocabulary, dimension=3),
    ]
    estimator = make((2,), columns, model_dir=str(tmp_path))
    names = layer_annotations.LayerAnnotationsCollectionNames
    with tf.Graph().as_default() as graph:
        features = {"x": tf.constant([[1.0]]), "y": tf.constant([["a"]])}
        estimator.model_fn(features, None, tf.estimator.ModeKeys.PREDICT, config=None)
        keys = graph.get_collection(names.keys(names.UNPROCESSED_FEATURES))
        assert sorted(keys) == ["x", "y"]
        assert graph.get_collection(names.keys(names.PROCESSED_FEATURES)) == ["x", "y_embedding"]
        assert len(graph.get_collection(names.FEATURE_COLUMNS)) == 2
        packed = graph.get_collection(names.values(names.PROCESSED_FEATURES))[1]
        info = tf.MetaGraphDef().signature_def["s"].inputs["t"]
        assert packed.Unpack(info)
        assert [dim.size for dim in info.tensor_shape.dim] == [1, 3]
        # The variables are those of the plain estimator.
        assert (
            "dnn/input_from_feature_columns/input_layer/y_embedding/embedding_weights/part_0"
            in [variable.op.name for variable in tf.global_variables()]
        )
