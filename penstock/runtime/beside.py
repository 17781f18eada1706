"""A loop and large products that need nothing of it, computed at the same time."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any

import torch

from penstock.ir.step_graph import Node
from penstock.kernels.kernel_threads import kernel_threads, release_idle_threads
from penstock.runtime.crew import Crew
from penstock.runtime.device import Device
from penstock.runtime.loops import BoundLoop, bind_loop


def bind_loop_and_products(node: Node, device: Device) -> BoundLoop:
    """What a plan calls for a `_WhileBeside` node: `run(step, *of the loop, *factors)`."""
    from penstock.runtime.binding import bind

    loop = bind_loop(node, device)
    products = [_callable(bind(each, device).function) for each in node.attrs["products"]]
    factors = 2 * len(products)
    alone = len(node.dtypes) - len(products) == 1

    def run(step: Any, *values: Any) -> list[Any]:
        given = values[-factors:]
        pending = _Pending(products, [given[i : i + 2] for i in range(0, factors, 2)])
        threads = torch.get_num_threads()
        apart = threads // 2
        if apart:
            release_idle_threads()
            _crew().start(functools.partial(pending.compute, apart))
        try:
            with kernel_threads(threads - apart):
                results = loop.run(step, *values[:-factors])
        finally:
            if apart:
                pending.wait()
        if not apart:
            pending.compute(threads)
        return [*([results] if alone else results), *pending.results()]

    outputs = len(node.dtypes)
    own = loop.fresh.union(range(outputs - len(products), outputs))
    return BoundLoop(run, own)


def _callable(function: Callable[..., Any] | None) -> Callable[..., Any]:
    assert function is not None  # a product is no constant
    return function


@functools.cache
def _crew() -> Crew:
    return Crew("penstock-beside")


if hasattr(os, "register_at_fork"):  # a child process has none of the threads
    os.register_at_fork(after_in_child=_crew.cache_clear)


class _Pending:
    """Products that another thread computes."""

    def __init__(self, functions: list[Callable[..., Any]], factors: list[tuple[Any, ...]]):
        self._work = list(zip(functions, factors, strict=True))
        self._made: list[Any] = []
        self._error: Exception | None = None
        self._done = threading.Lock()
        self._done.acquire()

    def compute(self, threads: int) -> None:
        """Computes all of them, with so many threads, and says so."""
        try:
            with kernel_threads(threads):
                self._made = [function(*factors) for function, factors in self._work]
        except Exception as error:  # it is the step's, whose thread raises it
            self._error = error
        finally:
            self._work.clear()
            if threads > 1:
                release_idle_threads()
            self._done.release()

    def wait(self) -> None:
        self._done.acquire()

    def results(self) -> list[Any]:
        if self._error is not None:
            raise self._error
        return self._made
