"""Kernels of softmax and of the cross entropies built into one op."""

from __future__ import annotations

import functools

import torch

from penstock import errors
from penstock.kernels.native_cross_entropy import has_native_code, losses_and_gradients
from penstock.kernels.registry import direct, inplace_factory, kernel

_MANY = 1 << 14  # logits: then passes over memory cost more than calls


def _over_last(function):
    def run(logits):
        axis = logits.dim() - 1
        if axis < 0:
            raise ValueError("logits must have at least one dimension")
        return function(logits, axis)

    return run


direct({"Softmax": _over_last(torch.softmax), "LogSoftmax": _over_last(torch.log_softmax)})


@kernel("SoftmaxCrossEntropyWithLogits", fresh=True)
def _(node):
    def run(logits, labels):
        if logits.shape != labels.shape:
            logits, labels = torch.broadcast_tensors(logits, labels)
        if logits.dim() != 2:
            raise ValueError("logits and labels must be matrices")
        log_p = torch.log_softmax(logits, 1)
        loss = (labels * log_p).sum(1).neg_()
        return loss, log_p.exp_().sub_(labels)

    return run


def _refuse_labels(labels, classes):
    bad = labels[(labels < 0) | (labels >= classes)]
    if bad.numel():
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Received a label value of {bad[0].item()} which is outside the valid range of "
            f"[0, {classes}).  Label values: {' '.join(map(str, labels[:100].tolist()))}",
        )


@kernel("SparseSoftmaxCrossEntropyWithLogits", fresh=True)
def _(node):
    return functools.partial(_sparse_cross_entropy, _given_many)


@inplace_factory("SparseSoftmaxCrossEntropyWithLogits", keeps_shape=True)
def _(node):
    return {0: functools.partial(_sparse_cross_entropy, _given_many_in_place)}


def _sparse_cross_entropy(given_many, logits, labels):
    if labels.shape[0] != logits.shape[0] or logits.shape[1] == 0:
        if logits.dim() == 2 and logits.shape[1] == 0:
            raise errors.InvalidArgumentError(
                None, None, f"Must have at least one class, got logits {list(logits.shape)}"
            )
        raise ValueError("there must be one label per row of logits")
    column = labels.unsqueeze(1)
    if labels.device.type != "cpu":
        return _unchecked(torch.log_softmax(logits, 1), column)
    given = given_many if logits.numel() >= _MANY else _given_few
    try:
        return given(logits, column)
    except (IndexError, RuntimeError):
        _refuse_labels(labels, logits.shape[1])
        raise


def _given_few(logits, column):
    """Losses and gradients, with few calls."""
    log_p = torch.log_softmax(logits, 1)
    loss = log_p.gather(1, column)
    backprop = log_p.exp_().scatter_(1, column, loss.expm1())  # p - 1 for the right class
    return loss.squeeze(1).neg_(), backprop


def _given_many(logits, column):
    """The same with fewer passes over the logits: one exponential of each, and no logarithm."""

    def of_rows(rows):
        return torch.log_softmax(logits[rows], 1).gather(1, column[rows]).neg_()

    column = column.long()
    return _given_probabilities(torch.softmax(logits, 1), column, of_rows)


def _given_many_in_place(logits, column):
    """The same in the memory of the logits: half of what has to stay in caches."""
    if not logits.is_contiguous():
        return _given_many(logits, column)
    if has_native_code(logits):
        return losses_and_gradients(logits, column)
    column = column.long()
    of_class, most = logits.gather(1, column), logits.amax(1, keepdim=True)
    p = torch.ops.aten._softmax.out(logits, 1, False, out=logits)

    def of_rows(rows):
        return most[rows] - p[rows].amax(1, keepdim=True).log_() - of_class[rows]

    return _given_probabilities(p, column, of_rows)


def _given_probabilities(p, column, losses_of):
    """Losses, and gradients in the memory of the probabilities.

    A loss is the logarithm of a probability, unless that is too small to have all its digits: then
    `losses_of` gives those of rows.
    """
    of_class = p.gather(1, column)
    loss = of_class.log().neg_()
    small = of_class < 8 * torch.finfo(p.dtype).tiny
    if small.any():
        rows = small.nonzero()[:, 0]
        loss[rows] = losses_of(rows)
    p.scatter_(1, column, of_class.sub_(1))
    return loss.squeeze(1), p


def _unchecked(log_p, column):
    """On an accelerator, where asking for the labels would wait: NaN for rows of bad labels."""
    column = column.long()
    classes = log_p.shape[1]
    bad = (column < 0) | (column >= classes)
    column = column.clamp(0, classes - 1)
    loss = log_p.gather(1, column).masked_fill_(bad, float("nan"))
    backprop = log_p.exp_().scatter_(1, column, loss.expm1())
    return loss.squeeze(1).neg_(), backprop.masked_fill_(bad, float("nan"))
