"""Reading and writing items as calls, where that is asked for."""

from __future__ import annotations

import ast
from typing import Any

from penstock.autograph.rewriting.element_types import ElementTypes
from penstock.autograph.rewriting.rewriter import EntityContext, Rewriter
from penstock.autograph.rewriting.templates import replace, replace_as_expression


def _has_slices(node: ast.Subscript) -> bool:
    return any(isinstance(each, ast.Slice) for each in ast.walk(node.slice))


class _Slices(Rewriter):
    def __init__(self, ctx: EntityContext, types: ElementTypes):
        super().__init__(ctx)
        self._types = types

    def visit_Assign(self, node: ast.Assign) -> Any:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript) or _has_slices(target):
            return node
        return replace(
            "target = ag__.set_item(target, key, item)",
            target=target.value,
            key=target.slice,
            item=node.value,
        )

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if _has_slices(node) or not isinstance(node.ctx, ast.Load):
            return node
        return replace_as_expression(
            "ag__.get_item(target, key, opts=ag__.GetItemOpts(element_dtype=dtype))",
            target=node.value,
            key=node.slice,
            dtype=self._types.dtype(node.value),
        )


def transform(node: ast.AST, ctx: EntityContext) -> Any:
    """The function without subscripts."""
    return _Slices(ctx, ElementTypes(node)).visit(node)
