"""Which layer is being called in this thread, on what, and whether for training."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class CallContext(threading.local):
    """The innermost call of a layer.

    Attributes:
      layer: the layer, None outside calls.
      inputs: its inputs.
      training: the `training` argument, which layers called inside take over; None if not given.
      frozen: whether this layer or one around it is not trainable.
    """

    def __init__(self) -> None:
        self.layer: Any = None
        self.inputs: Any = None
        self.training: Any = None
        self.frozen = False

    @property
    def in_call(self) -> bool:
        return self.layer is not None

    @contextmanager
    def enter(self, layer: Any, inputs: Any, training: Any) -> Iterator[None]:
        """Makes a layer's call the innermost one."""
        outer = (self.layer, self.inputs, self.training, self.frozen)
        self.layer, self.inputs, self.training = layer, inputs, training
        self.frozen = self.frozen or not layer.trainable
        try:
            yield
        finally:
            self.layer, self.inputs, self.training, self.frozen = outer


call_context = CallContext()
