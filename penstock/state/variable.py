"""A variable's buffer: what ref edges and resource handles of variables stand for at run time."""

from __future__ import annotations

import threading
from typing import Any

from penstock import errors
from penstock.dtypes import DType
from penstock.shapes import Shape


class VariableState:
    """A mutable tensor with a name; None until it is first assigned.

    1. `value` is replaced or written to in place by kernels only; a kernel that takes the variable
       and not its value owns the decision which of the two.
    2. Updates of a reference variable lock it only where their node asks for it (`use_locking`):
       concurrent steps may interleave them, as asynchronous training wants. Sums and row updates
       behind a handle always hold the lock, as in TensorFlow.
    """

    __slots__ = ("dtype", "lock", "name", "shape", "value")

    has_handle = False

    def __init__(self, name: str, dtype: DType, shape: Shape):
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.value: Any = None
        self.lock = threading.Lock()

    def close(self) -> None:
        """Frees the memory: plans that know the variable may live on."""
        self.value = None

    def read(self) -> Any:
        """The current value, sharing memory with the variable."""
        value = self.value
        if value is None:
            problem = (
                f"Error while reading resource variable {self.name} from Container: localhost. "
                "This could mean that the variable was uninitialized"
                if self.has_handle
                else f"Attempting to use uninitialized value {self.name}"
            )
            hint = "run its initializer first (sess.run(tf.global_variables_initializer()))"
            raise errors.FailedPreconditionError(None, None, f"{problem}: {hint}")
        return value


class HandledVariable(VariableState):
    """A variable behind a resource handle: another one than a reference variable of its name."""

    __slots__ = ()
    has_handle = True
