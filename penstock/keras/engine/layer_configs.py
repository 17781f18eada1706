"""What a layer's configuration must tell."""

from __future__ import annotations

import inspect
from typing import Any

#: Layers of Penstock name their arguments themselves (`_CONFIG`), also for subclasses.
_OWN_PACKAGE = "penstock."


def refuse_unknown_arguments(layer: Any, config: dict[str, Any]) -> None:
    """NotImplementedError for a layer whose own arguments its configuration doesn't have."""
    kind = type(layer)
    if kind._CONFIG or kind.__init__.__module__.startswith(_OWN_PACKAGE):
        return
    if not kind.get_config.__module__.startswith(_OWN_PACKAGE):
        return  # the layer adds them itself
    arguments = inspect.getfullargspec(kind.__init__).args[1:]
    if any(argument not in config for argument in arguments):
        raise NotImplementedError("Layers with arguments in `__init__` must override `get_config`.")
