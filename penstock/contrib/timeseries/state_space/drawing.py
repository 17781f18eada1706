"""Parameters and series drawn from state space models, by NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

import penstock as tf
from penstock.contrib.timeseries.continuations import parameter_switch
from penstock.contrib.timeseries.feature_keys import TrainEvalFeatures

if TYPE_CHECKING:
    from penstock.contrib.timeseries.state_space.state_space_model import StateSpaceModel

# The global random numbers: programs seed them, and compare what they get.
_random: Any = np.random


def _check_univariate(model: StateSpaceModel) -> None:
    if model.num_features != 1:
        raise NotImplementedError(
            "Generation for multivariate state space models is not currently implemented."
        )


def random_parameters(model: StateSpaceModel, seed: int | None) -> dict[Any, Any]:
    """Values of a model's parameters."""
    _check_univariate(model)
    if seed:
        _random.seed(seed)
    transform = tf.convert_to_tensor(model.get_noise_transform())
    state_size, noise_size = transform.get_shape().as_list()
    variances = 1.0 / _random.gamma(shape=10.0, scale=10.0, size=[noise_size])
    start = _random.normal(size=[state_size])
    drawn: dict[Any, Any] = {}
    if model.prior_state_mean is not None:
        drawn[model.prior_state_mean] = start
    if model.state_transition_noise_covariance is not None:
        drawn[model.state_transition_noise_covariance] = np.diag(variances)
    if model.prior_state_var is not None:
        drawn[model.prior_state_var] = np.zeros([state_size, state_size])
    if model._configuration.use_observation_noise:
        drawn[model._observation_noise_covariance] = [[1.0 / _random.gamma(shape=4, scale=4)]]
    return drawn


def series(
    model: StateSpaceModel,
    count: int,
    length: int,
    parameters: Mapping[Any, Any] | None,
    seed: int | None,
    add_observation_noise: bool | None,
) -> dict[str, Any]:
    """Times and values of series, drawn step by step."""
    if seed is not None:
        _random.seed(seed)
    _check_univariate(model)
    if add_observation_noise is None:
        add_observation_noise = model._configuration.use_observation_noise
    given = dict(parameters or {})
    value_of = parameter_switch(given)
    transition = tf.convert_to_tensor(model.get_state_transition(), dtype=model.dtype).eval(given)
    transform = tf.convert_to_tensor(model.get_noise_transform()).eval(given)
    noise_size = transform.shape[1]
    deviations = np.sqrt(np.diag(value_of(model.state_transition_noise_covariance)))
    deviation = 0.0
    if add_observation_noise:
        deviation = np.sqrt(value_of(model._observation_noise_covariance)[0][0])
    states = np.tile(value_of(model.prior_state_mean)[None], [count, 1])
    observation_models = model.get_broadcasted_observation_model(times=tf.range(length)).eval(given)
    values = np.zeros([count, length])
    for step, observation_model in enumerate(observation_models):
        noise = _random.normal(
            loc=np.zeros([count, noise_size]), scale=np.tile(deviations[None], [count, 1])
        )
        states = states @ transition.T + noise @ transform.T
        seen = np.dot(states, observation_model[0].T)
        values[:, step] = _random.normal(seen, deviation) if add_observation_noise else seen
    return {
        TrainEvalFeatures.TIMES: np.tile(np.arange(length)[None], [count, 1]),
        TrainEvalFeatures.VALUES: values[..., None],
    }
