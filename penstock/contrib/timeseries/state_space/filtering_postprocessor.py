"""What happens to a state after an observation besides filtering."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.timeseries.log_probabilities import (
    cauchy_log_prob,
    entropy_matched_cauchy_scale,
)

flatten, pack = tf.nest.flatten, tf.nest.pack_sequence_as


class FilteringStepPostprocessor(ABC):
    """Changes the state and the outputs of a filtering step."""

    @abstractmethod
    def process_filtering_step(
        self,
        current_times: Any,
        current_values: Any,
        predicted_state: Any,
        filtered_state: Any,
        outputs: dict[str, Any],
    ) -> tuple[Any, dict[str, Any]]:
        """The state and outputs to go on with."""

    @property
    @abstractmethod
    def output_names(self) -> Sequence[str]:
        """The outputs that it adds."""


def cauchy_alternative_to_gaussian(
    current_times: Any, current_values: Any, outputs: dict[str, Any]
) -> tf.Tensor:
    """The logarithm of the density of values as anomalies, by Cauchy distributions."""
    densities = cauchy_log_prob(
        loc=outputs["mean"],
        scale=entropy_matched_cauchy_scale(outputs["covariance"]),
        x=current_values,
    )
    return tf.reduce_sum(densities, axis=1)


def _interpolate_state_linear(
    first_state: Any, second_state: Any, first_responsibility: Any
) -> Any:
    """A state between two; what is no real number must be the same in both."""

    def between(first: Any, second: Any) -> Any:
        assert first.dtype == second.dtype
        if not first.dtype.is_floating:
            with tf.control_dependencies([tf.assert_equal(first, second)]):
                return tf.identity(first)
        ones = tf.ones([tf.rank(first) - 1], dtype=tf.int32)
        share = tf.reshape(
            first_responsibility, tf.concat([tf.shape(first_responsibility), ones], 0)
        )
        mixed = share * first + (1.0 - share) * second
        mixed.set_shape(first.get_shape())
        return mixed

    pairs = zip(flatten(first_state), flatten(second_state), strict=True)
    return pack(first_state, [between(first, second) for first, second in pairs])


class StateInterpolatingAnomalyDetector(FilteringStepPostprocessor):
    """Lets values change the state as much as it is probable that they are no anomalies.

    Args:
      anomaly_log_likelihood: a function of times, values and outputs.
      anomaly_prior_probability: that a value is an anomaly.
      responsibility_scaling: how sharp the decision is.
    """

    output_names = ("anomaly_score",)

    def __init__(
        self,
        anomaly_log_likelihood: Callable[..., Any] = cauchy_alternative_to_gaussian,
        anomaly_prior_probability: float = 0.01,
        responsibility_scaling: float = 1.0,
    ):
        self._anomaly_log_likelihood = anomaly_log_likelihood
        self._responsibility_scaling = responsibility_scaling
        self._anomaly_prior_probability = anomaly_prior_probability

    def process_filtering_step(
        self,
        current_times: Any,
        current_values: Any,
        predicted_state: Any,
        filtered_state: Any,
        outputs: dict[str, Any],
    ) -> tuple[Any, dict[str, Any]]:
        prior = tf.convert_to_tensor(self._anomaly_prior_probability, dtype=current_values.dtype)
        anomalous = self._anomaly_log_likelihood(
            current_times=current_times, current_values=current_values, outputs=outputs
        ) + tf.math.log(prior)
        regular = outputs["log_likelihood"] + tf.math.log(1.0 - prior)
        odds = anomalous - regular
        trust = tf.sigmoid(-self._responsibility_scaling * odds)
        state = _interpolate_state_linear(filtered_state, predicted_state, trust)
        outputs["loss"] = -(trust * regular + (1.0 - trust) * anomalous)
        outputs["anomaly_score"] = odds
        return state, outputs
