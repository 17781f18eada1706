"""Lists and what is done with them as calls, where that is asked for."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from penstock.autograph.rewriting.element_types import ElementTypes
from penstock.autograph.rewriting.rewriter import EntityContext, Rewriter
from penstock.autograph.rewriting.templates import replace, replace_as_expression

_ASSIGNABLE = (ast.Name, ast.Attribute, ast.Subscript)


def _method(node: ast.Call, name: str, most: int) -> bool:
    """Whether a call is of a method of something that can be assigned to."""
    return (
        isinstance(node.func, ast.Attribute)
        and node.func.attr == name
        and isinstance(node.func.value, _ASSIGNABLE)
        and len(node.args) <= most
    )


class _Lists(Rewriter):
    def __init__(self, ctx: EntityContext, types: ElementTypes):
        super().__init__(ctx)
        self._types = types
        self._before: list[ast.stmt] = []  # what must be run before the statement at hand

    def visit_List(self, node: ast.List) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load):
            return node
        return replace_as_expression("ag__.new_list(elements)", elements=node)

    def visit_Expr(self, node: ast.Expr) -> Any:
        call = node.value
        if isinstance(call, ast.Call) and _method(call, "append", 1) and call.args:
            assert isinstance(call.func, ast.Attribute)
            return self._with_pops(
                replace(
                    "target = ag__.list_append(target, element)",
                    target=call.func.value,
                    element=self.visit(call.args[0]),
                )
            )
        return self._simple(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if _method(node, "pop", 1):
            return self._popped(node)
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "stack":
            return node
        if len(node.args) != 1 or {each.arg for each in node.keywords} - {"strict"}:
            return node
        return replace_as_expression(
            "ag__.list_stack(target, opts=ag__.ListStackOpts("
            "element_dtype=dtype, original_call=function))",
            target=node.args[0],
            dtype=self._types.dtype(node.args[0]),
            function=node.func,
        )

    def _popped(self, node: ast.Call) -> ast.AST:
        """A variable for what is popped, by a statement in front of this one."""
        assert isinstance(node.func, ast.Attribute)
        target = node.func.value
        root = target.id if isinstance(target, ast.Name) else "list_"
        name = self.new_name(f"{root}_pop")
        self._before += replace(
            "target, name = ag__.list_pop(target, index, opts=ag__.ListPopOpts("
            "element_dtype=dtype, element_shape=shape))",
            target=target,
            name=name,
            index=node.args[0] if node.args else ast.Constant(None),
            dtype=self._types.dtype(target),
            shape=self._types.shape(target),
        )
        return ast.Name(name, ast.Load())

    def _with_pops(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        pops, self._before = self._before, []
        return [*pops, *statements]

    def _simple(self, node: ast.stmt) -> Any:
        self.generic_visit(node)
        return self._with_pops([node]) if self._before else node

    visit_Assign = _simple
    visit_AugAssign = _simple
    visit_AnnAssign = _simple
    visit_Return = _simple

    def visit_If(self, node: ast.If) -> Any:
        node.test = self.visit(node.test)
        pops, self._before = self._before, []
        node.body, node.orelse = self.visit_block(node.body), self.visit_block(node.orelse)
        return [*pops, node]


def transform(node: ast.AST, ctx: EntityContext) -> Any:
    """The function without displays and methods of lists."""
    return _Lists(ctx, ElementTypes(node)).visit(node)
