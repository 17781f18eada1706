"""Which variables are used later: what a branch or loop must give to the code behind it.

By the time this is asked, a function has branches, loops and `try` alone, no jumps. So a variable
is live before a statement if the statement reads it, or if it is live behind it and the statement
does not assign it, for each kind of statement by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from penstock.autograph.rewriting.symbols import assigned, read

_Names = frozenset[str]


def annotate(function: ast.FunctionDef) -> None:
    """Gives each branch and loop of a function the variables `live_in` before it and `live_out`
    behind it; functions inside of it are looked at by themselves."""
    _before(function.body, frozenset(), frozenset())


def _before(block: Sequence[ast.stmt], live: _Names, caught: _Names) -> _Names:
    """What is live before a block: `live` behind it, `caught` wherever it raises."""
    for statement in reversed(block):
        live = _before_statement(statement, live | caught, caught)
    return live | caught


def _before_statement(node: ast.stmt, live: _Names, caught: _Names) -> _Names:
    rule = _RULES.get(type(node))
    if rule is not None:
        node.live_out = live  # type: ignore[attr-defined]
        live = rule(node, live, caught)
        node.live_in = live  # type: ignore[attr-defined]
        return live
    if isinstance(node, (ast.Return, ast.Raise)):
        live = caught
    return (live - set(assigned([node]))) | read(node)


def _if(node: ast.If, live: _Names, caught: _Names) -> _Names:
    branches = _before(node.body, live, caught) | _before(node.orelse, live, caught)
    return branches | read(node.test)


def _while(node: ast.While, live: _Names, caught: _Names) -> _Names:
    return _repeated(node.body, _before(node.orelse, live, caught) | read(node.test), caught)


def _for(node: ast.For, live: _Names, caught: _Names) -> _Names:
    behind = _before(node.orelse, live, caught) | read(getattr(node, "goes_on", None))
    target = set(assigned([node.target]))
    around = _repeated(node.body, behind, caught, target)
    return around | read(node.iter, node.target)


def _repeated(
    body: Sequence[ast.stmt], live: _Names, caught: _Names, target: set[str] | None = None
) -> _Names:
    """What is live before the test of a loop: what one iteration leaves is there for the next."""
    while True:
        found = live | (_before(body, live, caught) - (target or set()))
        if found == live:
            return live
        live = found


def _with(node: ast.With, live: _Names, caught: _Names) -> _Names:
    inside = _before(node.body, live, caught)
    targets = assigned(each.optional_vars for each in node.items if each.optional_vars)
    return (inside - set(targets)) | read(*node.items)


def _try(node: Any, live: _Names, caught: _Names) -> _Names:
    finally_ = _before(node.finalbody, live, caught)
    handled = frozenset().union(
        finally_ if node.finalbody else caught,
        *(_before_handler(each, finally_, caught) for each in node.handlers),
    )
    return _before(node.body, _before(node.orelse, finally_, caught), handled)


def _before_handler(node: ast.ExceptHandler, live: _Names, caught: _Names) -> _Names:
    return (_before(node.body, live, caught) - {node.name or ""}) | read(node.type)


def _match(node: ast.Match, live: _Names, caught: _Names) -> _Names:
    found = live
    for case in node.cases:
        inside = _before(case.body, live, caught) | read(case.guard)
        found |= (inside - set(assigned([case.pattern]))) | read(case.pattern)
    return found | read(node.subject)


_RULES: dict[type[ast.stmt], Any] = {
    ast.If: _if,
    ast.While: _while,
    ast.For: _for,
    ast.With: _with,
    ast.Try: _try,
    ast.Match: _match,
}
if hasattr(ast, "TryStar"):
    _RULES[ast.TryStar] = _try
