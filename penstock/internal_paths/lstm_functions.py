"""`tensorflow.contrib.rnn.python.ops.lstm_ops` besides its cells: their ops as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import penstock as tf
from penstock.ops.block_cells import BlockLSTM, LSTMBlockCell
from penstock.shapes import dimension_value

__all__ = ["_block_lstm", "_lstm_block_cell"]

_NO_CLIP = -1.0


def _lstm_block_cell(
    x: Any,
    cs_prev: Any,
    h_prev: Any,
    w: Any,
    b: Any,
    wci: Any = None,
    wcf: Any = None,
    wco: Any = None,
    forget_bias: float | None = None,
    cell_clip: float | None = None,
    use_peephole: bool | None = None,
    name: str | None = None,
) -> Any:
    """One step of an LSTM: its gates, states and output (i, cs, f, o, ci, co, h)."""
    if wci is None:
        units = dimension_value(cs_prev.get_shape().with_rank(2)[1])
        if units is None:
            raise ValueError("cell_size from `cs_prev` should not be None.")
        wci = wcf = wco = tf.constant(0, dtype=tf.float32, shape=[units])
    options = _options(forget_bias, cell_clip, use_peephole)
    return LSTMBlockCell(x, cs_prev, h_prev, w, wci, wcf, wco, b, name=name, **options)


def _block_lstm(
    seq_len_max: Any,
    x: Sequence[Any],
    w: Any,
    b: Any,
    cs_prev: Any = None,
    h_prev: Any = None,
    wci: Any = None,
    wcf: Any = None,
    wco: Any = None,
    forget_bias: float | None = None,
    cell_clip: float | None = None,
    use_peephole: bool | None = None,
    name: str | None = None,
) -> tuple[list[tf.Tensor], ...]:
    """An LSTM over the steps of `x`: lists of gates, states, outputs (i, cs, f, o, ci, co, h)."""
    dtype = x[0].dtype
    gates = dimension_value(b.get_shape().with_rank(1)[0])
    if gates is None:
        raise ValueError("`b` shape must not be None.")
    units = gates // 4
    if cs_prev is None or h_prev is None:
        batch = dimension_value(x[0].get_shape().with_rank(2)[0])
        zeros = tf.constant(0, dtype=dtype, shape=[batch, units])
        cs_prev = zeros if cs_prev is None else cs_prev
        h_prev = zeros if h_prev is None else h_prev
    if wci is None:
        wci = wcf = wco = tf.constant(0, dtype=dtype, shape=[units])
    options = _options(forget_bias, cell_clip, use_peephole)
    parts = BlockLSTM(
        seq_len_max, tf.stack(x), cs_prev, h_prev, w, wci, wcf, wco, b, name=name, **options
    )
    return tuple(tf.unstack(part) for part in parts)


def _options(
    forget_bias: float | None, cell_clip: float | None, use_peephole: bool | None
) -> dict[str, Any]:
    """The attrs of the ops; `cell_clip` has another default than theirs."""
    clip = _NO_CLIP if cell_clip is None else cell_clip
    given = {"forget_bias": forget_bias, "use_peephole": use_peephole}
    return {"cell_clip": clip, **{key: value for key, value in given.items() if value is not None}}
