"""Regions as source text of ATen calls, and Inductor's compiled functions of such text.

The text and the forms of the inputs say all of a region, so another process can compile it: what
Inductor makes goes into its cache on disk, from where this process loads it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch

from penstock.kernels.compilers import compiler
from penstock.passes.fusion import Form

#: Elements that are worth a thread: waking one and waiting for it takes as long as many thousands.
_LEAST_PER_THREAD = 2**14
#: What takes as long for an element as three simple steps do.
_SLOW_CALL = re.compile(r"aten\.(?:tanh|sigmoid|exp|expm1|log|log1p|erf|sin|cos|pow|atan)_?\.")


class RegionSource(NamedTuple):
    """A region: the body of a function of ATen calls, and what its inputs are like."""

    text: str
    inputs: tuple[Form, ...]


def source_of(function: Callable[..., Any], inputs: Sequence[Form]) -> RegionSource | None:
    """The ATen calls that a function of tensors makes; None where they depend on values."""
    from torch.func import functionalize
    from torch.fx.experimental.proxy_tensor import make_fx

    def called(*values: Any) -> Any:
        return function(None, *values)

    with torch.no_grad():
        graph = make_fx(functionalize(called, remove="mutations"))(*_imitations(inputs))
    if any(node.op in ("get_attr", "call_module") for node in graph.graph.nodes):
        return None  # it has tensors of its own
    return RegionSource(str(graph.code), tuple(inputs))


def _imitations(inputs: Sequence[Form]) -> list[Any]:
    """Tensors without memory."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True):
        return [_empty(form) for form in inputs]


def _empty(form: Form) -> Any:
    kind = getattr(torch, form.dtype)
    return torch.empty_strided(form.shape, form.stride, dtype=kind, device=form.device)


def example_inputs(source: RegionSource) -> list[Any]:
    """Numbers to try a region with."""
    made = []
    for form in source.inputs:
        value = _empty(form)
        size = value.untyped_storage().nbytes() // value.element_size()
        memory = value.as_strided((size,), (1,))  # elements of the value may share some of it
        memory.bernoulli_(0.5) if form.dtype == "bool" else memory.uniform_(0.1, 0.9)
        made.append(value)
    return made


def compiled_function(source: RegionSource, threads: int) -> Callable[[list[Any]], Any]:
    """Inductor's function of a region: it takes a list of tensors, which it empties.

    It raises AssertionError for inputs of another form.
    """
    from torch._inductor import config

    inputs = _imitations(source.inputs)
    called = evaluated(source.text)
    options = {
        "size_asserts": True,
        "cpp.threads": threads,
        "cpp.min_chunk_size": _LEAST_PER_THREAD // (1 + 3 * len(_SLOW_CALL.findall(source.text))),
        "fx_graph_cache": True,
        "compile_threads": 1,  # else it starts processes that stay, when it is imported already
    }
    with torch.no_grad(), config.patch(options):
        from torch._inductor.compile_fx import compile_fx_inner
        from torch._inductor.decomposition import select_decomp_table
        from torch.fx.experimental.proxy_tensor import make_fx

        table = {
            **select_decomp_table(),
            torch.ops.aten.mm.default: _thin_product,
            torch.ops.aten.tanh.default: _rational_tanh,
        }
        graph = make_fx(called, decomposition_table=table)(*inputs)
        return compile_fx_inner(graph, inputs)


def called_directly(compiled: Callable[[list[Any]], Any]) -> Callable[[list[Any]], Any]:
    """Inductor's function without what it does around each call, once it has been called."""
    return getattr(compiled, "current_callable", None) or compiled


def _thin_product(a: Any, b: Any) -> Any:
    """A product of matrices one of which is a vector, as what a compiler fuses with others."""
    if a.shape[1] == 1:
        return a * b
    if b.shape[1] == 1:
        return (a * b.view(1, -1)).sum(1, keepdim=True)
    if a.shape[0] == 1:
        return (a.view(-1, 1) * b).sum(0, keepdim=True)
    return NotImplemented


#: Coefficients of x², highest power first: tanh x is x times one polynomial by the other.
_TANH_ABOVE = (
    -2.76076847742355e-16,
    2.00018790482477e-13,
    -8.60467152213735e-11,
    5.12229709037114e-08,
    1.48572235717979e-05,
    6.37261928875436e-04,
    4.89352455891786e-03,
)
_TANH_BELOW = (
    1.19825839466702e-06,
    1.18534705686654e-04,
    2.26843463243900e-03,
    4.89352518554385e-03,
)
_TANH_IS_ONE = 7.90531110763549805  # from here on, in float32


def _rational_tanh(x: Any) -> Any:
    """The hyperbolic tangent as the quotient of polynomials that Eigen, and TensorFlow, use.

    It is right within four units of the last place, and takes half of the time of one that is right
    within one.
    """
    if x.dtype is not torch.float32 or x.device.type != "cpu":
        return NotImplemented
    x = x.clamp(-_TANH_IS_ONE, _TANH_IS_ONE)
    square = x * x
    return x * _polynomial(_TANH_ABOVE, square) / _polynomial(_TANH_BELOW, square)


def _polynomial(coefficients: Sequence[float], x: Any) -> Any:
    value = coefficients[0] * x
    for each in coefficients[1:-1]:
        value = (value + each) * x
    return value + coefficients[-1]


def evaluated(text: str) -> Callable[..., Any]:
    """The function that the text of a traced graph defines."""
    from torch.fx.graph import _custom_builtins

    namespace: dict[str, Any] = {name: each.obj for name, each in _custom_builtins.items()}
    namespace["torch"] = torch
    exec(compile(text, "<penstock region>", "exec"), namespace)  # written by torch.fx
    forward = namespace["forward"]
    return lambda *values: forward(None, *values)


@cache
def missing_compiler(device_type: str) -> str | None:
    """What Inductor lacks to compile for a type of device; None where nothing is missing."""
    if compiler() is None:
        return "a C++ compiler (g++ or clang++)"
    if device_type == "cuda" and find_spec("triton") is None:
        return "Triton"
    return None


def write_task(path: Path, sources: Sequence[RegionSource], threads: int) -> None:
    """Writes down what another process is to compile."""
    path.write_text(json.dumps({"threads": threads, "regions": sources}))


def compile_task(path: Path) -> None:
    """Compiles the regions of a task, so that they are in Inductor's cache; says which failed."""
    task = json.loads(path.read_text())
    torch.set_num_threads(task["threads"])
    for text, forms in task["regions"]:
        inputs = (Form(tuple(a), tuple(b), kind, device) for a, b, kind, device in forms)
        try:
            compiled_function(RegionSource(text, tuple(inputs)), task["threads"])
        except Exception as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")


if __name__ == "__main__":
    compile_task(Path(sys.argv[1]))
