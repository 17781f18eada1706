"""What a function says of the elements of its lists, by `set_element_type`."""

from __future__ import annotations

import ast


class ElementTypes:
    """The types and shapes that a function gives for the lists in some variables."""

    def __init__(self, function: ast.AST):
        self._calls: dict[str, ast.Call] = {}
        for node in ast.walk(function):
            if not isinstance(node, ast.Call) or _last_name(node.func) != "set_element_type":
                continue
            if node.args and isinstance(node.args[0], ast.Name):
                self._calls[node.args[0].id] = node

    def dtype(self, target: ast.expr) -> ast.expr:
        """The type of the elements of a list, as the function writes it."""
        return self._argument(target, 1, "dtype")

    def shape(self, target: ast.expr) -> ast.expr:
        """The shape of the elements of a list, as the function writes it."""
        return self._argument(target, 2, "shape")

    def _argument(self, target: ast.expr, place: int, name: str) -> ast.expr:
        call = self._calls.get(target.id) if isinstance(target, ast.Name) else None
        if call is None:
            return ast.Constant(None)
        if len(call.args) > place:
            return call.args[place]
        return next((each.value for each in call.keywords if each.arg == name), ast.Constant(None))


def _last_name(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""
