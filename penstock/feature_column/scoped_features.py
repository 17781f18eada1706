"""`DenseFeatures` of TensorFlow 2, whose variables are named by the scopes of names."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.feature_column import feature_layers
from penstock.layers.core_layer import CoreLayer, make_variable


class ScopedState(feature_layers.LayerState):
    """The state of columns as weights that the layer makes itself, outside variable scopes."""

    def __init__(self, layer: Any, trainable: bool):
        super().__init__(layer, trainable, getter=make_variable)


class DenseFeatures(feature_layers.DenseFeatures):
    """A layer that makes one dense tensor of features.

    Args:
      feature_columns: dense columns.
      trainable: whether its weights are trained.
    """

    def __init__(
        self, feature_columns: Any, trainable: bool = True, name: str | None = None, **kwargs: Any
    ):
        super().__init__(feature_columns, trainable, name, **kwargs)
        self._state_manager = ScopedState(self, self.trainable)

    def build(self, input_shape: Any) -> None:
        for column in self._feature_columns:
            with tf.name_scope(column.name):
                column.create_state(self._state_manager)
        CoreLayer.build(self, None)
