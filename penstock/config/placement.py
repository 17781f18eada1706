"""`tf.config.set_placement`: how sessions use several devices of one type."""

from __future__ import annotations

from typing import Any

from penstock import proto
from penstock.client.session_defaults import session_defaults

__all__ = ["get_placement", "set_placement"]


def get_placement(config: Any = None) -> str:
    """The mode of placement of a ConfigProto; of new sessions if None."""
    from penstock.placement.options import mode_of

    return mode_of(session_defaults() if config is None else config)


def set_placement(
    mode: str,
    run_metadata: Any = None,
    *,
    effort: int | None = None,
    seed: int | None = None,
    least_seconds: float | None = None,
    config: Any = None,
) -> None:
    """Sets how nodes are placed that may run on several devices of one type.

    Args:
      mode: "off" (the first device, as TensorFlow), "greedy" (where a simulated execution has them
        end first), "search" (as greedy, then improved by a search), or "auto" (greedy, but CPU
        devices of one task, which share its cores, are left as they are).
      run_metadata: of a traced run; measured times are used in the place of estimates.
      effort: how many nodes a search simulates.
      seed: of the search.
      least_seconds: the estimated time of a step from which on it is spread.
      config: the ConfigProto to change; that of new sessions if None.
    """
    from penstock.placement.options import PlacementOptions, write_options

    PlacementOptions(mode)  # refuses what is no mode
    values: dict[str, Any] = {"mode": mode.encode()}
    if run_metadata is not None:
        if not isinstance(run_metadata, proto.RunMetadata):
            raise TypeError(f"run_metadata must be a tf.RunMetadata, but got {type(run_metadata)}")
        values["step_stats"] = run_metadata.step_stats.SerializeToString()
    given = {"effort": effort, "seed": seed, "least_seconds": least_seconds}
    values.update({name: value for name, value in given.items() if value is not None})
    write_options(session_defaults() if config is None else config, values)
