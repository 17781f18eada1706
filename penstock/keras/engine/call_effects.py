"""What a layer's call does beside computing its outputs, in the graph of layers of eager mode."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.execution_modes import executing_eagerly_outside_functions
from penstock.keras.engine.layer_graph import is_layer_graph
from penstock.layers.call_context import call_context
from penstock.ops.flow_graphs import CondBranchFuncGraph, WhileBodyFuncGraph, WhileCondFuncGraph

_WRITES = ("Assign", "ResourceApply", "ResourceScatter", "ResourceStridedSliceAssign", "Print")


class CallEffects:
    """The nodes of one call that change variables or print, as they would run in eager mode."""

    def __init__(self, layer: Any):
        self._layer = layer
        self._graph: Any = tf.get_default_graph()
        self._first = len(self._graph.get_operations())

    def before(self, outputs: Any) -> Any:
        """The outputs, waiting for the effects; the layer's updates are left to `fit`."""
        made = self._graph.get_operations()[self._first :]
        effects = [op for op in made if op.type.startswith(_WRITES)]
        if not effects:
            return outputs
        context = self._graph._get_control_flow_context()
        # Also those of frozen layers: nobody will ask for them, and they are not to run.
        owners = (self._layer, *self._layer.submodules)
        left = _leading_to([update for each in owners for update in each._updates], set(made))
        waited_for = [
            op for op in effects if op not in left and op._control_flow_context is context
        ]
        with self._graph.control_dependencies(waited_for):
            return tf.nest.map_structure(_copied, outputs) if waited_for else outputs


def _leading_to(updates: list[Any], members: set[Any]) -> set[Any]:
    pending = [getattr(update, "op", update) for update in updates]
    found: set[Any] = set()
    while pending:
        op = pending.pop()
        if op in members and op not in found:
            found.add(op)
            pending += [source.op for source in op.inputs]
            pending += op.control_inputs
    return found


def _copied(output: Any) -> Any:
    if not isinstance(output, tf.Tensor):
        return output
    copy: Any = tf.identity(output)
    if hasattr(output, "_keras_mask"):
        copy._keras_mask = output._keras_mask
    return copy


def refuse_in_branch(value: Any, method: str) -> None:
    """RuntimeError for a loss or metric that a branch or loop made: others can't see it."""
    if not isinstance(value, tf.Tensor) or value._op.graph.is_eager:
        return
    graph = value._op.graph
    if isinstance(graph, (CondBranchFuncGraph, WhileBodyFuncGraph, WhileCondFuncGraph)):
        in_branch = executing_eagerly_outside_functions()
    else:
        in_branch = value.op._control_flow_context is not None and is_layer_graph()
    if not in_branch:
        return
    used, what = (
        ("a layer with `activity_regularizer`", "the layer with `activity_regularizer`")
        if method == "activity_regularizer"
        else (f"the method `{method}`", method)
    )
    raise RuntimeError(
        f"You are using {used} in a control flow branch in your layer. This is currently not "
        f"supported. Please move your call to {what} out of the control flow branch: compute the "
        "value in the branches, and add it behind them. You can also resolve this by marking your "
        "layer as dynamic (eager-only) by passing `dynamic=True` to the layer constructor."
    )


def refuse_value_as_loss(loss: Any) -> None:
    """ValueError for a loss outside of all calls that eager mode has computed already."""
    if loss is None or callable(loss) or call_context.in_call or not tf.executing_eagerly():
        return
    if isinstance(loss, tf.Tensor) and not loss._op.graph.is_eager:
        return
    raise ValueError(
        "Expected a symbolic Tensors or a callable for the loss value. Please wrap your loss "
        "computation in a zero argument `lambda`."
    )
