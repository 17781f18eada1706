"""`and`, `or` and `not` as calls, and `==` and `!=` where that is asked for."""

from __future__ import annotations

import ast
from typing import Any

from penstock.autograph.options import Feature
from penstock.autograph.rewriting.rewriter import EntityContext, Rewriter
from penstock.autograph.rewriting.symbols import binds_names
from penstock.autograph.rewriting.templates import replace_as_expression

_BOOLEAN = {ast.And: "and_", ast.Or: "or_"}
_COMPARISONS = {ast.Eq: "eq", ast.NotEq: "not_eq"}


def _lazy(function: str, left: ast.expr, right: ast.expr) -> ast.expr:
    return replace_as_expression(
        f"ag__.{function}(lambda: left, lambda: right)", left=left, right=right
    )


class _LogicalExpressions(Rewriter):
    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        return replace_as_expression("ag__.not_(operand)", operand=node.operand)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if any(map(binds_names, node.values)):
            return node  # in a lambda, these names would be its own
        *others, result = node.values
        for value in reversed(others):
            result = _lazy(_BOOLEAN[type(node.op)], value, result)
        return result

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if not self.ctx.options.uses(Feature.EQUALITY_OPERATORS):
            return node
        result: ast.expr | None = None
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            compared = self._compared(operator, left, right)
            result = compared if result is None else _lazy("and_", result, compared)
            left = right
        assert result is not None
        return result

    def _compared(self, operator: ast.cmpop, left: ast.expr, right: ast.expr) -> ast.expr:
        if type(operator) in _COMPARISONS:
            function = _COMPARISONS[type(operator)]
            return replace_as_expression(f"ag__.{function}(left, right)", left=left, right=right)
        return ast.Compare(left, [operator], [right])


def transform(node: ast.AST, ctx: EntityContext) -> Any:
    """The function without logical expressions."""
    return _LogicalExpressions(ctx).visit(node)
