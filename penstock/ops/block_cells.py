"""Whole recurrent cells as one op: LSTMBlockCell, BlockLSTM and GRUBlockCell.

They compute in one kernel what the cells of `tf.nn.rnn_cell` are made of many nodes for.
"""

from __future__ import annotations

from typing import Any

from penstock import dtypes
from penstock.ir.operation import Operation
from penstock.ir.registry import not_differentiable, op
from penstock.ir.signature import attr, types
from penstock.ir.tensor import Tensor
from penstock.ops.activations import BiasAddGrad
from penstock.ops.joining import concat
from penstock.ops.matmul import matmul
from penstock.ops.shape_checks import merge_sizes, with_rank
from penstock.ops.slicing import slice as slice_of
from penstock.shapes import Shape

LSTMBlockCell = op(
    "LSTMBlockCell(x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T) -> i: T, "
    "cs: T, f: T, o: T, ci: T, co: T, h: T",
    forget_bias=1.0,
    cell_clip=3.0,
    use_peephole=False,
    T=types(dtypes.float16, dtypes.float32),
)
LSTMBlockCellGrad = op(
    "LSTMBlockCellGrad(x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, "
    "cs: T, f: T, o: T, ci: T, co: T, cs_grad: T, h_grad: T) -> cs_prev_grad: T, dicfo: T, "
    "wci_grad: T, wcf_grad: T, wco_grad: T",
    use_peephole=attr("bool"),
    T=types(dtypes.float16, dtypes.float32),
)
BlockLSTM = op(
    "BlockLSTM(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, "
    "b: T) -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
    forget_bias=1.0,
    cell_clip=3.0,
    use_peephole=False,
    T=types(dtypes.float16, dtypes.float32),
)
BlockLSTMGrad = op(
    "BlockLSTMGrad(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, "
    "b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, h: T, cs_grad: T, h_grad: T) -> x_grad: T, "
    "cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T",
    use_peephole=attr("bool"),
    T=types(dtypes.float16, dtypes.float32),
)
BlockLSTMV2 = op(
    "BlockLSTMV2(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, "
    "b: T) -> i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
    cell_clip=0.0,
    use_peephole=False,
    T=types(dtypes.float16, dtypes.float32),
)
BlockLSTMGradV2 = op(
    "BlockLSTMGradV2(seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, "
    "wco: T, b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, h: T, cs_grad: T, h_grad: T) "
    "-> x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, "
    "wco_grad: T, b_grad: T",
    use_peephole=attr("bool"),
    T=types(dtypes.float16, dtypes.float32),
)
GRUBlockCell = op(
    "GRUBlockCell(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T) -> r: T, u: T, c: T, h: T",
    T=types(dtypes.float32),
)
GRUBlockCellGrad = op(
    "GRUBlockCellGrad(x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, "
    "d_h: T) -> d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T",
    T=types(dtypes.float32),
)
not_differentiable(LSTMBlockCellGrad, BlockLSTMGrad, BlockLSTMGradV2, GRUBlockCellGrad)


# Shapes ---------------------------------------------------------------------------------------


@LSTMBlockCell.shape
def _(op: Operation, x: Shape, cs_prev: Shape, *rest: Shape) -> list[Shape]:
    batch, _ = with_rank(x, 2)
    size = with_rank(cs_prev, 2)
    return [(merge_sizes(batch, size[0]), size[1])] * 7


@LSTMBlockCellGrad.shape
def _(op: Operation, x: Shape, cs_prev: Shape, *rest: Shape) -> list[Shape]:
    batch, _ = with_rank(x, 2)
    units = with_rank(cs_prev, 2)[1]
    gates = None if units is None else 4 * units
    return [(batch, units), (batch, gates), (units,), (units,), (units,)]


@BlockLSTM.shape
@BlockLSTMV2.shape
def _(op: Operation, steps: Shape, x: Shape, *rest: Shape) -> list[Shape]:
    time, batch, _ = with_rank(x, 3)
    (gates,) = with_rank(rest[-1], 1)
    return [(time, batch, None if gates is None else gates // 4)] * 7


@BlockLSTMGrad.shape
@BlockLSTMGradV2.shape
def _(op: Operation, steps: Shape, *shapes: Shape) -> list[Shape]:
    ranks = (3, 2, 2, 2, 1, 1, 1, 1)
    return [with_rank(shape, rank) for shape, rank in zip(shapes[:8], ranks, strict=True)]


@GRUBlockCell.shape
def _(op: Operation, x: Shape, h_prev: Shape, *rest: Shape) -> list[Shape]:
    batch, _ = with_rank(x, 2)
    return [(batch, with_rank(h_prev, 2)[1])] * 4


@GRUBlockCellGrad.shape
def _(op: Operation, x: Shape, h_prev: Shape, w_ru: Shape, *rest: Shape) -> list[Shape]:
    x = with_rank(x, 2)
    state = (x[0], with_rank(h_prev, 2)[1])
    return [x, state, state, (x[0], with_rank(w_ru, 2)[1])]


# Gradients ------------------------------------------------------------------------------------


def _columns(tensor: Tensor, what: str) -> int:
    size = with_rank(tensor._shape, 2)[1]
    if size is None:
        raise ValueError(f"{what} should not be None.")
    return size


def _weight_gradients(inputs: list[Tensor], gates: Tensor) -> tuple[Tensor, Tensor]:
    """The gradients of matrix and bias of gates that see `inputs` side by side."""
    return matmul(concat(inputs, 1), gates, transpose_a=True), BiasAddGrad(gates)


@LSTMBlockCell.gradient
def _(op: Operation, *grads: Any) -> Any:
    x, cs_prev, h_prev, w = op.inputs[:4]
    depth = _columns(x, "input_size from `x`")
    units = _columns(cs_prev, "cell_size from `cs_prev`")
    batch = with_rank(x._shape, 2)[0]
    batch = -1 if batch is None else batch
    found = LSTMBlockCellGrad(
        *op.inputs,
        *op.outputs[:6],
        grads[1],
        grads[6],
        use_peephole=op.attrs["use_peephole"],
    )
    both = matmul(found.dicfo, w, transpose_b=True)
    x_grad = slice_of(both, (0, 0), (batch, depth))
    h_grad = slice_of(both, (0, depth), (batch, units))
    w_grad, b_grad = _weight_gradients([x, h_prev], found.dicfo)
    peepholes = (found.wci_grad, found.wcf_grad, found.wco_grad)
    return (x_grad, found.cs_prev_grad, h_grad, w_grad, *peepholes, b_grad)


@BlockLSTM.gradient
@BlockLSTMV2.gradient
def _(op: Operation, *grads: Any) -> Any:
    node_type = BlockLSTMGrad if op.type == "BlockLSTM" else BlockLSTMGradV2
    found = node_type(
        *op.inputs, *op.outputs, grads[1], grads[6], use_peephole=op.attrs["use_peephole"]
    )
    return (None, *found)


@GRUBlockCell.gradient
def _(op: Operation, *grads: Any) -> Any:
    x, h_prev = op.inputs[:2]
    r, u, c, _ = op.outputs
    found = GRUBlockCellGrad(*op.inputs, r, u, c, grads[3])
    ru_grads = _weight_gradients([x, h_prev], found.d_r_bar_u_bar)
    c_grads = _weight_gradients([x, h_prev * r], found.d_c_bar)
    return found.d_x, found.d_h_prev, ru_grads[0], c_grads[0], ru_grads[1], c_grads[1]
