"""`tensorflow.python.framework.auto_control_deps`: nodes with effects run, in the order of making.

Inside a block every node with an effect is made to run before what the block marks as its result,
and uses of one resource wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import penstock as tf
from penstock import nest
from penstock.internal_paths.control_flow import IsInWhileLoop
from penstock.internal_paths.python.decorators import make_decorator
from penstock.ops.control_contexts import merge

#: Op types that would wait for each other forever if they ran one after another.
ASYNC_STATEFUL_OPS = [
    "CollectiveGather",
    "CollectiveReduce",
    "CollectiveBcastSend",
    "CollectiveBcastRecv",
    "NcclAllReduce",
]
#: Op types whose only effect is on their own numbers; they occur in initial values of variables.
LEGACY_RANDOM_OPS = [
    "RandomUniform",
    "RandomUniformInt",
    "RandomStandardNormal",
    "ParameterizedTruncatedNormal",
    "TruncatedNormal",
    "RandomShuffle",
    "Multinomial",
    "RandomGamma",
    "RandomGammaGrad",
    "RandomPoisson",
    "RandomPoissonV2",
]
_UNORDERED = frozenset(ASYNC_STATEFUL_OPS + LEGACY_RANDOM_OPS)


def op_is_stateful(op: tf.Operation) -> bool:
    """Whether an operation has an effect that others see."""
    return op.spec.is_stateful and op.type not in _UNORDERED


class AutomaticControlDependencies:
    """Adds control inputs to the nodes that are made inside, so that their effects are in order."""

    def __init__(self) -> None:
        self._returned_tensors: list[tf.Tensor] = []
        self.ops_which_must_run: set[tf.Operation] = set()

    def mark_as_return(self, tensor: Any) -> Any:
        """A copy of a tensor, or of one of several parts, that waits for all effects inside."""
        if isinstance(tensor, tf.IndexedSlices):
            values, indices = self._marked(tensor.values), self._marked(tensor.indices)
            return tf.IndexedSlices(values, indices, tensor.dense_shape)
        if isinstance(tensor, tf.SparseTensor):
            values, indices = self._marked(tensor.values), self._marked(tensor.indices)
            return tf.SparseTensor(indices, values, tensor.dense_shape)
        if isinstance(tensor, tf.TensorArray):
            return tensor._with_flow(self._marked(tensor.flow))
        return self._marked(tensor)

    def _marked(self, tensor: Any) -> tf.Tensor:
        copy: tf.Tensor = tf.identity(tensor)
        self._returned_tensors.append(copy)
        return copy

    def __enter__(self) -> AutomaticControlDependencies:
        self._graph = tf.get_default_graph()
        self._first = len(self._graph.get_operations())
        return self

    def __exit__(self, *exception: object) -> None:
        if self._graph is not tf.get_default_graph():
            raise RuntimeError("Graph changed while trying to add control dependencies.")
        order = _EffectOrder()
        for op in self._graph.get_operations()[self._first :]:
            if not IsInWhileLoop(op):
                order.add(op)
        self.ops_which_must_run |= order.must_run
        for tensor in self._returned_tensors:
            tensor.op._add_control_inputs(_beside(tensor.op, self.ops_which_must_run))


def _beside(op: tf.Operation, others: Any) -> list[tf.Operation]:
    """Those of the operations that are in the same branch or loop, in the order of creation."""
    context = op._control_flow_context
    found = [other for other in others if other._control_flow_context is context]
    return sorted(found, key=lambda each: each._id)


class _EffectOrder:
    """What has been seen so far: the last use of each resource, and what must have run."""

    def __init__(self) -> None:
        self.must_run: set[tf.Operation] = set()
        self._last_use: dict[tf.Tensor | None, tf.Operation] = {}
        self._merges: dict[tf.Tensor, tf.Operation] = {}  # behind all uses in a branch

    def add(self, op: tf.Operation) -> None:
        """Orders one operation behind the earlier ones."""
        if op_is_stateful(op):
            self.must_run.add(op)
        if op.type == "Switch" and op.inputs[0].dtype == tf.resource:
            return  # ordered with the first operation that uses it
        if op.type == "Merge":
            self._close_branches(op)
            return
        resources = list(dict.fromkeys(each for each in op.inputs if each.dtype == tf.resource))
        waits_for = [self._use(resource, op) for resource in resources]
        if op_is_stateful(op) and not resources and op._control_flow_context is None:
            waits_for.append(self._last_use.get(None))
            self._last_use[None] = op
        op._add_control_inputs(_beside(op, [each for each in waits_for if each is not None]))

    def _close_branches(self, merged: tf.Operation) -> None:
        """A conditional's result waits for the effects in its branches, and stands for them."""
        for op in sorted(self.must_run, key=lambda each: each._id):
            merged._add_control_input(op)
            for tensor in op.inputs:
                if tensor in self._last_use:
                    self._last_use[tensor] = merged
        self.must_run = {merged}

    def _use(self, resource: tf.Tensor, op: tf.Operation) -> tf.Operation | None:
        """Notes a use of a resource, and returns the one before it."""
        if resource.op.type == "Switch":
            self._enter_branch(resource.op)
        before = self._last_use.get(resource)
        if resource in self._merges:
            self._merges[resource]._add_control_input(op)
        self._last_use[resource] = op
        return before

    def _enter_branch(self, switch: tf.Operation) -> None:
        """Lets the uses outside of a branch wait for those inside: for a merge behind them all."""
        resource = switch.inputs[0]
        if resource.dtype == tf.resource and resource.op.type == "Switch":
            self._enter_branch(resource.op)
        if switch.outputs[0] in self._merges:
            return
        merged = merge(switch.outputs, name="artificial_merge")[0].op
        merged._control_flow_context = switch._control_flow_context.outer_context
        self.must_run.add(merged)
        if resource in self._last_use:
            switch._add_control_input(self._last_use[resource])
        self._last_use[resource] = merged
        if resource in self._merges:
            self._merges[resource]._add_control_input(merged)
        self._merges.update((output, merged) for output in switch.outputs)


def automatic_control_dependencies(f: Callable[..., Any]) -> Any:
    """The function, whose effects are in order and happen before its results are there."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with AutomaticControlDependencies() as block:
            result = f(*args, **kwargs)
            marked = [block.mark_as_return(each) for each in nest.flatten(result)]
            return nest.pack_sequence_as(result, marked)

    return make_decorator(f, wrapper)
