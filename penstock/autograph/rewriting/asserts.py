"""`assert` as a call, where that is asked for."""

from __future__ import annotations

import ast
from typing import Any

from penstock.autograph.rewriting.rewriter import EntityContext, Rewriter
from penstock.autograph.rewriting.templates import replace


class _Asserts(Rewriter):
    def visit_Assert(self, node: ast.Assert) -> Any:
        self.generic_visit(node)
        message = ast.Constant("Assertion error") if node.msg is None else node.msg
        return replace("ag__.assert_stmt(test, lambda: message)", test=node.test, message=message)


def transform(node: ast.AST, ctx: EntityContext) -> Any:
    """The function without `assert`."""
    return _Asserts(ctx).visit(node)
