"""`tensorflow.python.autograph.core.converter` and `pyct`: single steps of a conversion.

A step is a module with a `transform`; each of ours finds out by itself what it must know of the
code.
"""

from __future__ import annotations

import ast
import linecache
import textwrap
import types
from collections.abc import Iterable, Sequence
from typing import Any

from penstock.autograph.convertible import runs_as_it_is
from penstock.autograph.options import STANDARD_OPTIONS as STANDARD_OPTIONS
from penstock.autograph.options import ConversionOptions as ConversionOptions
from penstock.autograph.options import Feature as Feature
from penstock.autograph.options import ProgramContext as ProgramContext
from penstock.autograph.rewriting.pipeline import rewrite
from penstock.autograph.rewriting.rewriter import EntityContext as EntityContext
from penstock.autograph.rewriting.source import tree_of

_loaded = 0


def standard_analysis(node: ast.AST, context: Any, is_initial: bool = False) -> ast.AST:
    """The tree itself: steps look at it when they need to."""
    return node


def apply_(node: ast.AST, context: Any, converter_module: Any) -> Any:
    """The tree after one step."""
    return converter_module.transform(node, context)


def node_to_graph(node: ast.AST, context: Any) -> Any:
    """The tree after all steps."""
    return rewrite(node, context)


def is_whitelisted_for_graph(
    o: Any, check_call_override: bool = True, allow_namedtuple_subclass: bool = False
) -> bool:
    """Whether something that is called is not converted."""
    return runs_as_it_is(o)


def parse_str(src: str) -> ast.Module:
    """The tree of a module's text."""
    return ast.parse(src)


def parse_expression(src: str) -> ast.expr:
    """The tree of an expression's text."""
    statements = ast.parse(textwrap.dedent(src).strip()).body
    if len(statements) != 1 or not isinstance(statements[0], ast.Expr):
        raise ValueError(f"expected a single expression, found {len(statements)} statements")
    return statements[0].value


def parse_entity(entity: Any, future_features: Iterable[str] = ()) -> tuple[ast.AST, str]:
    """The tree of a function, and its text."""
    node = tree_of(entity)
    return node, ast.unparse(node)


def ast_to_source(node: Any, indentation: str = "  ") -> str:
    """The text of a tree, or of several."""
    nodes = node if isinstance(node, (list, tuple)) else [node]
    return "\n".join(ast.unparse(ast.fix_missing_locations(each)) for each in nodes)


def ast_to_object(
    nodes: ast.AST | Sequence[ast.AST],
    indentation: str = "  ",
    include_source_map: bool = False,
    source_prefix: str | None = None,
    delete_on_exit: bool = True,
) -> tuple[types.ModuleType, str, Any]:
    """A module of some statements, its text, and an empty map of lines if it is asked for."""
    global _loaded
    _loaded += 1
    source = ast_to_source(nodes)
    if source_prefix:
        source = f"{source_prefix}\n{source}"
    name = f"<converted {_loaded}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    module = types.ModuleType(f"converted_{_loaded}")
    exec(compile(source, name, "exec", dont_inherit=True), vars(module))
    return module, source, {} if include_source_map else None
