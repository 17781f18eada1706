"""Mixtures of normal distributions, fitted to points by expectation and maximization."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import penstock as tf

FULL_COVARIANCE = "full"
DIAG_COVARIANCE = "diag"
MEPS = float(np.finfo(float).eps)

#: Added to variances, so that no distribution shrinks to a point.
_LEAST_VARIANCE = 1e-3


def _covariance(x: tf.Tensor, diag: bool) -> tf.Tensor:
    """The covariance matrix of points, or the variances of their coordinates."""
    count = tf.cast(tf.shape(x)[0], tf.float32)
    x -= tf.reduce_mean(x, 0, keepdims=True)
    if diag:
        return tf.reduce_sum(tf.square(x), 0, keepdims=True) / (count - 1)
    return tf.matmul(x, x, transpose_a=True) / (count - 1)


def _init_clusters_random(data: Sequence[Any], num_clusters: int, random_seed: int) -> tf.Tensor:
    """Some of the points."""
    count = tf.add_n([tf.shape(shard)[0] for shard in data])
    with tf.control_dependencies([tf.assert_less_equal(num_clusters, count)]):
        chosen = tf.random_uniform(
            [num_clusters],
            minval=0,
            maxval=tf.cast(count, tf.int64),
            seed=random_seed,
            dtype=tf.int64,
        )
    chosen %= tf.cast(count, tf.int64)
    return tf.nn.embedding_lookup(list(data), chosen, partition_strategy="div")


class _Expectation:
    """What is expected of the points of a shard, given the mixture.

    `log_probabilities` are those of each point and each part of the mixture, `log_densities` of
    each point, `weights` how much of a point is of a part.
    """

    def __init__(self, points: tf.Tensor, log_probabilities: tf.Tensor):
        self.points = points
        self.log_probabilities = log_probabilities
        self.log_densities = tf.reduce_logsumexp(log_probabilities, axis=1, keepdims=True)
        self.weights = tf.exp(log_probabilities - self.log_densities)

    def counts(self) -> tf.Tensor:
        """How many points each part has."""
        return tf.reduce_sum(self.weights, 0)

    def sums(self) -> tf.Tensor:
        """The sums of each part's points."""
        return tf.expand_dims(tf.matmul(self.weights, self.points, transpose_a=True), 1)

    def products(self) -> tf.Tensor:
        """The sums of products of coordinates of each part's points."""
        weighted = tf.transpose(self.weights)[:, tf.newaxis, :] * tf.transpose(self.points)
        points = tf.tile(tf.expand_dims(self.points, 0), [tf.shape(weighted)[0], 1, 1])
        return tf.matmul(weighted, points)


class GmmAlgorithm:
    """A mixture, and the operations that fit it.

    Args:
      data: points, a list of tensors (shards).
      num_classes: how many normal distributions.
      initial_means: their first means; some of the points if None.
      params: what is fitted: of weights (`w`), means (`m`) and covariances (`c`).
      covariance_type: `full`, or `diag` for independent coordinates.
    """

    CLUSTERS_WEIGHT = "alphas"
    CLUSTERS_VARIABLE = "clusters"
    CLUSTERS_COVS_VARIABLE = "clusters_covs"

    def __init__(
        self,
        data: Sequence[Any],
        num_classes: int,
        initial_means: Any = None,
        params: str = "wmc",
        covariance_type: str = FULL_COVARIANCE,
        random_seed: int = 0,
    ):
        if covariance_type not in (DIAG_COVARIANCE, FULL_COVARIANCE):
            raise Exception(f"programmer error: Invalid covariance type: {covariance_type}")
        self._params = params
        self._random_seed = random_seed
        self._is_full = covariance_type == FULL_COVARIANCE
        self._num_classes = num_classes
        self._dimensions = tf.shape(data[0])[1]
        self._min_var = tf.diag(tf.ones(tf.stack([self._dimensions]))) * _LEAST_VARIANCE
        self._create_variables()
        self._init_ops = self._initialized_with(data, initial_means)
        log_probabilities = self._full_log_prob if self._is_full else self._diagonal_log_prob
        self._shards = [
            _Expectation(shard, log_probabilities(shard) + tf.math.log(self._alpha))
            for shard in map(tf.convert_to_tensor, data)
        ]
        self._train_ops = self._maximized()
        densities = [tf.reduce_logsumexp(shard.log_densities) for shard in self._shards]
        self._log_likelihood_op = tf.reduce_logsumexp(densities)
        samples = [shard.log_densities + tf.math.log(shard.weights) for shard in self._shards]
        totals = tf.reduce_logsumexp(samples, axis=2, keepdims=True)
        self._scores = tf.squeeze(totals, axis=0)

    def _create_variables(self) -> None:
        nothing = tf.constant([], dtype=tf.float32)
        self._means = tf.Variable(nothing, name=self.CLUSTERS_VARIABLE, validate_shape=False)
        self._covs = tf.Variable(nothing, name=self.CLUSTERS_COVS_VARIABLE, validate_shape=False)
        self._alpha = tf.Variable(
            tf.tile([1.0 / self._num_classes], [self._num_classes]),
            name=self.CLUSTERS_WEIGHT,
            validate_shape=False,
        )
        self._initialized = tf.Variable(False, dtype=tf.bool, name="initialized")

    def _initialized_with(self, data: Sequence[Any], initial_means: Any) -> list[Any]:
        """Operations that set means and covariances, unless they are set."""
        means = initial_means
        if means is None:
            means = _init_clusters_random(data, self._num_classes, self._random_seed)
        means = tf.expand_dims(means, 1)
        covariance = _covariance(data[0], not self._is_full) + self._min_var
        if not self._is_full:
            covariance = tf.diag_part(covariance)
        multiples = [self._num_classes] + [1] * (2 if self._is_full else 1)
        covariances = tf.tile(tf.expand_dims(covariance, 0), multiples)
        with tf.control_dependencies([means, covariances]):
            done = tf.identity(self._initialized)

        def assigned() -> tf.Operation:
            both = [
                tf.assign(self._means, means, validate_shape=False),
                tf.assign(self._covs, covariances, validate_shape=False),
            ]
            with tf.control_dependencies(both):
                return tf.assign(self._initialized, True).op

        return [tf.cond(done, tf.no_op, assigned)]

    def _log_two_pi(self) -> tf.Tensor:
        return tf.cast(self._dimensions, tf.float32) * math.log(2.0 * math.pi)

    def _full_log_prob(self, shard: tf.Tensor) -> tf.Tensor:
        difference = tf.expand_dims(shard, 0) - self._means
        factor = tf.cholesky(tf.add(self._covs, self._min_var))
        log_determinant = 2.0 * tf.reduce_sum(tf.math.log(tf.matrix_diag_part(factor)), 1)
        solved = tf.matrix_triangular_solve(factor, tf.transpose(difference, [0, 2, 1]), lower=True)
        distance = tf.transpose(tf.reduce_sum(tf.square(solved), 1))
        return -0.5 * (distance + self._log_two_pi() + log_determinant)

    def _diagonal_log_prob(self, shard: tf.Tensor) -> tf.Tensor:
        variances = tf.add(self._covs, _LEAST_VARIANCE)
        log_determinant = tf.reduce_sum(tf.math.log(variances), 1, keepdims=True)
        squares = tf.squared_difference(tf.expand_dims(shard, 0), self._means)
        distance = tf.matmul(squares, tf.expand_dims(1.0 / variances, 2))
        distance = tf.transpose(tf.squeeze(distance, [2]))
        return -0.5 * (self._log_two_pi() + tf.transpose(log_determinant) + distance)

    def _maximized(self) -> list[Any]:
        """Operations that set the parameters to the most likely, given what was expected."""
        with tf.control_dependencies([shard.weights for shard in self._shards]):
            counts = tf.add_n([shard.counts() for shard in self._shards])
            updates: list[Any] = [tf.no_op()]
            if "w" in self._params:
                share = counts / len(self._shards)
                updates = [self._alpha.assign(share / (tf.reduce_sum(share) + MEPS))]
            divisor = tf.reshape(counts, [self._num_classes, 1, 1]) + MEPS
            means: Any = tf.no_op()
            if "m" in self._params:
                sums = tf.add_n([shard.sums() for shard in self._shards])
                means = self._means.assign(tf.div(sums, divisor))
                updates.append(means)
            if "c" in self._params:
                with tf.control_dependencies([means]):
                    covariances = self._new_covariances(divisor)
                    updates.append(tf.assign(self._covs, covariances, validate_shape=False))
            return updates

    def _new_covariances(self, divisor: tf.Tensor) -> tf.Tensor:
        products = tf.add_n([shard.products() for shard in self._shards]) / divisor
        mean = self._means.read_value()
        new = products - tf.matmul(mean, mean, transpose_a=True) + self._min_var
        return new if self._is_full else tf.matrix_diag_part(new)

    def init_ops(self) -> tf.Operation:
        """Sets means and covariances, unless they are set."""
        return tf.group(*self._init_ops)

    def training_ops(self) -> tf.Operation:
        """A step of the fit."""
        return tf.group(*self._train_ops)

    def is_initialized(self) -> Any:
        """Whether means and covariances are set, a variable."""
        return self._initialized

    def alphas(self) -> Any:
        """The weights of the distributions."""
        return self._alpha

    def clusters(self) -> Any:
        """The means, of shape (distributions, 1, coordinates)."""
        return self._means

    def covariances(self) -> Any:
        """The covariance matrices, or variances."""
        return self._covs

    def assignments(self) -> list[tf.Tensor]:
        """To which distribution each point belongs, for each shard."""
        return [tf.argmax(shard.weights, 1) for shard in self._shards]

    def scores(self) -> tf.Tensor:
        """The logarithms of the densities of points."""
        return self._scores

    def log_likelihood_op(self) -> tf.Tensor:
        """The logarithm of the sum of all densities."""
        return self._log_likelihood_op


def gmm(
    inp: Any,
    initial_clusters: Any,
    num_clusters: int,
    random_seed: int,
    covariance_type: str = FULL_COVARIANCE,
    params: str = "wmc",
) -> tuple[Any, Any, list[Any], Any, Any, Any]:
    """The operations of a `GmmAlgorithm`.

    Args:
      inp: points, a tensor or a list of them.
      initial_clusters: first means, or `random`.

    Returns:
      Loss, scores, assignments, a training step, the initialization, and whether it is done.
    """
    means = None
    if not isinstance(initial_clusters, str | tf.Tensor):
        means = tf.constant(initial_clusters, dtype=tf.float32)
    shards = inp if isinstance(inp, list) else [inp]
    tool = GmmAlgorithm(shards, num_clusters, means, params, covariance_type, random_seed)
    return (
        tool.log_likelihood_op(),
        tool.scores(),
        [tool.assignments()],
        tool.training_ops(),
        tool.init_ops(),
        tool.is_initialized(),
    )
