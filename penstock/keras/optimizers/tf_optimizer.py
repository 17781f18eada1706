"""The optimizers of `tf.train` in Keras models."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.ir.trackable import Trackable
from penstock.keras import backend as K

__all__ = ["TFOptimizer"]


class TFOptimizer(Trackable):
    """A `tf.train` optimizer as one of Keras."""

    def __init__(self, optimizer: Any, iterations: Any = None):
        self.optimizer = optimizer
        if iterations is None:
            with tf.name_scope(type(self).__name__):
                iterations = K.variable(0, dtype="int64", name="iterations")
        self.iterations = iterations
        self._track_trackable(optimizer, name="optimizer")
        self._track_trackable(iterations, name="global_step")
        self._name = type(self).__name__

    def get_grads(self, loss: Any, params: Any) -> Any:
        """The gradients of a loss, in pairs with the variables."""
        return self.optimizer.compute_gradients(loss, params)

    def apply_gradients(self, grads_and_vars: Any) -> Any:
        """Changes variables by gradients, given as pairs."""
        return self.optimizer.apply_gradients(grads_and_vars, global_step=self.iterations)

    def apply_grads(self, grads: Any) -> None:
        """Another name of `apply_gradients`."""
        self.apply_gradients(grads)

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The operations of a training step."""
        if not params:
            return [tf.assign_add(self.iterations, 1)]
        pairs = self.optimizer.compute_gradients(loss, params)
        update = self.optimizer.apply_gradients(pairs, global_step=self.iterations)
        for variable in self.optimizer.variables():
            K.track_variable(variable)
        return [update]

    @property
    def weights(self) -> list[Any]:
        """Refused: a `tf.train` optimizer keeps its variables itself."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """Refused: a `tf.train` optimizer can't be made again from a file."""
        raise NotImplementedError
