"""State space models put together: their states side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.timeseries.matrices import block_diagonal
from penstock.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from penstock.contrib.timeseries.state_space.state_space_model import StateSpaceModel


class StateSpaceEnsemble(StateSpaceModel):
    """A model whose observations are sums of those of its members."""

    def __init__(
        self,
        ensemble_members: Sequence[StateSpaceModel],
        configuration: StateSpaceModelConfiguration,
    ):
        self._ensemble_members = ensemble_members
        super().__init__(configuration=configuration)

    def _set_input_statistics(self, input_statistics: Any = None) -> None:
        super()._set_input_statistics(input_statistics)
        for member in self._ensemble_members:
            member._set_input_statistics(input_statistics)

    def _loss_additions(self, times: Any, values: Any, mode: str) -> Any:
        own = super()._loss_additions(times, values, mode)
        return own + tf.add_n(
            [member._loss_additions(times, values, mode) for member in self._ensemble_members]
        )

    def _compute_blocked(self, member_fn: Callable[[Any], Any], name: str) -> tf.Tensor:
        """A matrix with those of the members along its diagonal."""
        with tf.variable_scope(self._variable_scope):
            blocks = [member_fn(member) for member in self._ensemble_members]
            return block_diagonal(blocks, dtype=self.dtype, name=name)

    def transition_to_powers(self, powers: Any) -> tf.Tensor:
        return self._compute_blocked(
            lambda member: member.transition_to_powers(powers), "ensemble_transition_to_powers"
        )

    def _define_parameters(self, observation_transition_tradeoff_log: Any = None) -> None:
        with tf.variable_scope(self._variable_scope):
            shared = observation_transition_tradeoff_log
            if shared is None:
                shared = self._variable_observation_transition_tradeoff_log()
            for member in self._ensemble_members:
                member._define_parameters(observation_transition_tradeoff_log=shared)
            super()._define_parameters(observation_transition_tradeoff_log=shared)

    def random_model_parameters(self, seed: int | None = None) -> dict[Any, Any]:
        drawn: dict[Any, Any] = {}
        for number, member in enumerate(self._ensemble_members):
            drawn.update(member.random_model_parameters(seed=seed + number if seed else None))
        drawn.update(super().random_model_parameters(seed=seed))
        return drawn

    def get_prior_mean(self) -> tf.Tensor:
        means = [member.get_prior_mean() for member in self._ensemble_members]
        return tf.concat(means, axis=0, name="ensemble_prior_state_mean")

    def get_state_transition(self) -> tf.Tensor:
        return self._compute_blocked(
            lambda member: member.get_state_transition(), "ensemble_state_transition"
        )

    def get_noise_transform(self) -> tf.Tensor:
        return self._compute_blocked(
            lambda member: member.get_noise_transform(), "ensemble_noise_transform"
        )

    def get_observation_model(self, times: Any) -> Any:
        raise NotImplementedError("No un-broadcasted observation model defined for ensembles.")

    def get_broadcasted_observation_model(self, times: Any) -> tf.Tensor:
        models = [
            self._tensor(member.get_broadcasted_observation_model(times))
            for member in self._ensemble_members
        ]
        return tf.concat(models, axis=2)


class StateSpaceIndependentEnsemble(StateSpaceEnsemble):
    """Members with noises that have nothing to do with each other."""

    def transition_power_noise_accumulator(self, num_steps: Any) -> tf.Tensor:
        return self._compute_blocked(
            lambda member: member.transition_power_noise_accumulator(num_steps),
            "ensemble_power_noise_accumulator",
        )

    def get_prior_covariance(self) -> tf.Tensor:
        return self._compute_blocked(
            lambda member: member.get_prior_covariance(), "ensemble_prior_state_covariance"
        )

    def get_state_transition_noise_covariance(self, *unused: Any) -> tf.Tensor:
        return self._compute_blocked(
            lambda member: member.state_transition_noise_covariance,
            "ensemble_state_transition_noise",
        )


class StateSpaceCorrelatedFeaturesEnsemble(StateSpaceEnsemble):
    """A member for each feature, with correlated noises."""

    def __init__(
        self,
        ensemble_members: Sequence[StateSpaceModel],
        configuration: StateSpaceModelConfiguration,
    ):
        if len(ensemble_members) != configuration.num_features:
            raise ValueError(
                "The number of members in a StateSpaceCorrelatedFeaturesEnsemble must equal the "
                "number of features in the time series."
            )
        if any(member.num_features != 1 for member in ensemble_members):
            raise ValueError("StateSpaceCorrelatedFeaturesEnsemble components must be univariate.")
        super().__init__(ensemble_members=ensemble_members, configuration=configuration)

    def transition_power_noise_accumulator(self, num_steps: Any) -> tf.Tensor:
        if len(self._ensemble_members) == 1:  # which may know a shorter way
            return self._ensemble_members[0].transition_power_noise_accumulator(num_steps)
        return super().transition_power_noise_accumulator(num_steps)

    def get_broadcasted_observation_model(self, times: Any) -> tf.Tensor:
        return self._compute_blocked(
            lambda member: self._tensor(member.get_broadcasted_observation_model(times)),
            "feature_ensemble_observation_model",
        )
