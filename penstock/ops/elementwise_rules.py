"""Shape and fold rules that element-wise ops share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import shapes
from penstock.shapes import Shape


def unchanged_shape(op: Any, x: Shape) -> Shape:
    """The shape rule of functions of one tensor."""
    return x


def gradient_shape(op: Any, y: Shape, dy: Shape) -> Shape:
    """The shape rule of gradients that are ops of their own: both inputs have the result's."""
    return y if y is not None else dy


def broadcast_shape(op: Any, x: Shape, y: Shape) -> Shape:
    """The shape rule of ops on two operands that stretch each other."""
    return shapes.broadcast(x, y)


def folding(compute: Callable[..., Any]) -> Callable[..., Any]:
    """A fold rule from a NumPy function; integers wrap as they do in a step."""

    def rule(op: Any, *arrays: Any) -> Any:
        with np.errstate(all="ignore"):
            return compute(*arrays)

    return rule
