"""Datasets whose next elements a thread computes ahead of time."""

from __future__ import annotations

import threading
from queue import SimpleQueue

from penstock import errors
from penstock.kernels.datasets import reader_threads
from penstock.kernels.datasets.failures import Failure, restored_element, saved_element
from penstock.kernels.datasets.recipes import dataset_kernel
from penstock.kernels.datasets.statistics import statistics_name
from penstock.kernels.sparse_rows import invalid
from penstock.state.datasets import DerivedDataset, UnaryElements, same_number

_UNTUNED = 8  # elements ahead where the program leaves their number to us


class _Ahead:
    """What the thread and its reader share. The thread doesn't know the reader, whose end it is
    therefore told; `lock` is held while an element is on its way from the source to the queue.
    """

    def __init__(self, source, size):
        self.source = source
        self.ready = SimpleQueue()
        self.turns = SimpleQueue()  # one entry for each element that may be computed
        self.lock = threading.Lock()
        self.stopped = False
        self.ended = False
        for _ in range(size):
            self.turns.put(None)

    def run(self):
        while True:
            self.turns.get()
            with self.lock:
                if self.stopped:
                    return
                try:
                    element = self.source.next()
                except Exception as error:
                    element = Failure(error)
                self.ready.put(element)
                if element is None:
                    self.ended = True
                    return

    def stop(self):
        self.stopped = True
        self.turns.put(None)
        self.ready.put(Failure(errors.CancelledError(None, None, "the iterator was closed")))


class _Prefetched(UnaryElements):
    def __init__(self, source, size):
        super().__init__(source)
        self._size = size
        self._ahead = None
        self._kept = []  # restored elements, in reverse order
        self._was_restored = False

    @property
    def is_fresh(self):
        return self._source.is_fresh and not self._was_restored

    def next(self):
        if self._kept:
            return self._given(self._kept.pop())
        ahead = self._ahead or self._start()
        if ahead.ended and ahead.ready.empty():
            return None
        element = self._take(ahead.ready)
        ahead.turns.put(None)
        return self._given(element)

    def _take(self, ready):
        return ready.get()

    @staticmethod
    def _given(element):
        if isinstance(element, Failure):
            raise element.error
        return element

    def _start(self):
        ahead = self._ahead = _Ahead(self._source, self._size)
        reader_threads.stop_with(self, ahead.stop)
        reader_threads.start(ahead, "penstock-prefetch")
        return ahead

    def save(self):
        ahead = self._ahead
        if ahead is None:
            waiting = self._kept[::-1]
            return [[saved_element(element) for element in waiting], self._source.save()]
        with ahead.lock:
            waiting = []
            while not ahead.ready.empty():
                waiting.append(ahead.ready.get())
            for element in waiting:
                ahead.ready.put(element)
            elements = [
                saved_element(element)
                for element in (*self._kept[::-1], *waiting)
                if element is not None
            ]
            return [elements, self._source.save()]

    def restore(self, state):
        elements, source = state
        self._source.restore(source)
        self._kept = [restored_element(element) for element in reversed(elements)]
        self._was_restored = True

    def close(self):
        if self._ahead is not None:
            self._ahead.stop()
        super().close()


class _RecordedPrefetched(_Prefetched):
    """Records how full the buffer is when an element is taken from it."""

    def __init__(self, source, size, name, recorder):
        super().__init__(source, size)
        self._name, self._recorder = name, recorder

    def _take(self, ready):
        element = ready.get()
        if element is not None:
            waiting = min(ready.qsize() + 1, self._size)  # the end of the source waits, too
            for what, number in (("size", waiting), ("capacity", self._size)):
                self._recorder.set_number(f"{self._name}::buffer_{what}", number)
            name = f"{self._name}::buffer_utilization"
            self._recorder.add_to_histogram(name, waiting / self._size)
        return element


@dataset_kernel("PrefetchDataset")
def _(node):
    def run(source, size):
        size = int(size)
        if size < -1:
            raise invalid("buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")
        if size == 0:
            return source
        count = _UNTUNED if size == -1 else size

        def make(elements, context):
            if context.statistics is None:
                return _Prefetched(elements, count)
            name = statistics_name(node)
            return _RecordedPrefetched(elements, count, name, context.statistics)

        return DerivedDataset(source, make, same_number)

    return run
