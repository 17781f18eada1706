"""What the steps of a conversion have in common."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock.autograph.options import STANDARD_OPTIONS, ConversionOptions, ProgramContext
from penstock.autograph.rewriting.naming import Namer
from penstock.autograph.rewriting.templates import replace

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
LOOPS = (ast.While, ast.For)
_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


_STANDARD = ProgramContext(STANDARD_OPTIONS)


@dataclass
class EntityContext:
    """The function that is converted, and how."""

    namer: Namer
    namespace: Mapping[str, Any] = field(default_factory=dict)
    program: ProgramContext = _STANDARD
    target_name: str | None = None

    @property
    def options(self) -> ConversionOptions:
        return self.program.options


class Rewriter(ast.NodeTransformer):
    """A step of a conversion; what it puts in the place of a node is at the node's line."""

    def __init__(self, ctx: EntityContext):
        self.ctx = ctx

    def visit(self, node: ast.AST) -> Any:
        result = super().visit(node)
        if result is not None and result is not node:
            place(result, node)
        return result

    def visit_block(self, block: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements that take the place of some."""
        return [new for statement in block for new in self.visit_statement(statement)]

    def visit_statement(self, statement: ast.stmt) -> list[ast.stmt]:
        """The statements that take the place of one."""
        result = self.visit(statement)
        if result is None:
            return []
        return result if isinstance(result, list) else [result]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A class is left alone: its methods are converted when they are called."""
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """There are no coroutines in a graph."""
        return node

    def new_name(self, root: str) -> str:
        """A name for something new."""
        return self.ctx.namer.new_symbol(root, ())


def place(nodes: Any, like: ast.AST) -> None:
    """Puts new nodes, and what is new in them, at the line of another one."""
    if not hasattr(like, "lineno"):
        return
    for top in nodes if isinstance(nodes, list) else [nodes]:
        for node in ast.walk(top):
            if "lineno" in node._attributes and not hasattr(node, "lineno"):
                for attribute in _PLACE:
                    setattr(node, attribute, getattr(like, attribute))


def blocks_of(statement: ast.AST) -> Iterable[list[ast.stmt]]:
    """The blocks of a compound statement: all that may be in a `try`, a `match` or an `if`."""
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def assignment(name: str, value: ast.expr | str) -> ast.stmt:
    """`name = value`."""
    (made,) = replace("name = value", name=name, value=_expression(value))
    return made


def _expression(value: ast.expr | str) -> ast.expr:
    return ast.parse(value, mode="eval").body if isinstance(value, str) else value


def is_generator(function: ast.AST) -> bool:
    """Whether a function yields or awaits."""
    return any(
        isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)) for node in own_nodes(function)
    )


def own_nodes(function: ast.AST) -> Iterable[ast.AST]:
    """All nodes of a function that are not those of a function or class inside of it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            waiting.extend(ast.iter_child_nodes(node))
