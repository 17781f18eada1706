"""Ends of tensors moved: what took one takes another."""

from __future__ import annotations

import enum
from typing import Any

from penstock.contrib.graph_editor.elements import (
    check_graphs,
    get_consuming_ops,
    make_list_of_op,
    make_list_of_t,
)
from penstock.contrib.graph_editor.subgraph import SubGraphView, make_view
from penstock.ir.operation import Operation

__all__ = [
    "add_control_inputs",
    "remove_control_inputs",
    "reroute_inputs",
    "reroute_ios",
    "reroute_outputs",
    "reroute_ts",
    "swap_inputs",
    "swap_ios",
    "swap_outputs",
    "swap_ts",
]


class _Mode(enum.Enum):
    """Whether takers of the second take the first, or takers of both are exchanged."""

    ONE_WAY = "one way"
    SWAP = "swap"


def _check_compatible(ts0: list[Any], ts1: list[Any]) -> None:
    if len(ts0) != len(ts1):
        raise ValueError(f"ts0 and ts1 have different sizes: {len(ts0)} != {len(ts1)}")
    for first, second in zip(ts0, ts1, strict=True):
        if not first.dtype.is_compatible_with(second.dtype):
            raise ValueError(f"Dtypes {first.dtype} and {second.dtype} are not compatible.")
        shapes = first.get_shape(), second.get_shape()
        if not shapes[0].is_compatible_with(shapes[1]):
            raise ValueError(f"Shapes {shapes[0]} and {shapes[1]} are not compatible.")


def _rerouted(
    ts0: Any, ts1: Any, mode: _Mode, can_modify: Any = None, cannot_modify: Any = None
) -> int:
    """Moves ends of pairs of tensors; how many inputs were changed."""
    ts0, ts1 = make_list_of_t(ts0), make_list_of_t(ts1)
    _check_compatible(ts0, ts1)
    allowed = None if can_modify is None else set(make_list_of_op(can_modify))
    forbidden = set() if cannot_modify is None else set(make_list_of_op(cannot_modify))
    pairs = [(new, old) for new, old in zip(ts0, ts1, strict=True) if new is not old]
    if mode is _Mode.SWAP:
        pairs = [each for new, old in pairs for each in ((new, old), (old, new))]
    # Who takes what is asked before anything is changed: a tensor may be in more than one pair.
    takers = [
        [op for op in dict.fromkeys(old.consumers()) if allowed is None or op in allowed]
        for _, old in pairs
    ]
    changed = 0
    for (new, old), ops in zip(pairs, takers, strict=True):
        for op in ops:
            places = [index for index, taken in enumerate(op.inputs) if taken is old]
            if op not in forbidden:
                for index in places:
                    op._update_input(index, new)
                changed += len(places)
    return changed


def swap_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Lets what took a tensor of each pair take the other; how many inputs were changed.

    Args:
      ts0: tensors.
      ts1: as many tensors.
      can_modify: the operations that may be changed; all if None.
      cannot_modify: operations that must not be changed.
    """
    return _rerouted(ts0, ts1, _Mode.SWAP, can_modify, cannot_modify)


def reroute_ts(ts0: Any, ts1: Any, can_modify: Any = None, cannot_modify: Any = None) -> int:
    """Lets what took tensors of `ts1` take those of `ts0`; how many inputs were changed.

    Args: see `swap_ts`.
    """
    return _rerouted(ts0, ts1, _Mode.ONE_WAY, can_modify, cannot_modify)


def _remap_passthroughs(source: SubGraphView, view: SubGraphView) -> None:
    for position, tensor in enumerate(view._output_ts):
        if tensor in source._passthrough_ts:
            view._output_ts[position] = view._input_ts[source._input_ts.index(tensor)]


def _views(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    first, second = make_view(sgv0), make_view(sgv1)
    check_graphs(first, second)
    return first, second


def _rerouted_inputs(sgv0: Any, sgv1: Any, mode: _Mode) -> tuple[SubGraphView, SubGraphView]:
    first, second = _views(sgv0, sgv1)
    allowed = [
        *first.ops,
        *second.ops,
        *get_consuming_ops(first.passthroughs),
        *get_consuming_ops(second.passthroughs),
    ]
    _rerouted(first.inputs, second.inputs, mode, can_modify=allowed)
    old_first, old_second = first.copy(), second.copy()
    second._input_ts, second._passthrough_ts = old_first._input_ts, old_first._passthrough_ts
    if mode is _Mode.SWAP:
        first._input_ts, first._passthrough_ts = old_second._input_ts, old_second._passthrough_ts
    _remap_passthroughs(first, second)
    if mode is _Mode.SWAP:
        _remap_passthroughs(second, first)
    return first, second


def _rerouted_outputs(sgv0: Any, sgv1: Any, mode: _Mode) -> tuple[SubGraphView, SubGraphView]:
    first, second = _views(sgv0, sgv1)
    _rerouted(first.outputs, second.outputs, mode, cannot_modify=[*first.ops, *second.ops])
    return first, second


def swap_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Exchanges the inputs of two views; both are changed."""
    return _rerouted_inputs(sgv0, sgv1, _Mode.SWAP)


def reroute_inputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Gives the second view the inputs of the first; it is changed."""
    return _rerouted_inputs(sgv0, sgv1, _Mode.ONE_WAY)


def swap_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Exchanges what takes the outputs of two views."""
    return _rerouted_outputs(sgv0, sgv1, _Mode.SWAP)


def reroute_outputs(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Gives what takes the outputs of the second view those of the first."""
    return _rerouted_outputs(sgv0, sgv1, _Mode.ONE_WAY)


def _rerouted_ios(sgv0: Any, sgv1: Any, mode: _Mode) -> tuple[SubGraphView, SubGraphView]:
    first, second = _views(sgv0, sgv1)
    _rerouted_outputs(first, second, mode)
    return _rerouted_inputs(first, second, mode)


def swap_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Puts each of two views in the place of the other."""
    return _rerouted_ios(sgv0, sgv1, _Mode.SWAP)


def reroute_ios(sgv0: Any, sgv1: Any) -> tuple[SubGraphView, SubGraphView]:
    """Puts the first view in the place of the second."""
    return _rerouted_ios(sgv0, sgv1, _Mode.ONE_WAY)


def _check_operation(op: Any) -> None:
    if not isinstance(op, Operation):
        raise TypeError(f"Expected a tf.Operation, got: {type(op)}")


def remove_control_inputs(op: Any, cops: Any) -> None:
    """Lets an operation no longer wait for others, which it did."""
    _check_operation(op)
    removed = make_list_of_op(cops, allow_graph=False)
    for each in removed:
        if each not in op.control_inputs:
            raise ValueError(f"{op.name} is not a control_input of {each.name}")
    kept = [each for each in op.control_inputs if each not in removed]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


def add_control_inputs(op: Any, cops: Any) -> None:
    """Lets an operation wait for others, which it did not."""
    _check_operation(op)
    added = make_list_of_op(cops, allow_graph=False)
    for each in added:
        if each in op.control_inputs:
            raise ValueError(f"{each.name} is already a control_input of {op.name}")
    op._add_control_inputs(added)
