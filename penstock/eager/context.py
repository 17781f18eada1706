"""The mode of a thread: `tf.enable_eager_execution`, `eager_mode()`, `graph_mode()`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from penstock.client.session_defaults import session_defaults
from penstock.eager.graph import EagerGraph
from penstock.eager.settings import eager_settings
from penstock.ir import defaults


def eager_mode() -> AbstractContextManager[Any]:
    """A block of this thread in which operations run at once."""
    graph = defaults.get_default_graph()
    return defaults.mode_scope(graph if graph.is_eager else EagerGraph())


def graph_mode() -> AbstractContextManager[Any]:
    """A block of this thread in which operations are added to a graph."""
    return defaults.mode_scope(defaults.innermost_plain_graph())


def enable(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Lets operations outside of all graphs run at once, in every thread from now on.

    Args:
      config: a ConfigProto with the devices and threads of these operations.
      device_policy, execution_mode: see `EagerSettings`; None leaves them.
    """
    if defaults.starts_eagerly():
        _refuse_other_options(config, device_policy, execution_mode)
        return
    if defaults.has_built():
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    if config is not None:
        session_defaults().MergeFrom(config)
    eager_settings.start_with(device_policy, execution_mode)
    defaults.run_eagerly_from_start(EagerGraph())


def _refuse_other_options(config: Any, device_policy: Any, execution_mode: Any) -> None:
    before = eager_settings
    if (
        (config is not None and config != session_defaults())
        or device_policy not in (None, before.device_policy)
        or execution_mode not in (None, before.execution_mode)
    ):
        raise ValueError(
            "Trying to change the options of an active eager execution: it has "
            f"config={session_defaults()}, device_policy={before.device_policy}, "
            f"execution_mode={before.execution_mode}; got config={config}, "
            f"device_policy={device_policy}, execution_mode={execution_mode}."
        )


def disable() -> None:
    """Undoes `enable`."""
    defaults.run_eagerly_from_start(None)
