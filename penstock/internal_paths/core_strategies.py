"""The strategies of `tf.distribute`, as the modules of `tf.contrib.distribute` call them."""

from __future__ import annotations

from penstock.distribute.mirrored import MirroredExtended as CoreMirroredExtended
from penstock.distribute.mirrored import MirroredStrategy as CoreMirroredStrategy
from penstock.distribute.parameter_server import (
    ParameterServerExtended as CoreParameterServerExtended,
)
from penstock.distribute.parameter_server import (
    ParameterServerStrategy as CoreParameterServerStrategy,
)

__all__ = [
    "CoreMirroredExtended",
    "CoreMirroredStrategy",
    "CoreParameterServerExtended",
    "CoreParameterServerStrategy",
]
