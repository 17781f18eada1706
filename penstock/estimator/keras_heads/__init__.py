"""The heads of `tf.estimator`, whose metrics and optimizers are Keras'."""

from penstock.estimator.keras_heads.class_heads import (
    BinaryClassHead,
    MultiClassHead,
    binary_or_multi_class_head,
)
from penstock.estimator.keras_heads.head import Head
from penstock.estimator.keras_heads.multi_head import MultiHead
from penstock.estimator.keras_heads.multi_label_head import MultiLabelHead
from penstock.estimator.keras_heads.regression_heads import (
    LogisticRegressionHead,
    PoissonRegressionHead,
    RegressionHead,
)
from penstock.estimator.keras_heads.sequential_head import SequentialHeadWrapper

__all__ = [
    "BinaryClassHead",
    "Head",
    "LogisticRegressionHead",
    "MultiClassHead",
    "MultiHead",
    "MultiLabelHead",
    "PoissonRegressionHead",
    "RegressionHead",
    "SequentialHeadWrapper",
    "binary_or_multi_class_head",
]
