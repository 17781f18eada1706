"""`tf.contrib.rnn`: cells of recurrent networks, those of the core and others."""

from penstock.contrib.rnn.attention import AttentionCellWrapper
from penstock.contrib.rnn.block_cells import (
    GRUBlockCell,
    GRUBlockCellV2,
    LSTMBlockCell,
    LSTMBlockFusedCell,
    LSTMBlockWrapper,
)
from penstock.contrib.rnn.compiled import CompiledWrapper
from penstock.contrib.rnn.convolutional_cells import (
    Conv1DLSTMCell,
    Conv2DLSTMCell,
    Conv3DLSTMCell,
    ConvLSTMCell,
)
from penstock.contrib.rnn.frequency_cells import (
    BidirectionalGridLSTMCell,
    GridLSTMCell,
    TimeFreqLSTMCell,
)
from penstock.contrib.rnn.fused import FusedRNNCell, FusedRNNCellAdaptor, TimeReversedFusedRNN
from penstock.contrib.rnn.gated_cells import (
    HighwayWrapper,
    IntersectionRNNCell,
    NASCell,
    SRUCell,
    UGRNNCell,
)
from penstock.contrib.rnn.grouped_cells import GLSTMCell
from penstock.contrib.rnn.independent_cells import IndRNNCell, IndyGRUCell, IndyLSTMCell
from penstock.contrib.rnn.minimal_cells import CFNCell, MinimalRNNCell
from penstock.contrib.rnn.normalized_cells import (
    CoupledInputForgetGateLSTMCell,
    LayerNormBasicLSTMCell,
)
from penstock.contrib.rnn.peephole_cells import LayerNormLSTMCell, WeightNormLSTMCell
from penstock.contrib.rnn.phased_cells import PhasedLSTMCell
from penstock.contrib.rnn.projections import (
    EmbeddingWrapper,
    InputProjectionWrapper,
    OutputProjectionWrapper,
)
from penstock.contrib.rnn.stacks import (
    stack_bidirectional_dynamic_rnn,
    stack_bidirectional_rnn,
)
from penstock.contrib.rnn.turing_machine import NTMCell, NTMControllerState
from penstock.rnn import rnn_cell
from penstock.rnn.cell import LayerRNNCell
from penstock.rnn.dynamic import best_effort_input_batch_size, transpose_batch_time
from penstock.rnn.rnn_cell import (
    BasicLSTMCell,
    BasicRNNCell,
    DeviceWrapper,
    DropoutWrapper,
    GRUCell,
    LSTMCell,
    LSTMStateTuple,
    MultiRNNCell,
    ResidualWrapper,
    RNNCell,
)
from penstock.rnn.static import (
    static_bidirectional_rnn,
    static_rnn,
    static_state_saving_rnn,
)

__all__ = [
    "AttentionCellWrapper",
    "BasicLSTMCell",
    "BasicRNNCell",
    "BidirectionalGridLSTMCell",
    "CFNCell",
    "CompiledWrapper",
    "Conv1DLSTMCell",
    "Conv2DLSTMCell",
    "Conv3DLSTMCell",
    "ConvLSTMCell",
    "CoupledInputForgetGateLSTMCell",
    "DeviceWrapper",
    "DropoutWrapper",
    "EmbeddingWrapper",
    "FusedRNNCell",
    "FusedRNNCellAdaptor",
    "GLSTMCell",
    "GRUBlockCell",
    "GRUBlockCellV2",
    "GRUCell",
    "GridLSTMCell",
    "HighwayWrapper",
    "IndRNNCell",
    "IndyGRUCell",
    "IndyLSTMCell",
    "InputProjectionWrapper",
    "IntersectionRNNCell",
    "LSTMBlockCell",
    "LSTMBlockFusedCell",
    "LSTMBlockWrapper",
    "LSTMCell",
    "LSTMStateTuple",
    "LayerNormBasicLSTMCell",
    "LayerNormLSTMCell",
    "LayerRNNCell",
    "MinimalRNNCell",
    "MultiRNNCell",
    "NASCell",
    "NTMCell",
    "NTMControllerState",
    "OutputProjectionWrapper",
    "PhasedLSTMCell",
    "RNNCell",
    "ResidualWrapper",
    "SRUCell",
    "TimeFreqLSTMCell",
    "TimeReversedFusedRNN",
    "UGRNNCell",
    "WeightNormLSTMCell",
    "best_effort_input_batch_size",
    "rnn_cell",
    "stack_bidirectional_dynamic_rnn",
    "stack_bidirectional_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
    "static_state_saving_rnn",
    "transpose_batch_time",
]
