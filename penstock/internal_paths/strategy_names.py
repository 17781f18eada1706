"""`tensorflow.python.distribute`'s names of strategies and of what is between them."""

from __future__ import annotations

from typing import Any, NoReturn

from penstock.distribute import context
from penstock.distribute.device_names import local_devices
from penstock.distribute.extended import StrategyExtended as OneDeviceExtended
from penstock.distribute.mirrored import MirroredStrategy as MirroredStrategyV1
from penstock.distribute.multi_worker import CollectiveAllReduceExtended
from penstock.distribute.multi_worker import (
    MultiWorkerMirroredStrategy as CollectiveAllReduceStrategy,
)
from penstock.distribute.parameter_server import (
    ParameterServerExtended as ParameterServerStrategyExtended,
)
from penstock.distribute.strategy import DefaultStrategy as _DefaultDistributionStrategy
from penstock.distribute.strategy import Strategy

__all__ = [
    "CollectiveAllReduceExtended",
    "CollectiveAllReduceStrategy",
    "CollectiveAllReduceStrategyV1",
    "MirroredStrategyV1",
    "OneDeviceExtended",
    "ParameterServerStrategyExtended",
    "TPUStrategy",
    "TPUStrategyV1",
    "UpdateContext",
    "_DefaultDistributionStrategy",
    "all_local_devices",
]

CollectiveAllReduceStrategyV1 = CollectiveAllReduceStrategy


def all_local_devices(num_gpus: int | None = None) -> tuple[str, ...]:
    """The GPUs of this machine, or the first so many; the CPU if there are none."""
    return tuple(local_devices(num_gpus))


class UpdateContext:
    """A block in which the variables of one device are updated.

    Args:
      device: its name.
    """

    def __init__(self, device: str):
        self._updating = context.updating(device)

    def __enter__(self) -> None:
        self._updating.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._updating.__exit__(*exception)


class TPUStrategy(Strategy):
    """No strategy is of this class: there are no TPUs here."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            "There are no TPUs here: tf.distribute.MirroredStrategy is for several GPUs."
        )


TPUStrategyV1 = TPUStrategy
