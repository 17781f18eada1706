"""`tf.contrib.learn.KMeansClustering`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import penstock as tf
from penstock.contrib.factorization import clustering_ops
from penstock.contrib.factorization.kmeans import (
    _InitializeClustersHook,
    _LossRelativeChangeHook,
    _points,
)
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import ModelFnOps

__all__ = ["KMeansClustering"]


class KMeansClustering(Estimator):
    """An estimator that clusters points by k-means; see `tf.contrib.factorization`'s.

    Args:
      num_clusters: how many clusters there are.
      initial_clusters: the centers, a function that chooses them, or one of RANDOM_INIT and
        KMEANS_PLUS_PLUS_INIT.
      distance_metric: SQUARED_EUCLIDEAN_DISTANCE or COSINE_DISTANCE.
      relative_tolerance: training stops where the loss changes by less than this part of it.
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
    RANDOM_INIT = clustering_ops.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

    def __init__(
        self,
        num_clusters: Any,
        model_dir: Any = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
    ):
        params = {
            "num_clusters": num_clusters,
            "initial_clusters": initial_clusters,
            "distance_metric": distance_metric,
            "random_seed": random_seed,
            "use_mini_batch": use_mini_batch,
            "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
            "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries,
            "relative_tolerance": relative_tolerance,
        }
        super().__init__(_model_fn, model_dir, config, params)

    def predict_cluster_idx(self, input_fn: Any = None) -> Iterator[Any]:
        """The cluster of each point."""
        for found in super().predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield found[self.CLUSTER_IDX]

    def score(self, input_fn: Any = None, steps: int | None = None) -> Any:
        """The sum of the distances of points to their centers."""
        return np.sum(self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES])

    def transform(self, input_fn: Any = None, as_iterable: bool = False) -> Any:
        """The distances of each point to all centers."""
        key = self.ALL_SCORES
        found = super().predict(input_fn=input_fn, outputs=[key], as_iterable=as_iterable)
        return found if as_iterable else found[key]

    def clusters(self) -> Any:
        """The centers."""
        return self.get_variable_value(self.CLUSTERS)


def _model_fn(features: Any, labels: Any, mode: str, params: Any, config: Any) -> ModelFnOps:
    if labels is not None:
        raise AssertionError(labels)
    settings = dict(params)
    tolerance = settings.pop("relative_tolerance")
    kmeans = clustering_ops.KMeans(_points(features, None), **settings)
    all_scores, clusters, losses, is_initialized, init_op, training_op = kmeans.training_graph()
    step = tf.assign_add(tf.train.get_global_step(), 1)
    loss = tf.reduce_sum(losses, name=KMeansClustering.LOSS_OP_NAME)
    tf.summary.scalar("loss/raw", loss)
    with tf.control_dependencies([training_op, step]):
        training_op = tf.identity(loss)
    hooks: list[Any] = [_InitializeClustersHook(init_op, is_initialized, config.is_chief)]
    if tolerance is not None:
        hooks.append(_LossRelativeChangeHook(loss, tolerance))
    return ModelFnOps(
        mode=mode,
        predictions={
            KMeansClustering.ALL_SCORES: all_scores[0],
            KMeansClustering.CLUSTER_IDX: clusters[0],
        },
        eval_metric_ops={KMeansClustering.SCORES: loss},
        loss=loss,
        train_op=training_op,
        training_hooks=hooks,
    )
