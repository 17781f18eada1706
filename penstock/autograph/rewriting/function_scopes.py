"""Puts the bodies of functions into an `ag__.FunctionScope`."""

from __future__ import annotations

import ast
from typing import Any

from penstock.autograph.options import STANDARD_OPTIONS, ConversionOptions, Feature
from penstock.autograph.rewriting.rewriter import EntityContext, Rewriter, is_generator
from penstock.autograph.rewriting.templates import replace, replace_as_expression


def options_expression(options: ConversionOptions) -> ast.expr:
    """Code that makes such options."""
    if options == STANDARD_OPTIONS:
        return replace_as_expression("ag__.STD")
    features = "".join(
        f"ag__.{feature}, " for feature in Feature if feature in options.optional_features
    )
    return replace_as_expression(
        f"ag__.ConversionOptions(recursive={options.recursive}, "
        f"user_requested={options.user_requested}, optional_features=({features}), "
        f"internal_convert_user_code={options.internal_convert_user_code})"
    )


class _Scopes(Rewriter):
    def __init__(self, ctx: EntityContext):
        super().__init__(ctx)
        self._names: list[str] = []
        self._marks_returns = ctx.options.uses(Feature.AUTO_CONTROL_DEPS)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        self.generic_visit(node)
        if node.value is not None and self._marks_returns:
            node.value = replace_as_expression(
                "scope.mark_return_value(value)", scope=self._names[-1], value=node.value
            )
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        if self._names:  # one inside of another function is in that one's scope
            return self.generic_visit(node)
        self._names.append(self.new_name("lambda_scope"))
        self.generic_visit(node)
        name = self._names.pop()
        node.scope_name = name  # type: ignore[attr-defined]
        node.body = replace_as_expression(
            "ag__.with_function_scope(lambda scope: body, name, options)",
            scope=name,
            body=node.body,
            name=ast.Constant(name),
            options=options_expression(self.ctx.options),
        )
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if is_generator(node):
            return node
        name = self.new_name(f"{node.name}_scope")
        node.scope_name = name  # type: ignore[attr-defined]
        self._names.append(name)
        self.generic_visit(node)
        self._names.pop()
        has_docstring = ast.get_docstring(node, clean=False) is not None
        node.body[has_docstring:] = replace(
            "with ag__.FunctionScope(function_name, scope_name, options) as scope:\n    body",
            function_name=ast.Constant(node.name),
            scope_name=ast.Constant(name),
            options=options_expression(self.ctx.options),
            scope=name,
            body=node.body[has_docstring:] or [ast.Pass()],
        )
        return node


def transform(node: ast.AST, ctx: EntityContext) -> Any:
    """The function with a scope around its body, and around those of the functions in it."""
    return _Scopes(ctx).visit(node)
