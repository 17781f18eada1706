"""Parts of a graph cut out of it, joined, and left out."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.graph_editor import reroute, select
from penstock.contrib.graph_editor.elements import (
    ControlOutputs,
    check_graphs,
    make_placeholder_from_tensor,
    placeholder_name,
)
from penstock.contrib.graph_editor.subgraph import SubGraphView, make_view

__all__ = [
    "bypass",
    "connect",
    "detach",
    "detach_control_inputs",
    "detach_control_outputs",
    "detach_inputs",
    "detach_outputs",
]


def detach_control_inputs(sgv: Any) -> None:
    """Lets the operations of a view no longer wait for any outside."""
    view = make_view(sgv)
    for op in view.ops:
        outside = [each for each in op.control_inputs if each not in view.ops]
        reroute.remove_control_inputs(op, outside)


def detach_control_outputs(sgv: Any, control_outputs: ControlOutputs) -> None:
    """Lets no operation outside wait for those of a view."""
    if not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    view = make_view(sgv)
    for op in view.ops:
        for waiting in control_outputs.get(op):
            if waiting not in view.ops:
                reroute.remove_control_inputs(waiting, op)


def detach_inputs(sgv: Any, control_inputs: bool = False) -> tuple[SubGraphView, list[Any]]:
    """Gives a view placeholders for its inputs; the view, which is changed, and they."""
    view = make_view(sgv)
    with view.graph.as_default():
        placeholders = [
            tf.placeholder(dtype=tensor.dtype, name=placeholder_name(tensor))
            for tensor in view.inputs
        ]
    reroute.swap_inputs(view, placeholders)
    if control_inputs:
        detach_control_inputs(view)
    return view, placeholders


def detach_outputs(
    sgv: Any, control_outputs: ControlOutputs | None = None
) -> tuple[SubGraphView, list[Any]]:
    """Gives what takes the outputs of a view placeholders; a view of those outputs, and they."""
    whole = make_view(sgv)
    view = whole.remap_outputs([i for i, t in enumerate(whole.outputs) if t.consumers()])
    takers = SubGraphView(view.consumers())
    leaving = set(view.outputs)
    takers = takers.remap_inputs([i for i, t in enumerate(takers.inputs) if t in leaving])
    with view.graph.as_default():
        placeholders = [make_placeholder_from_tensor(tensor) for tensor in takers.inputs]
    reroute.swap_outputs(view, placeholders)
    if control_outputs is not None:
        detach_control_outputs(view, control_outputs)
    return view, placeholders


def detach(
    sgv: Any,
    control_inputs: bool = False,
    control_outputs: ControlOutputs | None = None,
    control_ios: ControlOutputs | None = None,
) -> tuple[Any, list[Any], list[Any]]:
    """Cuts a view out of its graph; the view, and placeholders for its inputs and outputs."""
    control_inputs, control_outputs = select.check_cios(
        control_inputs, control_outputs, control_ios
    )
    _, inputs = detach_inputs(sgv, control_inputs)
    _, outputs = detach_outputs(sgv, control_outputs)
    return sgv, inputs, outputs


def connect(
    sgv0: Any, sgv1: Any, disconnect_first: bool = False
) -> tuple[SubGraphView, SubGraphView]:
    """Makes the outputs of one view the inputs of another.

    Args:
      sgv0: the view with the outputs.
      sgv1: the view with the inputs; it is changed.
      disconnect_first: whether what takes the outputs gets placeholders instead.
    """
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    if disconnect_first:
        detach_outputs(first)
    reroute.reroute_inputs(SubGraphView(passthrough_ts=first.outputs), second)
    return first, second


def bypass(sgv: Any) -> tuple[SubGraphView, list[Any]]:
    """Gives what takes the outputs of a view its inputs; the view, and placeholders for these."""
    view = make_view(sgv)
    inputs = list(view.inputs)
    view, placeholders = detach_inputs(view)
    reroute.reroute_ts(inputs, view.outputs)
    return view, placeholders
