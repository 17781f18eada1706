"""File names of imported nodes, checked against the folders that such nodes are limited to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.ir.operation import describe
from penstock.ir.step_graph import Node
from penstock.ops.file_paths import PATHS
from penstock.platform import file_limits


def check_path(node: Node, path: Any) -> None:
    """Refuses a file that a node, if it is an imported one, may not touch."""
    if node.origin is not None and node.origin._is_imported and path not in (b"", ""):
        file_limits.check(path, describe(node.origin))


def with_checked_paths(
    node: Node, function: Callable[..., Any], *, takes_step: bool
) -> Callable[..., Any]:
    """The function of an imported node's kernel, with its paths checked before each call."""
    names = PATHS[node.type]
    attrs = [node.attrs[name] for name in names if name in node.attrs]
    places = []
    place = int(takes_step)
    for arg in node.spec.inputs:
        if arg.name in names:
            places.append(place)
        place += arg.count(node.attrs)

    def checked(*inputs: Any) -> Any:
        for path in attrs:
            check_path(node, path)
        for index in places:
            for path in inputs[index].ravel():
                check_path(node, path)
        return function(*inputs)

    return checked
