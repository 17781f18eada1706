"""The fused form of a step: which regions are compiled, tried, and kept because they are faster."""

from __future__ import annotations

import atexit
import dataclasses
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch

from penstock.ir.step_graph import Node, StepGraph
from penstock.kernels.compilers import with_low_priority
from penstock.passes.fusion import fuse
from penstock.passes.structure import Loop
from penstock.runtime.binding import BoundNode, bind_all
from penstock.runtime.device import Device
from penstock.runtime.fusion.forms import FormRecorder
from penstock.runtime.fusion.inductor import (
    RegionSource,
    called_directly,
    compiled_function,
    evaluated,
    example_inputs,
    missing_compiler,
    source_of,
    write_task,
)
from penstock.runtime.fusion.native_loops import native_loop
from penstock.runtime.number_loops import is_of_numbers, numbers_of
from penstock.runtime.plan import make_plan

_log = logging.getLogger("penstock.fusion")

#: Seconds that a compiler may take for all regions of a step.
_PATIENCE = 600
#: A region is kept if it takes at most this part of the time of its kernels.
_WORTH_IT = 0.9


def fused_graph(
    graph: StepGraph, devices: Mapping[str, Device], seen: FormRecorder, threads: int
) -> StepGraph | None:
    """A copy of a step with compiled regions in it; None where there is none that is faster."""
    found: dict[str, RegionSource] = {}
    looking = _Fusing(devices, seen, lambda node, device: _note(node, device, found))
    looking.copy_of(graph)
    kept = _kept(list(dict.fromkeys(found.values())), threads)
    loops = {name: made for name, make in looking.loops.items() if (made := make())}
    if not kept and not loops:
        return None

    def take(node: Node, device: Device) -> bool:
        made = kept.get(found[node.name]) if node.name in found else None
        node.attrs["compiled"] = made
        return made is not None

    return _Fusing(devices, seen, take, loops).copy_of(graph)


def _kept(sources: list[RegionSource], threads: int) -> dict[RegionSource, Callable[..., Any]]:
    """The compiled functions of those regions that are faster so."""
    kinds = {torch.device(form.device).type for source in sources for form in source.inputs}
    lacking = [missing for kind in kinds if (missing := missing_compiler(kind))]
    if not sources or lacking:
        if lacking:
            _log.info("steps are not fused: %s is missing", " and ".join(lacking))
        return {}
    if not _compile_elsewhere(sources, threads):
        return {}
    kept = {source: made for source in sources if (made := _tried(source, threads))}
    _log.info("%d of %d regions are faster compiled", len(kept), len(sources))
    return kept


class _Fusing:
    """Makes copies of a step, and of the loops in it, with `_Fused` nodes where `takes` agrees.

    `compiled_loops` are functions of loops of numbers, by name; `loops` are those that it has seen,
    each with what compiles it.
    """

    def __init__(
        self,
        devices: Mapping[str, Device],
        seen: FormRecorder,
        takes: Callable[[Node, Device], bool],
        compiled_loops: Mapping[str, Any] | None = None,
    ):
        self._devices = devices
        self._seen = seen
        self._takes = takes
        self._compiled_loops = compiled_loops or {}
        self.loops: dict[str, Callable[[], Any]] = {}

    def copy_of(self, graph: StepGraph, device: Device | None = None) -> StepGraph:
        """`device` is given for a loop's regions, all of whose nodes are there."""
        bound = bind_all(graph, device or self._devices)
        forms = self._seen.forms(graph, bound)
        views = {entry.node.name for entry in bound if not entry.fresh and not entry.is_constant}
        copy = graph.copy()
        for node in copy.nodes:
            if node.type == "_While":
                self._take_loop(node, device or self._devices[node.device])

        def takes(node: Node) -> bool:
            return self._takes(node, device or self._devices[node.device])

        fuse(copy, forms, lambda node: node.name in views, takes)
        return copy

    def _take_loop(self, node: Node, device: Device) -> None:
        loop: Loop = node.attrs["loop"]
        numbers = numbers_of(node)
        if device.device_type == "CPU" and is_of_numbers(node, numbers):
            self.loops[node.name] = partial(native_loop, loop, numbers)
            node.attrs = {**node.attrs, "native": self._compiled_loops.get(node.name)}
            return
        body = self.copy_of(loop.body, device)
        node.attrs = {**node.attrs, "loop": dataclasses.replace(loop, body=body)}


def _note(node: Node, device: Device, found: dict[str, RegionSource]) -> bool:
    """Takes down a region's source, and leaves the region as it is for now."""
    try:
        source = source_of(plain_function(node, device, overwrites=False), node.attrs["forms"])
    except Exception as error:
        _log.debug("%s can't be traced: %s", node.name, error)
        source = None
    if source is not None:
        found[node.name] = source
    return False


def plain_function(
    node: Node, device: Device, *, overwrites: bool = True
) -> Callable[..., tuple[Any, ...]]:
    """A region as a plan of its kernels, or of those that overwrite nothing."""
    region: StepGraph = node.attrs["region"]
    bound = bind_all(region, device)
    if not overwrites:
        bound = [_traceable(entry) for entry in bound]
    return make_plan(region, bound, inner=True).function


def _traceable(entry: BoundNode) -> BoundNode:
    """A node as the source of a region has it: overwriting nothing, its numbers written out."""
    value = entry.constant
    if not entry.is_constant or entry.node.dtypes[0].is_integer:  # sizes and axes are known
        return dataclasses.replace(entry, of_tensors=False)
    number = value.flatten()[0].item()
    filled = partial(torch.full, value.shape, number, dtype=value.dtype, device=value.device)
    return dataclasses.replace(entry, function=filled, constant=None, fresh=True)


def fused_function(node: Node, device: Device) -> Callable[..., Any]:
    """What a plan calls for a `_Fused` node; values of other forms go to the kernels."""
    compiled = called_directly(node.attrs["compiled"])
    plain = plain_function(node, device)
    alone = len(node.dtypes) == 1

    def run(*values: Any) -> Any:
        try:
            results = compiled([*values])
        except AssertionError:
            results = plain(None, *values)
        return results[0] if alone else results

    return run


def _compile_elsewhere(sources: list[RegionSource], threads: int) -> bool:
    """Has a process of its own fill Inductor's cache: it disturbs no step, and may crash."""
    is_end = False  # of the program
    with tempfile.TemporaryDirectory(prefix="penstock-fusion-") as folder:
        task = Path(folder, "regions.json")
        write_task(task, sources, threads)
        command = [sys.executable, "-m", "penstock.runtime.fusion.inductor", str(task)]
        with subprocess.Popen(
            with_low_priority(command),
            env=_environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as process:

            def end_with_program() -> None:
                nonlocal is_end
                is_end = True
                process.kill()

            atexit.register(end_with_program)
            try:
                _, told = process.communicate(timeout=_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                _, told = process.communicate()
            finally:
                atexit.unregister(end_with_program)
    _log.debug("compiling regions: %s", told.decode(errors="replace"))
    if process.returncode != 0 and not is_end:
        _log.info("steps are not fused: the compiling process ended with %d", process.returncode)
    return process.returncode == 0


def _tried(source: RegionSource, threads: int) -> Callable[[list[Any]], Any] | None:
    """The compiled function of a region if it is right and faster, and gives memory of its own."""
    try:
        made = compiled_function(source, threads)
        inputs = example_inputs(source)
        plain = evaluated(source.text)
        with torch.no_grad():
            results, expected = made([*inputs]), plain(*inputs)
            right = _have_own_memory(results, inputs) and _agree(results, expected)
            if not right:
                _log.info("a compiled region is not used: it gives other values\n%s", source.text)
                return None
            ratio = _ratio(lambda: made([*inputs]), lambda: plain(*inputs), inputs)
    except Exception as error:
        _log.debug("a region is not compiled: %s: %s", type(error).__name__, error)
        return None
    _log.debug("a region takes %.2f of its kernels' time\n%s", ratio, source.text)
    return made if ratio <= _WORTH_IT else None


def _have_own_memory(results: Any, inputs: list[Any]) -> bool:
    places = [value.untyped_storage().data_ptr() for value in (*results, *inputs)]
    made = places[: len(results)]
    return len(set(made)) == len(made) and not set(made) & set(places[len(results) :])


def _agree(results: Any, expected: Any) -> bool:
    for result, other in zip(results, expected, strict=True):
        if result.dtype != other.dtype or result.shape != other.shape:
            return False
        coarse = result.dtype in (torch.float16, torch.bfloat16)
        tolerance = 2e-2 if coarse else 1e-4
        if not torch.allclose(result, other, rtol=tolerance, atol=tolerance, equal_nan=True):
            return False
    return True


def _ratio(made: Callable[[], Any], plain: Callable[[], Any], inputs: list[Any]) -> float:
    """How long the one takes, measured in parts of the other: the least of some turns each."""
    on_gpu = any(value.is_cuda for value in inputs)
    calls = 10 if on_gpu else 1

    def seconds(function: Callable[[], Any]) -> float:
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        if on_gpu:
            torch.cuda.synchronize()
        return time.perf_counter() - begin

    times = [(seconds(made), seconds(plain)) for _ in range(30)]
    return min(a for a, _ in times) / min(b for _, b in times)


def _environment() -> dict[str, str]:
    """That of this process, in which the same package is found."""
    package = Path(__file__).parents[3]
    paths = [str(package), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
