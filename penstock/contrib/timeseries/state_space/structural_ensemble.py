"""Series as sums of a trend, a moving average and cycles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import penstock as tf
from penstock.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from penstock.contrib.timeseries.state_space.ensembles import (
    StateSpaceCorrelatedFeaturesEnsemble,
    StateSpaceIndependentEnsemble,
)
from penstock.contrib.timeseries.state_space.level_trend import AdderStateSpaceModel
from penstock.contrib.timeseries.state_space.periodic import (
    CycleStateSpaceModel,
    ResolutionCycleModel,
)
from penstock.contrib.timeseries.state_space.state_space_model import StateSpaceModel
from penstock.contrib.timeseries.state_space.varma import VARMA

_DEFAULT = StateSpaceModelConfiguration()

Univariate = Callable[[StateSpaceModelConfiguration], StateSpaceModel]


def _for_each_feature(
    scope: str, make: Univariate, configuration: StateSpaceModelConfiguration
) -> StateSpaceModel:
    """A model of each feature, with correlated noises."""
    univariate = configuration._replace(num_features=1)
    members = []
    with tf.variable_scope(scope):
        for feature in range(configuration.num_features):
            with tf.variable_scope(f"feature{feature}"):
                members.append(make(univariate))
        return StateSpaceCorrelatedFeaturesEnsemble(members, configuration)


def _parts(
    cycles: Sequence[Univariate],
    moving_average_order: int,
    autoregressive_order: int,
    configuration: StateSpaceModelConfiguration,
) -> list[StateSpaceModel]:
    """Trend, moving average and cycles; only their sum has observation noise."""
    silent = configuration._replace(use_observation_noise=False)
    adder = _for_each_feature(
        "adder", lambda univariate: AdderStateSpaceModel(configuration=univariate), silent
    )
    with tf.variable_scope("varma"):
        varma = VARMA(autoregressive_order, moving_average_order, configuration=silent)
    return [
        adder,
        varma,
        *(
            _for_each_feature(f"cycle{number}", cycle, silent)
            for number, cycle in enumerate(cycles)
        ),
    ]


class StructuralEnsemble(StateSpaceIndependentEnsemble):
    """Cycles have a number for each unit of their time.

    Args:
      periodicities: lengths of cycles; a number or several.
    """

    def __init__(
        self,
        periodicities: Any,
        moving_average_order: int,
        autoregressive_order: int,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = _DEFAULT,
    ):
        def cycle(periodicity: int) -> Univariate:
            return lambda univariate: CycleStateSpaceModel(periodicity, configuration=univariate)

        cycles = [cycle(periodicity) for periodicity in tf.nest.flatten(periodicities)]
        parts = _parts(cycles, moving_average_order, autoregressive_order, configuration)
        super().__init__(parts, configuration=configuration)


class MultiResolutionStructuralEnsemble(StateSpaceIndependentEnsemble):
    """Cycles of any length are described by a given count of numbers.

    Args:
      cycle_num_latent_values: this count, odd; one for all cycles, or one for each.
      periodicities: lengths of cycles; a number, several, or None.
    """

    def __init__(
        self,
        cycle_num_latent_values: Any,
        moving_average_order: int,
        autoregressive_order: int,
        periodicities: Any,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = _DEFAULT,
    ):
        lengths = tf.nest.flatten([] if periodicities is None else periodicities)
        counts = tf.nest.flatten(cycle_num_latent_values)
        if len(lengths) != len(counts):
            if len(counts) != 1:
                raise ValueError(
                    "`cycle_num_latent_values` must either be a list with the same size as "
                    f"`periodicity` or a scalar. Received length {len(counts)} "
                    "`cycle_num_latent_values`, while `periodicities` has length "
                    f"{len(lengths)}."
                )
            counts *= len(lengths)

        def cycle(count: int, length: float) -> Univariate:
            return lambda univariate: ResolutionCycleModel(count, length, configuration=univariate)

        cycles = [cycle(count, length) for count, length in zip(counts, lengths, strict=True)]
        parts = _parts(cycles, moving_average_order, autoregressive_order, configuration)
        super().__init__(parts, configuration=configuration)
