"""The primitives of dynamic control flow: conditionals and loops inside the dataflow graph.

Switch sends a value to one of two outputs and leaves the other dead; Merge passes on what is
alive. Enter takes a value into a frame (a loop), NextIteration into the next iteration, Exit out.
"""

from __future__ import annotations

from penstock.ir.registry import ALLOWS_UNINITIALIZED, CONTROL_FLOW, op
from penstock.ir.signature import attr
from penstock.shapes import Shape

Switch = op("Switch(data: T, pred: bool) -> output_false: T, output_true: T", CONTROL_FLOW)
RefSwitch = op(
    "RefSwitch(data: &T, pred: bool) -> output_false: &T, output_true: &T",
    CONTROL_FLOW,
    ALLOWS_UNINITIALIZED,
)
Merge = op("Merge(inputs: N*T) -> output: T, value_index: int32", CONTROL_FLOW)
RefMerge = op("RefMerge(inputs: N*&T) -> output: &T, value_index: int32", CONTROL_FLOW)
RefSelect = op("RefSelect(index: int32, inputs: N*&T) -> output: &T")
Enter = op(
    "Enter(data: T) -> output: T",
    CONTROL_FLOW,
    frame_name=attr("string"),
    is_constant=False,
    parallel_iterations=10,
)
RefEnter = op(
    "RefEnter(data: &T) -> output: &T",
    CONTROL_FLOW,
    frame_name=attr("string"),
    is_constant=False,
    parallel_iterations=10,
)
Exit = op("Exit(data: T) -> output: T", CONTROL_FLOW)
RefExit = op("RefExit(data: &T) -> output: &T", CONTROL_FLOW)
NextIteration = op("NextIteration(data: T) -> output: T", CONTROL_FLOW)
RefNextIteration = op("RefNextIteration(data: &T) -> output: &T", CONTROL_FLOW)
LoopCond = op("LoopCond(input: bool) -> output: bool", CONTROL_FLOW)


@Switch.shape
@RefSwitch.shape
def _(op, data, pred):
    if pred is not None and pred != ():
        raise ValueError(f"Shape must be rank 0 but is rank {len(pred)}")
    return [data, data]


@Merge.shape
@RefMerge.shape
def _(op, *inputs):
    return [_common(inputs), ()]


def _common(shapes: tuple[Shape, ...]) -> Shape:
    """The shape that all inputs have in common: sizes that differ are unknown."""
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or any(len(shape) != len(known[0]) for shape in known):
        return None
    return tuple(
        size if all(shape[i] == size for shape in known) else None
        for i, size in enumerate(known[0])
    )


@RefSelect.shape
def _(op, index, *inputs):
    if index is not None and index != ():
        raise ValueError(f"Shape must be rank 0 but is rank {len(index)} for the index")
    first = inputs[0]
    known = first is not None and None not in first
    return first if known and all(shape == first for shape in inputs) else None


@Enter.shape
@RefEnter.shape
def _(op, data):
    # What enters a loop as a variable may change its shape there; a constant of the loop can't.
    return data if op.attrs["is_constant"] else None


@Exit.shape
@RefExit.shape
@NextIteration.shape
@RefNextIteration.shape
def _(op, data):
    return data


@LoopCond.shape
def _(op, condition):
    if condition is not None and condition != ():
        raise ValueError(f"Shape must be rank 0 but is rank {len(condition)} for a loop condition")
    return ()
