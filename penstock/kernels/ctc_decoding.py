"""The kernels of CTC decoders: the best path, and a search with a beam of prefixes."""

import heapq
import itertools
import math

import numpy as np

from penstock.errors import FailedPreconditionError, InvalidArgumentError
from penstock.kernels.registry import HOST, kernel
from penstock.kernels.values import from_array, to_array

_NEVER = -math.inf


def _invalid(message):
    return InvalidArgumentError(None, None, message)


def _unmet(message):
    return FailedPreconditionError(None, None, message)


def _check(inputs, lengths):
    if inputs.ndim != 3:
        raise _invalid("inputs is not a 3-Tensor")
    if lengths.ndim != 1:
        raise _invalid("sequence_length is not a vector")
    time, batch, _ = inputs.shape
    if time == 0:
        raise _invalid("max_time is 0")
    if batch == 0:
        raise _invalid("batch_size is 0")
    if len(lengths) != batch:
        raise _unmet(
            f"len(sequence_length) != batch_size. len(sequence_length): {len(lengths)} "
            f"batch_size: {batch}"
        )
    for place, length in enumerate(lengths.tolist()):
        if length > time:
            raise _unmet(f"sequence_length({place}) <= {time}")


def _sparse(rows):
    """Indices, values and shape of a sparse matrix with these rows."""
    sizes = [len(row) for row in rows]
    entries = np.repeat(np.arange(len(rows)), sizes)
    places = np.fromiter(itertools.chain.from_iterable(map(range, sizes)), np.int64)
    values = np.fromiter(itertools.chain.from_iterable(rows), np.int64)
    indices = np.stack([entries.astype(np.int64), places], 1)
    shape = np.array([len(rows), max(sizes, default=0)], np.int64)
    return from_array(indices), from_array(values), from_array(shape)


@kernel("CTCGreedyDecoder", devices=HOST, fresh=True)
def _(node):
    merge, blank_index = node.attrs["merge_repeated"], node.attrs["blank_index"]

    def run(inputs, lengths):
        inputs, lengths = to_array(inputs), to_array(lengths)
        _check(inputs, lengths)
        classes = inputs.shape[2]
        blank = blank_index + classes if blank_index < 0 else blank_index
        if not 0 <= blank < classes:
            raise _invalid(
                f"blank_index expected to be between {-classes} and {classes - 1} but was "
                f"{blank_index}"
            )
        best, score = inputs.argmax(2), inputs.max(2)
        within = np.arange(len(inputs))[:, None] < lengths
        emitted = (best != blank) & within
        if merge:
            emitted[1:] &= best[1:] != best[:-1]
        rows = [best[emitted[:, b], b].tolist() for b in range(inputs.shape[1])]
        total = -np.where(within, score, 0).sum(0, dtype=inputs.dtype)
        return (*_sparse(rows), from_array(total[:, None]))

    return run


@kernel("CTCBeamSearchDecoder", devices=HOST, fresh=True)
def _(node):
    width, merge = node.attrs["beam_width"], node.attrs["merge_repeated"]
    paths = node.attrs["top_paths"]

    def run(inputs, lengths):
        inputs, lengths = to_array(inputs), to_array(lengths)
        _check(inputs, lengths)
        if paths > width:
            raise _invalid("requested more paths than the beam width.")
        log_y = inputs.astype(np.float64)
        log_y = log_y - log_y.max(2, keepdims=True)
        log_y -= np.log(np.exp(log_y).sum(2, keepdims=True))
        found = [
            _search(log_y[:length, b], width, paths) for b, length in enumerate(lengths.tolist())
        ]
        outputs = [_sparse([entries[p].labels(merge) for entries in found]) for p in range(paths)]
        scores = np.array([[entry.total for entry in entries] for entries in found], inputs.dtype)
        return [*itertools.chain.from_iterable(zip(*outputs, strict=True)), from_array(scores)]

    return run


class _Prefix:
    """A sequence of labels, and log probabilities of the paths that give it.

    `blank` and `label` are those of the paths that end so, `total` of both; `old_…` are the values
    one time step earlier. `total` is minus infinity for a prefix that isn't in the beam.
    """

    __slots__ = (
        "blank",
        "children",
        "label",
        "old_blank",
        "old_total",
        "parent",
        "symbol",
        "total",
    )

    def __init__(self, parent, symbol):
        self.parent, self.symbol = parent, symbol
        self.blank = self.label = self.total = self.old_blank = self.old_total = _NEVER
        self.children = {}

    def labels(self, merge):
        """The labels from the first on; with `merge`, equal neighbours are one."""
        found = []
        prefix = self
        while prefix.parent is not None:
            if not merge or not found or found[-1] != prefix.symbol:
                found.append(prefix.symbol)
            prefix = prefix.parent
        return found[::-1]


def _log_add(a, b):
    if a < b:
        a, b = b, a
    return a if b == _NEVER else a + math.log1p(math.exp(b - a))


def _search(log_y, width, paths):
    """The most probable prefixes after the last time step, best first."""
    root = _Prefix(None, -1)
    root.total = root.blank = 0.0
    beam = [root]
    for row in log_y:
        beam = _advance(beam, row, width)
    if len(beam) < paths:
        raise _invalid("Less leaves in the beam search than requested.")
    return beam[:paths]


def _advance(beam, log_y, width):
    """One time step: every prefix of the beam stays or goes on, and the best are kept."""
    for prefix in beam:
        prefix.old_blank, prefix.old_total = prefix.blank, prefix.total
    probabilities = log_y.tolist()
    for prefix in beam:
        _stay(prefix, probabilities)
    numbers = itertools.count()  # so that prefixes of equal probability are not compared
    leaves = [(prefix.total, next(numbers), prefix) for prefix in beam]
    heapq.heapify(leaves)
    labels = log_y[:-1]
    for prefix in beam:
        if _is_candidate(prefix.old_total, leaves, width):
            _grow(prefix, labels, leaves, width, numbers)
    leaves.sort(key=lambda leaf: (-leaf[0], leaf[1]))
    return [prefix for _, _, prefix in leaves]


def _stay(prefix, log_y):
    parent = prefix.parent
    if parent is not None:
        if parent.total != _NEVER:
            same = prefix.symbol == parent.symbol
            before = parent.old_blank if same else parent.old_total
            prefix.label = _log_add(prefix.label, before)
        prefix.label += log_y[prefix.symbol]
    prefix.blank = prefix.old_total + log_y[-1]
    prefix.total = _log_add(prefix.blank, prefix.label)


def _is_candidate(total, leaves, width):
    return total > _NEVER and (len(leaves) < width or total > leaves[0][0])


def _grow(prefix, labels, leaves, width, numbers):
    """Adds the children of a prefix that are better than the worst of a full beam.

    A child that has just left the beam and does not come back so does not grow any more in this
    step, although it was in the beam before.
    """
    totals = labels + prefix.old_total
    if prefix.symbol >= 0:
        totals[prefix.symbol] = labels[prefix.symbol] + prefix.old_blank
    worst = leaves[0][0] if len(leaves) >= width else _NEVER
    better = np.flatnonzero(totals > worst).tolist()
    children = prefix.children
    for symbol in sorted({*better, *children}):
        child = children.get(symbol)
        if child is None:
            child = children[symbol] = _Prefix(prefix, symbol)
        if child.total == _NEVER:
            _enter(child, float(totals[symbol]), leaves, width, numbers)


def _enter(child, total, leaves, width, numbers):
    if not _is_candidate(total, leaves, width):
        child.old_blank = child.old_total = _NEVER
        return
    child.blank, child.label, child.total = _NEVER, total, total
    entry = (total, next(numbers), child)
    if len(leaves) < width:
        heapq.heappush(leaves, entry)
    else:
        _, _, dropped = heapq.heapreplace(leaves, entry)
        dropped.blank = dropped.label = dropped.total = _NEVER
