"""What tests of estimators share: the irises as inputs, and what every estimator must have."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.learn.datasets import base

#: What an estimator of `tf.contrib.learn` has.
_CONTRACT = (
    "config evaluate export fit get_variable_names get_variable_value model_dir predict"
).split()


def assert_estimator_contract(tester: Any, estimator_class: type) -> None:
    """Fails the test if a class lacks a method that estimators have."""
    missing = [name for name in _CONTRACT if not hasattr(estimator_class, name)]
    if missing:
        tester.fail(f"{estimator_class.__name__} lacks {', '.join(missing)}.")


def assert_in_range(min_value: Any, max_value: Any, key: str, metrics: dict[str, Any]) -> None:
    """ValueError unless a metric lies in a range."""
    value = metrics[key]
    if value < min_value:
        raise ValueError(f"{key}: {value} < {min_value}.")
    if value > max_value:
        raise ValueError(f"{key}: {value} > {max_value}.")


def get_quantile_based_buckets(feature_values: Any, num_buckets: int) -> list[Any]:
    """The boundaries that cut values into parts of equal size."""
    shares = [100 * (i + 1.0) / (num_buckets + 1.0) for i in range(num_buckets)]
    return list(np.percentile(np.array(feature_values), shares))


def prepare_iris_data_for_logistic_regression() -> base.Dataset:
    """The irises of the first two kinds."""
    iris = base.load_iris()
    chosen = np.where(iris.target <= 1)
    return base.Dataset(data=iris.data[chosen], target=iris.target[chosen])


def iris_input_multiclass_fn() -> tuple[dict[str, Any], Any]:
    """An input function of all irises."""
    return _as_inputs(base.load_iris())


def iris_input_logistic_fn() -> tuple[dict[str, Any], Any]:
    """An input function of the irises of the first two kinds."""
    return _as_inputs(prepare_iris_data_for_logistic_regression())


def _as_inputs(iris: base.Dataset) -> tuple[dict[str, Any], Any]:
    labels = tf.constant(iris.target, shape=(len(iris.target), 1), dtype=tf.int32)
    return {"feature": tf.constant(iris.data, dtype=tf.float32)}, labels
