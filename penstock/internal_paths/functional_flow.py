"""`cond_v2` and `while_v2` of TensorFlow: conditionals and loops, made of Switch and Merge here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.ir.defaults import get_default_graph
from penstock.ops.conditionals import cond, switch_case
from penstock.ops.loops import while_loop as _while_loop


def cond_v2(
    pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str = "cond"
) -> Any:
    """What one of two functions gives."""
    return cond(pred, true_fn, false_fn, name=name)


def indexed_case(
    branch_index: Any, branch_fns: Sequence[Callable[[], Any]], name: str = "indexed_case"
) -> Any:
    """What the function at an index gives; the last one's where there is none."""
    return switch_case(branch_index, list(branch_fns), name=name)


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    maximum_iterations: Any = None,
    name: str | None = None,
    return_same_structure: bool = True,
    back_prop: bool = True,
) -> Any:
    """Repeats `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` holds."""
    return _while_loop(
        cond,
        body,
        loop_vars,
        shape_invariants,
        parallel_iterations,
        back_prop,
        name=name,
        maximum_iterations=maximum_iterations,
        return_same_structure=return_same_structure,
    )


def in_defun() -> bool:
    """Whether a function's body is being built."""
    return get_default_graph().building_function
