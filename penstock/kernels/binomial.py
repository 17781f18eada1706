"""Samples of binomial distributions from one stream, one after the other as TensorFlow takes them.

How much of the stream a sample takes depends on its numbers, so that samples can't be drawn side
by side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from penstock.kernels.philox import Stream

_AT_ONCE = 256  # blocks of words that are computed together
_LARGE = 10  # expected successes, from which on rejection is quicker than counting
_MANTISSA = (1 << 20) - 1


class _Units:
    """Uniform numbers of [0, 1) in double precision; each sample starts with a block of its own."""

    def __init__(self, stream: Stream):
        self._blocks = self._pairs(stream)
        self._left: list[float] = []

    def start_sample(self) -> None:
        self._left = []

    def next(self) -> float:
        if not self._left:
            self._left = next(self._blocks)
        return self._left.pop()

    def _pairs(self, stream: Stream) -> Iterator[list[float]]:
        while True:
            for a, b, c, d in stream.words(_AT_ONCE).tolist():
                yield [_unit(a, b), _unit(c, d)]
            stream = stream.skipped(_AT_ONCE)


def _unit(upper: int, lower: int) -> float:
    return ((upper & _MANTISSA) << 32 | lower) * 2.0**-52


def binomial(
    stream: Stream, parameters: Iterable[tuple[float, float]], each: int, total: int
) -> list[float]:
    """Batches of `each` samples for the given trials and probabilities; the last may be short."""
    units = _Units(stream)
    samples: list[float] = []
    for trials, probability in parameters:
        for _ in range(min(each, total - len(samples))):
            units.start_sample()
            samples.append(_sample(trials, probability, units))
    return samples


def _sample(trials: float, probability: float, units: _Units) -> float:
    if trials <= 0 or probability <= 0:
        return 0.0
    if probability >= 1:
        return trials
    if math.isnan(probability):
        return probability
    if probability > 0.5:
        return trials - _successes(trials, 1 - probability, units)
    return _successes(trials, probability, units)


def _successes(trials: float, probability: float, units: _Units) -> float:
    if trials * probability >= _LARGE:
        return _rejection(trials, probability, units)
    return _inversion(trials, probability, units)


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _inversion(trials: float, probability: float, units: _Units) -> float:
    """Counts the waits for a success that fit into the trials."""
    successes, tried = 0, 0.0
    scale = math.log1p(-probability)
    while True:
        waited = _log(units.next()) / scale
        tried += math.ceil(waited) if math.isfinite(waited) else waited
        if tried > trials:
            return float(successes)
        successes += 1


def _rejection(trials: float, probability: float, units: _Units) -> float:
    """W. Hörmann, The generation of binomial random variates (1993): transformed rejection."""
    deviation = math.sqrt(trials * probability * (1 - probability))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * probability
    centre = trials * probability + 0.5
    quick = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * deviation
    while True:
        u = units.next() - 0.5
        v = units.next()
        tail = 0.5 - abs(u)
        if tail == 0:
            continue
        k = math.floor((2 * a / tail + b) * u + centre)
        if tail >= 0.07 and v <= quick:
            return float(k)
        if k < 0 or k > trials:
            continue
        if _log(v * alpha / (a / (tail * tail) + b)) <= _log_ratio(trials, probability, k):
            return float(k)


def _log_ratio(trials: float, probability: float, k: float) -> float:
    """The logarithm of how likely k successes are, compared with the likeliest number."""
    odds = probability / (1 - probability)
    mode = math.floor((trials + 1) * probability)
    return (
        (mode + 0.5) * math.log((mode + 1) / (odds * (trials - mode + 1)))
        + (trials + 1) * math.log((trials - mode + 1) / (trials - k + 1))
        + (k + 0.5) * math.log(odds * (trials - k + 1) / (k + 1))
        + _stirling_tail(mode)
        + _stirling_tail(trials - mode)
        - _stirling_tail(k)
        - _stirling_tail(trials - k)
    )


def _stirling_tail(k: float) -> float:
    """What Stirling's formula misses of log(k!)."""
    if k <= 9:
        return _SMALL_TAILS[int(k)]
    square = (k + 1) ** 2
    return (1 / 12 - (1 / 360 + 1 / 1260 / square) / square) / (k + 1)


def _exact_tail(k: int) -> float:
    n = k + 1
    return math.lgamma(n) - (0.5 * math.log(2 * math.pi) + (k + 0.5) * math.log(n) - n)


_SMALL_TAILS = [_exact_tail(k) for k in range(10)]
