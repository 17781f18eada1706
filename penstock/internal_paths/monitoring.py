"""`tensorflow.python.eager.monitoring`: counters, gauges and histograms of this process."""

from __future__ import annotations

import bisect
import threading
import weakref
from collections.abc import Sequence
from typing import Any

from penstock import errors

_MOST_LABELS = 2
_lock = threading.Lock()
_names: weakref.WeakValueDictionary[str, Metric] = weakref.WeakValueDictionary()


class Metric:
    """Cells of one kind by labels.

    Args:
      kind: of the metric, for messages.
      name: that no other metric of the process has.
      labels: the names of what tells cells apart, two at most.
    """

    def __init__(self, kind: str, name: str, labels: Sequence[str]):
        if len(labels) > _MOST_LABELS:
            raise ValueError(f"Cannot create {kind} metric with label >= {_MOST_LABELS + 1}")
        self._kind = kind
        self._labels = len(labels)
        self._cells: dict[tuple[str, ...], Any] = {}
        with _lock:
            if name in _names:
                raise errors.AlreadyExistsError(
                    None, None, f"Another metric with the same name already exists: {name}"
                )
            _names[name] = self

    def _cell(self) -> Any:
        raise NotImplementedError

    def get_cell(self, *labels: str) -> Any:
        """The cell of these labels."""
        if len(labels) != self._labels:
            raise ValueError(f"The {self._kind} expects taking {self._labels} labels")
        with _lock:
            return self._cells.setdefault(labels, self._cell())


class CounterCell:
    """A number that grows."""

    def __init__(self) -> None:
        self._value = 0

    def increase_by(self, value: int) -> None:
        with _lock:
            self._value += value

    def value(self) -> int:
        return self._value


class Counter(Metric):
    """Numbers that grow."""

    def __init__(self, name: str, description: str, *labels: str):
        super().__init__("Counter", name, labels)

    def _cell(self) -> CounterCell:
        return CounterCell()


class _GaugeCell:
    """A value that is set."""

    _start: Any = None

    def __init__(self) -> None:
        self._value = self._start

    def set(self, value: Any) -> None:
        self._value = value

    def value(self) -> Any:
        return self._value


class IntGaugeCell(_GaugeCell):
    _start = 0


class StringGaugeCell(_GaugeCell):
    _start = ""


class BoolGaugeCell(_GaugeCell):
    _start = False


class IntGauge(Metric):
    """Integers that are set."""

    def __init__(self, name: str, description: str, *labels: str):
        super().__init__("IntGauge", name, labels)

    def _cell(self) -> IntGaugeCell:
        return IntGaugeCell()


class StringGauge(Metric):
    """Texts that are set."""

    def __init__(self, name: str, description: str, *labels: str):
        super().__init__("StringGauge", name, labels)

    def _cell(self) -> StringGaugeCell:
        return StringGaugeCell()


class BoolGauge(Metric):
    """Flags that are set."""

    def __init__(self, name: str, description: str, *labels: str):
        super().__init__("BoolGauge", name, labels)

    def _cell(self) -> BoolGaugeCell:
        return BoolGaugeCell()


class Buckets:
    """The upper limits of a histogram's buckets; one more has what is above them."""

    def __init__(self, buckets: Sequence[float]):
        self.limits = list(buckets)


class ExponentialBuckets(Buckets):
    """Buckets [0, scale), [scale, scale * growth_factor) and so on."""

    def __init__(self, scale: float, growth_factor: float, bucket_count: int):
        super().__init__([scale * growth_factor**place for place in range(bucket_count)])


class SamplerCell:
    """A histogram."""

    def __init__(self, limits: Sequence[float]):
        self._limits = limits
        self._values: list[float] = []

    def add(self, value: float) -> None:
        with _lock:
            self._values.append(value)

    def value(self) -> Any:
        """The histogram as a HistogramProto message."""
        from penstock.proto import HistogramProto

        with _lock:
            values = list(self._values)
        limits = [*self._limits, float("inf")]
        counts = [0.0] * len(limits)
        for value in values:
            counts[bisect.bisect_right(self._limits, value)] += 1
        message = HistogramProto(num=len(values), sum=sum(values))
        message.sum_squares = sum(value * value for value in values)
        if values:
            message.min, message.max = min(values), max(values)
        message.bucket_limit.extend(limits)
        message.bucket.extend(counts)
        return message


class Sampler(Metric):
    """Histograms."""

    def __init__(self, name: str, buckets: Buckets, description: str, *labels: str):
        self._limits = buckets.limits
        super().__init__("Sampler", name, labels)

    def _cell(self) -> SamplerCell:
        return SamplerCell(self._limits)
