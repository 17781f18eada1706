"""Recording on a CUDA device, with torch's graphs."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch

from penstock.runtime.device import Device

_MOST_OF_MEMORY = 0.5  # of the card, that one recording may take


class CudaReplay:
    """A captured CUDA graph."""

    def __init__(self, graph: Any):
        self._graph = graph
        self.outputs: tuple[Any, ...] = ()

    def run(self) -> None:
        self._graph.replay()

    def release(self) -> None:
        self.outputs = ()
        self._graph.reset()


class CudaRecorder:
    """Records on one device; all recordings share a pool of memory.

    A capture that CUDA breaks off leaves torch's allocator and generators in the middle of it. That
    is mended, and nothing more is recorded: what a step waits for is looked for before.
    """

    def __init__(self, device: Device):
        self.lock = threading.Lock()
        self._device = device.torch_device
        self._generator = device.generator
        self._pool: Any = None
        self._stream: Any = None
        self._has_failed = False

    def static_input(self, value: Any) -> Any:
        return torch.empty(value.shape, dtype=value.dtype, device=self._device)

    def now(self) -> float:
        torch.cuda.synchronize(self._device)
        return time.perf_counter()

    @contextmanager
    def watch(self) -> Iterator[list[str]]:
        waits: list[str] = []
        thread = threading.get_ident()

        def note(message: Any, *_: Any, **__: Any) -> None:
            if threading.get_ident() == thread and "called a synchronizing" in str(message):
                waits.append(str(message).splitlines()[0])

        before = torch.cuda.get_sync_debug_mode()
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = note
            torch.cuda.set_sync_debug_mode("warn")
            try:
                yield waits
            finally:
                torch.cuda.set_sync_debug_mode(before)

    def record(self, function: Callable[[], tuple[Any, ...]]) -> CudaReplay:
        if self._has_failed:
            raise RuntimeError("recording has failed before")
        with torch.cuda.device(self._device):
            if self._pool is None:
                self._pool = torch.cuda.graph_pool_handle()
                self._stream = torch.cuda.Stream()
            torch.cuda.empty_cache()
            before = torch.cuda.memory_reserved()
            replay = self._captured(function)
            taken = torch.cuda.memory_reserved() - before
            total = torch.cuda.get_device_properties(self._device).total_memory
            if taken > _MOST_OF_MEMORY * total:
                replay.release()
                raise MemoryError(f"a recording takes {taken >> 20} MB of memory")
        return replay

    def _captured(self, function: Callable[[], tuple[Any, ...]]) -> CudaReplay:
        graph = torch.cuda.CUDAGraph()
        graph.register_generator_state(self._generator)
        replay = CudaReplay(graph)
        stream = torch.cuda.current_stream()
        try:
            # Other threads may go on using the device.
            with torch.cuda.graph(
                graph, pool=self._pool, stream=self._stream, capture_error_mode="thread_local"
            ):
                replay.outputs = function()
        except BaseException:
            torch.cuda.set_stream(stream)
            replay.outputs = ()
            if _has_ended(graph):  # the function has raised an error of its own
                graph.reset()
            else:
                self._has_failed = True
                self._mend(graph)
            raise
        return replay

    def _mend(self, graph: Any) -> None:
        """Ends what a capture that broke off has left open."""
        pool, self._pool = self._pool, None
        with suppress(Exception):
            torch._C._cuda_endAllocateToPool(self._device.index, pool)
            torch._C._cuda_releasePool(self._device.index, pool)
        with suppress(Exception):
            graph.reset()
        # Generators go on behind a capture that ends well.
        with suppress(Exception):
            number = torch.zeros(1, device=self._device)
            other = torch.cuda.CUDAGraph()
            other.register_generator_state(self._generator)
            stream = torch.cuda.current_stream()
            try:
                with torch.cuda.graph(other, capture_error_mode="thread_local"):
                    number.add_(1)
            finally:
                torch.cuda.set_stream(stream)
            other.reset()


def _has_ended(graph: Any) -> bool:
    """Whether a capture came to its end."""
    try:
        graph.pool()
    except RuntimeError:
        return False
    return True


def recorder_for(device: Device) -> CudaRecorder | None:
    """What records on a device; None where nothing is: `PENSTOCK_CUDA_GRAPHS=0` says so."""
    if device.torch_device.type != "cuda" or not torch.cuda.is_available():
        return None
    return CudaRecorder(device) if _is_on() else None


def _is_on() -> bool:
    return os.environ.get("PENSTOCK_CUDA_GRAPHS", "1").lower() not in ("0", "false", "off")
