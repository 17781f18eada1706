"""Canned estimators on small data, for Penstock and for TensorFlow alike."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

EXAMPLES = 24


def data() -> tuple[dict[str, Any], dict[str, Any]]:
    """Features, and labels of several kinds."""
    random = np.random.RandomState(0)
    features = {
        "x": random.randn(EXAMPLES, 2).astype(np.float32),
        "k": random.randint(0, 4, (EXAMPLES, 1)).astype(np.int64),
        "w": random.rand(EXAMPLES, 1).astype(np.float32),
    }
    total = features["x"].sum(1)
    labels = {
        "two": (total > 0).astype(np.int64),
        "three": random.randint(0, 3, EXAMPLES).astype(np.int64),
        "named": np.array(["no", "yes"])[(total > 0).astype(int)],
        "number": (total * 2).astype(np.float32),
    }
    return features, labels


def models(tf: Any, est: Any) -> dict[str, tuple[Callable[..., Any], str]]:
    """Functions that make estimators, and the labels they take."""
    fc = tf.feature_column
    x = fc.numeric_column("x", shape=(2,))
    k = fc.categorical_column_with_identity("k", 4)
    embedded = fc.embedding_column(k, 3)
    shared = fc.shared_embedding_columns([k], 2)

    return {
        "dnn_classifier": (lambda **kw: est.DNNClassifier([4, 3], [x, embedded], **kw), "two"),
        "dnn_three_classes": (
            lambda **kw: est.DNNClassifier(
                [4],
                [x, fc.indicator_column(k)],
                n_classes=3,
                batch_norm=True,
                weight_column="w",
                **kw,
            ),
            "three",
        ),
        "dnn_named_classes": (
            lambda **kw: est.DNNClassifier(
                [4], [x], label_vocabulary=["no", "yes"], optimizer="Adam", **kw
            ),
            "named",
        ),
        "dnn_shared_embedding": (lambda **kw: est.DNNClassifier([4], [x, *shared], **kw), "two"),
        "dnn_regressor": (
            lambda **kw: est.DNNRegressor([4], [x], weight_column="w", **kw),
            "number",
        ),
        "linear_classifier": (lambda **kw: est.LinearClassifier([x, k], **kw), "two"),
        "linear_three_classes": (
            lambda **kw: est.LinearClassifier([x, k], n_classes=3, **kw),
            "three",
        ),
        "linear_regressor": (lambda **kw: est.LinearRegressor([x, k], **kw), "number"),
        "combined_classifier": (
            lambda **kw: est.DNNLinearCombinedClassifier(
                linear_feature_columns=[k, x],
                dnn_feature_columns=[x, embedded],
                dnn_hidden_units=[4],
                **kw,
            ),
            "two",
        ),
        "combined_regressor": (
            lambda **kw: est.DNNLinearCombinedRegressor(
                linear_feature_columns=[k], dnn_feature_columns=[x], dnn_hidden_units=[4], **kw
            ),
            "number",
        ),
        "baseline_classifier": (lambda **kw: est.BaselineClassifier(n_classes=3, **kw), "three"),
        "baseline_regressor": (lambda **kw: est.BaselineRegressor(**kw), "number"),
    }


def results(tf: Any, est: Any, name: str) -> dict[str, Any]:
    """What an estimator has learned after five steps."""
    features, labels = data()
    make, label = models(tf, est)[name]

    def input_fn() -> Any:
        return {key: tf.constant(v) for key, v in features.items()}, tf.constant(labels[label])

    with tempfile.TemporaryDirectory() as folder:
        estimator = make(model_dir=folder, config=est.RunConfig(tf_random_seed=3))
        estimator.train(input_fn, steps=5)
        metrics = estimator.evaluate(input_fn, steps=1)
        one = next(iter(estimator.predict(lambda: tf.data.Dataset.from_tensors(features))))
        return {
            "metrics": {key: float(value) for key, value in sorted(metrics.items())},
            "variables": sorted(estimator.get_variable_names()),
            "prediction": {key: _plain(value) for key, value in sorted(one.items())},
        }


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return [text.decode() for text in array.ravel()]
    return array.tolist()
