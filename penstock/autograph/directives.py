"""Marks in a program that say something to the conversion, and do nothing when they are run."""

from __future__ import annotations

from typing import Any

UNSPECIFIED = object()


def set_element_type(entity: Any, dtype: Any, shape: Any = UNSPECIFIED) -> None:
    """Says what the elements of a list are.

    Args:
      entity: the list.
      dtype: the type of its elements.
      shape: their shape.
    """


def set_loop_options(
    parallel_iterations: Any = UNSPECIFIED,
    back_prop: Any = UNSPECIFIED,
    swap_memory: Any = UNSPECIFIED,
    maximum_iterations: Any = UNSPECIFIED,
) -> None:
    """Accepted inside of a loop, as TensorFlow 1.x does, without an effect on it."""
