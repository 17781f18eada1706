"""`RunMetadata.cost_graph`: what the nodes of a step cost, measured in every n-th run.

`GraphOptions.build_cost_model` says how many runs of a step lie between two that are measured,
`build_cost_model_after` how many come before all that.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from penstock import proto
from penstock.ir.registry import ALIASES, CONTROL_FLOW
from penstock.ir.step_graph import Node, StepGraph
from penstock.runtime.tracing import names_in_files

# The numbers of nodes: TensorFlow's graphs begin with two of its own.
_SOURCE, _SINK, _FIRST = 0, 1, 2


class MeasuredRuns:
    """Counts the runs of one step; safe to use from many threads."""

    def __init__(self, every: int, after: int = 0):
        self._every = every
        self._after = after
        self._runs = itertools.count()

    def next_is_due(self) -> bool:
        """Counts a run, and says whether it is one to measure."""
        number = next(self._runs) - self._after
        return number >= 0 and (number + 1) % self._every == 0


def cost_graph_of(steps: Sequence[StepGraph], stats: Any) -> Any:
    """The nodes of the parts of a placed step with what StepStats say about them."""
    measured: dict[str, list[Any]] = defaultdict(list)
    for device in stats.dev_stats:
        for entry in device.node_stats:
            measured[entry.node_name].append(entry)
    message = proto.CostGraphDef()
    message.node.add(name="_SOURCE", id=_SOURCE)
    message.node.add(name="_SINK", id=_SINK, control_input=[_SOURCE])
    number = {node: i for i, node in enumerate((n for each in steps for n in each.nodes), _FIRST)}
    for step in steps:
        names = names_in_files(step)
        for node in step.nodes:
            made = message.node.add(name=names[node], device=node.device, id=number[node])
            _add_inputs(made, node, number)
            _add_outputs(made, node, measured[names[node]])
    return message


def _add_inputs(made: Any, node: Node, number: dict[Node, int]) -> None:
    for edge in node.inputs:
        made.input_info.add(preceding_node=number[edge.node], preceding_port=edge.index)
    made.control_input.extend(number[control] for control in node.controls)
    if not node.inputs and not node.controls:
        made.control_input.append(_SOURCE)


def _add_outputs(made: Any, node: Node, runs: list[Any]) -> None:
    """The sizes of the last run of a node, and the time of all of them."""
    passes_on = not node.spec.traits.isdisjoint((ALIASES, CONTROL_FLOW))
    for dtype in node.dtypes:
        made.output_info.add(dtype=dtype.as_datatype_enum, alias_input_port=0 if passes_on else -1)
    for entry in runs:
        made.compute_cost += entry.op_end_rel_micros - entry.op_start_rel_micros
        made.persistent_memory_size = entry.memory_stats.persistent_memory_size
        for output in entry.output[: len(node.dtypes)]:
            described, info = output.tensor_description, made.output_info[output.slot]
            info.size = described.allocation_description.requested_bytes
            info.shape.CopyFrom(described.shape)
