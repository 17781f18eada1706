"""What the steps of a conversion need not see: decorators, annotations, mangled names."""

from __future__ import annotations

import ast
from typing import Any

from penstock.autograph.rewriting.rewriter import is_generator


def prepare(node: ast.FunctionDef | ast.Lambda, qualified_name: str) -> None:
    """Makes a function's tree one that stands for itself.

    Its defaults and decorators were evaluated when the function was made.
    """
    if is_generator(node):
        raise NotImplementedError("Generators are not supported by AutoGraph")
    args = node.args
    args.defaults = [ast.Constant(None) for _ in args.defaults]
    args.kw_defaults = [None if each is None else ast.Constant(None) for each in args.kw_defaults]
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []
        node.returns = None
        for each in ast.walk(args):
            if isinstance(each, ast.arg):
                each.annotation = None
    _Mangled(qualified_name).visit(node)
    _Plain().visit(node)
    ast.fix_missing_locations(node)


class _Plain(ast.NodeTransformer):
    """Assignments without annotations: a variable that has one can't be shared by functions."""

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if not isinstance(node.target, ast.Name):
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)


class _Mangled(ast.NodeTransformer):
    """Names such as `self.__x` in a method as Python spells them outside of its class."""

    def __init__(self, qualified_name: str):
        owner = qualified_name.rpartition(".")[0].rpartition(".")[2]
        self._class = "" if owner == "<locals>" else owner.lstrip("_")

    def _mangled(self, name: str) -> str:
        if not self._class or not name.startswith("__") or name.endswith("__"):
            return name
        return f"_{self._class}{name}"

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node  # it has names of its own

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node.attr = self._mangled(node.attr)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self._mangled(node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._mangled(node.arg)
        return node
