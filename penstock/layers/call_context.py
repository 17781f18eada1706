"""Which layer is being called in this thread, on what, and whether for training."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.ir.defaults import executing_eagerly, get_default_graph
from penstock.ops.control import init_scope


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
    def enter(self, layer: Any, inputs: Any, build_graph: bool, training: Any) -> Iterator[None]:
        """Makes a layer's call the innermost one.

        Args:
          build_graph: not used: it is seen from the default graph.
        """
        outer = (self.layer, self.inputs, self.training, self.frozen)
        self.layer, self.inputs, self.training = layer, inputs, training
        self.frozen = self.frozen or not layer.trainable
        try:
            yield
        finally:
            self.layer, self.inputs, self.training, self.frozen = outer


call_context = CallContext()


def is_of_values() -> bool:
    """Whether layers are called in eager mode, or in a `tf.function` of it, and not on inputs.

    Then losses are those of the last call, and updates are made at once.
    """
    graph: Any = get_default_graph()
    if not graph.building_function or getattr(graph, "takes_eager_ops", False):
        return executing_eagerly()
    with init_scope():
        return executing_eagerly()
