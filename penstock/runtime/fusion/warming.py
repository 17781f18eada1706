"""Steps that run often become faster ones: counted, looked at once, compiled in the background."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from penstock.ir.step_graph import Node, StepGraph
from penstock.passes.beside import compute_products_beside
from penstock.runtime.allocator import use_huge_pages
from penstock.runtime.device import Device
from penstock.runtime.fusion.forms import FormRecorder
from penstock.runtime.step import Step

if TYPE_CHECKING:
    from penstock.runtime.compiled import CompiledStep

_log = logging.getLogger("penstock.fusion")

#: By `PassOptions.fusion`, when a step is hot: after how many runs, and how many seconds of them.
HOT = {"hot": (30, 3.0), "soon": (2, 0.0)}

#: Bytes of results from which a step's memory is moved to huge pages: a processor finds the
#: addresses of less without them.
_LARGE = 2**25

#: Compilers use the processor for a while, one step's after the other's.
_one_at_a_time = threading.Lock()


class Warming:
    """Counts a step's runs; once it is hot, its regions are compiled and its plan is replaced.

    `runs` and `seconds` say when a step is hot: after so many runs that took so long together.
    `beside` allows for products to be computed in a thread of their own while a loop runs.
    """

    def __init__(
        self, devices: Mapping[str, Device], runs: int, seconds: float, *, beside: bool = False
    ):
        self._devices = devices
        self._beside = beside
        self._runs_left = runs
        self._seconds_left = seconds
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None

    def run(self, compiled: CompiledStep, step: Step | None, feeds: Sequence[Any]) -> Any:
        """Runs the step, which may be the run that is looked at."""
        is_hot = self._worker is None and self._runs_left <= 0 and self._seconds_left <= 0
        if is_hot and self._lock.acquire(blocking=False):  # the other threads just go on
            return self._run_watched(compiled, step, feeds)
        plan = compiled.plan
        assert plan is not None
        begin = time.perf_counter()
        results = plan.run(step, feeds)
        self._seconds_left -= time.perf_counter() - begin
        self._runs_left -= 1
        return results

    def _run_watched(self, compiled: CompiledStep, step: Step | None, feeds: Sequence[Any]) -> Any:
        seen = FormRecorder()
        for graph, taken in compiled.planned_with(feeds):
            seen.enter(graph, taken)
        try:
            results = compiled.run_recorded(feeds, seen, step=step)
        except BaseException:
            self._lock.release()  # it failed for a reason of its own: another run is looked at
            raise
        self._worker = threading.Thread(
            target=self._compile,
            args=(compiled, seen, torch.get_num_threads()),
            name="penstock-fusion",
            daemon=True,
        )
        self._worker.start()
        return results

    def _compile(self, compiled: CompiledStep, seen: FormRecorder, threads: int) -> None:
        from penstock.runtime.fusion.regions import fused_graph

        try:
            graphs = compiled.planned
            with _one_at_a_time:
                fused = [fused_graph(graph, self._devices, seen, threads) for graph in graphs]
            if any(fused):
                graphs = [new or old for new, old in zip(fused, graphs, strict=True)]
                compiled.use_fused(graphs, self._devices)
            if self._beside and not compiled.parts:
                self._compute_products_beside(compiled, graphs[0], seen)
            if seen.host_bytes() >= _LARGE:
                _log.debug("%d MiB of memory are in huge pages", use_huge_pages() >> 20)
        except Exception:
            _log.warning("a step could not be fused and runs as before", exc_info=True)
        finally:
            compiled.warming = None

    def _compute_products_beside(
        self, compiled: CompiledStep, graph: StepGraph, seen: FormRecorder
    ) -> None:
        def may_join(loop: Node) -> bool:
            return self._devices[loop.device].torch_device.type == "cpu"

        other = graph.copy()
        if compute_products_beside(other, seen.seconds(compiled.graph), may_join):
            compiled.try_other(other, self._devices)

    def wait(self) -> None:
        """Returns when the background work is done."""
        if self._worker is not None:
            self._worker.join()
