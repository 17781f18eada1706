"""What both rewrites of a graph need: tensors in the place of others, nodes by names, a step."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from typing import Any

import penstock as tf

_STEP = "fake_quantization_step"

#: Nodes that are no part of the model.
SKIPPED_PREFIXES = (
    "gradients/",
    "RMSProp/",
    "Adagrad/",
    "Const_",
    "HistogramSummary",
    "ScalarSummary",
)
_ACTIVATIONS = ("Relu6", "Relu", "Identity")


def reroute_tensor(new: Any, old: Any, can_modify: Collection[Any] | None = None) -> int:
    """Lets operations that take a tensor take another; how many inputs were changed."""
    places = [
        (op, index)
        for op in dict.fromkeys(old.consumers())
        if can_modify is None or op in can_modify
        for index, taken in enumerate(op.inputs)
        if taken is old
    ]
    for op, index in places:
        op._update_input(index, new)
    return len(places)


def quantization_step() -> Any:
    """How many steps the quantized graph has run; asking for it counts one."""
    graph = tf.get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_STEP}/Identity:0")
    except KeyError:
        pass
    with graph.name_scope(None):
        step = tf.get_variable(
            _STEP,
            shape=[],
            dtype=tf.int64,
            initializer=tf.zeros_initializer(),
            trainable=False,
            collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
        )
        with graph.name_scope(f"{step.op.name}/"):
            return tf.identity(tf.assign_add(step, 1))


def context_of(name: str) -> str:
    """The scope that a name is in."""
    return name.rpartition("/")[0]


def BatchNormGroups(graph: Any) -> list[str]:
    """What the names of batch normalizations of several nodes begin with."""
    found = (re.search(r"^(.*)BatchNorm/batchnorm", op.name) for op in graph.get_operations())
    contexts = (match.group(1) for match in found if match)
    return list(dict.fromkeys(c for c in contexts if not c.startswith(SKIPPED_PREFIXES)))


def GetEndpointActivationOp(graph: Any, prefix: str) -> Any:
    """The activation whose name is a prefix and its type; None if there is none."""
    for kind in _ACTIVATIONS:
        try:
            return graph.get_operation_by_name(prefix + kind)
        except KeyError:
            continue
    return None


def DropStringPrefix(s: str, prefix: str) -> str:
    """A text without what it begins with."""
    return s.removeprefix(prefix)


class InputToOps:
    """Who takes which tensor, of the nodes that are part of the model."""

    def __init__(self, graph: Any):
        self.mapping: dict[Any, set[Any]] = defaultdict(set)
        for op in graph.get_operations():
            if op.name.startswith(SKIPPED_PREFIXES):
                continue
            for tensor in op.inputs:
                self.mapping[tensor].add(op)

    def ConsumerOperations(self, producer_op: Any) -> set[Any]:
        """The operations that take anything of one."""
        return {op for output in producer_op.outputs for op in self.mapping[output]}


CreateOrGetQuantizationStep = quantization_step
RerouteTensor = reroute_tensor
