"""`Defun`s from FunctionDef messages, and FunctionDefs of parts of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock import dtypes
from penstock.ir.function import Function, function_def_of_nodes
from penstock.ir.graph import Graph
from penstock.ir.operation import Operation
from penstock.ir.tensor import Tensor
from penstock.ops.functions import DefinedFunction


def _from_definition(fdef: Any, grad_func: DefinedFunction | None = None) -> DefinedFunction:
    """The function of a FunctionDef; what it captured of a graph is among its arguments."""
    types = tuple(dtypes.as_dtype(arg.type) for arg in fdef.signature.input_arg)
    results = [arg.name for arg in fdef.signature.output_arg]
    name = fdef.signature.name
    made = DefinedFunction(None, types, name, grad_func, out_names=results)
    made._made[types] = Function(name, fdef, gradient_name=made._gradient_name())
    return made


def from_library(lib: Any) -> list[DefinedFunction]:
    """The functions of a FunctionDefLibrary, those that are gradients of others before them."""
    definitions = {each.signature.name: each for each in lib.function}
    gradients = {each.function_name: each.gradient_func for each in lib.gradient}
    for name in (*gradients, *gradients.values()):
        if name not in definitions:
            raise ValueError(f"FunctionDefLibrary missing '{name}' FunctionDef\n{lib}")
    made: dict[str, DefinedFunction] = {}
    while len(made) < len(definitions):
        ready = [
            name
            for name in definitions
            if name not in made and (name not in gradients or gradients[name] in made)
        ]
        if not ready:
            raise ValueError(f"FunctionDefLibrary contains cyclic gradient functions!\n{lib}")
        for name in ready:
            gradient = made[gradients[name]] if name in gradients else None
            made[name] = _from_definition(definitions[name], gradient)
    return list(made.values())


def graph_to_function_def(
    graph: Graph,
    operations: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    out_names: Sequence[str] | None = None,
) -> Any:
    """A part of a graph as a FunctionDef: `operations`, as a function from inputs to outputs."""
    if out_names and len(out_names) != len(outputs):
        raise ValueError(
            f"Length of out_names ({len(out_names)}) does not match number of outputs "
            f"({len(outputs)}): {', '.join(out_names)}"
        )
    return function_def_of_nodes("", operations, inputs, outputs, out_names)
