"""The settings that state space models share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.timeseries.log_probabilities import log_noninformative_covariance_prior


class _Settings(NamedTuple):
    num_features: int = 1
    use_observation_noise: bool = True
    dtype: Any = tf.float32
    covariance_prior_fn: Callable[[Any], Any] = log_noninformative_covariance_prior
    bayesian_prior_weighting: bool = True
    filtering_postprocessor: Any = None
    trainable_start_state: bool = False
    exogenous_noise_increases: bool = True
    exogenous_noise_decreases: bool = False
    exogenous_feature_columns: Sequence[Any] | None = None
    exogenous_update_condition: Callable[..., Any] | None = None
    filtering_maximum_posterior_variance_ratio: float = 1e6
    filtering_minimum_posterior_variance: float = 0.0
    transition_covariance_initial_log_scale_bias: float = -5.0
    static_unrolling_window_size_threshold: int | None = None


class StateSpaceModelConfiguration(_Settings):
    """Settings of a state space model.

    `covariance_prior_fn` gives the logarithm of the prior of a covariance matrix; with
    `bayesian_prior_weighting` it counts as much as one pass over the series. Exogenous features
    may increase and decrease the uncertainty of the state. Variances are kept within a ratio of
    each other, and above a minimum. The initial noise of transitions is smaller than that of
    observations by `transition_covariance_initial_log_scale_bias`.
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> StateSpaceModelConfiguration:
        made = super().__new__(cls, *args, **kwargs)
        return (
            made if made.exogenous_feature_columns else made._replace(exogenous_feature_columns=[])
        )
