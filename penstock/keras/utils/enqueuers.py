"""Batches that threads make ahead of the program that uses them."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

__all__ = ["GeneratorEnqueuer", "OrderedEnqueuer", "SequenceEnqueuer"]

_TAKE_A_LOOK = 0.05  # seconds that a full queue is waited for before looking whether to stop


class SequenceEnqueuer:
    """A queue of batches in the making, filled by a thread of its own.

    Args:
      sequence: where batches come from.
      use_multiprocessing: accepted; threads make the batches.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False):
        self.sequence = sequence
        self.use_multiprocessing = use_multiprocessing
        self.queue: queue.Queue[Future[Any] | None] = queue.Queue()
        self.stop_signal: threading.Event | None = None
        self.run_thread: threading.Thread | None = None
        self._workers = 1

    def is_running(self) -> bool:
        """Whether it has been started, and not stopped."""
        return self.stop_signal is not None and not self.stop_signal.is_set()

    def start(self, workers: int = 1, max_queue_size: int = 10) -> None:
        """Starts to make batches.

        Args:
          workers: threads that make them.
          max_queue_size: how many may wait to be used.
        """
        self._workers = max(workers, 1)
        self.queue = queue.Queue(max_queue_size)
        self.stop_signal = threading.Event()
        self.run_thread = threading.Thread(target=self._run, daemon=True)
        self.run_thread.start()

    def stop(self, timeout: float | None = None) -> None:
        """Stops its threads, and forgets the batches that nobody took."""
        if self.stop_signal is None or self.run_thread is None:
            return
        self.stop_signal.set()
        self.run_thread.join(timeout)

    def get(self) -> Iterator[Any]:
        """The batches, until there are no more or it is stopped."""
        while self.is_running():
            try:
                batch = self.queue.get(timeout=_TAKE_A_LOOK)
            except queue.Empty:
                continue
            if batch is None:
                return
            try:
                value = batch.result()
            except BaseException:
                self.stop()
                raise
            finally:
                self.queue.task_done()
            if value is not None:
                yield value

    def _run(self) -> None:
        raise NotImplementedError

    def _put(self, batch: Future[Any] | None) -> bool:
        """Whether there was room for a batch before the stop."""
        while self.is_running():
            try:
                self.queue.put(batch, timeout=_TAKE_A_LOOK)
            except queue.Full:
                continue
            return True
        return False


class OrderedEnqueuer(SequenceEnqueuer):
    """The batches of a `Sequence` in their order, epoch after epoch.

    Args:
      shuffle: whether to mix the batches of each epoch.
    """

    def __init__(self, sequence: Any, use_multiprocessing: bool = False, shuffle: bool = False):
        super().__init__(sequence, use_multiprocessing)
        self.shuffle = shuffle

    def _run(self) -> None:
        with ThreadPoolExecutor(self._workers) as pool:
            while True:
                order = list(range(len(self.sequence)))
                if self.shuffle:
                    np.random.shuffle(order)  # noqa: NPY002 the program seeds it
                for index in order:
                    if not self._put(pool.submit(self.sequence.__getitem__, index)):
                        return
                self._wait_until_taken()
                if not self.is_running():
                    return
                self.sequence.on_epoch_end()

    def _wait_until_taken(self) -> None:
        """Waits for the end of an epoch: the sequence may change its batches only then."""
        with self.queue.all_tasks_done:
            while self.is_running() and self.queue.unfinished_tasks:
                self.queue.all_tasks_done.wait(_TAKE_A_LOOK)


class GeneratorEnqueuer(SequenceEnqueuer):
    """The batches of a generator, which one thread asks for them."""

    def _run(self) -> None:
        source = iter(self.sequence)
        while self.is_running():
            batch: Future[Any] = Future()
            try:
                batch.set_result(next(source))
            except StopIteration:
                self._put(None)
                return
            except BaseException as error:
                batch.set_exception(error)
                self._put(batch)
                return
            if not self._put(batch):
                return
