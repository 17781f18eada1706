"""The choice of the first centers of k-means, out of as many batches as it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import penstock as tf
from penstock.ops import clustering

RANDOM_INIT = "random"
KMEANS_PLUS_PLUS_INIT = "kmeans_plus_plus"
KMC2_INIT = "kmc2"


class CenterVariables(NamedTuple):
    """Where the centers are kept.

    1. `updated` is `centers` itself, unless small batches change a copy of the centers first.
    2. `initialized` is true from when all centers have been chosen.
    """

    centers: Any
    updated: Any
    initialized: Any

    def assign(self, centers: Any) -> Any:
        """Sets the centers, and the copy; gives what was set."""
        assigned = tf.assign(self.centers, centers, validate_shape=False)
        if self.updated is not self.centers:
            assigned = tf.assign(self.updated, assigned, validate_shape=False)
        return assigned


class InitialCenters:
    """The op that adds the centers which one batch gives to those chosen before.

    Args:
      inputs: Batches of points, one behind the other.
      num_clusters: How many centers there are to be.
      chosen_by: The name of an algorithm, a function f(inputs, k), or the centers themselves.
      normalize: Whether centers are brought to length 1.
      seed: Of the draws.
      retries: How many more points `kmeans_plus_plus` draws for each center.
      chain_length: How many points `kmc2` looks at for each center.
      variables: Where the centers are kept.
    """

    def __init__(
        self,
        inputs: list[Any],
        num_clusters: Any,
        chosen_by: Any,
        normalize: bool,
        seed: Any,
        retries: int,
        chain_length: int,
        variables: CenterVariables,
    ):
        self._inputs = inputs
        self._num_clusters = num_clusters
        self._chosen_by = chosen_by
        self._normalize = normalize
        self._seed = seed
        self._retries = retries
        self._chain_length = chain_length
        self._variables = variables
        self._num_selected = tf.shape(variables.centers)[0]
        self._num_remaining = num_clusters - self._num_selected
        self._num_data = tf.add_n([tf.shape(each)[0] for each in inputs])

    def op(self) -> Any:
        """Chooses centers if some are missing."""
        return tf.cond(
            tf.equal(self._num_remaining, 0),
            lambda: tf.assert_equal(self._variables.initialized, True),
            self._initialize,
        )

    def _initialize(self) -> Any:
        with tf.control_dependencies([tf.assert_positive(self._num_remaining)]):
            by_chains = isinstance(self._chosen_by, str) and self._chosen_by == KMC2_INIT
            missing = self._add_by_chains() if by_chains else self._add()
            return tf.cond(
                tf.equal(missing, 0),
                lambda: tf.assign(self._variables.initialized, True),
                tf.no_op,
            )

    def _normalized(self, points: Any) -> Any:
        return tf.nn.l2_normalize(points, dim=1) if self._normalize else points

    def _missing_after(self, centers: Any) -> Any:
        return self._num_clusters - tf.shape(self._variables.assign(centers))[0]

    def _add(self) -> Any:
        """Adds the centers chosen from this batch; gives the number of those still missing."""
        new = self._normalized(self._chosen())
        # Before the first choice the variable is an empty vector, which nothing can be added to.
        centers = tf.cond(
            tf.equal(self._num_selected, 0),
            lambda: new,
            lambda: tf.concat([self._variables.centers, new], 0),
        )
        return self._missing_after(centers)

    def _chosen(self) -> Any:
        if callable(self._chosen_by):
            return self._chosen_by(self._inputs, self._num_remaining)
        if not isinstance(self._chosen_by, str):
            right_number = tf.assert_equal(self._num_remaining, tf.shape(self._chosen_by)[0])
            with tf.control_dependencies([right_number]):
                return tf.identity(self._chosen_by)
        if self._chosen_by == RANDOM_INIT:
            return tf.cond(
                self._num_data <= self._num_remaining,
                lambda: tf.concat(self._inputs, 0),
                self._random,
            )
        enough = tf.assert_greater_equal(self._num_data, self._num_remaining)
        with tf.control_dependencies([enough]):
            return clustering.kmeans_plus_plus_initialization(
                self._normalized(self._inputs[0]),
                tf.cast(self._num_remaining, tf.int64),
                self._seed,
                self._retries,
            )

    def _random(self) -> Any:
        indices = tf.random_uniform(
            tf.reshape(self._num_remaining, [-1]),
            minval=0,
            maxval=tf.cast(self._num_data, tf.int64),
            seed=self._seed,
            dtype=tf.int64,
        )
        return tf.nn.embedding_lookup(self._inputs, indices, partition_strategy="div")

    def _add_by_chains(self) -> Any:
        """One center for each part of the batch that is long enough for a chain, at least one."""
        points, length = self._inputs[0], self._chain_length
        parts = tf.cast(tf.shape(points)[0] / length, tf.int32)
        to_sample = tf.maximum(tf.minimum(self._num_remaining, parts), 1)

        def add_center(i: Any, _: Any) -> Any:
            # The batch is shuffled: its first point is a random one.
            centers = tf.cond(
                tf.equal(self._num_selected, 0),
                lambda: self._normalized(tf.reshape(points[0], [1, -1])),
                self._chain_step(points, i * length, length),
            )
            return i + 1, self._missing_after(centers)

        _, missing = tf.while_loop(lambda i, _: i < to_sample, add_center, [0, 0])
        return missing

    def _chain_step(self, points: Any, start: Any, length: int) -> Callable[[], Any]:
        def centers_and_one_more() -> Any:
            part = points[start : start + length]
            _, distances = clustering.nearest_neighbors(part, self._variables.centers, 1)
            index = clustering.kmc2_chain_initialization(tf.squeeze(distances), self._seed)
            new = self._normalized(tf.reshape(part[index], [1, -1]))
            return tf.concat([self._variables.centers, new], 0)

        return centers_and_one_more
