"""`tf.nn.rnn_cell`: the cells of recurrent networks."""

from penstock.rnn.cell import LayerRNNCell, RNNCell, assert_like_rnncell
from penstock.rnn.linear import Linear as _Linear
from penstock.rnn.linear import linear as _linear
from penstock.rnn.lstm_cells import BasicLSTMCell, LSTMCell, LSTMStateTuple
from penstock.rnn.simple_cells import BasicRNNCell, GRUCell
from penstock.rnn.sizes import zero_state_tensors as _zero_state_tensors
from penstock.rnn.stacked_cell import MultiRNNCell
from penstock.rnn.wrappers import DeviceWrapper, DropoutWrapper, ResidualWrapper

# What programs use of TensorFlow's module behind this namespace.
_WEIGHTS_VARIABLE_NAME = "kernel"
_BIAS_VARIABLE_NAME = "bias"
ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"
_INTERNAL = (_Linear, _linear, _zero_state_tensors)

__all__ = [
    "BasicLSTMCell",
    "BasicRNNCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "GRUCell",
    "LSTMCell",
    "LSTMStateTuple",
    "LayerRNNCell",
    "MultiRNNCell",
    "RNNCell",
    "ResidualWrapper",
    "assert_like_rnncell",
]
