"""The decoder that runs a cell and lets a helper choose its next inputs."""

from __future__ import annotations

from typing import Any, NamedTuple

import penstock as tf
from penstock.contrib.seq2seq.decoder import Decoder
from penstock.contrib.seq2seq.inference_helpers import Helper
from penstock.nest import flatten, map_structure
from penstock.rnn.cell import assert_like_rnncell
from penstock.shapes import TensorShape

__all__ = ["BasicDecoder", "BasicDecoderOutput"]


class BasicDecoderOutput(NamedTuple):
    """The output of a step, and what the helper sampled from it."""

    rnn_output: Any
    sample_id: Any


def layer_output_size(size: Any, layer: Any) -> Any:
    """The size of a cell's output after a layer, if there is one."""
    if layer is None:
        return size
    batched = map_structure(lambda s: TensorShape([None]).concatenate(s), size)
    return map_structure(lambda s: s[1:], layer.compute_output_shape(batched))


def check_output_layer(layer: Any) -> None:
    """Raises TypeError where the argument `output_layer` is not a layer."""
    from penstock.layers.core_layer import CoreLayer

    if layer is not None and not isinstance(layer, CoreLayer):
        raise TypeError(f"output_layer must be a Layer, received: {type(layer)}")


class BasicDecoder(Decoder):
    """Decodes with a cell and a helper.

    Args:
      cell: The cell.
      helper: Says what a step's output is taken for, and what the next inputs are.
      initial_state: The cell's first state.
      output_layer: A layer applied to the cell's output before the helper sees it.
    """

    def __init__(self, cell: Any, helper: Any, initial_state: Any, output_layer: Any = None):
        assert_like_rnncell("cell", cell)
        if not isinstance(helper, Helper):
            raise TypeError(f"helper must be a Helper, received: {type(helper)}")
        check_output_layer(output_layer)
        self._cell = cell
        self._helper = helper
        self._initial_state = initial_state
        self._output_layer = output_layer

    @property
    def batch_size(self) -> Any:
        return self._helper.batch_size

    def _rnn_output_size(self) -> Any:
        return layer_output_size(self._cell.output_size, self._output_layer)

    @property
    def output_size(self) -> Any:
        return BasicDecoderOutput(self._rnn_output_size(), self._helper.sample_ids_shape)

    @property
    def output_dtype(self) -> Any:
        dtype = flatten(self._initial_state)[0].dtype
        types = map_structure(lambda _: dtype, self._rnn_output_size())
        return BasicDecoderOutput(types, self._helper.sample_ids_dtype)

    def initialize(self, name: str | None = None) -> Any:
        """Returns (finished, first inputs, initial_state)."""
        return (*self._helper.initialize(), self._initial_state)

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        """Returns (outputs, next state, next inputs, finished)."""
        with tf.name_scope(name, "BasicDecoderStep", flatten((time, inputs, state))):
            outputs, state = self._cell(inputs, state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            ids = self._helper.sample(time=time, outputs=outputs, state=state)
            finished, next_inputs, next_state = self._helper.next_inputs(
                time=time, outputs=outputs, state=state, sample_ids=ids
            )
        return BasicDecoderOutput(outputs, ids), next_state, next_inputs, finished
