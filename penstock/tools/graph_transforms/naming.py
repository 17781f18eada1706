"""Transforms that give other names to nodes, types and attributes."""

from __future__ import annotations

import itertools
import string
from typing import Any

from penstock.tools.graph_transforms.edges import copy_of, redirect, source
from penstock.tools.graph_transforms.request import Request

_DIGITS = string.digits + string.ascii_lowercase + string.ascii_uppercase


def obfuscate_names(graph_def: Any, request: Request) -> Any:
    """Gives short names to all nodes but inputs and outputs."""
    kept = {source(name) for name in (*request.inputs, *request.outputs)}
    free = (name for name in map(_short, itertools.count()) if name not in kept)
    names = {node.name: node.name if node.name in kept else next(free) for node in graph_def.node}
    result = copy_of(graph_def)
    for node in result.node:
        node.name = names[node.name]

    def renamed(text: str) -> str:
        control = "^" if text.startswith("^") else ""
        name, colon, output = text.removeprefix("^").partition(":")
        return f"{control}{names[name]}{colon}{output}"

    redirect(result, renamed)
    return result


def _short(number: int) -> str:
    rest, last = divmod(number, len(_DIGITS))
    return (_short(rest) if rest else "") + _DIGITS[last]


def rename_op(graph_def: Any, request: Request) -> Any:
    """Makes nodes of one type nodes of another."""
    old, new = request.required(
        "'old_op_name' and 'new_op_name' argument, e.g. rename_op(old_op_name=Mul, "
        "new_op_name=Multiply)",
        "old_op_name",
        "new_op_name",
    )
    result = copy_of(graph_def)
    for node in result.node:
        if node.op == old:
            node.op = new
    return result


def rename_attribute(graph_def: Any, request: Request) -> Any:
    """Gives an attribute of the nodes of a type, or of all, another name."""
    old, new = request.required(
        "'old_attribute_name' and one 'new_attribute_name' argument, e.g. "
        "rename_attribute(old_attribute_name=foo, new_attribute_name=bar)",
        "old_attribute_name",
        "new_attribute_name",
    )
    op_type = request.text("op_name", "*")
    result = copy_of(graph_def)
    for node in result.node:
        if op_type in ("*", node.op) and old in node.attr:
            node.attr[new].CopyFrom(node.attr[old])
            del node.attr[old]
    return result


def backport_concatv2(graph_def: Any, request: Request) -> Any:
    """Makes concatenations of the kind that takes the dimension first."""
    result = copy_of(graph_def)
    for node in result.node:
        if node.op == "ConcatV2":
            count = node.attr["N"].i
            texts = list(node.input)
            del node.input[:]
            node.input.extend([texts[count], *texts[:count], *texts[count + 1 :]])
            node.op = "Concat"
            node.attr.pop("Tidx", None)
    return result
