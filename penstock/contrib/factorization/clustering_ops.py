"""The graph of k-means clustering, on full or on small batches."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.factorization.initial_centers import (
    KMC2_INIT,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    CenterVariables,
    InitialCenters,
)
from penstock.ops.clustering import (
    kmc2_chain_initialization,
    kmeans_plus_plus_initialization,
    nearest_neighbors,
)

__all__ = [
    "CLUSTERS_VAR_NAME",
    "COSINE_DISTANCE",
    "KMC2_INIT",
    "KMEANS_PLUS_PLUS_INIT",
    "RANDOM_INIT",
    "SQUARED_EUCLIDEAN_DISTANCE",
    "KMeans",
    "kmc2_chain_initialization",
    "kmeans_plus_plus_initialization",
    "nearest_neighbors",
]

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
CLUSTERS_VAR_NAME = "clusters"


class KMeans:
    """Builds the graph of k-means clustering.

    Args:
      inputs: A batch of points, or a list of batches.
      num_clusters: How many clusters; ignored where the centers are given.
      initial_clusters: The centers, a function f(inputs, k) that chooses up to k of them, or
        "random", "kmeans_plus_plus" or "kmc2".
      distance_metric: "squared_euclidean" or "cosine".
      use_mini_batch: Whether a step sees a part of the data only.
      mini_batch_steps_per_iteration: After how many such steps the centers are replaced.
      random_seed: Of the choice of the first centers.
      kmeans_plus_plus_num_retries: How many more points are drawn for each center.
      kmc2_chain_length: How many points are looked at for each center.
    """

    def __init__(
        self,
        inputs: Any,
        num_clusters: Any,
        initial_clusters: Any = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ):
        algorithms = (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in algorithms:
            raise ValueError(f"Unsupported initialization algorithm '{initial_clusters}'")
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        self._inputs = inputs if isinstance(inputs, list) else [inputs]
        self._num_clusters = num_clusters
        self._initial_clusters = initial_clusters
        self._distance_metric = distance_metric
        self._cosine = distance_metric == COSINE_DISTANCE
        self._use_mini_batch = use_mini_batch
        self._mini_batch_steps_per_iteration = int(mini_batch_steps_per_iteration)
        self._random_seed = random_seed
        self._kmeans_plus_plus_num_retries = kmeans_plus_plus_num_retries
        self._kmc2_chain_length = kmc2_chain_length

    def training_graph(self) -> tuple[Any, ...]:
        """Builds the graph.

        Run `init_op` until `initialized` is true, then `training_op` for each iteration.

        Returns:
          (distances to all centers, index of the nearest center, distance to it, initialized,
          init_op, training_op); the first three are tuples with an entry for each batch.
        """
        initial_clusters = self._initial_clusters
        if isinstance(initial_clusters, str) or callable(initial_clusters):
            num_clusters = tf.convert_to_tensor(self._num_clusters)
        else:
            initial_clusters = tf.convert_to_tensor(initial_clusters)
            num_clusters = tf.shape(initial_clusters)[0]
        variables, counts, steps_left = self._create_variables(num_clusters)
        init_op = InitialCenters(
            self._inputs,
            num_clusters,
            initial_clusters,
            self._cosine,
            self._random_seed,
            self._kmeans_plus_plus_num_retries,
            self._kmc2_chain_length,
            variables,
        ).op()
        inputs, centers = self._inputs, variables.centers
        if self._cosine:
            inputs = [self._at(each, lambda x: tf.nn.l2_normalize(x, dim=1)) for each in inputs]
            if not self._clusters_l2_normalized():
                centers = tf.nn.l2_normalize(centers, dim=1)
        all_scores, scores, indices = self._infer_graph(inputs, centers)
        if self._use_mini_batch:
            with tf.control_dependencies([self._sync_op(steps_left, variables, counts)]):
                training_op = self._mini_batch_op(inputs, indices, variables.updated, counts)
        else:
            training_op = self._full_batch_op(inputs, num_clusters, indices, variables.centers)
        return all_scores, indices, scores, variables.initialized, init_op, training_op

    @staticmethod
    def _at(points: Any, function: Any) -> Any:
        """The function of the points, computed where they are."""
        with tf.colocate_with(points, ignore_existing=True):
            return function(points)

    def _clusters_l2_normalized(self) -> bool:
        """Whether the variable holds centers of length 1."""
        return self._cosine and (
            not self._use_mini_batch or self._mini_batch_steps_per_iteration > 1
        )

    def _create_variables(self, num_clusters: Any) -> tuple[CenterVariables, Any, Any]:
        """The centers, the number of points in each, and the steps until they are replaced."""
        nothing = tf.constant([], dtype=tf.float32)
        centers = tf.Variable(nothing, name=CLUSTERS_VAR_NAME, validate_shape=False)
        initialized = tf.Variable(False, dtype=tf.bool, name="initialized")
        if not self._use_mini_batch:
            return CenterVariables(centers, centers, initialized), None, None
        steps = self._mini_batch_steps_per_iteration
        if steps <= 1:
            counts = tf.Variable(tf.ones([num_clusters], dtype=tf.int64))
            return CenterVariables(centers, centers, initialized), counts, None
        updated = tf.Variable(nothing, name="clusters_updated", validate_shape=False)
        steps_left = tf.Variable(steps, dtype=tf.int64, name="update_in_steps")
        counts = tf.Variable(tf.zeros([num_clusters], dtype=tf.int64))
        return CenterVariables(centers, updated, initialized), counts, steps_left

    def _infer_graph(self, inputs: list[Any], centers: Any) -> Any:
        """For each batch: all distances, the smallest, and the index of its center."""
        found = []
        for points in inputs:
            with tf.colocate_with(points, ignore_existing=True):
                indices, distances = nearest_neighbors(points, centers, 1)
                # Of vectors of length 1, the squared distance is twice the cosine distance.
                nearest = distances * 0.5 if self._cosine else distances
                found.append(
                    (
                        self._distances(points, centers),
                        tf.squeeze(nearest, [-1]),
                        tf.squeeze(indices, [-1]),
                    )
                )
        return tuple(zip(*found, strict=True))

    def _distances(self, points: Any, centers: Any) -> Any:
        products = tf.matmul(points, centers, transpose_b=True)
        if self._cosine:
            return 1 - products
        of_points = tf.reduce_sum(tf.square(points), 1, keepdims=True)
        of_centers = tf.transpose(tf.reduce_sum(tf.square(centers), 1, keepdims=True))
        return of_points - 2 * products + of_centers

    def _full_batch_op(
        self, inputs: list[Any], num_clusters: Any, indices: Any, centers: Any
    ) -> Any:
        """Puts each center into the middle of its points."""
        sums, counts = [], []
        for points, index in zip(inputs, indices, strict=True):
            with tf.colocate_with(points, ignore_existing=True):
                ones = tf.ones([tf.shape(points)[0], 1])
                sums.append(tf.unsorted_segment_sum(points, index, num_clusters))
                counts.append(tf.unsorted_segment_sum(ones, index, num_clusters))
        with tf.colocate_with(centers, ignore_existing=True):
            total = tf.cast(tf.add_n(counts), sums[0].dtype)
            middles = tf.add_n(sums) / (total + tf.constant(1e-6, dtype=inputs[0].dtype))
            if self._clusters_l2_normalized():
                middles = tf.nn.l2_normalize(middles, dim=1)
        return tf.assign(centers, middles)

    def _mini_batch_op(self, inputs: list[Any], indices: Any, centers: Any, counts: Any) -> Any:
        """Moves each center towards its new points: x += (sum(new) - k * x) / (n + k)."""
        updates = []
        for points, index in zip(inputs, indices, strict=True):
            with tf.colocate_with(points, ignore_existing=True):
                # Points of one center are added up first: one update for each center.
                ids, places = tf.unique(tf.reshape(index, [-1]))
                number = tf.size(ids)
                old_counts, old_centers = tf.gather(counts, ids), tf.gather(centers, ids)
                ones = tf.ones_like(places, dtype=counts.dtype)
                new = tf.unsorted_segment_sum(ones, places, number)
                sums = tf.unsorted_segment_sum(points, places, number)
                column = tf.stack([number, 1])
                weight = tf.cast(tf.reshape(new, column), points.dtype)
                rate = tf.reciprocal(tf.cast(old_counts + new, points.dtype))
                moves = (sums - weight * old_centers) * tf.reshape(rate, column)
            updates += [tf.scatter_add(counts, ids, new), tf.scatter_add(centers, ids, moves)]
        return tf.group(*updates)

    def _sync_op(self, steps_left: Any, variables: CenterVariables, counts: Any) -> Any:
        """Every few steps: replaces the centers by the copy that the steps have changed."""
        if steps_left is None:
            return tf.no_op()

        def replace() -> Any:
            # Reset first, so that no other worker does the same; counts come last, so that nobody
            # makes great steps from centers that were replaced in part.
            reset = tf.assign(steps_left, self._mini_batch_steps_per_iteration - 1)
            with tf.control_dependencies([reset]):
                new = variables.updated
                new = tf.nn.l2_normalize(new, dim=1) if self._cosine else tf.identity(new)
                with tf.control_dependencies([tf.assign(variables.centers, new)]):
                    emptied = tf.assign(counts, tf.zeros_like(counts))
                    with tf.control_dependencies([emptied]):
                        return tf.identity(steps_left)

        return tf.cond(steps_left <= 0, replace, lambda: tf.assign_sub(steps_left, 1))
