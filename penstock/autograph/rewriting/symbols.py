"""What the statements of a function read and assign."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from penstock.autograph.rewriting.rewriter import FUNCTIONS

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def binds_names(expression: ast.expr) -> bool:
    """Whether an expression assigns to a name (`:=`), or stops its function."""
    kinds = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return any(isinstance(node, kinds) for node in ast.walk(expression))


def assigned(nodes: Iterable[ast.AST]) -> dict[str, None]:
    """The names that statements assign to, in the order in which they do; those of functions and
    classes inside of them are not among them."""
    found: dict[str, None] = {}
    for node in nodes:
        _add_assigned(node, found)
    return found


def _add_assigned(node: ast.AST, found: dict[str, None]) -> None:
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            found[node.id] = None
        return
    if isinstance(node, _COMPREHENSIONS):
        _add_walruses(node, found)
        return
    for name in _named_by(node):
        found[name] = None
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return
    for child in ast.iter_child_nodes(node):
        _add_assigned(child, found)


def _add_walruses(node: ast.AST, found: dict[str, None]) -> None:
    for each in ast.walk(node):
        if isinstance(each, ast.NamedExpr):
            found[each.target.id] = None


def _named_by(node: ast.AST) -> Iterator[str]:
    """Names that a node assigns to without a `Name`."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        if not hasattr(node, "is_block"):  # a function that conversion makes is used where it is
            yield node.name
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def arguments(node: ast.AST) -> set[str]:
    """The names of a function's arguments."""
    return {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}  # type: ignore[attr-defined]


def read(*nodes: ast.AST | None) -> set[str]:
    """The names that expressions or a simple statement read, those of functions in them, too."""
    found: set[str] = set()
    for node in nodes:
        if node is not None:
            found |= _read(node)
    return found


def _read(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Name):
        return {node.id} if isinstance(node.ctx, ast.Load) else set()
    found = read(*ast.iter_child_nodes(node))
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        found.add(node.target.id)
    elif isinstance(node, ast.Lambda):
        found -= arguments(node) - read(*_defaults(node))
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        own = arguments(node) | set(assigned(node.body)) - _declared_outside(node)
        found -= own - read(*_defaults(node), *node.decorator_list)
    elif isinstance(node, _COMPREHENSIONS):
        found -= set(assigned(each.target for each in node.generators)) - read(
            node.generators[0].iter
        )
    return found


def _defaults(node: ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr | None]:
    return [*node.args.defaults, *node.args.kw_defaults]


def _declared_outside(function: ast.AST) -> set[str]:
    return {
        name
        for node in ast.walk(function)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }


def composites(nodes: Iterable[ast.AST]) -> dict[str, ast.expr]:
    """The attributes and items that statements assign to, such as `self.x` and `d['k']`.

    Of items, those whose key is a name or a constant: others may be another item each time.
    """
    found: dict[str, ast.expr] = {}
    for node in nodes:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            continue
        if isinstance(node, (ast.Attribute, ast.Subscript)):  # noqa: SIM102
            if isinstance(node.ctx, ast.Store) and _is_chain(node):
                found[ast.unparse(node)] = node
        found |= composites(ast.iter_child_nodes(node))
    return found


def _is_chain(node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute):
        return _is_chain(node.value)
    if isinstance(node, ast.Subscript):
        keyed = isinstance(node.slice, ast.Constant) or _is_chain(node.slice)
        return keyed and _is_chain(node.value)
    return False
