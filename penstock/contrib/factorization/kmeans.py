"""An estimator for k-means clustering."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import penstock as tf
from penstock import logging
from penstock.contrib.factorization import clustering_ops
from penstock.estimator.estimator import Estimator

__all__ = ["KMeansClustering"]


class _LossRelativeChangeHook(tf.train.SessionRunHook):
    """Stops where the loss changes by less than a fraction of itself."""

    def __init__(self, loss_tensor: Any, tolerance: float):
        self._loss_tensor = loss_tensor
        self._tolerance = tolerance
        self._prev_loss: Any = None

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        loss, before = run_values.results, self._prev_loss
        if before and abs(loss - before) / (1 + abs(before)) < self._tolerance:
            run_context.request_stop()
        self._prev_loss = loss


class _InitializeClustersHook(tf.train.SessionRunHook):
    """The chief chooses centers until there are enough; the other workers wait for that."""

    def __init__(self, init_op: Any, is_initialized_var: Any, is_chief: bool):
        self._init_op = init_op
        self._is_initialized_var = is_initialized_var
        self._is_chief = is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        while not session.run(self._is_initialized_var):
            if not self._is_chief:
                time.sleep(1)
                continue
            try:
                session.run(self._init_op)
            except RuntimeError as error:
                logging.info(error)


def _points(features: Any, feature_columns: Any) -> Any:
    """One matrix of all features: those of the columns, or all in the order of their names."""
    if not isinstance(features, dict):
        return features
    if feature_columns:
        return tf.feature_column.input_layer(features, feature_columns)
    names = sorted(features)
    with tf.colocate_with(features[names[0]]):
        return tf.concat([features[name] for name in names], axis=1)


class KMeansClustering(Estimator):
    """An estimator that clusters points by k-means.

    Args:
      num_clusters: How many clusters; ignored where the centers are given.
      model_dir: Where checkpoints and summaries go.
      initial_clusters: The centers, a function f(inputs, k) that chooses up to k of them, or one
        of RANDOM_INIT and KMEANS_PLUS_PLUS_INIT.
      distance_metric: SQUARED_EUCLIDEAN_DISTANCE or COSINE_DISTANCE.
      random_seed: Of the choice of the first centers.
      use_mini_batch: Whether a step sees a part of the data only.
      mini_batch_steps_per_iteration: After how many such steps the centers are replaced.
      kmeans_plus_plus_num_retries: How many more points are drawn for each center.
      relative_tolerance: Training stops where the loss changes by less than this part of it.
      config: The estimator's RunConfig.
      feature_columns: Of the features that count; all if None.
    """

    SQUARED_EUCLIDEAN_DISTANCE = clustering_ops.SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = clustering_ops.COSINE_DISTANCE
    RANDOM_INIT = clustering_ops.RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = clustering_ops.KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = clustering_ops.CLUSTERS_VAR_NAME

    def __init__(
        self,
        num_clusters: Any,
        model_dir: str | None = None,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
        feature_columns: Any = None,
    ):
        algorithms = (self.RANDOM_INIT, self.KMEANS_PLUS_PLUS_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in algorithms:
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (self.SQUARED_EUCLIDEAN_DISTANCE, self.COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")

        def model_fn(features: Any, mode: Any, config: Any) -> Any:
            kmeans = clustering_ops.KMeans(
                _points(features, feature_columns),
                num_clusters,
                initial_clusters=initial_clusters,
                distance_metric=distance_metric,
                use_mini_batch=use_mini_batch,
                mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
                random_seed=random_seed,
                kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            )
            return _spec(kmeans, mode, config, relative_tolerance)

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

    def _predict_one_key(self, input_fn: Any, predict_key: str) -> Iterator[Any]:
        for result in self.predict(input_fn=input_fn, predict_keys=[predict_key]):
            yield result[predict_key]

    def predict_cluster_index(self, input_fn: Any) -> Iterator[Any]:
        """The index of the nearest center of each point."""
        yield from self._predict_one_key(input_fn, self.CLUSTER_INDEX)

    def score(self, input_fn: Any) -> Any:
        """The sum of the distances of the points of one batch to their centers."""
        return self.evaluate(input_fn=input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: Any) -> Iterator[Any]:
        """The distances of each point to all centers, squared if they are Euclidean."""
        yield from self._predict_one_key(input_fn, self.ALL_DISTANCES)

    def cluster_centers(self) -> Any:
        """The centers, a row each."""
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


def _spec(
    kmeans: clustering_ops.KMeans, mode: Any, config: Any, relative_tolerance: float | None
) -> Any:
    distances, indices, losses, initialized, init_op, iteration = kmeans.training_graph()
    loss = tf.reduce_sum(losses)
    tf.summary.scalar("loss/raw", loss)
    counted = tf.assign_add(tf.train.get_global_step(), 1)
    with tf.control_dependencies([iteration, counted]):
        train_op = tf.identity(loss)
    hooks: list[Any] = [_InitializeClustersHook(init_op, initialized, config.is_chief)]
    if relative_tolerance is not None:
        hooks.append(_LossRelativeChangeHook(loss, relative_tolerance))
    output = tf.estimator.export.PredictOutput
    return tf.estimator.EstimatorSpec(
        mode=mode,
        predictions={
            KMeansClustering.ALL_DISTANCES: distances[0],
            KMeansClustering.CLUSTER_INDEX: indices[0],
        },
        loss=loss,
        train_op=train_op,
        eval_metric_ops={KMeansClustering.SCORE: tf.metrics.mean(loss)},
        training_hooks=hooks,
        export_outputs={
            KMeansClustering.ALL_DISTANCES: output(distances[0]),
            KMeansClustering.CLUSTER_INDEX: output(indices[0]),
            tf.saved_model.signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: output(
                indices[0]
            ),
        },
    )
