"""Results of batches put together: means of losses, and the outputs of all samples."""

from __future__ import annotations

import atexit
import threading
import time
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np

import penstock as tf
from penstock.internal_paths.composite_parts import (
    append_composite_tensor,
    is_composite_or_composite_value,
)


class Aggregator:
    """Takes the results of batches: `create` with the first ones, `aggregate` with all.

    Args:
      use_steps: whether batches are counted, not samples.
      num_samples, steps: how many there will be.
      batch_size: what no batch is larger than.
    """

    def __init__(
        self,
        use_steps: bool,
        num_samples: int | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
    ):
        self.use_steps = use_steps
        self.num_samples = num_samples
        self.steps = steps
        self.batch_size = batch_size
        self.results: Any = []

    def create(self, batch_outs: Any) -> None:
        """Makes room for results like these."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def aggregate(
        self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None
    ) -> None:
        """Adds the results of a batch, of the samples between two numbers."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def finalize(self) -> None:
        """Makes `results` of all that was added."""
        raise NotImplementedError("Must be implemented in subclasses.")


class MetricsAggregator(Aggregator):
    """The mean of the loss; of metrics, which count for themselves, the last values."""

    def __init__(self, use_steps: bool, num_samples: int | None = None, steps: int | None = None):
        super().__init__(use_steps, num_samples, steps)

    def create(self, batch_outs: Any) -> None:
        self.results = [0.0] * len(batch_outs)

    def aggregate(
        self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None
    ) -> None:
        size = 1 if self.use_steps else (batch_end or 0) - (batch_start or 0)
        self.results[0] += batch_outs[0] * size
        self.results[1:] = batch_outs[1:]

    def finalize(self) -> None:
        if not self.results:
            raise ValueError("Empty training data.")
        self.results[0] /= self.num_samples or self.steps


class ConcatAggregator(Aggregator):
    """One output of all batches, where the number of samples is not known before."""

    def __init__(self, batch_size: int | None):
        super().__init__(use_steps=True, batch_size=batch_size)
        self.composite = False

    def create(self, batch_element: Any) -> None:
        self.composite = is_composite_or_composite_value(batch_element)

    def aggregate(
        self, batch_element: Any, batch_start: int | None = None, batch_end: int | None = None
    ) -> None:
        size = None if self.composite else self.batch_size
        if size and size < batch_element.shape[0]:
            raise _mismatch(batch_element, (size, *batch_element.shape[1:]))
        self.results.append(batch_element)

    def finalize(self) -> None:
        if len(self.results) == 1:
            self.results = self.results[0]
        elif self.composite:
            joined, *rest = self.results
            for each in rest:
                joined = append_composite_tensor(joined, each)
            self.results = joined
        else:
            self.results = np.concatenate(self.results, axis=0)
        if isinstance(self.results, tf.Tensor):
            self.results = self.results.numpy()


_COPY_THREADS = 4
_COPY_POOL: ThreadPool | None = None


def get_copy_pool() -> ThreadPool:
    """The threads that copy large outputs."""
    global _COPY_POOL
    if _COPY_POOL is None:
        _COPY_POOL = ThreadPool(_COPY_THREADS)
        atexit.register(_COPY_POOL.close)
    return _COPY_POOL


class SliceAggregator(Aggregator):
    """One output of a known number of samples: batches are copied to their places."""

    #: Outputs of so many numbers are copied by another thread.
    _BINARY_SIZE_THRESHOLD = 2**14
    _MAX_COPY_SECONDS = 300

    def __init__(self, num_samples: int, batch_size: int | None):
        super().__init__(use_steps=False, num_samples=num_samples, batch_size=batch_size)
        self._copies: list[threading.Event] = []
        self._errors: list[Exception] = []

    def create(self, batch_element: Any) -> None:
        dtype = getattr(batch_element.dtype, "as_numpy_dtype", batch_element.dtype)
        self.results = np.empty((self.num_samples, *batch_element.shape[1:]), dtype)

    def aggregate(
        self, batch_element: Any, batch_start: int | None = None, batch_end: int | None = None
    ) -> None:
        self._raise_first_error()
        start, end = batch_start or 0, batch_end or 0
        if end - start == self.num_samples:
            if batch_element.shape[0] != self.num_samples:
                raise _mismatch(batch_element, self.results.shape)
            self.results = batch_element
        elif np.prod(batch_element.shape) < self._BINARY_SIZE_THRESHOLD:
            self.results[start:end] = batch_element
        else:
            is_finished = threading.Event()
            arguments = (batch_element, start, end, is_finished)
            get_copy_pool().apply_async(self._slice_assign, args=arguments)
            self._copies.append(is_finished)

    def _slice_assign(
        self, batch_element: Any, start: int, end: int, is_finished: threading.Event
    ) -> None:
        try:
            self.results[start:end] = batch_element
        except Exception as error:
            self._errors.append(error)
        finally:
            is_finished.set()

    def finalize(self) -> None:
        deadline = time.monotonic() + self._MAX_COPY_SECONDS
        for is_finished in self._copies:
            if not is_finished.wait(max(0.0, deadline - time.monotonic())):
                raise ValueError("Timed out waiting for copy to complete.")
        self._raise_first_error()

    def _raise_first_error(self) -> None:
        if self._errors:
            raise self._errors[0]


class OutputsAggregator(Aggregator):
    """A structure of outputs: arrays, sparse and ragged values."""

    _structure: Any = None

    def create(self, batch_outs: Any) -> None:
        self._structure = tf.nest.get_traverse_shallow_structure(
            lambda each: not is_composite_or_composite_value(each), batch_outs
        )
        for each in tf.nest.flatten_up_to(self._structure, batch_outs):
            self.results.append(self._part(each))
            self.results[-1].create(each)

    def _part(self, output: Any) -> Aggregator:
        if is_composite_or_composite_value(output):
            return ConcatAggregator(self.batch_size)
        if not isinstance(output, np.ndarray | tf.Tensor):
            raise RuntimeError(f"Attempted to aggregate unsupported object {output}.")
        if self.use_steps or self.num_samples is None:
            return ConcatAggregator(self.batch_size)
        return SliceAggregator(self.num_samples, self.batch_size)

    def aggregate(
        self, batch_outs: Any, batch_start: int | None = None, batch_end: int | None = None
    ) -> None:
        outputs = tf.nest.flatten_up_to(self._structure, batch_outs)
        for output, part in zip(outputs, self.results, strict=True):
            part.aggregate(output, batch_start, batch_end)

    def finalize(self) -> None:
        for part in self.results:
            part.finalize()
        flat = [part.results for part in self.results]
        self.results = tf.nest.pack_sequence_as(self._structure, flat)


def _mismatch(output: Any, expected: Any) -> ValueError:
    return ValueError(
        "Mismatch between expected batch size and model output batch size. Output shape = "
        f"{output.shape}, expected output shape = shape {expected}"
    )
