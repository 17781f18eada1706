"""Functions at run time: their bodies as compiled steps, one per device, made at the first call."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from penstock import errors
from penstock.autodiff.function_gradients import gradient_body
from penstock.devices import DeviceSpec
from penstock.dtypes import resource, variant
from penstock.ir.attr_codec import Function as FunctionName
from penstock.ir.function import Function, FunctionGraph
from penstock.ir.step_graph import Node, StepGraph
from penstock.ir.tensor import Tensor
from penstock.kernels.philox import Generator, collected_generators
from penstock.passes.pipeline import PassOptions, compile_step
from penstock.placement.placer import place
from penstock.runtime.step import Step

if TYPE_CHECKING:
    from penstock.runtime.compiled import CompiledStep
    from penstock.runtime.device import Device

Call = Callable[[Step, Sequence[Any]], Sequence[Any]]

_ALONE = "localhost"  # the job of a session without a cluster


def function_call(device: Device, node: Node, name: str, attrs: dict[str, Any]) -> Call:
    """A function of a node's graph as something to call with runtime values."""
    function, library = _find(node, name)
    return _Lazily(device, lambda: function.body(attrs, library))


def body_call(device: Device, body: FunctionGraph) -> Call:
    """A body without a name as something to call with runtime values."""
    return _Lazily(device, lambda: body)


def shared_call(device: Device, node: Node, name: str, attrs: dict[str, Any]) -> Call:
    """As `function_call`; the random ops in a function go on from call to call of a session."""
    function, library = _find(node, name)
    call = _Lazily(device, lambda: function.body(attrs, library))
    if not call.draws_numbers:
        return call
    known = device.resources.own.get_or_create(_SharedCalls, "", "functions", _SharedCalls)
    key = repr(sorted((k, v) for k, v in attrs.items() if not k.startswith("_")))
    return known.setdefault((function, key), call)


class _SharedCalls(dict[tuple[Function, str], "_Lazily"]):
    """The functions with random ops that nodes of a session call."""


def gradient_call(device: Device, node: Node, name: str, attrs: dict[str, Any]) -> Call:
    """The gradient of a function: of its arguments and the gradients of its results."""
    function, library = _find(node, name)
    if function.gradient_name:
        return function_call(device, node, function.gradient_name, attrs)
    types = node.attrs["Tout"]
    return _Lazily(device, lambda: gradient_body(function.body(attrs, library), types))


def tensor_reader(device: Device, tensor: Tensor) -> Callable[[Step], Any]:
    """A function that computes a tensor of a graph, which must not depend on feeds."""
    from penstock.runtime.binding import evaluator
    from penstock.runtime.compiled import compiled

    graph = compile_step([], [tensor], [], evaluator(device), PassOptions())
    place(graph, [device.name], soft=True)
    step_of_its_own = compiled(graph, {device.name: device}, inner=True)
    return lambda step: step_of_its_own.run_inside(step, ())[0]


def _find(node: Node, name: str) -> tuple[Function, dict[str, Function]]:
    assert node.origin is not None
    library = node.origin.graph._functions
    if name not in library:
        raise errors.NotFoundError(None, None, f"Function {name} is not defined.")
    return library[name], library


class _Lazily:
    """A call whose step is compiled when it first runs: a function may call itself."""

    def __init__(
        self,
        device: Device,
        body: Callable[[], FunctionGraph],
        given: tuple[str, int] | None = None,
    ):
        self._device = device
        self._body = body
        self._given = given
        self._compiled: CompiledStep | None = None
        self._generators: list[Generator] = []
        self._lock = threading.Lock()

    @property
    def body(self) -> FunctionGraph:
        return self._body()

    def given(self, node: str, start: int) -> _Lazily:
        """The function that takes a node's results as further arguments, from `start` on."""
        return _Lazily(self._device, self._body, (node, start))

    @functools.cached_property
    def has_effects(self) -> bool:
        """Whether it matters when the function is called, or how often."""
        return _has_effects(self._body(), set())

    @functools.cached_property
    def draws_numbers(self) -> bool:
        """Whether it holds the state of random ops."""
        ops = self._body().get_operations()
        return any(op.spec.is_stateful and "seed2" in op.attrs for op in ops)

    def renewed(self) -> _Lazily:
        """The function as a new dataset calls it: with random numbers from the start."""
        return _Lazily(self._device, self._body) if self.draws_numbers else self

    def random_state(self) -> list[list[int]]:
        """Where its random ops are, for `restore_random_state`."""
        self._compile()
        return [generator.save() for generator in self._generators]

    def restore_random_state(self, state: Sequence[Sequence[int]]) -> None:
        """Lets the random ops go on where `random_state` was called."""
        self._compile()
        for generator, saved in zip(self._generators, state, strict=True):
            generator.restore(saved)

    def _compile(self) -> CompiledStep:
        with self._lock:
            if self._compiled is None:
                with collected_generators() as made:
                    compiled = _compiled(self._device, self._body(), self._given)
                self._generators, self._compiled = made, compiled
            return self._compiled

    def __call__(self, step: Step, args: Sequence[Any]) -> Sequence[Any]:
        compiled = self._compiled or self._compile()
        return compiled.run_inside(step, args)


def _has_effects(body: FunctionGraph, seen: set[str]) -> bool:
    """Whether an op of a body, or of a function that it calls, has effects.

    What gives a dataset has those of the dataset's functions: it has not read anything yet.
    """
    for op in body.get_operations():
        if op.spec.is_stateful and not (op.outputs and all(t.dtype is variant for t in op.outputs)):
            return True
        for value in op.attrs.values():
            for called in value if isinstance(value, (list, tuple)) else (value,):
                if isinstance(called, FunctionName) and called.name not in seen:
                    seen.add(called.name)
                    function = body._functions.get(called.name)
                    if function is None or _has_effects(
                        function.body(called.attrs, body._functions), seen
                    ):
                        return True
    return False


def _compiled(
    device: Device, body: FunctionGraph, given: tuple[str, int] | None = None
) -> CompiledStep:
    from penstock.runtime.binding import evaluator
    from penstock.runtime.compiled import compiled

    effects = body.effects
    if effects is None:
        stateful = [op for op in body.get_operations() if op.spec.is_stateful]
        effects = [op for op in stateful if not op.spec.takes_refs]
    arguments = list(body.inputs)
    if given is not None:
        node, start = given
        arguments[start:start] = body.get_operation_by_name(node).outputs
    graph = compile_step(arguments, body.outputs, effects, evaluator(device), PassOptions())
    _gather(graph, device)
    place(graph, [device.name], soft=True)
    return compiled(graph, {device.name: device}, inner=True)


def _gather(graph: StepGraph, device: Device) -> None:
    """Lets nodes that ask for another task of the cluster run where their function is called.

    They compute the same there; those that own state would own another one.
    """
    home = DeviceSpec.from_string(device.name)
    if home.job == _ALONE:  # there are no other tasks: what asks for one is a mistake
        return
    for node in graph.nodes:
        wanted = DeviceSpec.from_string(node.device)
        is_elsewhere = wanted.job not in (None, home.job) or wanted.task not in (None, home.task)
        if is_elsewhere and not any(t.is_ref_dtype or t is resource for t in node.dtypes):
            node.device = ""
