"""`a if p else b` as a call."""

from __future__ import annotations

import ast
from typing import Any

from penstock.autograph.rewriting.rewriter import EntityContext, Rewriter
from penstock.autograph.rewriting.symbols import binds_names
from penstock.autograph.rewriting.templates import replace_as_expression


class _ConditionalExpressions(Rewriter):
    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        if binds_names(node.body) or binds_names(node.orelse):
            return node  # in a lambda, these names would be its own
        return replace_as_expression(
            "ag__.if_exp(test, lambda: body, lambda: orelse)",
            test=node.test,
            body=node.body,
            orelse=node.orelse,
        )


def transform(node: ast.AST, ctx: EntityContext) -> Any:
    """The function without conditional expressions."""
    return _ConditionalExpressions(ctx).visit(node)
