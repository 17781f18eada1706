"""Tests that are run under several strategies: TensorFlow's `distribute.combinations`.

A combination whose strategy needs more GPUs than there are is skipped.

    @combinations.generate(combinations.combine(
        distribution=[strategy_combinations.one_device_strategy], mode=["graph"]))
    def testSomething(self, distribution): ...
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from penstock import keras, train
from penstock.distribute import MirroredStrategy, OneDeviceStrategy
from penstock.distribute.context import _get_default_strategy
from penstock.distribute.parameter_server import CentralStorageStrategy
from penstock.internal_paths.eager_context import num_gpus
from penstock.testing import combinations as framework_combinations
from penstock.testing import parameter_combinations
from penstock.testing.combinations import NamedObject, combine, times
from penstock.testing.parameter_combinations import (
    Combination,
    OptionalParameter,
    ParameterModifier,
    TestCombination,
)

__all__ = ["NamedDistribution", "NamedObject", "combine", "generate", "times"]


class NamedDistribution:
    """A strategy that is made anew for each test, with a name for the test's.

    Args:
      name: what tests are named by.
      distribution_fn: makes the strategy.
      required_gpus: how many GPUs it needs.
      required_tpu: whether it needs a TPU, of which there are none.
    """

    def __init__(
        self,
        name: str,
        distribution_fn: Callable[[], Any],
        required_gpus: int | None = None,
        required_tpu: bool = False,
    ):
        self._name = name
        self._distribution_fn = distribution_fn
        self.required_gpus = required_gpus
        self.required_tpu = required_tpu

    @property
    def strategy(self) -> Any:
        return self._distribution_fn()

    def __repr__(self) -> str:
        return self._name


def _distributions(kwargs: Combination) -> list[NamedDistribution]:
    return [value for value in kwargs.values() if isinstance(value, NamedDistribution)]


class DistributionParameter(ParameterModifier):
    """Hands a test the strategy of a `NamedDistribution`."""

    def modified_arguments(
        self, kwargs: Combination, requested_parameters: Sequence[str]
    ) -> Combination:
        named = {k: v for k, v in kwargs.items() if isinstance(v, NamedDistribution)}
        return {name: value.strategy for name, value in named.items()}


class NamedGPUCombination(TestCombination):
    """Skips what needs more GPUs than there are, by `required_gpus` or a strategy's need."""

    GPU_TEST = False

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        required, distributions = kwargs.get("required_gpus"), _distributions(kwargs)
        if required and distributions:
            raise ValueError(
                "Do not use `required_gpus` and arguments of type NamedDistribution together."
            )
        needed = max([required or 0, *(each.required_gpus or 0 for each in distributions)])
        present = num_gpus()
        if present < needed:
            return False, f"Only {present} of {needed} required GPUs are available."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter("required_gpus")]


class GPUCombination(NamedGPUCombination):
    """Skips for want of GPUs, and hands tests the strategies themselves."""

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [DistributionParameter(), *super().parameter_modifiers()]


class NamedTPUCombination(TestCombination):
    """Skips what needs a TPU."""

    TPU_TEST = False

    def should_execute_combination(self, kwargs: Combination) -> tuple[bool, str | None]:
        if "required_tpus" in kwargs and "required_tpu" in kwargs:
            raise ValueError(
                "Do not use `required_tpu`.  Both `required_tpus` and `required_tpu` were "
                "specified."
            )
        required = kwargs.get("required_tpus") or kwargs.get("required_tpu")
        distributions = _distributions(kwargs)
        if required and distributions:
            raise ValueError(
                "Do not use `required_tpus` and arguments of type NamedDistribution together."
            )
        if required or any(each.required_tpu for each in distributions):
            return False, "Test requires a TPU, but it's not available."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [OptionalParameter("required_tpus"), OptionalParameter("required_tpu")]


class TPUCombination(NamedTPUCombination):
    """Skips for want of TPUs, and hands tests the strategies themselves."""

    def parameter_modifiers(self) -> list[ParameterModifier]:
        return [DistributionParameter(), *super().parameter_modifiers()]


_defaults: tuple[TestCombination, ...] = framework_combinations.generate.keywords[
    "test_combinations"
]
generate = functools.partial(
    parameter_combinations.generate,
    test_combinations=(*_defaults, GPUCombination(), TPUCombination()),
)


# The strategies of tests --------------------------------------------------------------------------


def _no_tpu() -> Any:
    raise RuntimeError("There are no TPUs here.")


def _one_device(device: str) -> Callable[[], Any]:
    return lambda: OneDeviceStrategy(device)


def _mirrored(*devices: str) -> Callable[[], Any]:
    return lambda: MirroredStrategy(list(devices))


def _central_storage(*devices: str) -> Callable[[], Any]:
    return lambda: CentralStorageStrategy(list(devices))


_WORKER = "/job:worker/replica:0/task:1"
default_strategy = NamedDistribution("Default", _get_default_strategy)
one_device_strategy = NamedDistribution("OneDeviceCPU", _one_device("/cpu:0"))
one_device_strategy_gpu = NamedDistribution("OneDeviceGPU", _one_device("/gpu:0"), 1)
one_device_strategy_on_worker_1 = NamedDistribution(
    "OneDeviceOnWorker1CPU", _one_device(f"{_WORKER}/cpu:0")
)
one_device_strategy_gpu_on_worker_1 = NamedDistribution(
    "OneDeviceOnWorker1GPU", _one_device(f"{_WORKER}/gpu:0"), 1
)
tpu_strategy = NamedDistribution("TPU", _no_tpu, required_tpu=True)
tpu_strategy_one_step = NamedDistribution("TPUOneStep", _no_tpu, required_tpu=True)
tpu_strategy_one_core = NamedDistribution("TPUOneCore", _no_tpu, required_tpu=True)
tpu_strategy_one_step_one_core = NamedDistribution("TPUOneStepOneCore", _no_tpu, required_tpu=True)
mirrored_strategy_with_one_cpu = NamedDistribution("Mirrored1CPU", _mirrored("/cpu:0"))
mirrored_strategy_with_one_gpu = NamedDistribution("Mirrored1GPU", _mirrored("/gpu:0"), 1)
mirrored_strategy_with_gpu_and_cpu = NamedDistribution(
    "MirroredCPUAndGPU", _mirrored("/gpu:0", "/cpu:0"), 1
)
mirrored_strategy_with_two_gpus = NamedDistribution(
    "Mirrored2GPUs", _mirrored("/gpu:0", "/gpu:1"), 2
)
mirrored_strategy_with_cpu_1_and_2 = NamedDistribution(
    "Mirrored2CPU", _mirrored("/cpu:1", "/cpu:2")
)
central_storage_strategy_with_two_gpus = NamedDistribution(
    "CentralStorage2GPUs", _central_storage("/gpu:0", "/gpu:1"), 2
)
central_storage_strategy_with_gpu_and_cpu = NamedDistribution(
    "CentralStorageCPUAndGPU", _central_storage("/gpu:0", "/cpu:0"), 1
)

# The optimizers of tests --------------------------------------------------------------------------

gradient_descent_optimizer_v1_fn = NamedObject(
    "GradientDescentV1", lambda: train.GradientDescentOptimizer(0.2)
)
adagrad_optimizer_v1_fn = NamedObject("AdagradV1", lambda: train.AdagradOptimizer(0.001))
adam_optimizer_v1_fn = NamedObject("AdamV1", lambda: train.AdamOptimizer(0.001, epsilon=1))
rmsprop_optimizer_v1_fn = NamedObject("RmsPropV1", lambda: train.RMSPropOptimizer(0.001))
optimizers_v1 = [gradient_descent_optimizer_v1_fn, adagrad_optimizer_v1_fn]

gradient_descent_optimizer_keras_v2_fn = NamedObject(
    "GradientDescentKerasV2", lambda: keras.optimizers.SGD(0.2)
)
adagrad_optimizer_keras_v2_fn = NamedObject(
    "AdagradKerasV2", lambda: keras.optimizers.Adagrad(0.001)
)
adam_optimizer_keras_v2_fn = NamedObject(
    "AdamKerasV2", lambda: keras.optimizers.Adam(0.001, epsilon=1.0)
)
rmsprop_optimizer_keras_v2_fn = NamedObject(
    "RmsPropKerasV2", lambda: keras.optimizers.RMSprop(0.001)
)
optimizers_v2 = [gradient_descent_optimizer_keras_v2_fn, adagrad_optimizer_keras_v2_fn]
optimizers_v1_and_v2 = optimizers_v1 + optimizers_v2
graph_and_eager_modes = ["graph", "eager"]

# Combinations of them -----------------------------------------------------------------------------

_WITH_OPTIMIZERS = [
    one_device_strategy,
    mirrored_strategy_with_gpu_and_cpu,
    mirrored_strategy_with_two_gpus,
]
_MINUS_DEFAULT = [
    one_device_strategy,
    one_device_strategy_gpu,
    mirrored_strategy_with_gpu_and_cpu,
    mirrored_strategy_with_two_gpus,
]
strategies_minus_tpu = [default_strategy, *_MINUS_DEFAULT]
tpu_strategies = [tpu_strategy, tpu_strategy_one_step]


def distributions_and_v1_optimizers() -> list[Combination]:
    return combine(distribution=_WITH_OPTIMIZERS, optimizer_fn=optimizers_v1)


def distributions_and_v2_optimizers() -> list[Combination]:
    return combine(distribution=_WITH_OPTIMIZERS, optimizer_fn=optimizers_v2)


def distributions_and_v1_and_v2_optimizers() -> list[Combination]:
    return combine(distribution=_WITH_OPTIMIZERS, optimizer_fn=optimizers_v1_and_v2)


def strategy_minus_tpu_combinations() -> list[Combination]:
    return combine(distribution=strategies_minus_tpu, mode=["graph", "eager"])


def tpu_strategy_combinations() -> list[Combination]:
    return combine(distribution=tpu_strategies, mode=["graph"])


def all_strategy_combinations() -> list[Combination]:
    return strategy_minus_tpu_combinations() + tpu_strategy_combinations()


def all_strategy_minus_default_and_tpu_combinations() -> list[Combination]:
    return combine(distribution=_MINUS_DEFAULT, mode=["graph", "eager"])


def all_strategy_combinations_minus_default() -> list[Combination]:
    return all_strategy_minus_default_and_tpu_combinations() + tpu_strategy_combinations()


def set_virtual_cpus_to_at_least(num_virtual_cpus: int) -> None:
    """Lets sessions have so many CPUs."""
    from penstock.config import experimental as config

    if num_virtual_cpus < 1:
        raise ValueError(f"`num_virtual_cpus` must be at least 1 not {num_virtual_cpus!r}")
    (cpu,) = config.list_physical_devices("CPU")
    present = config.get_virtual_device_configuration(cpu)
    if present is None:
        devices = [config.VirtualDeviceConfiguration() for _ in range(num_virtual_cpus)]
        config.set_virtual_device_configuration(cpu, devices)
    elif len(present) < num_virtual_cpus:
        raise RuntimeError(
            f"Already configured with {len(present)} < {num_virtual_cpus} virtual CPUs"
        )
