"""Whether the two ways that code can take leave variables alike, as one node's results must be.

The nodes would refuse what differs, too: these errors say which variable of the program it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import penstock as tf
from penstock.autograph.operators.special_values import is_undefined, is_undefined_return
from penstock.autograph.operators.tensor_kinds import is_tensor
from penstock.ir import nest
from penstock.ir.same_structure import assert_same_structure


def check_defined_before_loop(values: Iterable[Any]) -> None:
    """Refuses a loop whose variables have no value yet."""
    values = tuple(values)
    missing = tuple(each.symbol_name for each in values if is_undefined(each))
    if missing:
        raise ValueError(
            "TensorFlow requires that the following symbols must be defined before the loop: "
            f"{missing}"
        )
    if any(map(is_undefined_return, values)):
        raise ValueError("return statements are not supported within a TensorFlow loop.")


def check_defined_by_branch(values: Iterable[Any], branch: str) -> None:
    """Refuses a branch, `if` or `else`, that leaves variables without a value."""
    values = tuple(values)
    missing = tuple(each.symbol_name for each in values if is_undefined(each))
    if missing:
        raise ValueError(
            f"The following symbols must also be initialized in the {branch} branch: {missing}. "
            "Alternatively, you may initialize them before the if statement."
        )
    if any(map(is_undefined_return, values)):
        raise ValueError(
            f"A value must also be returned from the {branch} branch. If a value is returned from "
            "one branch of a conditional a value must be returned from all branches."
        )


def check_branches_agree(
    names: Sequence[str] | None, on_true: Sequence[Any], on_false: Sequence[Any]
) -> None:
    """Refuses variables of different structure or type in the two branches."""
    for name, one, other in zip(names or (), on_true, on_false, strict=False):
        _check_structure(
            one,
            other,
            f'"{name}" does not have the same nested structure in the TRUE and FALSE branches.',
        )
        for first, second in _tensor_pairs(one, other):
            if first.dtype != second.dtype:
                raise TypeError(
                    f'"{name}" has dtype {first.dtype.name} in the TRUE branch, but '
                    f"dtype={second.dtype.name} in the FALSE branch. TensorFlow control flow "
                    "requires that they are the same."
                )


def check_loop_keeps(
    names: Sequence[str | None] | None,
    before: Sequence[Any],
    after: Sequence[Any],
    *,
    include_shapes: bool = True,
) -> None:
    """Refuses variables whose structure, type or shape an iteration changes."""
    for name, one, other in zip(names or (), before, after, strict=False):
        _check_structure(
            one, other, f'"{name}" does not have the same nested structure after one iteration.'
        )
        for first, second in _tensor_pairs(one, other):
            if first.dtype != second.dtype:
                raise TypeError(
                    f'"{name}" has dtype {first.dtype.name} before the loop, but dtype '
                    f"{second.dtype.name} after one iteration. TensorFlow control flow requires it "
                    "stays the same."
                )
            if include_shapes and not _is_as_specific(first.shape, second.shape):
                raise ValueError(
                    f'"{name}" has shape {first.shape} before the loop, but shape {second.shape} '
                    "after one iteration. TensorFlow control flow requires it stays the same or be "
                    "more specific."
                )


def _check_structure(one: Any, other: Any, problem: str) -> None:
    try:
        assert_same_structure(one, other, expand_composites=True)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{problem}\n\n{error}") from None


def _tensor_pairs(one: Any, other: Any) -> Iterable[tuple[Any, Any]]:
    """The tensors at the same places of two structures, with numbers and text as such."""
    for pair in zip(nest.flatten(one), nest.flatten(other), strict=False):
        first, second = (
            tf.convert_to_tensor(each) if isinstance(each, (bool, int, float, str)) else each
            for each in pair
        )
        if all(is_tensor(each) and hasattr(each, "shape") for each in (first, second)):
            yield first, second


def _is_as_specific(shape: Any, other: Any) -> bool:
    """Whether all that a shape says holds of another one."""
    if shape.dims is None:
        return True
    if shape.ndims != other.ndims:
        return False
    return all(
        dim.value is None or dim.value == found.value
        for dim, found in zip(shape.dims, other.dims, strict=True)
    )
