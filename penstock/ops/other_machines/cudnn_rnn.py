"""The ops of cuDNN's recurrent networks.

`tf.contrib.cudnn_rnn` does not use them: its layers are made of other ops, on every device.
"""

from __future__ import annotations

from typing import Any

from penstock.ir.operation import Operation
from penstock.ir.registry import STATEFUL, OpSpec, attr, op
from penstock.ir.type_sets import FLOATING, INDEX
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

_NETWORK: dict[str, Any] = {
    "rnn_mode": attr("string", "lstm", allowed=("rnn_relu", "rnn_tanh", "lstm", "gru")),
    "input_mode": attr(
        "string", "linear_input", allowed=("linear_input", "skip_input", "auto_select")
    ),
    "direction": attr("string", "unidirectional", allowed=("unidirectional", "bidirectional")),
    "dropout": 0.0,
    "seed": 0,
    "seed2": 0,
}
_OF_T: dict[str, Any] = {"T": FLOATING, **_NETWORK}
_LENGTHS = ", sequence_lengths: int32"
_INPUTS = "input: T, input_h: T, input_c: T, params: T"
_OUTPUTS = "output: T, output_h: T, output_c: T, reserve_space: T"
_GIVEN = (
    "output: T, output_h: T, output_c: T, output_backprop: T, output_h_backprop: T, "
    "output_c_backprop: T, reserve_space: T"
)
_BACKPROP = "input_backprop: T, input_h_backprop: T, input_c_backprop: T, params_backprop: T"
_SIZES = "num_layers: int32, num_units: int32, input_size: int32"

CudnnRNN = op(f"CudnnRNN({_INPUTS}) -> {_OUTPUTS}", STATEFUL, **_OF_T, is_training=True)
CudnnRNNV2 = op(
    f"CudnnRNNV2({_INPUTS}) -> {_OUTPUTS}, host_reserved: int8",
    STATEFUL,
    **_OF_T,
    is_training=True,
)
CudnnRNNV3 = op(
    f"CudnnRNNV3({_INPUTS}{_LENGTHS}) -> {_OUTPUTS}, host_reserved: int8",
    STATEFUL,
    **_OF_T,
    num_proj=0,
    is_training=True,
    time_major=True,
)
CudnnRNNBackprop = op(f"CudnnRNNBackprop({_INPUTS}, {_GIVEN}) -> {_BACKPROP}", STATEFUL, **_OF_T)
CudnnRNNBackpropV2 = op(
    f"CudnnRNNBackpropV2({_INPUTS}, {_GIVEN}, host_reserved: int8) -> {_BACKPROP}",
    STATEFUL,
    **_OF_T,
)
CudnnRNNBackpropV3 = op(
    f"CudnnRNNBackpropV3({_INPUTS}{_LENGTHS}, {_GIVEN}, host_reserved: int8) -> {_BACKPROP}",
    STATEFUL,
    **_OF_T,
    num_proj=0,
    time_major=True,
)
CudnnRNNParamsSize = op(
    f"CudnnRNNParamsSize({_SIZES}) -> params_size: S",
    T=FLOATING,
    S=INDEX,
    **_NETWORK,
    num_proj=0,
)
CudnnRNNCanonicalToParams = op(
    f"CudnnRNNCanonicalToParams({_SIZES}, weights: num_params*T, biases: num_params*T) "
    "-> params: T",
    **_OF_T,
)
CudnnRNNCanonicalToParamsV2 = op(
    f"CudnnRNNCanonicalToParamsV2({_SIZES}, weights: num_params_weights*T, "
    "biases: num_params_biases*T) -> params: T",
    **_OF_T,
    num_proj=0,
)
CudnnRNNParamsToCanonical = op(
    f"CudnnRNNParamsToCanonical({_SIZES}, params: T) -> weights: num_params*T, "
    "biases: num_params*T",
    **_OF_T,
)
CudnnRNNParamsToCanonicalV2 = op(
    f"CudnnRNNParamsToCanonicalV2({_SIZES}, params: T) -> weights: num_params_weights*T, "
    "biases: num_params_biases*T",
    **_OF_T,
    num_proj=0,
)
OPS = tuple(value for value in list(globals().values()) if isinstance(value, OpSpec))


# Shapes ---------------------------------------------------------------------------------------


@CudnnRNN.shape
@CudnnRNNV2.shape
@CudnnRNNV3.shape
def _(op: Operation, input: Shape, input_h: Shape, input_c: Shape, *rest: Shape) -> list[Shape]:
    time, batch, _ = with_rank(input, 3)
    units = with_rank(input_h, 3)[2]
    if units is not None and op.attrs["direction"] == "bidirectional":
        units *= 2
    memory = input_h if op.attrs["rnn_mode"] == "lstm" else ()
    reserved: list[Shape] = [None] * (len(op.outputs) - 3)
    return [(time, batch, units), input_h, memory, *reserved]


@CudnnRNNBackprop.shape
@CudnnRNNBackpropV2.shape
@CudnnRNNBackpropV3.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    return list(inputs[:4])


@CudnnRNNParamsSize.shape
def _(op: Operation, *sizes: Shape) -> Shape:
    for size in sizes:
        with_rank(size, 0)
    return (1,)


@CudnnRNNCanonicalToParams.shape
@CudnnRNNCanonicalToParamsV2.shape
def _(op: Operation, *inputs: Shape) -> Shape:
    return (None,)


@CudnnRNNParamsToCanonical.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    return _canonical(op.attrs["num_params"], op.attrs["num_params"])


@CudnnRNNParamsToCanonicalV2.shape
def _(op: Operation, *inputs: Shape) -> list[Shape]:
    return _canonical(op.attrs["num_params_weights"], op.attrs["num_params_biases"])


def _canonical(weights: int, biases: int) -> list[Shape]:
    matrices: list[Shape] = [(None, None)] * weights
    vectors: list[Shape] = [(None,)] * biases
    return matrices + vectors
