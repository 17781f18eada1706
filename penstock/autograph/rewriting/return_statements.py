"""One `return`, at the end: others are a flag, and a variable for the result."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from penstock.autograph.rewriting.jumps import JumpRewriter, add_loop_test, has_jump
from penstock.autograph.rewriting.rewriter import EntityContext, assignment
from penstock.autograph.rewriting.templates import replace


def _always_returns(block: Sequence[ast.stmt]) -> bool:
    """Whether a block comes to a `return`, unless it raises."""
    return any(_statement_returns(statement) for statement in block)


def _statement_returns(node: ast.stmt) -> bool:
    if isinstance(node, ast.With):
        return _always_returns(node.body)
    if isinstance(node, ast.If):
        return _always_returns(node.body) and _always_returns(node.orelse)
    return isinstance(node, ast.Return)


def _with_rest_in_branches(block: Sequence[ast.stmt]) -> list[ast.stmt]:
    """A block in which what follows an `if` that returns is in its other branch.

    Then both branches return, and none leaves it open whether there is a result.
    """
    done: list[ast.stmt] = []
    for number, statement in enumerate(block):
        done.append(statement)
        rest = list(block[number + 1 :])
        if isinstance(statement, (ast.If, ast.With)):
            statement.body = _with_rest_in_branches(statement.body)
        if not isinstance(statement, ast.If):
            continue
        statement.orelse = _with_rest_in_branches(statement.orelse)
        if rest and _always_returns(statement.body):
            statement.orelse = _with_rest_in_branches([*statement.orelse, *rest])
            return done
        if rest and _always_returns(statement.orelse):
            statement.body = _with_rest_in_branches([*statement.body, *rest])
            return done
    return done


def _returns_at_end_alone(block: Sequence[ast.stmt]) -> bool:
    """Whether there is nothing to do: no `return`, or one that is the last statement."""
    if not block:
        return True
    *before, last = block
    if any(has_jump(each, ast.Return) for each in before):
        return False
    if isinstance(last, ast.With):
        return _returns_at_end_alone(last.body)
    return isinstance(last, ast.Return) or not has_jump(last, ast.Return)


class _Returns(JumpRewriter):
    kind = ast.Return

    def __init__(self, ctx: EntityContext):
        super().__init__(ctx)
        self._names: tuple[str, str] | None = None  # the flag and the result

    def visit_Return(self, node: ast.Return) -> Any:
        if self._names is None:
            return self.generic_visit(node)
        flag, result = self._names
        value = ast.Constant(None) if node.value is None else self.visit(node.value)
        return [assignment(result, value), assignment(flag, "True")]  # the value may raise

    def _compound(self, node: Any) -> ast.AST:
        if self._names is not None and has_jump(node, ast.Return):
            self.visit_parts(node, self._names[0])
            return node
        return self.generic_visit(node)

    visit_If = _compound
    visit_With = _compound
    visit_Try = _compound
    visit_TryStar = _compound
    visit_Match = _compound

    def _loop(self, node: ast.While | ast.For) -> ast.AST:
        if self._names is None or not has_jump(node, ast.Return):
            return self.generic_visit(node)
        self.visit_parts(node, self._names[0])
        add_loop_test(node, self._names[0], first=True)
        return node

    visit_While = _loop
    visit_For = _loop

    def visit_function(self, node: ast.FunctionDef) -> ast.AST:
        outer, self._names = self._names, None
        body = _with_rest_in_branches(node.body)
        if _returns_at_end_alone(body):
            node.body = self.visit_block(body)
        else:
            flag, result = self._names = self.new_name("do_return"), self.new_name("retval_")
            has_docstring = ast.get_docstring(node, clean=False) is not None
            node.body = body[:has_docstring] + replace(
                """
                flag = False
                result = ag__.UndefinedReturnValue()
                body
                return ag__.retval(result)
                """,
                flag=flag,
                result=result,
                body=self.visit_guarded(body[has_docstring:], flag),
            )
        self._names = outer
        return node


def transform(node: ast.AST, ctx: EntityContext, default_to_null_return: bool = True) -> Any:
    """The function with one `return` at most, at its end."""
    return _Returns(ctx).visit(node)
