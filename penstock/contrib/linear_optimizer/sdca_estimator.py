"""Estimators of linear models that dual coordinate ascent trains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.contrib.learn.dual_ascent import UpdateWeightsHook
from penstock.contrib.learn.dual_ascent import sdca_model_fn as model_fn_of_optimizer
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.head import multi_class_head, regression_head
from penstock.contrib.learn.model_fn import ModelFnOps, PredictionKey
from penstock.contrib.learn.single_heads import (
    _BinaryLogisticHead,
    _BinarySvmHead,
    _RegressionHead,
)
from penstock.contrib.linear_optimizer.sdca_optimizer import SDCAOptimizer

__all__ = ["SDCALinearRegressor", "SDCALogisticClassifier", "sdca_model_fn"]


def sdca_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> ModelFnOps:
    """A linear model trained by dual coordinate ascent."""
    partitions = params["num_loss_partitions"] or max(1, config.num_worker_replicas)
    optimizer = SDCAOptimizer(
        example_id_column=params["example_id_column"],
        num_loss_partitions=partitions,
        symmetric_l1_regularization=params["l1_regularization"],
        symmetric_l2_regularization=params["l2_regularization"],
        partitioner=params["partitioner"],
    )
    return model_fn_of_optimizer(features, labels, mode, {**params, "optimizer": optimizer})


class _SDCAEstimator(Estimator):
    """A linear model with a head of one output.

    Args:
      example_id_column: the feature with a string for each example that is its own.
      l1_regularization, l2_regularization: of all examples together.
      num_loss_partitions: how many train at once; as many as there are workers by default.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        head: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 1.0,
        num_loss_partitions: int | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        partitioner: Any = None,
    ):
        if not feature_columns:
            raise AssertionError("feature_columns must not be empty.")
        if not isinstance(head, _BinaryLogisticHead | _BinarySvmHead | _RegressionHead):
            raise ValueError(
                f"head type: {type(head)} is not supported. Supported head types: "
                "_BinaryLogisticHead, _BinarySvmHead and _RegressionHead."
            )
        if head.logits_dimension != 1:
            raise AssertionError("SDCA only applies to logits_dimension=1.")
        params = {
            "head": head,
            "feature_columns": feature_columns,
            "example_id_column": example_id_column,
            "num_loss_partitions": num_loss_partitions,
            "l1_regularization": l1_regularization,
            "l2_regularization": l2_regularization,
            "weight_column_name": weight_column_name,
            "update_weights_hook": UpdateWeightsHook(),
            "partitioner": partitioner,
        }
        super().__init__(sdca_model_fn, model_dir, config, params, feature_engineering_fn)

    def _each(self, key: str, input_fn: Any) -> Iterator[Any]:
        return (found[key] for found in self.predict(input_fn=input_fn, outputs=[key]))


class SDCALogisticClassifier(_SDCAEstimator):
    """A logistic regression for two classes.

    Args:
      example_id_column: the feature with a string for each example that is its own.
      l1_regularization, l2_regularization: of all examples together.
      num_loss_partitions: how many train at once; as many as there are workers by default.
    """

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 1.0,
        num_loss_partitions: int | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        partitioner: Any = None,
    ):
        super().__init__(
            example_id_column,
            feature_columns,
            weight_column_name,
            model_dir,
            multi_class_head(n_classes=2, weight_column_name=weight_column_name),
            l1_regularization,
            l2_regularization,
            num_loss_partitions,
            config,
            None,
            partitioner,
        )

    def predict_classes(self, input_fn: Any = None) -> Iterator[Any]:
        """The classes that are predicted."""
        return self._each(PredictionKey.CLASSES, input_fn)

    def predict_proba(self, input_fn: Any = None) -> Iterator[Any]:
        """The probabilities of the classes."""
        return self._each(PredictionKey.PROBABILITIES, input_fn)


class SDCALinearRegressor(_SDCAEstimator):
    """A linear regression; see `SDCALogisticClassifier`."""

    def __init__(
        self,
        example_id_column: str,
        feature_columns: Any,
        weight_column_name: str | None = None,
        model_dir: Any = None,
        l1_regularization: float = 0.0,
        l2_regularization: float = 1.0,
        num_loss_partitions: int | None = None,
        config: Any = None,
        feature_engineering_fn: Any = None,
        partitioner: Any = None,
    ):
        super().__init__(
            example_id_column,
            feature_columns,
            weight_column_name,
            model_dir,
            regression_head(weight_column_name=weight_column_name),
            l1_regularization,
            l2_regularization,
            num_loss_partitions,
            config,
            None,
            partitioner,
        )

    def predict_scores(self, input_fn: Any) -> Iterator[Any]:
        """The numbers that are predicted."""
        return self._each(PredictionKey.SCORES, input_fn)
