"""Cells of old programs, which set their attributes without making their base class."""

from typing import Any

import penstock as tf


class _Cell(tf.nn.rnn_cell.RNNCell):
    def __init__(self, units: int) -> None:
        self.trainable = False
        self._units = units

    @property
    def state_size(self) -> int:
        return self._units

    @property
    def output_size(self) -> int:
        return self._units

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        with tf.variable_scope(scope or "cell"):
            new = tf.tanh(tf.layers.dense(tf.concat([inputs, state], 1), self._units))
        return new, new


def test_a_cell_that_does_not_call_its_base() -> None:
    with tf.Graph().as_default():
        outputs, state = tf.nn.dynamic_rnn(_Cell(4), tf.ones([2, 3, 5]), dtype=tf.float32)
        assert outputs.shape.as_list() == [2, 3, 4] and state.shape.as_list() == [2, 4]
        assert _Cell(4).trainable is False
