"""Kernels of whole recurrent cells."""

import torch

from penstock import errors
from penstock.kernels.registry import kernel


def _gate_order(node):
    """Where the matrix has input gate, cell, forget and output gate."""
    return (0, 2, 1, 3) if node.type.endswith("V2") else (0, 1, 2, 3)


def _lstm_step(node):
    """One step of an LSTM: the function from inputs and weights to all its intermediate values."""
    forget_bias, clip = node.attrs.get("forget_bias", 0.0), node.attrs["cell_clip"]
    gate_order = _gate_order(node)
    peephole = node.attrs["use_peephole"]

    def step(x, cs_prev, h_prev, w, wci, wcf, wco, b):
        gates = torch.addmm(b, torch.cat((x, h_prev), 1), w)
        parts = gates.chunk(4, 1)
        gi, gc, gf, go = (parts[place] for place in gate_order)
        gf = gf + forget_bias
        if peephole:
            gi = gi + wci * cs_prev
            gf = gf + wcf * cs_prev
        i, f, ci = torch.sigmoid(gi), torch.sigmoid(gf), torch.tanh(gc)
        cs = torch.addcmul(ci * i, cs_prev, f)
        if clip > 0:
            cs = cs.clamp_(-clip, clip)
        if peephole:
            go = go + wco * cs
        o, co = torch.sigmoid(go), torch.tanh(cs)
        return i, cs, f, o, ci, co, co * o

    return step


def _lstm_step_gradient(cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, peephole):
    """The gradients of the gates (in the order of the matrix) and of the memory before a step."""
    do = h_grad * co * o * (1 - o)
    dcs = (1 - co * co) * h_grad * o + cs_grad
    if peephole:
        dcs = dcs + do * wco
    dci = (1 - ci * ci) * dcs * i
    df = f * (1 - f) * dcs * cs_prev
    di = i * (1 - i) * dcs * ci
    before = dcs * f
    if peephole:
        before = before + di * wci + df * wcf
    return torch.cat((di, dci, df, do), 1), before, (di, df, do)


def _peephole_gradients(gates, cs_prev, cs, like, peephole):
    if not peephole:
        return [torch.zeros_like(like) for _ in range(3)]
    di, df, do = gates
    return [(di * cs_prev).sum(0), (df * cs_prev).sum(0), (do * cs).sum(0)]


def _check_cell(x, cs_prev, w, b):
    depth, units = x.shape[-1], cs_prev.shape[1]
    if tuple(w.shape) != (depth + units, 4 * units) or tuple(b.shape) != (4 * units,):
        raise errors.InvalidArgumentError(
            None,
            None,
            f"w.dim_size(0) != input_size + cell_size: {w.shape[0]} vs. {depth + units}, or "
            f"w.dim_size(1) != cell_size * 4: {w.shape[1]} vs. {4 * units}, or the size of b is "
            f"not cell_size * 4: {b.shape[0]}",
        )


@kernel("LSTMBlockCell", fresh=True)
def _(node):
    step = _lstm_step(node)

    def run(x, cs_prev, h_prev, w, wci, wcf, wco, b):
        _check_cell(x, cs_prev, w, b)
        return step(x, cs_prev, h_prev, w, wci, wcf, wco, b)

    return run


@kernel("LSTMBlockCellGrad", fresh=True)
def _(node):
    peephole = node.attrs["use_peephole"]

    def run(x, cs_prev, h_prev, w, wci, wcf, wco, b, i, cs, f, o, ci, co, cs_grad, h_grad):
        dicfo, before, gates = _lstm_step_gradient(
            cs_prev, wci, wcf, wco, i, cs, f, o, ci, co, cs_grad, h_grad, peephole
        )
        return before, dicfo, *_peephole_gradients(gates, cs_prev, cs, wci, peephole)

    return run


@kernel("BlockLSTM", "BlockLSTMV2", fresh=True)
def _(node):
    step = _lstm_step(node)

    def run(seq_len_max, x, cs, h, w, wci, wcf, wco, b):
        _check_cell(x, cs, w, b)
        steps, time = seq_len_max.item(), x.shape[0]
        if not 0 <= steps <= time:
            raise errors.InvalidArgumentError(
                None, None, f"seq_len_max must be between 0 and timelen {time}, got {steps}"
            )
        outputs = [x.new_zeros((time, x.shape[1], cs.shape[1])) for _ in range(7)]
        for t in range(steps):
            values = step(x[t], cs, h, w, wci, wcf, wco, b)
            for output, value in zip(outputs, values, strict=True):
                output[t] = value
            cs, h = values[1], values[6]
        return outputs

    return run


@kernel("BlockLSTMGrad", "BlockLSTMGradV2", fresh=True)
def _(node):
    peephole = node.attrs["use_peephole"]
    gate_order = _gate_order(node)

    def run(seq_len_max, x, cs0, h0, w, wci, wcf, wco, b, *rest):
        i, cs, f, o, ci, co, h, cs_grads, h_grads = rest
        depth = x.shape[2]
        x_grad, w_grad, b_grad = torch.zeros_like(x), torch.zeros_like(w), torch.zeros_like(b)
        peephole_grads = [torch.zeros_like(wci) for _ in range(3)]
        cs_grad, h_grad = torch.zeros_like(cs0), torch.zeros_like(h0)
        for t in reversed(range(seq_len_max.item())):
            cs_prev, h_prev = (cs0, h0) if t == 0 else (cs[t - 1], h[t - 1])
            dicfo, cs_grad, gates = _lstm_step_gradient(
                *(cs_prev, wci, wcf, wco, i[t], cs[t], f[t], o[t], ci[t], co[t]),
                cs_grads[t] + cs_grad,
                h_grads[t] + h_grad,
                peephole,
            )
            if gate_order != (0, 1, 2, 3):
                parts = dicfo.chunk(4, 1)
                dicfo = torch.cat([parts[place] for place in gate_order], 1)
            both = dicfo @ w.T
            x_grad[t], h_grad = both[:, :depth], both[:, depth:]
            w_grad.addmm_(torch.cat((x[t], h_prev), 1).T, dicfo)
            b_grad += dicfo.sum(0)
            found = _peephole_gradients(gates, cs_prev, cs[t], wci, peephole)
            for total, part in zip(peephole_grads, found, strict=True):
                total += part
        return x_grad, cs_grad, h_grad.contiguous(), w_grad, *peephole_grads, b_grad

    return run


@kernel("GRUBlockCell", fresh=True)
def _(node):
    def run(x, h_prev, w_ru, w_c, b_ru, b_c):
        gates = torch.sigmoid(torch.addmm(b_ru, torch.cat((x, h_prev), 1), w_ru))
        r, u = (gate.contiguous() for gate in gates.chunk(2, 1))
        c = torch.tanh(torch.addmm(b_c, torch.cat((x, h_prev * r), 1), w_c))
        return r, u, c, u * h_prev + (1 - u) * c

    return run


@kernel("GRUBlockCellGrad", fresh=True)
def _(node):
    def run(x, h_prev, w_ru, w_c, b_ru, b_c, r, u, c, d_h):
        depth = x.shape[1]
        d_c_bar = d_h * (1 - u) * (1 - c * c)
        d_u_bar = d_h * (h_prev - c) * u * (1 - u)
        through_c = d_c_bar @ w_c.T
        d_hr = through_c[:, depth:]
        d_r_bar = d_hr * h_prev * r * (1 - r)
        d_ru_bar = torch.cat((d_r_bar, d_u_bar), 1)
        through_ru = d_ru_bar @ w_ru.T
        d_h_prev = through_ru[:, depth:] + d_hr * r + d_h * u
        return through_c[:, :depth] + through_ru[:, :depth], d_h_prev, d_c_bar, d_ru_bar

    return run
