"""The choice among devices that constraints leave open, for `placer.place`.

It acts where it is worth it: on a step that takes a while, and that becomes clearly faster when it
is spread. Everything else stays on the devices that TensorFlow would give it.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.ir.step_graph import StepGraph
from penstock.placement.cost_model import CostModel
from penstock.placement.greedy import place_greedily
from penstock.placement.groups import Candidate, Group
from penstock.placement.options import PlacementOptions
from penstock.placement.placer import Choose
from penstock.placement.search import search
from penstock.placement.simulate import Run, Workload
from penstock.placement.units import eager_order, is_open, units_of


def chooser(options: PlacementOptions) -> Choose | None:
    """The function that reorders the devices of groups as the options say; None for the default."""
    if options.mode == "off":
        return None

    def choose(step: StepGraph, groups: list[Group]) -> None:
        if not any(is_open(group, spread_cpus=options.mode != "auto") for group in groups):
            return
        written, step.nodes = step.nodes, eager_order(step)
        run = best_run(step, groups, options)
        if run is None:
            step.nodes = written
        else:
            apply_run(run, groups)

    return choose


def best_run(step: StepGraph, groups: Sequence[Group], options: PlacementOptions) -> Run | None:
    """The simulated execution with the best placement; None where the default is good enough."""
    found = {device.name: device for group in groups for device in group.devices}
    devices: list[Candidate] = list(found.values())
    units = units_of(step, groups, devices, spread_cpus=options.mode != "auto")
    if all(len(choices) == 1 for choices in units.choices):
        return None
    workload = Workload(step, devices, units, options.costs or CostModel())
    default = Run(workload, workload.default)
    if default.makespan < options.least_seconds:
        return None
    run = place_greedily(workload)
    if options.mode == "search":
        run = search(run, effort=options.effort, seed=options.seed)
    return run if run.makespan <= default.makespan * (1 - options.least_gain) else None


def apply_run(run: Run, groups: Sequence[Group]) -> None:
    """Puts the chosen device of each group first."""
    workload = run.workload
    chosen = {
        node: workload.devices[run.placement[unit]].name
        for node, unit in zip(workload.nodes, workload.units.of, strict=True)
    }
    for group in groups:
        name = chosen[group.nodes[0]]
        group.devices.sort(key=lambda device: device.name != name)
