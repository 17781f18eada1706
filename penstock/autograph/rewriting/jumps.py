"""`break`, `continue` and `return` as variables: the statements behind them are run if they allow.

A jump in the middle of a block

    if p:            becomes     if p:
        break                        break_ = True
    rest                         if not break_:
                                     rest

and a loop goes on only if no `break_` is set. So what is left are branches and loops, which can be
nodes of a graph.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from penstock.autograph.rewriting.rewriter import (
    FUNCTIONS,
    LOOPS,
    Rewriter,
    blocks_of,
    is_generator,
    place,
)
from penstock.autograph.rewriting.templates import replace, replace_as_expression


def has_jump(node: ast.AST, kind: type[ast.stmt]) -> bool:
    """Whether a statement may jump out of itself: not by what is in a function inside of it."""
    if isinstance(node, kind):
        return True
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return False
    if isinstance(node, LOOPS) and kind is not ast.Return:
        return any(has_jump(each, kind) for each in node.orelse)
    return any(has_jump(each, kind) for block in blocks_of(node) for each in block)


def add_loop_test(loop: ast.While | ast.For, flag: str, *, first: bool = False) -> None:
    """Lets a loop go on only while a flag is not set.

    A `for` has no place for that: `goes_on` of the node has it, until the loop becomes a call.
    """
    test = loop.test if isinstance(loop, ast.While) else getattr(loop, "goes_on", None)
    new = replace_as_expression("ag__.not_(flag)", flag=flag)
    if test is not None:
        pair = {"a": new, "b": test} if first else {"a": test, "b": new}
        new = replace_as_expression("ag__.and_(lambda: a, lambda: b)", **pair)
    place(new, loop)
    if isinstance(loop, ast.While):
        loop.test = new
    else:
        loop.goes_on = new  # type: ignore[attr-defined]


class JumpRewriter(Rewriter):
    """Goes through the blocks of a function, and guards what lies behind a jump by its flag."""

    kind: type[ast.stmt]

    def visit_guarded(self, block: Sequence[ast.stmt], flag: str) -> list[ast.stmt]:
        """A block in which statements behind one that may jump are run only if it has not."""
        done: list[ast.stmt] = []
        for place_in_block, statement in enumerate(block):
            jumps = has_jump(statement, self.kind)
            done.extend(self.visit_statement(statement))
            rest = block[place_in_block + 1 :]
            if not jumps or not rest:
                continue
            if isinstance(statement, self.kind):
                break  # the rest is never run
            guarded = replace(
                "if ag__.not_(flag):\n    rest", flag=flag, rest=self.visit_guarded(rest, flag)
            )
            place(guarded, rest[0])
            return done + guarded
        return done

    def visit_parts(self, node: Any, flag: str) -> None:
        """Guards the blocks of a compound statement that is no loop."""
        orelse = getattr(node, "orelse", [])
        if orelse and isinstance(node, ast.Try) and any(has_jump(n, self.kind) for n in node.body):
            # The `else` of a `try` is run if its body comes to an end, which is now always so.
            node.orelse = replace("if ag__.not_(flag):\n    rest", flag=flag, rest=orelse)
            place(node.orelse, orelse[0])
        for name in ("body", "orelse", "finalbody"):
            if isinstance(getattr(node, name, None), list):
                setattr(node, name, self.visit_guarded(getattr(node, name), flag))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = self.visit_guarded(part.body, flag)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def _skips_generators(self, node: ast.FunctionDef) -> ast.AST:
        return node if is_generator(node) else self.visit_function(node)

    visit_FunctionDef = _skips_generators

    def visit_function(self, node: ast.FunctionDef) -> ast.AST:
        raise NotImplementedError
