"""Recurrent layers with cells of their own: SimpleRNN, GRU, LSTM."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from penstock.keras import regularizers
from penstock.keras.layers.recurrent import RNN
from penstock.keras.layers.recurrent_cells import GRUCell, LSTMCell, SimpleRNNCell, _Cell
from penstock.layers.input_spec import InputSpec

__all__ = ["GRU", "LSTM", "CuDNNGRU", "CuDNNLSTM", "SimpleRNN"]

_OF_THE_LAYER = (
    "return_sequences",
    "return_state",
    "go_backwards",
    "stateful",
    "unroll",
    "time_major",
    "zero_output_for_mask",
    "activity_regularizer",
    "input_shape",
    "batch_input_shape",
    "input_dim",
    "input_length",
    "batch_size",
    "weights",
    "trainable",
    "name",
    "dynamic",
)


class _CellLayer(RNN):
    """An RNN that makes its cell; it takes the cell's arguments and its own."""

    _cell_class: type[_Cell]
    _cell_defaults: ClassVar[dict[str, Any]] = {}

    def __init__(self, units: int, *args: Any, **kwargs: Any):
        of_layer = {key: kwargs.pop(key) for key in _OF_THE_LAYER if key in kwargs}
        parameters = list(inspect.signature(self._cell_class.__init__).parameters)[2:]
        of_cell = {**self._cell_defaults, **dict(zip(parameters, args, strict=False)), **kwargs}
        dtype = kwargs.get("dtype")
        regularizer = regularizers.get(of_layer.pop("activity_regularizer", None))
        of_cell.setdefault("trainable", of_layer.get("trainable", True))
        cell = self._cell_class(units, **of_cell)
        super().__init__(cell, dtype=dtype, **of_layer)
        self.activity_regularizer = regularizer
        self.input_spec = [InputSpec(ndim=3)]

    def __getattr__(self, name: str) -> Any:
        # The cell's settings are the layer's too: `lstm.units`, `lstm.dropout`.
        cell = self.__dict__.get("cell")
        if cell is not None and name in type(self)._cell_class._CONFIG:
            return getattr(cell, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def get_config(self) -> dict[str, Any]:
        config = super(RNN, self).get_config()
        of_cell = self.cell.get_config()
        keys = [key for key in self._cell_class._CONFIG if key not in self._cell_defaults]
        config.update(self._rnn_config(), time_major=self.time_major)
        config.update({key: of_cell[key] for key in keys})
        config["activity_regularizer"] = regularizers.serialize(self.activity_regularizer)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = {key: value for key, value in config.items() if key != "time_major" or value}
        if config.get("implementation") == 0:
            config["implementation"] = 1
        return cls(**config)


class SimpleRNN(_CellLayer):
    """A fully connected recurrent layer, whose output is fed back."""

    _cell_class = SimpleRNNCell


class GRU(_CellLayer):
    """A layer of gated recurrent units."""

    _cell_class = GRUCell


class LSTM(_CellLayer):
    """A layer of long short-term memories."""

    _cell_class = LSTMCell


class _CuDNNLayer(_CellLayer):
    """A layer that cuDNN computes in TensorFlow: it has no cell that counts among the layers."""

    def __init__(self, units: int, *args: Any, **kwargs: Any):
        kwargs.pop("unroll", None)
        super().__init__(units, *args, **kwargs)

    def _rnn_config(self) -> dict[str, Any]:
        return {key: value for key, value in super()._rnn_config().items() if key != "unroll"}


class CuDNNGRU(_CuDNNLayer):
    """A GRU as cuDNN computes it; here on any device."""

    _cell_class = GRUCell
    _cell_defaults: ClassVar[dict[str, Any]] = {
        "recurrent_activation": "sigmoid",
        "reset_after": True,
        "activation": "tanh",
        "use_bias": True,
        "dropout": 0.0,
        "recurrent_dropout": 0.0,
        "implementation": 2,
        "name": "cell",
    }


class CuDNNLSTM(_CuDNNLayer):
    """An LSTM as cuDNN computes it; here on any device."""

    _cell_class = LSTMCell
    _cell_defaults: ClassVar[dict[str, Any]] = {
        "recurrent_activation": "sigmoid",
        "activation": "tanh",
        "use_bias": True,
        "dropout": 0.0,
        "recurrent_dropout": 0.0,
        "implementation": 2,
        "name": "cell",
    }
