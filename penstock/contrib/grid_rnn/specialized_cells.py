"""Grid cells of one, two and three dimensions; the first takes the input and gives the output."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.contrib.grid_rnn.grid_rnn_cell import GridRNNCell
from penstock.rnn.lstm_cells import BasicLSTMCell, LSTMCell
from penstock.rnn.simple_cells import BasicRNNCell, GRUCell

__all__ = [
    "Grid1BasicLSTMCell",
    "Grid1BasicRNNCell",
    "Grid1LSTMCell",
    "Grid2BasicLSTMCell",
    "Grid2BasicRNNCell",
    "Grid2GRUCell",
    "Grid2LSTMCell",
    "Grid3LSTMCell",
]

#: The activation of the first dimension, which then has no state.
Activation = Callable[..., Any] | None


class _FirstDimensionCell(GridRNNCell):
    """The first dimension takes the input, gives the output and has priority."""

    def __init__(
        self,
        num_units: int,
        num_dims: int,
        cell_fn: Callable[[int], Any],
        state_is_tuple: bool,
        output_is_tuple: bool,
        tied: bool = False,
        non_recurrent_fn: Activation = None,
    ):
        super().__init__(
            num_units=num_units,
            num_dims=num_dims,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            non_recurrent_dims=None if non_recurrent_fn is None else 0,
            tied=tied,
            cell_fn=cell_fn,
            non_recurrent_fn=non_recurrent_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


def _basic_lstm(forget_bias: float) -> Callable[[int], BasicLSTMCell]:
    return lambda units: BasicLSTMCell(units, forget_bias=forget_bias)


def _lstm(use_peepholes: bool, forget_bias: float) -> Callable[[int], LSTMCell]:
    return lambda units: LSTMCell(units, use_peepholes=use_peepholes, forget_bias=forget_bias)


class Grid1BasicRNNCell(_FirstDimensionCell):
    """A simple recurrent cell as a grid of one dimension."""

    def __init__(self, num_units: int, state_is_tuple: bool = True, output_is_tuple: bool = True):
        super().__init__(num_units, 1, BasicRNNCell, state_is_tuple, output_is_tuple)


class Grid2BasicRNNCell(_FirstDimensionCell):
    """Simple recurrent cells on a grid of two dimensions."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Activation = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            num_units, 2, BasicRNNCell, state_is_tuple, output_is_tuple, tied, non_recurrent_fn
        )


class Grid1BasicLSTMCell(_FirstDimensionCell):
    """A basic LSTM as a grid of one dimension."""

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(num_units, 1, _basic_lstm(forget_bias), state_is_tuple, output_is_tuple)


class Grid2BasicLSTMCell(_FirstDimensionCell):
    """Basic LSTMs on a grid of two dimensions."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Activation = None,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        cell_fn = _basic_lstm(forget_bias)
        super().__init__(
            num_units, 2, cell_fn, state_is_tuple, output_is_tuple, tied, non_recurrent_fn
        )


class Grid1LSTMCell(_FirstDimensionCell):
    """An LSTM, with peepholes if asked for, as a grid of one dimension."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        cell_fn = _lstm(use_peepholes, forget_bias)
        super().__init__(num_units, 1, cell_fn, state_is_tuple, output_is_tuple)


class Grid2LSTMCell(_FirstDimensionCell):
    """LSTMs, with peepholes if asked for, on a grid of two dimensions."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Activation = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        cell_fn = _lstm(use_peepholes, forget_bias)
        super().__init__(
            num_units, 2, cell_fn, state_is_tuple, output_is_tuple, tied, non_recurrent_fn
        )


class Grid3LSTMCell(_FirstDimensionCell):
    """LSTMs, with peepholes if asked for, on a grid of three dimensions."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Activation = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        cell_fn = _lstm(use_peepholes, forget_bias)
        super().__init__(
            num_units, 3, cell_fn, state_is_tuple, output_is_tuple, tied, non_recurrent_fn
        )


class Grid2GRUCell(_FirstDimensionCell):
    """Gated recurrent units on a grid of two dimensions."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Activation = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ):
        super().__init__(
            num_units, 2, GRUCell, state_is_tuple, output_is_tuple, tied, non_recurrent_fn
        )
