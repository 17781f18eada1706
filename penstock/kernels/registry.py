"""The kernel registry: for each (op type, device type) a factory that is run when a plan is made.

A factory gets the node (its attrs, types and static shapes) and returns the function to call in
every step, so that nothing is decided twice: often that is the ATen function itself.

    @kernel("Cumsum")
    def _(node):
        exclusive, reverse = node.attrs["exclusive"], node.attrs["reverse"]
        def run(x, axis): ...
        return run

What a kernel's function gets and gives:
1. One argument per input of the node, flat: a `torch.Tensor`, a NumPy object array of bytes for
   strings, a state object for a ref or resource input. A factory registered with `step=True`
   returns a function whose first argument is the running step.
2. One output: the value itself. Several: a tuple or list of as many values. None: anything.
3. An output may share memory with an input (a view) unless the kernel is registered as `fresh`.
   Inputs are never written to, but through `inplace` variants, which the plan calls only where
   the input's memory is dead and belongs to nobody else.
4. A failure is an exception: of `penstock.errors` where the class matters, else whatever ATen
   raises; the runtime turns it into the error of TensorFlow's class that names the node.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from penstock.ir.step_graph import Node

KernelFunction = Callable[..., Any]
TORCH_DEVICES = ("CPU", "GPU")
HOST = ("CPU",)


@dataclass(frozen=True)
class Constant:
    """What a factory returns if the node's only output is known when the plan is made."""

    value: Any


@dataclass(frozen=True)
class Kernel:
    """One registered implementation of an op on a device type."""

    factory: Callable[..., KernelFunction | Constant]
    takes_env: bool
    fresh: bool = False
    step: bool = False
    marks_fresh: bool = False
    takes_offer: bool = False
    resumes: bool = False

    def specialise(self, node: Node, env: Any) -> KernelFunction | Constant:
        return self.factory(node, env) if self.takes_env else self.factory(node)


def passed_on(value: Any, *_: Any) -> Any:
    """What a factory returns for a node whose output is its first input: no plan calls it."""
    return value


_kernels: dict[tuple[str, str], Kernel] = {}
_inplace: dict[str, Callable[[Node], dict[int, KernelFunction]]] = {}
_shape_keepers: set[str] = set()


def kernel(
    *op_types: str,
    devices: tuple[str, ...] = TORCH_DEVICES,
    fresh: bool = False,
    step: bool = False,
    marks_fresh: bool = False,
    takes_offer: bool = False,
    resumes: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the decorated factory, `factory(node)` or `factory(node, env)`, for op types.

    `fresh` promises outputs in new memory; `step` asks for the running step as first argument;
    `marks_fresh` says that outputs which happen to be in new memory are marked
    (`values.mark_fresh`); `takes_offer` that the output may go to memory which the caller offers
    (`offered_memory.py`); `resumes` that a function whose wait goes on without a thread may be
    called again after it (`state/waiting.py`): it waits once, and changes nothing before.
    """

    def register(factory: Callable[..., Any]) -> Callable[..., Any]:
        takes_env = len(inspect.signature(factory).parameters) > 1
        entry = Kernel(factory, takes_env, fresh, step, marks_fresh, takes_offer, resumes)
        for op_type in op_types:
            for device in devices:
                if (op_type, device) in _kernels:
                    raise ValueError(f"a kernel of {op_type!r} for {device} is registered already")
                _kernels[op_type, device] = entry
        return factory

    return register


def direct(functions: dict[str, KernelFunction], *, fresh: bool = True) -> None:
    """Registers functions that need nothing of the node: `{"Exp": torch.exp, …}`."""
    for op_type, function in functions.items():
        kernel(op_type, fresh=fresh)(_giving(function))


def _giving(function: KernelFunction) -> Callable[[Node], KernelFunction]:
    return lambda node: function


def inplace(functions: dict[str, dict[int, KernelFunction]], *, keeps_shape: bool = False) -> None:
    """Registers variants that overwrite input number i: `{"Relu": {0: torch.relu_}}`.

    The plan calls them where the result surely has the shape of the overwritten input: there is no
    other input, the others broadcast into it, or the op is one that always `keeps_shape`.
    """
    for op_type, by_input in functions.items():
        inplace_factory(op_type, keeps_shape=keeps_shape)(functools.partial(_given, by_input))


def _given(by_input: dict[int, KernelFunction], node: Node) -> dict[int, KernelFunction]:
    return by_input


def inplace_factory(
    op_type: str, *, keeps_shape: bool = False
) -> Callable[[Callable[[Node], dict[int, KernelFunction]]], Any]:
    """Registers `factory(node)` that returns the in-place variants of a node by input number."""

    def register(factory: Callable[[Node], dict[int, KernelFunction]]) -> Any:
        _inplace[op_type] = factory
        if keeps_shape:
            _shape_keepers.add(op_type)
        return factory

    return register


def keeps_shape(node: Node) -> bool:
    """Whether the overwritten input of a node always has the shape of the result."""
    return node.type in _shape_keepers


def share(op_types: Iterable[str], source: str, target: str) -> None:
    """Lets a device type use another's kernels for op types that it has none of its own for."""
    for op_type in op_types:
        entry = _kernels.get((op_type, source))
        if entry is not None:
            _kernels.setdefault((op_type, target), entry)


def find(op_type: str, device_type: str) -> Kernel | None:
    return _kernels.get((op_type, device_type))


def inplace_variants(node: Node) -> dict[int, KernelFunction]:
    factory = _inplace.get(node.type)
    return {} if factory is None else factory(node)


def device_types(op_type: str) -> list[str]:
    """The device types that have a kernel for an op type."""
    return [device for (name, device) in _kernels if name == op_type]
