"""Recurrent cells whose weights can be pruned."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.contrib.model_pruning.masks import masked_in_layer


class MaskedBasicLSTMCell(tf.nn.rnn_cell.BasicLSTMCell):
    """`tf.nn.rnn_cell.BasicLSTMCell` with a masked kernel."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
    ):
        super().__init__(num_units, forget_bias, state_is_tuple, activation, reuse, name)

    def build(self, inputs_shape: Any) -> None:
        super().build(inputs_shape)
        self._kernel = masked_in_layer(self, self._kernel)


class MaskedLSTMCell(tf.nn.rnn_cell.LSTMCell):
    """`tf.nn.rnn_cell.LSTMCell` with a masked kernel."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        cell_clip: float | None = None,
        initializer: Any = None,
        num_proj: int | None = None,
        proj_clip: float | None = None,
        num_unit_shards: int | None = None,
        num_proj_shards: int | None = None,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
    ):
        super().__init__(
            num_units,
            use_peepholes=use_peepholes,
            cell_clip=cell_clip,
            initializer=initializer,
            num_proj=num_proj,
            proj_clip=proj_clip,
            num_unit_shards=num_unit_shards,
            num_proj_shards=num_proj_shards,
            forget_bias=forget_bias,
            state_is_tuple=state_is_tuple,
            activation=activation,
            reuse=reuse,
        )

    def build(self, inputs_shape: Any) -> None:
        super().build(inputs_shape)
        self._kernel = masked_in_layer(self, self._kernel)
