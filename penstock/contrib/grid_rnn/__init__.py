"""`tf.contrib.grid_rnn`: recurrent cells on grids."""

from penstock.contrib import lazy_paths
from penstock.contrib.grid_rnn.grid_rnn_cell import GridRNNCell
from penstock.contrib.grid_rnn.specialized_cells import (
    Grid1BasicLSTMCell,
    Grid1BasicRNNCell,
    Grid1LSTMCell,
    Grid2BasicLSTMCell,
    Grid2BasicRNNCell,
    Grid2GRUCell,
    Grid2LSTMCell,
    Grid3LSTMCell,
)

__all__ = [
    "Grid1BasicLSTMCell",
    "Grid1BasicRNNCell",
    "Grid1LSTMCell",
    "Grid2BasicLSTMCell",
    "Grid2BasicRNNCell",
    "Grid2GRUCell",
    "Grid2LSTMCell",
    "Grid3LSTMCell",
    "GridRNNCell",
]

__getattr__ = lazy_paths.resolver(__name__)
