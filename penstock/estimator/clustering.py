"""`tf.estimator.experimental.KMeans`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock.contrib.factorization import kmeans


class KMeansClustering(kmeans.KMeansClustering):
    """An estimator that clusters points by k-means; see `tf.contrib.factorization`.

    Args:
      seed: of the choice of the first centers.
    """

    def __init__(
        self,
        num_clusters: Any,
        model_dir: str | None = None,
        initial_clusters: Any = kmeans.KMeansClustering.RANDOM_INIT,
        distance_metric: str = kmeans.KMeansClustering.SQUARED_EUCLIDEAN_DISTANCE,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: Any = None,
        feature_columns: Any = None,
    ):
        self._distance_metric = distance_metric
        super().__init__(
            num_clusters,
            model_dir=model_dir,
            initial_clusters=initial_clusters,
            distance_metric=distance_metric,
            random_seed=seed or 0,
            use_mini_batch=use_mini_batch,
            mini_batch_steps_per_iteration=mini_batch_steps_per_iteration,
            kmeans_plus_plus_num_retries=kmeans_plus_plus_num_retries,
            relative_tolerance=relative_tolerance,
            config=config,
            feature_columns=feature_columns,
        )

    def transform(self, input_fn: Any) -> Iterator[Any]:
        """The distances of points from all centers; those of Euclid are not squared."""
        for distances in super().transform(input_fn):
            squared = self._distance_metric == self.SQUARED_EUCLIDEAN_DISTANCE
            yield np.sqrt(distances) if squared else distances
