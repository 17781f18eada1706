"""A head whose labels are draws of a distribution that logits describe."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock.contrib.learn.head_losses import weighted_loss
from penstock.contrib.learn.single_heads import Head, _RegressionHead

__all__ = ["estimator_head_distribution_regression"]


def estimator_head_distribution_regression(
    make_distribution_fn: Callable[[Any], Any],
    label_dimension: int = 1,
    logits_dimension: int | None = None,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
) -> Head:
    """A head that predicts the mean of a distribution, by the likelihood of the labels.

    Args:
      make_distribution_fn: the distribution for logits.
      label_dimension: how many numbers a label has.
      logits_dimension: how many logits describe the distribution; as many by default.
      label_name: the name of the labels, if they are given in a dict.
      weight_column_name: the name of the feature that weighs examples.
      enable_centered_bias: whether a bias is fitted to the labels by itself.
      head_name: a name, which metrics get as a suffix.
    """
    return _DistributionRegressionHead(
        make_distribution_fn,
        label_dimension,
        logits_dimension,
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
    )


class _DistributionRegressionHead(_RegressionHead):
    """See `estimator_head_distribution_regression`; a distribution is made once for its logits."""

    def __init__(
        self,
        make_distribution_fn: Callable[[Any], Any],
        label_dimension: int,
        logits_dimension: int | None = None,
        **options: Any,
    ):
        if not callable(make_distribution_fn):
            raise TypeError(f"make_distribution_fn is no function: {make_distribution_fn}")
        self._distributions: dict[Any, Any] = {}
        self._make_distribution_fn = make_distribution_fn
        super().__init__(
            label_dimension,
            self._loss,
            lambda logits: self.distribution(logits).mean(),
            logits_dimension=logits_dimension,
            **options,
        )

    @property
    def distributions(self) -> dict[Any, Any]:
        """The distributions made so far, by their logits."""
        return self._distributions

    def distribution(self, logits: Any, name: str | None = None) -> Any:
        """The distribution for logits."""
        with tf.name_scope(name, "distribution", [logits]):
            if logits not in self._distributions:
                self._distributions[logits] = self._make_distribution_fn(logits)
            return self._distributions[logits]

    def _loss(self, labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        distribution = self.distribution(logits)
        shape = tf.concat([tf.shape(labels)[:-1], distribution.event_shape_tensor()], 0)
        return weighted_loss(-distribution.log_prob(tf.reshape(labels, shape)), weights)
