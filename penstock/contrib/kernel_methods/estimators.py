"""A linear classifier of features that kernels map."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib import layers
from penstock.contrib.kernel_methods.mappers import DenseKernelMapper
from penstock.contrib.layers.columns.real_valued import _RealValuedColumn
from penstock.contrib.learn.canned_models import linear_model_fn
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.head import multi_class_head
from penstock.contrib.learn.model_fn import ModelFnOps, PredictionKey

__all__ = ["KernelLinearClassifier"]


class KernelLinearClassifier(Estimator):
    """A linear model of columns, and of columns that kernel mappers have mapped.

    Args:
      kernel_mappers: for real-valued columns, the list of mappers whose results are features, too.
    """

    def __init__(
        self,
        feature_columns: Any = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column_name: str | None = None,
        optimizer: Any = None,
        kernel_mappers: Any = None,
        config: Any = None,
    ):
        if not feature_columns and not kernel_mappers:
            raise ValueError("You should set at least one of feature_columns, kernel_mappers.")
        for mappers in (kernel_mappers or {}).values():
            if not all(isinstance(mapper, DenseKernelMapper) for mapper in mappers):
                raise ValueError("Invalid kernel mappers.")
        params = {
            "head": multi_class_head(n_classes=n_classes, weight_column_name=weight_column_name),
            "feature_columns": feature_columns or [],
            "optimizer": optimizer,
            "kernel_mappers": kernel_mappers,
        }
        super().__init__(
            model_fn=_kernel_model_fn, model_dir=model_dir, config=config, params=params
        )

    def predict_classes(self, input_fn: Any = None) -> Any:
        """The classes that are predicted."""
        key = PredictionKey.CLASSES
        return (row[key] for row in self.predict(input_fn=input_fn, outputs=[key]))

    def predict_proba(self, input_fn: Any = None) -> Any:
        """The probabilities of the classes."""
        key = PredictionKey.PROBABILITIES
        return (row[key] for row in self.predict(input_fn=input_fn, outputs=[key]))


def _kernel_model_fn(
    features: Any, labels: Any, mode: str, params: dict[str, Any], config: Any = None
) -> ModelFnOps:
    features, columns = dict(features), list(dict.fromkeys(params["feature_columns"]))
    for column, mappers in (params["kernel_mappers"] or {}).items():
        if not isinstance(column, _RealValuedColumn):
            logging.warning(
                "Updates are currently supported on RealValuedColumns only. Metadata for "
                "FeatureColumn %s will not be updated.",
                column.name,
            )
            continue
        name = f"{column.name}_MAPPED"
        features[name] = tf.concat([mapper.map(features[column.name]) for mapper in mappers], 1)
        size = sum(mapper.output_dim for mapper in mappers)
        columns.append(layers.real_valued_column(name, size))
    return linear_model_fn(features, labels, mode, {**params, "feature_columns": columns}, config)
