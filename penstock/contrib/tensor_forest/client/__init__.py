"""`tf.contrib.tensor_forest.client`: estimators of random forests, and their metrics."""

from penstock.contrib.tensor_forest.client import eval_metrics, random_forest

__all__ = ["eval_metrics", "random_forest"]
