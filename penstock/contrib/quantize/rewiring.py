"""What both rewrites of a graph need: tensors put in the place of others, and a count of steps."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import penstock as tf

_STEP = "fake_quantization_step"


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
