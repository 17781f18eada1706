"""`tf.contrib.eager.Network`: what came before `tf.keras.Model` could be subclassed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.layers.core_layer import CoreLayer

__all__ = ["Network", "Sequential"]


class Network(tf.keras.Model):
    """A model whose layers are named to it: `self.dense = self.track_layer(tf.layers.Dense(4))`.

    Args:
      name: by default the class' name.
    """

    def __init__(self, name: str | None = None):
        if name is not None and "/" in name:
            raise ValueError("Forward slashes ('/') are not allowed in Network names.")
        super().__init__(name=name)

    def track_layer(self, layer: Any) -> Any:
        """Makes a layer, which is returned, a part of the network."""
        if not isinstance(layer, CoreLayer):
            raise TypeError(
                f"Network.track_layer() passed type {type(layer)}, not a tf.layers.Layer"
            )
        if not any(layer is known for known in self._layers):
            setattr(self, f"_layer_{len(self._layers)}", layer)
        return layer


class Sequential(Network):
    """Layers, or functions of one argument, one after the other.

    Args:
      layers_funcs: the layers and functions.
    """

    def __init__(self, layers_funcs: Sequence[Any] | None = None, name: str | None = None):
        super().__init__(name=name)
        self._steps: tuple[Any, ...] = ()
        for step in layers_funcs or ():
            self.add(step)

    def add(self, layer_func: Any) -> None:
        """Puts a layer or a function behind the others."""
        is_layer = isinstance(layer_func, CoreLayer)
        self._steps = (*self._steps, self.track_layer(layer_func) if is_layer else layer_func)

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """What the last one gives for what the others gave."""
        value = inputs
        for step in self._steps:
            takes_training = "training" in getattr(step, "_call_fn_args", ())
            value = step(value, training=training) if takes_training else step(value)
        return value
