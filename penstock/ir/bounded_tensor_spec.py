"""`BoundedTensorSpec`: what is known of a tensor whose values have bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock import dtypes, shapes
from penstock.ir.tensor_spec import TensorSpec

__all__ = ["BoundedTensorSpec"]


class BoundedTensorSpec(TensorSpec):
    """A shape, a type, an optional name, and the least and greatest values, both inclusive.

    Args:
      minimum: a number, or numbers of a shape that broadcasts with `shape`.
      maximum: the same.
    """

    def __init__(
        self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None
    ) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(
                f"minimum and maximum must be provided; but saw '{minimum}' and '{maximum}'"
            )
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, which: str, value: Any) -> np.ndarray:
        bound = np.array(value, dtype=self.dtype.as_numpy_dtype)
        try:
            shapes.broadcast(bound.shape, shapes.raw(self.shape))
        except ValueError:
            reason = ValueError(
                f"Incompatible shapes for broadcasting: {bound.shape} and {self.shape}"
            )
            raise ValueError(
                f"{which} is not compatible with shape. Message: {reason!r}."
            ) from None
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """A copy of another spec, with the bounds of its type if it has none."""
        dtype = dtypes.as_dtype(spec.dtype)
        minimum = getattr(spec, "minimum", dtype.min)
        maximum = getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, minimum, maximum, name or spec.name)

    @property
    def minimum(self) -> np.ndarray:
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        return self._maximum

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, "
            f"minimum={self.minimum!r}, maximum={self.maximum!r})"
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundedTensorSpec)
            and super().__eq__(other)
            and np.allclose(self.minimum, other.minimum)
            and np.allclose(self.maximum, other.maximum)
        )

    def __hash__(self) -> int:
        return super().__hash__()

    def __reduce__(self) -> tuple[Any, ...]:
        return BoundedTensorSpec, self._serialize()
