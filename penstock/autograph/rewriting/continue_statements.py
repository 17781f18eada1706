"""`continue` as a flag that lets the rest of an iteration not be run."""

from __future__ import annotations

import ast
from typing import Any

from penstock.autograph.rewriting.jumps import JumpRewriter, has_jump
from penstock.autograph.rewriting.rewriter import EntityContext, assignment


class _Continues(JumpRewriter):
    kind = ast.Continue

    def __init__(self, ctx: EntityContext):
        super().__init__(ctx)
        self._flags: list[str] = []

    def visit_Continue(self, node: ast.Continue) -> ast.stmt:
        return assignment(self._flags[-1], "True")

    def _loop(self, node: ast.While | ast.For) -> ast.AST:
        node.orelse = self.visit_block(node.orelse)
        if not any(has_jump(each, ast.Continue) for each in node.body):
            node.body = self.visit_block(node.body)
            return node
        self._flags.append(self.new_name("continue_"))
        flag = self._flags[-1]
        node.body = [assignment(flag, "False"), *self.visit_guarded(node.body, flag)]
        self._flags.pop()
        return node

    visit_While = _loop
    visit_For = _loop

    def _compound(self, node: Any) -> ast.AST:
        if has_jump(node, ast.Continue):
            self.visit_parts(node, self._flags[-1])
            return node
        return self.generic_visit(node)

    visit_If = _compound
    visit_With = _compound
    visit_Try = _compound
    visit_TryStar = _compound
    visit_Match = _compound

    def visit_function(self, node: ast.FunctionDef) -> ast.AST:
        outer, self._flags = self._flags, []
        node.body = self.visit_block(node.body)
        self._flags = outer
        return node


def transform(node: ast.AST, ctx: EntityContext) -> Any:
    """The function without `continue`."""
    return _Continues(ctx).visit(node)
