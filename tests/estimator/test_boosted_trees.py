"""Boosted trees: training, predictions and explanations. Values are those of TensorFlow 1.15."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from penstock.python.estimator.canned import boosted_trees, boosted_trees_utils

import penstock as tf
from penstock import proto

FEATURES = {
    "f0": np.array([12.5, 1.0, -2.001, -2.0001, -1.999, 3.0, 4.0], "f"),
    "f1": np.array([2.0, -3.0, 0.5, 1.0, 1.0, 2.5, -1.0], "f"),
    "c": np.array(["bad", "good", "ok", "ok", "good", "bad", "x"]),
    "id": np.array(list("abcdefg")),
}
CLASSES = np.array([[0.0], [1.0], [1.0], [0.0], [0.0], [1.0], [0.0]], "f")
NUMBERS = np.array([[1.5], [0.3], [0.2], [2.0], [5.0], [0.1], [-1.0]], "f")

column = tf.feature_column
NUMERIC = [column.numeric_column("f0"), column.numeric_column("f1")]
BUCKETIZED = [
    column.bucketized_column(column.numeric_column("f0"), [-2.001, -1.999, 12.5]),
    column.bucketized_column(column.numeric_column("f1"), [0.0, 1.0]),
]
WORDS = column.categorical_column_with_vocabulary_list("c", ["bad", "good", "ok"])


def _input(labels: np.ndarray, batch: int | None = None) -> Any:
    def input_fn() -> Any:
        if batch is None:
            return tf.data.Dataset.from_tensors((FEATURES, labels)).repeat()
        return tf.data.Dataset.from_tensor_slices((FEATURES, labels)).batch(batch).repeat()

    return input_fn


def _once(labels: np.ndarray) -> Any:
    return lambda: tf.data.Dataset.from_tensors((FEATURES, labels))


def _trained(kind: Any, path: Path, labels: np.ndarray, batch: Any = None, **settings: Any) -> Any:
    settings = {"n_batches_per_layer": 1, "n_trees": 2, "max_depth": 3, **settings}
    estimator = kind(model_dir=str(path), **settings)
    estimator.train(_input(labels, batch), steps=60)
    return estimator


def _predictions(estimator: Any, labels: np.ndarray) -> list[float]:
    return [next(iter(p.values()))[0] for p in estimator.predict(_once(labels))]


def test_a_classifier(tmp_path: Path) -> None:
    classifier = tf.estimator.BoostedTreesClassifier
    estimator = _trained(classifier, tmp_path, CLASSES, feature_columns=NUMERIC)
    metrics = estimator.evaluate(_once(CLASSES), steps=1)
    assert metrics["accuracy"] == 1.0 and metrics["global_step"] == 6
    assert metrics["loss"] == pytest.approx(0.4192, abs=1e-4)
    expected = [-0.8636, 0.6867, 0.6857, -0.5411, -0.5411, 0.4379, -0.8636]
    np.testing.assert_allclose(_predictions(estimator, CLASSES), expected, atol=1e-4)
    importances = estimator.experimental_feature_importances()
    assert list(importances) == ["f0", "f1"]
    np.testing.assert_allclose(list(importances.values()), [1.156, 0.5184], atol=1e-4)
    assert sum(estimator.experimental_feature_importances(normalize=True).values()) == 1
    reader = tf.train.load_checkpoint(str(tmp_path))
    ensemble = proto.TreeEnsemble.FromString(reader.get_tensor("boosted_trees:0_serialized"))
    assert len(ensemble.trees) == 3 and ensemble.tree_metadata[1].is_finalized
    assert "boosted_trees/QuantileAccumulator:0_bucket_boundaries_1" in (
        reader.get_variable_to_shape_map()
    )


def test_training_in_memory_gives_the_same_trees(tmp_path: Path) -> None:
    estimator = _trained(
        tf.estimator.BoostedTreesClassifier,
        tmp_path,
        CLASSES,
        feature_columns=NUMERIC,
        train_in_memory=True,
    )
    expected = [-0.8636, 0.6867, 0.6857, -0.5411, -0.5411, 0.4379, -0.8636]
    np.testing.assert_allclose(_predictions(estimator, CLASSES), expected, atol=1e-4)


def test_several_batches_a_layer_and_words(tmp_path: Path) -> None:
    estimator = _trained(
        tf.estimator.BoostedTreesRegressor,
        tmp_path,
        NUMBERS,
        batch=3,
        n_batches_per_layer=3,
        feature_columns=[*NUMERIC, column.indicator_column(WORDS)],
    )
    metrics = estimator.evaluate(_once(NUMBERS), steps=1)
    assert metrics["average_loss"] == pytest.approx(1.8261, abs=1e-4)
    importances = estimator.experimental_feature_importances()
    assert list(importances) == ["c", "f1", "f0"]
    np.testing.assert_allclose(list(importances.values()), [5.2957, 4.6982, 0.1795], atol=1e-3)


def test_a_centred_bias_and_explanations(tmp_path: Path) -> None:
    estimator = _trained(
        tf.estimator.BoostedTreesRegressor,
        tmp_path,
        NUMBERS,
        batch=4,
        n_batches_per_layer=2,
        feature_columns=NUMERIC,
        center_bias=True,
    )
    explained = list(estimator.experimental_predict_with_explanations(_once(NUMBERS)))
    predicted = _predictions(estimator, NUMBERS)
    for prediction, value in zip(explained, predicted, strict=True):
        assert prediction["bias"] == pytest.approx(1.2095, abs=1e-4)
        assert prediction["bias"] + sum(prediction["dfc"].values()) == pytest.approx(
            value, abs=1e-4
        )
    assert list(explained[0]["dfc"]) == ["f1", "f0"]
    np.testing.assert_allclose(list(explained[1]["dfc"].values()), [-0.4191, -0.1215], atol=1e-4)


@pytest.mark.parametrize(("mode", "steps"), [("post", 6), ("pre", 13)])
def test_pruning(tmp_path: Path, mode: str, steps: int) -> None:
    estimator = _trained(
        tf.estimator.BoostedTreesRegressor,
        tmp_path,
        NUMBERS,
        feature_columns=NUMERIC,
        tree_complexity=1.0,
        pruning_mode=mode,
    )
    assert estimator.get_variable_value("global_step") == steps
    expected = [0.2832, -0.007, 0.2259, 0.9317, 1.5564, 0.2832, -0.007]
    np.testing.assert_allclose(_predictions(estimator, NUMBERS), expected, atol=1e-4)


def test_a_head_and_a_function_of_old(tmp_path: Path) -> None:
    head = tf.estimator.RegressionHead(loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
    estimator = _trained(
        tf.estimator.BoostedTreesEstimator,
        tmp_path / "head",
        NUMBERS,
        feature_columns=BUCKETIZED,
        head=head,
        center_bias=True,
        l2_regularization=0.1,
    )
    expected = [1.3733, 0.564, 0.6647, 1.6154, 1.6668, 1.6668, 0.564]
    np.testing.assert_allclose(_predictions(estimator, NUMBERS), expected, atol=1e-4)
    trained = tf.estimator.experimental.boosted_trees_regressor_train_in_memory(
        _once(NUMBERS),
        BUCKETIZED,
        model_dir=str(tmp_path / "function"),
        n_trees=2,
        max_depth=3,
        center_bias=True,
        l2_regularization=0.1,
    )
    np.testing.assert_allclose(_predictions(trained, NUMBERS), expected, atol=1e-4)


def test_examples_with_ids_are_not_walked_through_all_trees_again(tmp_path: Path) -> None:
    from penstock.estimator.trees.growers import TreeHParams
    from penstock.estimator.trees.model import trees_model_fn

    head = tf.estimator.RegressionHead(loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE)
    settings = TreeHParams(2, 3, 0.1, 0.0, 0.1, 0.0, 0.0, True, "none", 0.01)

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        return trees_model_fn(
            features, labels, mode, head, BUCKETIZED, settings, 1, config, None, "id"
        )

    estimator = tf.estimator.Estimator(model_fn, model_dir=str(tmp_path))
    estimator.train(_input(NUMBERS), steps=60)
    expected = [1.3733, 0.564, 0.6647, 1.6154, 1.6668, 1.6668, 0.564]
    np.testing.assert_allclose(_predictions(estimator, NUMBERS), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pruning_mode": "x"}, "pruning_mode mode must be one of: none, post, pre"),
        ({"tree_complexity": 1.0}, "Tree complexity have no effect unless pruning"),
        ({"pruning_mode": "pre"}, "For pruning, tree_complexity must be positive"),
        ({"n_classes": 3}, "pruning is not supported with multi class"),
        ({"feature_columns": [WORDS]}, "must be wrapped by IndicatorColumn"),
    ],
)
def test_refusals(tmp_path: Path, settings: dict[str, Any], message: str) -> None:
    kind = tf.estimator.BoostedTreesClassifier
    with pytest.raises(ValueError, match=message):
        _trained(kind, tmp_path, CLASSES, **{"feature_columns": NUMERIC, **settings})


def test_explanations_need_a_centred_bias(tmp_path: Path) -> None:
    estimator = tf.estimator.BoostedTreesClassifier(NUMERIC, 1, model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="center_bias must be enabled"):
        next(estimator.experimental_predict_with_explanations(_once(CLASSES)))


def test_contributions_of_features_along_the_path_of_an_example():
    path = (0.21, 0.114, 1.214, 1.114, 6.114)
    bias, added = boosted_trees_utils._compute_directional_feature_contributions(
        (2, 2, 0, 0), path, boosted_trees_utils._identity, ("f_0", "f_1", "f_2")
    )
    assert bias == 0.21
    assert list(added) == ["f_0", "f_2", "f_1"]
    assert added["f_0"] == pytest.approx(4.9)
    assert added["f_2"] == pytest.approx(1.004)
    bias, added = boosted_trees_utils._compute_directional_feature_contributions(
        (2, 2, 0, 0), path, boosted_trees_utils._sigmoid, ("f_0", "f_1", "f_2")
    )
    assert added["f_0"] == pytest.approx(0.22678725678805578)


def test_heads_of_trees_are_for_two_classes_or_one_number():
    assert boosted_trees._create_classification_head(2).logits_dimension == 1
    assert boosted_trees._create_regression_head(label_dimension=1).logits_dimension == 1
    with pytest.raises(ValueError, match="only binary classification"):
        boosted_trees._create_classification_head(3)
    with pytest.raises(ValueError, match="only 1 dimension regression"):
        boosted_trees._create_regression_head(label_dimension=2)
