"""Weights of a layer whose attribute is set to something else, or deleted."""

from __future__ import annotations

from typing import Any

import penstock as tf


class _Normalized(tf.keras.layers.Layer):
    """Keeps a value that is computed from its weight under the weight's own name."""

    def __init__(self, keeps_another_name: bool):
        super().__init__()
        self.keeps_another_name = keeps_another_name

    def build(self, input_shape: Any) -> None:
        self.table = self.add_weight(name="table", shape=(3, 2))
        if self.keeps_another_name:
            self.raw = self.table
        self.table = self.table * 2.0
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        return inputs + self.table[0]


def _weights(keeps_another_name: bool) -> list[str]:
    layer = _Normalized(keeps_another_name)
    layer(tf.zeros([1, 2]))
    return [weight.op.name.rsplit("/", 1)[-1] for weight in layer.trainable_weights]


def test_a_replaced_weight_is_no_weight_any_more() -> None:
    assert _weights(keeps_another_name=False) == []


def test_a_weight_with_another_attribute_stays() -> None:
    assert _weights(keeps_another_name=True) == ["table"]


def test_a_deleted_weight_is_forgotten() -> None:
    layer = tf.keras.layers.Dense(2)
    layer.build((None, 3))
    del layer.bias
    assert layer.trainable_weights == [layer.kernel]
