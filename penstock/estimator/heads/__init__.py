"""Heads: from the logits of a model to its predictions, loss and metrics."""

from penstock.estimator.heads.class_heads import BinaryClassHead, MultiClassHead
from penstock.estimator.heads.head import Head
from penstock.estimator.heads.multi_head import MultiHead
from penstock.estimator.heads.multi_label_head import MultiLabelHead
from penstock.estimator.heads.regression_heads import (
    LogisticRegressionHead,
    PoissonRegressionHead,
    RegressionHead,
)

__all__ = [
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
]
