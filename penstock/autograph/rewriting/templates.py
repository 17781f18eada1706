"""Code with gaps: text that is parsed once, in which names stand for what is put there."""

from __future__ import annotations

import ast
import copy
import functools
import textwrap
from collections.abc import Sequence
from typing import Any


def replace(template: str, **replacements: Any) -> list[ast.stmt]:
    """The statements of a text, with some names replaced.

    Args:
      template: Python code.
      replacements: for each name a name, a node, or a list of nodes. A name that is a statement by
        itself stands for statements.
    """
    filler = _Filler({name: _nodes(value) for name, value in replacements.items()})
    filled: list[ast.stmt] = []
    for statement in copy.deepcopy(_parsed(textwrap.dedent(template).strip())):
        result = filler.visit(statement)
        filled.extend(result if isinstance(result, list) else [result])
    return filled


def replace_as_expression(template: str, **replacements: Any) -> ast.expr:
    """The expression of a text, with some names replaced."""
    filled = replace(template, **replacements)
    if len(filled) != 1:
        raise ValueError(
            f"single expression expected; for more general templates use replace. {template!r} "
            f"gives {len(filled)} statements"
        )
    statement = filled[0]
    if isinstance(statement, ast.Expr):
        return statement.value
    raise ValueError(f"the template is expected to generate an expression, not {statement}")


@functools.cache
def _parsed(template: str) -> list[ast.stmt]:
    """Nodes without a place: they take that of what they replace.

    A function among them is marked as a part of the one it is put into.
    """
    statements = ast.parse(template).body
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, (ast.Lambda, ast.FunctionDef)):
                node.is_block = True  # type: ignore[union-attr]
            for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                node.__dict__.pop(attribute, None)
    return statements


def _nodes(value: Any) -> Any:
    """A replacement as a name or as a list of nodes."""
    if isinstance(value, (str, list)):
        return value
    if isinstance(value, tuple):
        return [ast.Name(each, ast.Load()) if isinstance(each, str) else each for each in value]
    return [value]


class _ContextSetter(ast.NodeVisitor):
    """Makes a target out of what was read, or the other way round."""

    def __init__(self, context: ast.expr_context):
        self._context = context

    def visit_Name(self, node: ast.Name) -> None:
        node.ctx = self._context

    def visit_Attribute(self, node: ast.Attribute) -> None:
        node.ctx = self._context  # what it is an attribute of is read in either case

    def visit_Subscript(self, node: ast.Subscript) -> None:
        node.ctx = self._context

    def visit_Starred(self, node: ast.Starred) -> None:
        node.ctx = self._context
        self.visit(node.value)

    def _sequence(self, node: ast.Tuple | ast.List) -> None:
        node.ctx = self._context
        for element in node.elts:
            self.visit(element)

    visit_Tuple = _sequence
    visit_List = _sequence

    def generic_visit(self, node: ast.AST) -> None:
        """Nothing else has a context."""


class _Filler(ast.NodeTransformer):
    def __init__(self, replacements: dict[str, Any]):
        self._replacements = replacements
        self._used: set[str] = set()

    def _name(self, name: str) -> str:
        value = self._replacements.get(name, name)
        if isinstance(value, list) and len(value) == 1 and isinstance(value[0], ast.Name):
            value = value[0].id
        return value if isinstance(value, str) else name

    def _next_use(self, name: str) -> list[Any]:
        """The nodes themselves, then copies: a node is in one place of a tree."""
        nodes: list[Any] = self._replacements[name]
        if name in self._used:
            return copy.deepcopy(nodes)
        self._used.add(name)
        return nodes

    def visit_Expr(self, node: ast.Expr) -> Any:
        if not isinstance(node.value, ast.Name) or node.value.id not in self._replacements:
            return self.generic_visit(node)
        name = node.value.id
        if isinstance(self._replacements[name], str):
            return self.generic_visit(node)
        return [
            each if isinstance(each, ast.stmt) else ast.Expr(each) for each in self._next_use(name)
        ]

    def visit_Name(self, node: ast.Name) -> Any:
        if node.id not in self._replacements:
            return node
        if isinstance(self._replacements[node.id], str):
            return ast.Name(self._replacements[node.id], node.ctx)
        nodes: Sequence[ast.AST] = self._next_use(node.id)
        for each in nodes:
            _ContextSetter(node.ctx).visit(each)
        return nodes[0] if len(nodes) == 1 else nodes

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._name(node.name)
        return self.generic_visit(node)

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        node.args = [new for each in node.args for new in self._arguments(each)]
        return self.generic_visit(node)

    def _arguments(self, node: ast.arg) -> list[ast.arg]:
        value = self._replacements.get(node.arg)
        if isinstance(value, list):
            return [ast.arg(each.id) for each in value]
        return [ast.arg(value or node.arg)]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self._name(node.attr)
        return self.generic_visit(node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        node.names = [new for name in node.names for new in self._names(name)]
        return node

    def _names(self, name: str) -> list[str]:
        value = self._replacements.get(name)
        if isinstance(value, list):
            return [each.id for each in value]
        return [value or name]
