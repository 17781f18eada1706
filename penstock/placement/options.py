"""How a session places what its constraints leave open, as its ConfigProto says.

The setting is an entry of `graph_options.rewrite_options.custom_optimizers`, TensorFlow's own place
for passes with parameters; `tf.config.set_placement` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock import errors, proto
from penstock.placement.cost_model import CostModel
from penstock.placement.search import EFFORT

ENTRY = "placement"

#: What the modes do with units that several devices of one type could run.
MODES = {
    "auto": "the greedy choice among accelerators; CPU devices of a task share its cores",
    "off": "the first device, as TensorFlow",
    "greedy": "the greedy choice, among CPU devices too",
    "search": "as greedy, and then a search for something better",
}


@dataclass(frozen=True)
class PlacementOptions:
    """The mode of placement and what it works with.

    A step that takes less than `least_seconds` on the default devices stays there, and one that
    would not become faster by the share `least_gain`.
    """

    mode: str = "auto"
    costs: CostModel | None = None
    effort: int = EFFORT
    seed: int = 0
    least_seconds: float = 5e-3
    least_gain: float = 0.1

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            known = ", ".join(MODES)
            raise errors.InvalidArgumentError(
                None, None, f"unknown placement mode {self.mode!r} (known modes: {known})"
            )

    @classmethod
    def from_config(cls, config: Any) -> PlacementOptions:
        """What a ConfigProto asks for; the default where it says nothing."""
        entry = _entry(config)
        if entry is None:
            return cls()
        given = entry.parameter_map
        settings: dict[str, Any] = {}
        if "mode" in given:
            settings["mode"] = given["mode"].s.decode()
        for name in ("effort", "seed"):
            if name in given:
                settings[name] = given[name].i
        for name in ("least_seconds", "least_gain"):
            if name in given:
                settings[name] = given[name].f
        if "step_stats" in given:
            trace = proto.StepStats.FromString(given["step_stats"].s)
            settings["costs"] = CostModel.from_step_stats(trace)
        return cls(**settings)


def _entry(config: Any) -> Any:
    entries = config.graph_options.rewrite_options.custom_optimizers
    return next((entry for entry in reversed(entries) if entry.name == ENTRY), None)


def write_options(config: Any, values: dict[str, Any]) -> None:
    """Puts a setting into a ConfigProto, in the place of one that is there."""
    entries = config.graph_options.rewrite_options.custom_optimizers
    for index in reversed(range(len(entries))):
        if entries[index].name == ENTRY:
            del entries[index]
    parameters = entries.add(name=ENTRY).parameter_map
    for name, value in values.items():
        if isinstance(value, bytes):
            parameters[name].s = value
        elif isinstance(value, int):
            parameters[name].i = value
        else:
            parameters[name].f = value


def mode_of(config: Any) -> str:
    """The mode of placement that a ConfigProto asks for."""
    return PlacementOptions.from_config(config).mode
