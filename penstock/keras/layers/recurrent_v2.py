"""Recurrent layers and cells with the defaults of TensorFlow 2, which cuDNN can compute."""

from __future__ import annotations

from typing import Any, ClassVar

from penstock.keras.layers import recurrent_cells, recurrent_layers

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell"]


class GRUCell(recurrent_cells.GRUCell):
    """A step of a GRU: sigmoid gates, the reset gate after the product with the last output."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        *args: Any,
        implementation: int = 2,
        reset_after: bool = True,
        **kwargs: Any,
    ):
        kwargs.update(implementation=implementation, reset_after=reset_after)
        super().__init__(units, activation, recurrent_activation, *args, **kwargs)


class LSTMCell(recurrent_cells.LSTMCell):
    """A step of an LSTM with sigmoid gates."""

    def __init__(
        self,
        units: int,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
        *args: Any,
        implementation: int = 2,
        **kwargs: Any,
    ):
        kwargs.update(implementation=implementation)
        super().__init__(units, activation, recurrent_activation, *args, **kwargs)


class _SecondDefaults:
    _defaults: ClassVar[dict[str, Any]] = {"recurrent_activation": "sigmoid", "implementation": 2}

    def __init__(self, units: int, *args: Any, **kwargs: Any):
        given = ("activation", "recurrent_activation")[: len(args)]
        defaults = {key: value for key, value in self._defaults.items() if key not in given}
        super().__init__(units, *args, **{**defaults, **kwargs})  # type: ignore[call-arg]


class GRU(_SecondDefaults, recurrent_layers.GRU):
    """A layer of gated recurrent units, as cuDNN computes them."""

    _defaults: ClassVar[dict[str, Any]] = {**_SecondDefaults._defaults, "reset_after": True}


class LSTM(_SecondDefaults, recurrent_layers.LSTM):
    """A layer of long short-term memories, as cuDNN computes them."""
