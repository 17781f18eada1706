"""Datasets that take turns among datasets, each of which a thread of its own reads."""

from __future__ import annotations

import threading
from collections import deque

from penstock import errors
from penstock.kernels.datasets import reader_threads
from penstock.kernels.datasets.failures import Failure, restored_element, saved_element
from penstock.state.datasets import UnaryElements

_END = object()


class _Reading:
    """One dataset being read by its thread: `items` are elements, failures, and `_END` at last.

    `changed` is shared by all readings of an iterator and guards `items`; `busy` is held while an
    element is on its way from the dataset to the items.
    """

    def __init__(self, argument, begin, most, changed, items=(), place=None):
        self.argument = argument
        self.items = deque(items)
        self._begin, self._most, self._changed, self._place = begin, most, changed, place
        self._busy = threading.Lock()
        self._elements = None
        self._stopped = False

    def run(self):
        while self._wait_for_room():
            with self._busy:
                item = self._read()
                with self._changed:
                    self.items.append(item)
                    self._changed.notify_all()
            if item is _END:
                return
        if self._elements is not None:
            self._elements.close()

    def _wait_for_room(self):
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or len(self.items) < self._most)
            return not self._stopped

    def _read(self):
        try:
            if self._elements is None:
                self._elements = self._begin(self.argument, self._place)
            element = self._elements.next()
        except Exception as error:
            return Failure(error) if self._elements is not None else _Broken(error)
        if element is None:
            self._elements.close()
            return _END
        return element

    def stop(self):
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def save(self):
        with self._busy:
            items = [None if item is _END else saved_element(item) for item in self.items]
            ended = bool(self.items) and self.items[-1] is _END
            if ended:
                return [list(self.argument), items, None]
            place = self._place if self._elements is None else [self._elements.save()]
            return [list(self.argument), items, place]


class _Broken(Failure):
    """The dataset itself could not be made."""


class ParallelInterleaved(UnaryElements):
    """Takes `block` elements of each of up to `cycle` datasets in turn.

    If it is `sloppy`, it takes what is there already rather than to wait for its turn. Up to
    `buffered` elements of each dataset are read ahead, and `staged` further datasets.
    """

    def __init__(self, source, function, captured, context, cycle, block, sloppy, buffered, staged):
        super().__init__(source)
        self._function, self._captured, self._context = function, captured, context
        self._slots = [None] * cycle
        self._block, self._sloppy = block, sloppy
        self._buffered, self._most_staged = max(1, buffered), staged
        self._staged = deque()
        self._index = self._taken = 0
        self._ended = self._closed = False
        self._changed = threading.Condition()
        self._readings = set()
        reader_threads.stop_with(self, _Stop(self._readings))

    def next(self):
        while True:
            self._start_readings()
            item = self._take()
            if item is None:
                return None
            if item is _END:
                continue
            if isinstance(item, Failure):
                raise item.error
            return item

    def _start_readings(self):
        """Fills free places, first of all the one whose turn it is."""
        count = len(self._slots)
        for step in range(count):
            place = (self._index + step) % count
            if self._slots[place] is None:
                reading = self._staged.popleft() if self._staged else self._next_reading()
                if reading is None:
                    return
                self._slots[place] = reading
        while len(self._staged) < self._most_staged:
            reading = self._next_reading()
            if reading is None:
                return
            self._staged.append(reading)

    def _next_reading(self):
        argument = None if self._ended else self._source.next()
        if argument is None:
            self._ended = True
            return None
        return self._started(_Reading(argument, self._begin(), self._buffered, self._changed))

    def _begin(self):
        function, captured, context = self._function, self._captured, self._context

        def begin(argument, place):  # called in a thread, which must not know this iterator
            (dataset,) = context.call(function, argument + captured)
            elements = dataset.iterate(context)
            if place is not None:
                elements.restore(place[0])
            return elements

        return begin

    def _started(self, reading):
        self._readings.add(reading)
        reader_threads.start(reading, "penstock-interleave")
        return reading

    def _take(self):
        """The next item of the place whose turn it is; None if there is no dataset any more."""
        with self._changed:
            place = self._await_item()
            if place is None:
                return None
            if place != self._index:
                self._index, self._taken = place, 0
            reading = self._slots[place]
            item = reading.items.popleft()
            self._changed.notify_all()
        if item is _END or isinstance(item, _Broken):
            self._readings.discard(reading)
            if isinstance(item, _Broken):
                reading.stop()
            self._slots[place] = None
            self._advance()
        else:
            self._taken += 1
            if self._taken == self._block:
                self._advance()
        return item

    def _await_item(self):
        """Where the next item is, once it is there."""
        count = len(self._slots)
        order = [(self._index + step) % count for step in range(count)]
        open_places = [place for place in order if self._slots[place] is not None]
        if not open_places:
            return None
        if not self._sloppy:
            open_places = open_places[:1]
        while True:
            for place in open_places:
                if self._slots[place].items:
                    return place
            if self._closed:
                raise errors.CancelledError(None, None, "the iterator was closed")
            self._changed.wait()

    def _advance(self):
        self._taken = 0
        self._index = (self._index + 1) % len(self._slots)

    def save(self):
        slots = [None if slot is None else slot.save() for slot in self._slots]
        staged = [reading.save() for reading in self._staged]
        numbers = [self._index, self._taken, self._ended]
        return [numbers, slots, staged, self._source.save()]

    def restore(self, state):
        numbers, slots, staged, source = state
        self._source.restore(source)
        self._index, self._taken, self._ended = numbers
        self._slots = [None if saved is None else self._restored(saved) for saved in slots]
        self._staged = deque(self._restored(saved) for saved in staged)

    def _restored(self, saved):
        argument, items, place = saved
        kept = [_END if item is None else restored_element(item) for item in items]
        reading = _Reading(
            tuple(argument), self._begin(), self._buffered, self._changed, kept, place
        )
        return reading if _END in kept else self._started(reading)

    def close(self):
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for reading in list(self._readings):
            reading.stop()
        super().close()


class _Stop:
    """Stops the readings that an iterator has left behind."""

    def __init__(self, readings):
        self._readings = readings

    def __call__(self):
        for reading in list(self._readings):
            reading.stop()
