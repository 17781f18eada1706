"""Streams of weighted numbers, kept as summaries that tell their quantiles with a bounded error.

A summary is a table of float32 with a row for each kept number, in ascending order: the number, its
weight, and the least and greatest weight of all that is smaller. Summaries can be merged without
losing precision, and compressed at the cost of some. A stream keeps levels of them, like the digits
of a binary number: two that meet at a level are merged, compressed, and go to the next one.

M. Greenwald and S. Khanna, Space-efficient online computation of quantile summaries (2001);
Q. Zhang and W. Wang, A fast algorithm for approximate quantiles in high speed data streams (2007).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence

import numpy as np

from penstock import errors

_VALUE, _WEIGHT, _LEAST, _GREATEST = range(4)
_EMPTY = np.empty((0, 4), np.float32)


def _before(table: np.ndarray) -> np.ndarray:
    """The greatest weight of what comes before each row."""
    before: np.ndarray = table[:, _GREATEST] - table[:, _WEIGHT]
    return before


def _behind(table: np.ndarray) -> np.ndarray:
    """The least weight of what comes up to each row and with it."""
    behind: np.ndarray = table[:, _LEAST] + table[:, _WEIGHT]
    return behind


def summarized(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The exact summary of some numbers, equal ones in one row."""
    if not values.size:
        return _EMPTY
    order = np.argsort(values, kind="stable")
    found, starts = np.unique(values[order], return_index=True)
    table = np.empty((len(found), 4), np.float32)
    table[:, _VALUE] = found
    table[:, _WEIGHT] = np.add.reduceat(weights[order], starts)
    table[:, _GREATEST] = np.cumsum(table[:, _WEIGHT], dtype=np.float32)
    table[0, _LEAST] = 0
    table[1:, _LEAST] = table[:-1, _GREATEST]
    return table


def merged(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The summary of all that two summaries are of."""
    if not len(a) or not len(b):
        return a if len(a) else b
    mine, others = _among(a, b), _among(b, a)
    common = np.isin(b[:, _VALUE], a[:, _VALUE])
    table = np.concatenate([mine, others[~common]])
    return table[np.argsort(table[:, _VALUE], kind="stable")]


def _among(table: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The rows of a table, with the ranks that they have together with the other's."""
    values = other[:, _VALUE]
    first = np.searchsorted(values, table[:, _VALUE], "left")
    behind = np.searchsorted(values, table[:, _VALUE], "right")
    equal = first < behind
    same = other[np.minimum(first, len(other) - 1)]
    least = np.append(np.float32(0), _behind(other))[first]  # of the last smaller row
    greatest = np.append(_before(other), other[-1, _GREATEST])[first]  # of the next greater one
    result = table.copy()
    result[:, _WEIGHT] += np.where(equal, same[:, _WEIGHT], 0)
    result[:, _LEAST] += np.where(equal, same[:, _LEAST], least)
    result[:, _GREATEST] += np.where(equal, same[:, _GREATEST], greatest)
    return result


def compressed(table: np.ndarray, size: int, error: float = 0.0) -> np.ndarray:
    """A summary of about `size` rows; the first and the last row stay."""
    size = max(size, 2)
    count = len(table)
    if count <= size:
        return table
    allowed = float(table[-1, _GREATEST]) * max(1 / size, error)
    before, behind = _before(table), _behind(table)
    kept, at, credit = [0], 0, 0
    while at + 1 < count:
        ahead = at + 1
        while ahead < count and credit < count and before[ahead] - behind[at] <= allowed:
            credit += size
            ahead += 1
        at = max(ahead - 1, at + 1)
        kept.append(at)
        credit -= count
    return table[kept]


def approximation_error(table: np.ndarray) -> float:
    """How far from the truth a rank may be, as a part of the whole weight."""
    if len(table) < 2:
        return 0.0
    gaps = _before(table)[1:] - _behind(table)[:-1]
    spans = table[1:, _GREATEST] - table[1:, _LEAST] - table[1:, _WEIGHT]
    largest = max(np.float32(0), gaps.max(), spans.max())
    return float(largest) / float(table[-1, _GREATEST])


def boundaries_of(table: np.ndarray, count: int) -> np.ndarray:
    """About `count` numbers between which the weight is spread evenly, each once."""
    if not len(table):
        return np.empty(0, np.float32)
    error = float(np.float32(approximation_error(table) + 1 / count))
    found: np.ndarray = compressed(table, count, error)[:, _VALUE]
    return found


def quantiles_of(table: np.ndarray, count: int) -> np.ndarray:
    """`count` + 1 numbers that cut the weight into `count` equal parts, the extremes included."""
    if not len(table):
        return np.empty(0, np.float32)
    count = max(count, 2)
    total = table[-1, _GREATEST]
    doubled = table[:, _LEAST] + table[:, _GREATEST]
    before, behind = _before(table), _behind(table)
    found, at = [], 0
    for rank in range(count + 1):
        wanted = np.float32(2) * (np.float32(rank) * total / np.float32(count))
        ahead = at + 1
        while ahead < len(table) and wanted >= doubled[ahead]:
            ahead += 1
        at = ahead - 1
        earlier = ahead == len(table) or wanted < behind[at] + before[ahead]
        found.append(table[at if earlier else ahead, _VALUE])
    return np.array(found, np.float32)


def _block_size(error: float, most: int) -> int:
    """The rows of a level, so that enough levels for `most` numbers keep within the error."""
    if error <= np.finfo(np.float64).eps:
        return max(most, 2)
    level, size = 1, 2
    while (1 << level) * size < most:
        size = math.ceil(level / error) + 1
        level += 1
    return max(size, 2)


class QuantileStream:
    """A stream of weighted numbers, or of summaries of them."""

    def __init__(self, error: float, most: int):
        self._error = error
        self._block_size = _block_size(error, most)
        self._buffer_size = min(2 * self._block_size, most)
        self._levels: list[np.ndarray] = []

    def push(self, values: np.ndarray, weights: np.ndarray) -> None:
        """Adds numbers; those of no weight don't count."""
        counted = weights > 0
        values, weights = values[counted], weights[counted]
        for start in range(0, len(values), self._buffer_size):
            part = slice(start, start + self._buffer_size)
            self.push_summary(summarized(values[part], weights[part]))

    def push_summary(self, table: np.ndarray) -> None:
        """Adds what another stream has summarized."""
        table = compressed(table, self._block_size, self._error)
        if not len(table):
            return
        for level in range(len(self._levels) + 1):
            if level == len(self._levels):
                self._levels.append(_EMPTY)
            here = self._levels[level]
            table = merged(table, here)
            if not len(here) or len(table) <= self._block_size + 1:
                self._levels[level] = table
                return
            table = compressed(table, self._block_size, self._error)
            self._levels[level] = _EMPTY

    def summary(self) -> np.ndarray:
        """The summary of all that was added."""
        whole = _EMPTY
        for level in self._levels:
            whole = merged(whole, level)
        return whole


class QuantileStreams:
    """Streams of several features behind one handle, and the boundaries that they came to.

    1. Before `create` there is nothing behind the handle but its name.
    2. `lock` is held by whoever reads or changes it.
    """

    def __init__(self, name: str):
        self.name = name
        self.lock = threading.RLock()
        self.streams: list[QuantileStream] | None = None
        self.boundaries: list[np.ndarray] = []
        self._settings = (0.0, 0)

    def create(self, error: float, most: int, count: int) -> None:
        """Starts `count` streams, where there are none yet."""
        if error <= 0:
            raise errors.InvalidArgumentError(
                None, None, "An epsilon value of zero is not allowed."
            )
        if self.streams is None:
            self._settings = (error, most)
            self.streams = [QuantileStream(error, most) for _ in range(count)]
            self.boundaries = [np.empty(0, np.float32)] * count

    def existing(self) -> list[QuantileStream]:
        """The streams; NotFoundError where they have not been created."""
        if self.streams is None:
            raise errors.NotFoundError(
                None,
                None,
                f"Resource localhost/{self.name}/BoostedTreesQuantileStreamResource does not "
                "exist.",
            )
        return self.streams

    def flush(self) -> list[np.ndarray]:
        """The summaries of all streams, which start anew."""
        found = [stream.summary() for stream in self.existing()]
        self.streams = [QuantileStream(*self._settings) for _ in found]
        return found

    def set_boundaries(self, boundaries: Sequence[np.ndarray]) -> None:
        for number, each in enumerate(boundaries):
            self.boundaries[number] = each
