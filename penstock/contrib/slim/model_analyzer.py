"""How large the tensors and variables of a model are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["analyze_ops", "analyze_vars", "tensor_description"]

_RULE = "---------"


def tensor_description(var: Any) -> str:
    """Type and shape of a tensor or variable: `(float32 3x4)`."""
    sizes = "x".join("?" if size is None else str(size) for size in var.get_shape().as_list())
    return f"({var.dtype.base_dtype.name} {sizes})"


def analyze_ops(graph: Any, print_info: bool = False) -> int:
    """How many elements all outputs of a graph's operations have that are known."""
    if print_info:
        print(f"{_RULE}\nOperations: name -> (type shapes) [size]\n{_RULE}")
    total = 0
    for operation in graph.get_operations():
        shapes = [output.get_shape() for output in operation.outputs]
        size = sum(shape.num_elements() or 0 for shape in shapes)
        if print_info:
            described = [tensor_description(each) for each in operation.outputs if each.shape.ndims]
            print(operation.name, "\t->", ", ".join(described), f"[{size}]")
        total += size
    return total


def analyze_vars(variables: Iterable[Any], print_info: bool = False) -> tuple[int, int]:
    """How many elements and bytes variables have."""
    if print_info:
        print(f"{_RULE}\nVariables: name (type shape) [size]\n{_RULE}")
    elements = memory = 0
    for each in variables:
        size = each.get_shape().num_elements() or 0
        size_in_bytes = size * each.dtype.size
        elements += size
        memory += size_in_bytes
        if print_info:
            print(each.name, tensor_description(each), f"[{size}, bytes: {size_in_bytes}]")
    if print_info:
        print(f"Total size of variables: {elements}")
        print(f"Total bytes of variables: {memory}")
    return elements, memory
