"""Datasets with some of the elements of another: take, skip, unique, without errors."""

from __future__ import annotations

import time

from penstock import errors
from penstock.kernels.datasets.random_words import RandomWords, given_seeds
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.values import to_array
from penstock.state.datasets import (
    INFINITE,
    UNKNOWN,
    DerivedDataset,
    UnaryElements,
    same_number,
)


class _Taken(UnaryElements):
    def __init__(self, source, count):
        super().__init__(source)
        self._left = count
        self._is_over = False
        self.gives_rows = source.gives_rows

    def next(self):
        element = None if self._left == 0 else self._source.next()
        if element is None:
            self._left = 0
            if not self._is_over:  # the source need not know that it isn't read to its end
                self._is_over = True
                self._source.close()
        elif self._left > 0:
            self._left -= 1
        return element

    def several(self, most):
        if self._left == 0:
            return super().several(most)
        entries = self._source.several(most if self._left < 0 else min(most, self._left))
        if not entries:
            self._left = 0
            return super().several(most)
        if self._left > 0:
            self._left -= len(entries)
        return entries

    def save(self):
        return [self._left, None if self._is_over else [self._source.save()]]

    def restore(self, state):
        self._left, source = state
        self._is_over = source is None
        if source is not None:
            self._source.restore(source[0])


@dataset_kernel("TakeDataset")
def _(node):
    def run(source, count):
        count = int(count)
        if count < 0:
            return source

        def cardinality(of_source):
            if of_source == UNKNOWN:
                return of_source
            return count if of_source == INFINITE else min(count, of_source)

        return DerivedDataset(source, lambda elements, _: _Taken(elements, count), cardinality)

    return run


class _Skipped(UnaryElements):
    """Skips elements before the first one; all of them if the number is negative."""

    def __init__(self, source, count):
        super().__init__(source)
        self._left = count
        self.gives_rows = source.gives_rows

    def next(self):
        if self._left < 0:
            return None
        while self._left:
            self._left -= 1
            if self._source.next() is None:
                self._left = 0
                return None
        return self._source.next()

    def several(self, most):
        return super().several(most) if self._left else self._source.several(most)

    def save(self):
        return [self._left, self._source.save()]

    def restore(self, state):
        self._left, source = state
        self._source.restore(source)


@dataset_kernel("SkipDataset")
def _(node):
    def run(source, count):
        count = int(count)
        if count == 0:
            return source

        def cardinality(of_source):
            if count < 0:
                return 0
            return of_source if of_source < 0 else max(0, of_source - count)

        return DerivedDataset(source, lambda elements, _: _Skipped(elements, count), cardinality)

    return run


class _Sampled(UnaryElements):
    """Keeps each element with the same probability."""

    def __init__(self, source, rate, seeds):
        super().__init__(source)
        self._rate, self._words = rate, RandomWords(*seeds)

    def next(self):
        while (element := self._source.next()) is not None:
            # The lower 23 bits of a word, as the fraction of a single-precision number.
            if (self._words.next() & 0x7FFFFF) / 2**23 < self._rate:
                return element
        return None

    def save(self):
        return [self._words.save(), self._source.save()]

    def restore(self, state):
        words, source = state
        self._words.restore(words)
        self._source.restore(source)


@dataset_kernel("SamplingDataset")
def _(node):
    def run(source, rate, seed, seed2):
        seeds, rate = given_seeds(seed, seed2), float(rate)
        return DerivedDataset(
            source, lambda elements, _: _Sampled(elements, rate, seeds), lambda number: UNKNOWN
        )

    return run


class _Unique(UnaryElements):
    def __init__(self, source):
        super().__init__(source)
        self._seen = {}

    def next(self):
        while (element := self._source.next()) is not None:
            array = to_array(element[0])
            key = tuple(array.reshape(-1).tolist()), array.shape
            if key not in self._seen:
                self._seen[key] = element[0]
                return element
        return None

    def save(self):
        return [list(self._seen.values()), self._source.save()]

    def restore(self, state):
        values, source = state
        arrays = [to_array(value) for value in values]
        self._seen = {
            (tuple(array.reshape(-1).tolist()), array.shape): value
            for array, value in zip(arrays, values, strict=True)
        }
        self._source.restore(source)


@dataset_kernel("UniqueDataset", "ExperimentalUniqueDataset")
def _(node):
    return lambda source: DerivedDataset(source, lambda elements, _: _Unique(elements))


class _WithoutErrors(UnaryElements):
    def next(self):
        while True:
            try:
                return self._source.next()
            except errors.CancelledError:
                raise
            except errors.OpError:
                continue


@dataset_kernel("IgnoreErrorsDataset", "ExperimentalIgnoreErrorsDataset")
def _(node):
    return lambda source: DerivedDataset(
        source, lambda elements, _: _WithoutErrors(elements), same_number
    )


class _Slowed(UnaryElements):
    def __init__(self, source, microseconds):
        super().__init__(source)
        self._pause = microseconds / 1e6

    def next(self):
        time.sleep(self._pause)
        return self._source.next()


@dataset_kernel("SleepDataset", "ExperimentalSleepDataset")
def _(node):
    return lambda source, pause: DerivedDataset(
        source, lambda elements, _: _Slowed(elements, int(pause)), same_number
    )


class _Counted(UnaryElements):
    def __init__(self, source, expected):
        super().__init__(source)
        self._expected = expected
        self._seen = 0

    def next(self):
        element = self._source.next()
        self._seen += element is not None
        too_many = self._expected >= 0 and self._seen > self._expected
        too_few = element is None and self._expected != UNKNOWN and self._seen != self._expected
        if too_many or too_few:
            wanted = "infinite" if self._expected == INFINITE else f"{self._expected} elements"
            contained = f"at least {self._seen}" if too_many else str(self._seen)
            raise errors.FailedPreconditionError(
                None,
                None,
                f"Input dataset was expected to contain {wanted} but contained {contained} "
                f"element{'' if self._seen == 1 else 's'}.",
            )
        return element

    def save(self):
        return [self._seen, self._source.save()]

    def restore(self, state):
        self._seen, source = state
        self._source.restore(source)


@dataset_kernel("AssertCardinalityDataset")
def _(node):
    return lambda source, expected: DerivedDataset(
        source, lambda elements, _: _Counted(elements, int(expected)), lambda _: int(expected)
    )
