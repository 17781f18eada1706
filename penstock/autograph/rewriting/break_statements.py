"""`break` as a flag that ends its loop, and `else` of loops as statements behind them."""

from __future__ import annotations

import ast
from typing import Any

from penstock.autograph.rewriting.jumps import JumpRewriter, add_loop_test, has_jump
from penstock.autograph.rewriting.rewriter import EntityContext, assignment
from penstock.autograph.rewriting.templates import replace


class _Breaks(JumpRewriter):
    kind = ast.Break

    def __init__(self, ctx: EntityContext):
        super().__init__(ctx)
        self._flags: list[str] = []

    def visit_Break(self, node: ast.Break) -> Any:
        return [assignment(self._flags[-1], "True"), ast.Continue()]

    def _loop(self, node: ast.While | ast.For) -> Any:
        breaks = any(has_jump(each, ast.Break) for each in node.body)
        orelse = self.visit_block(node.orelse)
        node.orelse = []
        if not breaks:
            node.body = self.visit_block(node.body)
            return [node, *orelse]
        flag = self.new_name("break_")
        self._flags.append(flag)
        node.body = self.visit_block(node.body)
        self._flags.pop()
        add_loop_test(node, flag)
        behind = replace("if ag__.not_(flag):\n    rest", flag=flag, rest=orelse) if orelse else []
        return [assignment(flag, "False"), node, *behind]

    visit_While = _loop
    visit_For = _loop

    def visit_function(self, node: ast.FunctionDef) -> ast.AST:
        node.body = self.visit_block(node.body)
        return node


def transform(node: ast.AST, ctx: EntityContext) -> Any:
    """The function without `break`."""
    return _Breaks(ctx).visit(node)
