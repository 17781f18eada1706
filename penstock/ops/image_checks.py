"""What functions of images demand: checked while building where shapes are known, else by
assertions in the graph.
"""

from __future__ import annotations

from typing import Any

from penstock.ir.convert import is_dense_tensor_like
from penstock.ir.tensor import Tensor
from penstock.shapes import TensorShape

Checks = list[Any]  # operations that fail where an image is not as it must be


def assert_or_raise(condition: Any, message: str) -> Checks:
    """ValueError where a Python condition is false; for a tensor the assertions to wait for."""
    from penstock.ops.debugging import Assert

    if is_dense_tensor_like(condition):
        return [Assert(condition, [message])]
    if not condition:
        raise ValueError(message)
    return []


def image_checks(image: Tensor) -> Checks:
    """The assertions that an image has at least three dimensions, the last three not empty."""
    from penstock.ops.shaping import rank, shape
    from penstock.ops.value_assertions import assert_greater_equal, assert_positive

    known: Any = image.shape
    try:
        known = known.with_rank(3) if known.ndims is None else known.with_rank_at_least(3)
    except ValueError:
        raise ValueError(f"'image' must be at least three-dimensional. Got shape {known}") from None
    if any(size == 0 for size in known.as_list()[-3:]):
        raise ValueError(f"all dims of 'image.shape' must be > 0: {known}")
    if known[-3:].is_fully_defined():
        return []
    return [
        assert_positive(shape(image), ["all dims of 'image.shape' must be > 0."]),
        assert_greater_equal(rank(image), 3, message="'image' must be at least three-dimensional."),
    ]


def require_image(image: Tensor) -> Tensor:
    """The image, whose value waits for the checks that it is one."""
    from penstock.ops.control import with_dependencies

    return with_dependencies(image_checks(image), image)


def require_grayscale(image: Tensor) -> Tensor:
    """The image, whose value waits for the checks that its last dimension is 1."""
    from penstock.ops.control import with_dependencies

    return with_dependencies(_grayscale_checks(image), image)


def _grayscale_checks(image: Tensor) -> Checks:
    from penstock.ops.shaping import rank, shape
    from penstock.ops.value_assertions import assert_equal, assert_greater_equal

    message = "Last dimension of a grayscale image should be size 1."
    known: Any = image.shape
    try:
        known = known.with_rank(2) if known.ndims is None else known.with_rank_at_least(2)
    except ValueError:
        raise ValueError(
            f"A grayscale image must be at least two-dimensional. Got shape {known}"
        ) from None
    if known.is_fully_defined():
        if known.as_list()[-1] != 1:
            raise ValueError(message)
        return []
    sizes: Any = shape(image)
    return [
        assert_equal(sizes[-1], 1, message=message),
        assert_greater_equal(
            rank(image), 3, message="A grayscale image must be at least two-dimensional."
        ),
    ]


def sizes_of(image: Any, rank: int) -> list[Any]:
    """The sizes of an image of known rank: numbers where they are known, else scalar tensors."""
    from penstock.ops.joining import unstack
    from penstock.ops.shaping import shape

    known: TensorShape = image.shape
    if known.is_fully_defined():
        return known.as_list()
    numbers = known.with_rank(rank).as_list()
    computed = unstack(shape(image), rank)
    return [t if n is None else n for n, t in zip(numbers, computed, strict=True)]
