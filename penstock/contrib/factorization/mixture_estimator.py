"""An estimator of mixtures of normal distributions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import penstock as tf
from penstock import logging
from penstock.contrib.factorization import gaussian_mixtures
from penstock.contrib.factorization.gaussian_mixtures import GmmAlgorithm
from penstock.contrib.learn.estimator import Estimator
from penstock.contrib.learn.model_fn import ModelFnOps


def _streaming_sum(scalar_tensor: Any) -> tuple[Any, Any]:
    """A metric that is a sum over batches."""
    total = tf.contrib.framework.local_variable(tf.constant(0.0))
    return total, total.assign_add(scalar_tensor)


class _InitializeClustersHook(tf.train.SessionRunHook):
    """Initializes the mixture by the first points, once."""

    def __init__(self, init_op: Any, is_initialized_op: Any, is_chief: bool):
        self._init_op = init_op
        self._is_initialized_op = is_initialized_op
        self._is_chief = is_chief

    def after_create_session(self, session: Any, coord: Any) -> None:
        while not session.run(self._is_initialized_op):
            if self._is_chief:
                session.run(self._init_op)
            else:
                logging.info("Waiting for the chief to initialize the mixture.")
                time.sleep(1)


class GMM(Estimator):
    """Fits a mixture of normal distributions.

    Args:
      params: what is fitted: of weights (`w`), means (`m`) and covariances (`c`).
      initial_clusters: first means, or `random`.
      covariance_type: `full`, or `diag` for independent coordinates.
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: str | None = None,
        random_seed: int = 0,
        params: str = "wmc",
        initial_clusters: Any = "random",
        covariance_type: str = "full",
        config: Any = None,
    ):
        self._num_clusters = num_clusters
        self._fitted = params
        self._training_initial_clusters = initial_clusters
        self._covariance_type = covariance_type
        self._random_seed = random_seed
        super().__init__(model_fn=self._model_builder(), model_dir=model_dir, config=config)

    def predict_assignments(
        self, input_fn: Any = None, batch_size: int | None = None, outputs: Any = None
    ) -> Iterator[Any]:
        """To which distribution each point belongs."""
        for result in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield result[GMM.ASSIGNMENTS]

    def score(
        self, input_fn: Any = None, batch_size: int | None = None, steps: int | None = None
    ) -> Any:
        """The logarithm of the sum of the densities of all points."""
        results = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(results[GMM.SCORES])))

    def _saved(self, name: str) -> Any:
        return tf.train.load_variable(self.model_dir, name)

    def weights(self) -> Any:
        """The weights of the distributions."""
        return self._saved(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> Any:
        """Their means."""
        return np.squeeze(self._saved(GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self) -> Any:
        """Their covariances."""
        return self._saved(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)

    def _model_builder(self) -> Callable[..., ModelFnOps]:
        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
            assert labels is None, labels
            points = features
            if isinstance(features, dict):
                points = tf.concat([features[key] for key in sorted(features)], 1)
            loss, scores, assignments, trained, init_op, is_initialized = gaussian_mixtures.gmm(
                points,
                self._training_initial_clusters,
                self._num_clusters,
                self._random_seed,
                self._covariance_type,
                self._fitted,
            )
            step = tf.assign_add(tf.train.get_global_step(), 1)
            with tf.control_dependencies([trained, step]):
                train_op = tf.identity(loss)
            return ModelFnOps(
                mode=mode,
                predictions={GMM.ASSIGNMENTS: assignments[0][0]},
                eval_metric_ops={GMM.SCORES: scores, GMM.LOG_LIKELIHOOD: _streaming_sum(loss)},
                loss=loss,
                train_op=train_op,
                training_hooks=[_InitializeClustersHook(init_op, is_initialized, config.is_chief)],
            )

        return model_fn
