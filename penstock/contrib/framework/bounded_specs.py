"""A `TensorSpec` with limits of the values."""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf


class BoundedTensorSpec(tf.TensorSpec):
    """A shape, a type and the least and greatest values, which broadcast to the shape.

    Args:
      minimum: the least values, inclusive.
      maximum: the greatest values, inclusive.
    """

    def __init__(self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None):
        if minimum is None or maximum is None:
            raise ValueError("minimum and maximum must be provided; but saw None.")
        super().__init__(shape, dtype, name)
        self._minimum, self._maximum = (
            self._limit(kind, value) for kind, value in (("minimum", minimum), ("maximum", maximum))
        )

    def _limit(self, kind: str, value: Any) -> Any:
        limit = np.array(value, dtype=self.dtype.as_numpy_dtype)
        limit.setflags(write=False)
        if self.shape.is_fully_defined():
            sizes: Any = self.shape.as_list()
            try:
                np.broadcast_to(limit, sizes)
            except ValueError as error:
                raise ValueError(
                    f"{kind} is not compatible with shape. Message: {error!r}."
                ) from None
        return limit

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """A copy of another spec; one without limits gets those of its type."""
        minimum = getattr(spec, "minimum", spec.dtype.min)
        maximum = getattr(spec, "maximum", spec.dtype.max)
        return cls(spec.shape, spec.dtype, minimum, maximum, name or spec.name)

    @property
    def minimum(self) -> Any:
        """The least values, as an array that can't be changed."""
        return self._minimum

    @property
    def maximum(self) -> Any:
        """The greatest values, as an array that can't be changed."""
        return self._maximum

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
            f"minimum={self.minimum!r}, maximum={self.maximum!r})"
        )

    def __eq__(self, other: object) -> bool:
        return (
            super().__eq__(other)
            and isinstance(other, BoundedTensorSpec)
            and np.allclose(self.minimum, other.minimum)
            and np.allclose(self.maximum, other.maximum)
        )

    def __hash__(self) -> int:
        return super().__hash__()
