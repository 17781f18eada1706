"""What a master tells its workers about a step, and how each of them finds its own part.

All tasks get the same: the nodes that the step needs, each with its device, and the names of feeds,
fetches and targets. Each runs the same passes over it and cuts it at the same places, so that they
agree on what is sent under which name; then it keeps what is its own.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Container
from dataclasses import asdict, dataclass
from typing import Any

from penstock import proto
from penstock.distributed.large_constants import Constants, TakenConstants, large_constants
from penstock.ir.graph import Graph
from penstock.ir.graph_def import fill_library, fill_node_def
from penstock.ir.importer import extend_graph
from penstock.ir.operation import Operation
from penstock.ir.step_graph import StepGraph
from penstock.ir.tensor import Tensor
from penstock.partition.early_reads import read_early
from penstock.partition.split import Partition, partition
from penstock.passes.fold import Evaluate
from penstock.passes.pipeline import PassOptions, compile_step
from penstock.passes.structure import structured
from penstock.placement.placer import place


@dataclass(frozen=True)
class StepSpec:
    """A step by names, with the serialized GraphDef that they belong to.

    The nodes of large constants are there without their values.
    """

    nodes: bytes
    feeds: list[str]
    fetches: list[str]
    targets: list[str]
    devices: list[str]  # of all tasks, those to be used first at the front
    options: dict[str, Any]
    master: str  # the task that runs the step
    constants: Constants
    watched: bool = False  # runs of it write tensors to files

    def to_json(self) -> str:
        told = {name: value for name, value in vars(self).items() if name != "nodes"}
        return json.dumps({**told, "constants": list(self.constants)})

    @classmethod
    def from_json(cls, text: str, nodes: bytes, taken: TakenConstants) -> StepSpec:
        told = json.loads(text)
        return cls(nodes, **{**told, "constants": taken.of(told["constants"])})


def spec_of(
    step: StepGraph,
    feeds: list[Tensor],
    fetches: list[Tensor],
    targets: list[Operation],
    devices: list[str],
    options: PassOptions,
    master: str,
    *,
    watched: bool = False,
) -> StepSpec:
    """Describes a step that has been placed on the devices of several tasks."""
    graph = (fetches[0].graph if fetches else targets[0].graph) if fetches or targets else None
    assert graph is not None
    needed = _ancestors([tensor.op for tensor in (*feeds, *fetches)] + targets)
    places = {node.origin: node.device for node in step.nodes if node.type != "_Feed"}
    message = proto.GraphDef(versions=graph.graph_def_versions)
    fill_library(graph, message)
    constants = large_constants(needed)
    names = {op.name for op in needed}
    for op in sorted(needed, key=lambda op: op._id):
        node = message.node.add()
        fill_node_def(op, node, without="value" if op.name in constants else None)
        node.device = places.get(op, node.device)
        _forget_absent_groups(node, names)
    return StepSpec(
        message.SerializeToString(),
        [tensor.name for tensor in feeds],
        [tensor.name for tensor in fetches],
        [op.name for op in targets],
        devices,
        asdict(options),
        master,
        constants,
        watched,
    )


def _forget_absent_groups(node: Any, present: Container[str]) -> None:
    """Takes out colocation with nodes that the step does not need: all have their places."""
    if "_class" not in node.attr:  # which looking it up would add
        return
    groups = node.attr["_class"].list.s
    kept = [group for group in groups if group.decode().removeprefix("loc:@") in present]
    if len(kept) < len(groups):
        del groups[:]
        groups.extend(kept)


def _ancestors(ops: list[Operation]) -> set[Operation]:
    found: set[Operation] = set()
    pending = list(ops)
    while pending:
        op = pending.pop()
        if op not in found:
            found.add(op)
            pending += [tensor.op for tensor in op.inputs]
            pending += op.control_inputs
    return found


def parts_of(spec: StepSpec, evaluate: Evaluate) -> tuple[StepGraph, list[Partition]]:
    """The step that a spec describes, and its parts on all devices."""
    return cut(placed_of(spec, evaluate), spec)


def placed_of(spec: StepSpec, evaluate: Evaluate) -> StepGraph:
    """The step that a spec describes, with the device of each node."""
    graph = Graph()
    with graph.as_default():
        extend_graph(graph, proto.GraphDef.FromString(spec.nodes), spec.constants)
    for op in graph.get_operations():
        op._line = None  # it would be a line of this module
    feeds = [graph.get_tensor_by_name(name) for name in spec.feeds]
    fetches = [graph.get_tensor_by_name(name) for name in spec.fetches]
    targets = [graph.get_operation_by_name(name) for name in spec.targets]
    step = compile_step(feeds, fetches, targets, evaluate, PassOptions(**spec.options))
    place(step, spec.devices, soft=True)
    return step


def cut(step: StepGraph, spec: StepSpec) -> tuple[StepGraph, list[Partition]]:
    """A placed step with loops and branches as structure, and its parts; `step` may be changed.

    What only the executor can run, or show node by node, stays one part where it is on one task:
    then the part has the very graph of the step.
    """
    step, parts = _cut(step, spec)
    for part in parts:
        read_early(part.graph, references=task_of(part.device) != spec.master)
    return step, parts


def _cut(step: StepGraph, spec: StepSpec) -> tuple[StepGraph, list[Partition]]:
    whole = _whole(step) if spec.watched or step.has_control_flow else None
    if whole is not None and spec.watched:
        return step, [whole]
    if step.has_control_flow:
        shaped = structured(step)
        if shaped is None and whole is not None:
            return step, [whole]
        if shaped is None:
            raise _not_structured(step)
        step = shaped
    return step, partition(step, narrow=PassOptions(**spec.options).narrow_edges)


def _whole(step: StepGraph) -> Partition | None:
    """All of a step as a part, if its devices are those of one task."""
    devices = [node.device for node in step.nodes if node.type != "_Feed"]
    if len(set(map(task_of, devices))) != 1:
        return None
    feeds, fetches = range(len(step.feeds)), range(len(step.fetches))
    computed = [i for i in fetches if step.fetches[i].node.type != "_Feed"]
    return Partition(devices[0], step, list(feeds), computed)


def _not_structured(step: StepGraph) -> Exception:
    from penstock import errors

    return errors.UnimplementedError(
        None,
        None,
        "control-flow primitives that are not those of loops and conditionals can't run on "
        "several tasks: put the nodes of such a construct on one task",
    )


@functools.lru_cache(maxsize=1 << 16)
def task_of(device: str) -> str:
    """The part of a device's name that says whose it is: /job:ps/replica:0/task:1."""
    return device.partition("/device:")[0]


def fields_of(spec: StepSpec) -> dict[str, Any]:
    return {"spec": spec.to_json()}
