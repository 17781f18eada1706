"""Branches and loops as functions, and calls that run them.

if x > 0:            becomes     def if_true():
    x = x - 1                        nonlocal x
                                     x = x - 1
                                 def if_false():
                                     pass
                                 ag__.run_if(x > 0, if_true, if_false, ('x',))
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.autograph.rewriting import liveness
from penstock.autograph.rewriting.rewriter import (
    EntityContext,
    Rewriter,
    is_generator,
    own_nodes,
    place,
)
from penstock.autograph.rewriting.symbols import arguments, assigned, composites, read
from penstock.autograph.rewriting.templates import replace, replace_as_expression


def _texts(names: Iterable[str]) -> ast.expr:
    return ast.Tuple([ast.Constant(name) for name in names], ast.Load())


def _symbol(text: str, node: ast.expr) -> ast.expr:
    """Code that makes the object by which an operator reads and writes an attribute or item."""
    name = ast.Constant(text)
    if isinstance(node, ast.Attribute):
        return replace_as_expression(
            "ag__.Attribute(name, lambda: owner, attribute)",
            name=name,
            owner=node.value,
            attribute=ast.Constant(node.attr),
        )
    assert isinstance(node, ast.Subscript)
    return replace_as_expression(
        "ag__.Item(name, lambda: owner, lambda: key)", name=name, owner=node.value, key=node.slice
    )


class _ControlFlow(Rewriter):
    """Works on one function at a time: `_global` and `_outer` are names that it says are not its
    own, `_moved` those of its own that functions made of its blocks assign to."""

    def __init__(self, ctx: EntityContext):
        super().__init__(ctx)
        self._global: set[str] = set()
        self._outer: set[str] = set()
        self._moved: set[str] = set()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if is_generator(node):
            return node
        liveness.annotate(node)
        outside = self._global, self._outer, self._moved
        self._global, self._outer, self._moved = self._declared(node), set(), set()
        self._outer = self._declared(node, ast.Nonlocal)
        self.generic_visit(node)
        self._declare(node)
        self._global, self._outer, self._moved = outside
        return node

    def _declared(self, node: ast.FunctionDef, kind: Any = ast.Global) -> set[str]:
        return {name for each in own_nodes(node) if isinstance(each, kind) for name in each.names}

    def _declare(self, node: ast.FunctionDef) -> None:
        """Says at the top of a function whose its variables are, now that blocks are functions."""
        declared: list[ast.stmt] = []
        if self._global:
            declared.append(ast.Global(sorted(self._global)))
        if self._outer:
            declared.append(ast.Nonlocal(sorted(self._outer)))
        own = self._moved - self._global - self._outer - arguments(node)
        for name in sorted(own - set(assigned(node.body))):
            # An annotation makes a variable the function's own, and gives it no value.
            declared.extend(replace("name: ag__.Undefined", name=name))
        after = int(ast.get_docstring(node, clean=False) is not None)
        node.body[after:after] = declared

    def _left_to_top(self, node: ast.stmt) -> list[ast.stmt]:
        return [ast.Pass()]

    visit_Global = _left_to_top
    visit_Nonlocal = _left_to_top

    def _function(
        self, name: str, body: Sequence[ast.stmt], parameter: str | None = None
    ) -> ast.stmt:
        """A function of a block, which assigns to the variables of the function around it."""
        names = list(assigned(body))
        self._moved.update(names)
        inside: list[ast.stmt] = []
        if shared := [each for each in names if each in self._global]:
            inside.append(ast.Global(shared))
        if own := [each for each in names if each not in self._global]:
            inside.append(ast.Nonlocal(own))
        (made,) = replace("def name():\n    body", name=name, body=[*inside, *body] or [ast.Pass()])
        assert isinstance(made, ast.FunctionDef)
        if parameter is not None:
            made.args.args.append(ast.arg(parameter))
        return made

    def _composites(self, nodes: Sequence[ast.AST], live_in: frozenset[str]) -> list[ast.keyword]:
        """Those that belong to something which is there before the statement."""
        found = [
            _symbol(text, node)
            for text, node in composites(nodes).items()
            if read(node) <= live_in | self._global
        ]
        if not found:
            return []
        value = replace_as_expression("lambda: symbols", symbols=ast.Tuple(found, ast.Load()))
        return [ast.keyword("composites", value)]

    def _call(self, text: str, keywords: list[ast.keyword], **replacements: Any) -> ast.stmt:
        call = replace_as_expression(text, **replacements)
        assert isinstance(call, ast.Call)
        call.keywords.extend(keywords)
        return ast.Expr(call)

    def visit_If(self, node: Any) -> list[ast.stmt]:
        blocks = [*node.body, *node.orelse]
        further = self._composites(blocks, node.live_in)
        names = assigned(blocks)
        live = node.live_out | self._global | self._outer
        results = [name for name in names if name in live]
        others = [name for name in names if name not in results]
        if others:
            further.insert(0, ast.keyword("others", _texts(others)))
        if results:
            further.insert(0, ast.keyword("results", _texts(results)))
        self.generic_visit(node)
        on_true, on_false = self.new_name("if_true"), self.new_name("if_false")
        return [
            self._function(on_true, node.body),
            self._function(on_false, node.orelse),
            self._call(
                "ag__.run_if(test, body, orelse)",
                further,
                test=node.test,
                body=on_true,
                orelse=on_false,
            ),
        ]

    def _loop_variables(self, node: Any, nodes: Sequence[ast.AST]) -> list[str]:
        live = node.live_in | node.live_out | self._global | self._outer
        return [name for name in assigned(nodes) if name in live]

    def visit_While(self, node: Any) -> list[ast.stmt]:
        further = self._composites(node.body, node.live_in)
        names = self._loop_variables(node, [node.test, *node.body])
        self.generic_visit(node)
        test, body = self.new_name("loop_test"), self.new_name("loop_body")
        call = self._call(
            "ag__.run_while(test, body, names)", further, test=test, body=body, names=_texts(names)
        )
        return [
            self._function(test, [ast.Return(node.test)]),
            self._function(body, node.body),
            call,
            *node.orelse,
        ]

    def visit_For(self, node: Any) -> list[ast.stmt]:
        nodes = [node.target, *node.body]
        further = self._composites(nodes, node.live_in)
        names = self._loop_variables(node, nodes)
        self.generic_visit(node)
        body, element = self.new_name("loop_body"), self.new_name("element")
        target = replace("target = element", target=node.target, element=element)
        place(target, node.target)
        made = [self._function(body, [*target, *node.body], element)]
        if (goes_on := getattr(node, "goes_on", None)) is not None:
            name = self.new_name("goes_on")
            made.append(self._function(name, [ast.Return(goes_on)]))
            further.insert(0, ast.keyword("goes_on", ast.Name(name, ast.Load())))
        call = self._call(
            "ag__.run_for(iterated, body, names)",
            further,
            iterated=node.iter,
            body=body,
            names=_texts(names),
        )
        return [*made, call, *node.orelse]


def transform(node: ast.AST, ctx: EntityContext) -> Any:
    """The function without statements of control flow."""
    return _ControlFlow(ctx).visit(node)
