"""The kernels of the CTC loss: forward and backward recursions in log space.

Labels are padded to one matrix with a blank between any two, so that a step of a recursion handles
the whole batch; the only loop is the one over time.
"""

import math

import numpy as np
import torch

from penstock.errors import InvalidArgumentError
from penstock.kernels.registry import kernel
from penstock.kernels.values import to_array


def _invalid(message):
    return InvalidArgumentError(None, None, message)


@kernel("CTCLoss", fresh=True)
def _(node):
    return _loss_and_gradient(node, lambda num_classes: num_classes - 1)


@kernel("CTCLossV2", fresh=True)
def _(node):
    return _loss_and_gradient(node, lambda num_classes: 0)


def _loss_and_gradient(node, blank_of):
    collapse = node.attrs["preprocess_collapse_repeated"]
    merge = node.attrs["ctc_merge_repeated"]
    ignore_longer = node.attrs["ignore_longer_outputs_than_inputs"]

    def run(inputs, indices, values, lengths):
        lengths = to_array(lengths)
        indices, values = to_array(indices), to_array(values)
        _check(inputs, indices, values, lengths)
        _, batch, classes = inputs.shape
        blank = blank_of(classes)
        labels = _labels(indices, values, batch, classes, blank, collapse)
        _check_time(labels, lengths, merge, ignore_longer)
        counted = [n > 0 and len(row) <= n for row, n in zip(labels, lengths, strict=True)]
        trellis = _Trellis(labels, blank, merge, inputs.device)
        return trellis.loss_and_gradient(inputs, lengths, counted)

    return run


def _check(inputs, indices, values, lengths):
    if inputs.dim() != 3:
        raise _invalid("inputs is not a 3-Tensor")
    if lengths.ndim != 1:
        raise _invalid("sequence_length is not a vector")
    if indices.ndim != 2:
        raise _invalid("labels_indices is not a matrix")
    if indices.shape[1] < 1:
        raise _invalid("labels_indices must have more than 1 column")
    if values.ndim != 1:
        raise _invalid("labels_values is not a vector")
    if len(indices) != len(values):
        raise _invalid(
            "labels_indices and labels_values must contain the same number of rows, but saw "
            f"shapes: {list(indices.shape)} vs. {list(values.shape)}"
        )
    time, batch, _ = inputs.shape
    if batch == 0:
        raise _invalid("batch_size must not be 0")
    if len(lengths) != batch:
        raise _invalid(
            f"len(sequence_length) != batch_size. len(sequence_length): {len(lengths)} "
            f"batch_size: {batch}"
        )
    if (lengths > time).any():
        place = int(np.argmax(lengths > time))
        raise _invalid(f"sequence_length({place}) <= {time}")


def _labels(indices, values, batch, classes, blank, collapse):
    """The labels of each entry of the batch; a blank as a label ends its sequence."""
    if len(indices) and (indices[:, 0].min() < 0 or indices[:, 0].max() >= batch):
        raise _invalid(f"labels batch index must be between 0 and {batch} but saw {indices[:, 0]}")
    rows = [[] for _ in range(batch)]
    for entry, label in zip(indices[:, 0].tolist(), values.tolist(), strict=True):
        rows[entry].append(label)
    for entry, row in enumerate(rows):
        if not row:
            raise _invalid(f"Labels length is zero in batch {entry}")
    last_is_blank = blank == classes - 1
    return [_clean(row, entry, classes, last_is_blank, collapse) for entry, row in enumerate(rows)]


def _clean(row, entry, classes, last_is_blank, collapse):
    if collapse:
        row = [label for i, label in enumerate(row) if i == 0 or label != row[i - 1]]
    if any(label < 0 for label in row):
        raise _invalid(f"All labels must be nonnegative integers, batch: {entry} labels: {row}")
    if not last_is_blank:
        return row
    ends = [i for i, label in enumerate(row) if label >= classes - 1]
    if not ends:
        return row
    if any(label < classes - 1 for label in row[ends[0] :]):
        raise _invalid(
            "Saw a non-null label (index >= num_classes - 1) following a null label, batch: "
            f"{entry} num_classes: {classes} labels: {row}"
        )
    return row[: ends[0]]


def _check_time(labels, lengths, merge, ignore_longer):
    if ignore_longer:
        return
    for entry, (row, length) in enumerate(zip(labels, lengths.tolist(), strict=True)):
        if len(row) > length:
            raise _invalid(
                f"Not enough time for target transition sequence (required: {len(row)}, "
                f"available: {length}) {entry} You can turn this error into a warning by using "
                "the flag ignore_longer_outputs_than_inputs"
            )


class _Trellis:
    """States of the alignment: 2n + 1 for n labels, a blank before, between and behind them."""

    def __init__(self, labels, blank, merge, device):
        counts = np.array([len(row) for row in labels])
        states = 2 * int(counts.max(initial=0)) + 1
        symbols = np.full((len(labels), states), blank, np.int64)
        for row, symbol in zip(labels, symbols, strict=True):
            symbol[1 : 2 * len(row) : 2] = row
        two_back = np.full_like(symbols, blank)
        two_back[:, 2:] = symbols[:, :-2]
        may_skip = symbols != blank
        may_skip[:, :2] = False
        if merge:
            may_skip &= symbols != two_back
        may_stay = np.full_like(may_skip, merge) | (symbols == blank)
        places = np.arange(states)
        is_last = (places >= 2 * counts[:, None] - 1) & (places <= 2 * counts[:, None])
        self._symbols = torch.from_numpy(symbols).to(device)
        self._stay = _log(may_stay, device)
        self._skip = _log(may_skip, device)
        self._end = _log(is_last, device)

    def loss_and_gradient(self, inputs, lengths, counted):
        device, time = inputs.device, inputs.shape[0]
        lengths = torch.from_numpy(lengths.astype(np.int64)).to(device)
        log_y = inputs.double().log_softmax(2)
        emitted = log_y.gather(2, self._symbols.expand(time, -1, -1))
        forward, backward = self._forward(emitted), self._backward(emitted, lengths)
        paths = forward + backward
        log_p = paths[0].logsumexp(1) if time else torch.zeros(inputs.shape[1], device=device)
        occupied = (paths - log_p[:, None]).exp()
        # Without any path the share of each state is undefined, and the gradient is the softmax.
        occupied = occupied.masked_fill(torch.isinf(log_p)[:, None], 0)
        gradient = log_y.exp()
        gradient.scatter_add_(2, self._symbols.expand(time, -1, -1), -occupied)
        counted = torch.tensor(counted, device=device)
        within = torch.arange(time, device=device)[:, None] < lengths
        gradient = gradient.masked_fill(~(within & counted)[:, :, None], 0)
        loss = torch.where(counted, -log_p, 0)
        return loss.to(inputs.dtype), gradient.to(inputs.dtype)

    def _forward(self, emitted):
        """Log probabilities of all ways into each state at each time, its symbol included."""
        alpha = torch.full_like(emitted, -math.inf)
        if len(alpha):
            alpha[0, :, :2] = emitted[0, :, :2]
        for t in range(1, len(alpha)):
            before = alpha[t - 1]
            into = before + self._stay
            into[:, 1:] = torch.logaddexp(into[:, 1:], before[:, :-1])
            into[:, 2:] = torch.logaddexp(into[:, 2:], before[:, :-2] + self._skip[:, 2:])
            torch.add(into, emitted[t], out=alpha[t])
        return alpha

    def _backward(self, emitted, lengths):
        """Log probabilities of all ways out of each state to the end, its symbol left out."""
        beta = torch.full_like(emitted, -math.inf)
        is_end = torch.arange(len(beta), device=beta.device)[:, None, None] == lengths[:, None] - 1
        after = torch.full_like(self._end, -math.inf)
        for t in range(len(beta) - 1, -1, -1):
            out = after + self._stay
            out[:, :-1] = torch.logaddexp(out[:, :-1], after[:, 1:])
            out[:, :-2] = torch.logaddexp(out[:, :-2], after[:, 2:] + self._skip[:, 2:])
            torch.where(is_end[t], self._end, out, out=beta[t])
            after = beta[t] + emitted[t]
        return beta


def _log(allowed, device):
    """0 where something is allowed, minus infinity elsewhere."""
    return torch.from_numpy(np.where(allowed, 0.0, -np.inf)).to(device)
