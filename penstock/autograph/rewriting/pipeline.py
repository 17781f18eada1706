"""The steps of a conversion, in their order."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from penstock.autograph.options import Feature
from penstock.autograph.rewriting import (
    asserts,
    break_statements,
    call_trees,
    conditional_expressions,
    continue_statements,
    control_flow,
    function_scopes,
    lists,
    logical_expressions,
    return_statements,
    slices,
)
from penstock.autograph.rewriting.rewriter import EntityContext

#: Each step, and the feature that must be asked for to have it.
STEPS: tuple[tuple[Callable[..., Any], Feature | None], ...] = (
    (function_scopes.transform, None),
    (break_statements.transform, None),
    (asserts.transform, Feature.ASSERT_STATEMENTS),
    (continue_statements.transform, None),
    (return_statements.transform, None),
    (lists.transform, Feature.LISTS),
    (slices.transform, Feature.LISTS),
    (call_trees.transform, None),
    (control_flow.transform, None),
    (conditional_expressions.transform, None),
    (logical_expressions.transform, None),
)


def rewrite(node: ast.AST, ctx: EntityContext) -> Any:
    """The tree of a function after all steps."""
    for transform, feature in STEPS:
        if feature is None or ctx.options.uses(feature):
            node = transform(node, ctx)
            ast.fix_missing_locations(node)
    return node
