"""`penstock doctor`: which names of TensorFlow a program uses, and which of them are missing.

The program is read, not run: imports of tensorflow and of its modules give names a meaning, and
each chain of attributes that begins with such a name is a symbol.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import penstock
from penstock import absent
from penstock.cli import python2, stand_in


@dataclass
class Use:
    """A symbol and the lines of a file that use it."""

    symbol: str
    places: list[str] = field(default_factory=list)

    @property
    def is_there(self) -> bool:
        return has(self.symbol)


def has(symbol: str) -> bool:
    """Whether `tf.x.y` is there."""
    path = symbol.split(".")[1:]
    with absent.unrecorded():
        return _has(path)


def _has(path: list[str]) -> bool:
    try:
        if stand_in.module_below(".".join(["tensorflow", *path])) is not None:
            return True
        value: object = penstock
        for part in path:
            value = getattr(value, part)
            if not hasattr(value, "__dict__"):
                return True  # a value, such as a dtype: its attributes are its own
    except (AttributeError, ImportError):
        return False
    return True


class _Reader(ast.NodeVisitor):
    """Collects the symbols of one file."""

    def __init__(self) -> None:
        self.meaning: dict[str, str] = {}
        self.found: list[tuple[str, int]] = []

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            root, _, rest = alias.name.partition(".")
            if root != "tensorflow":
                continue
            symbol = "tf" + (f".{rest}" if rest else "")
            if rest:
                self.found.append((symbol, node.lineno))
            self.meaning[alias.asname or root] = symbol if alias.asname else "tf"

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        root, _, rest = (node.module or "").partition(".")
        if root != "tensorflow" or node.level:
            return
        base = "tf" + (f".{rest}" if rest else "")
        for alias in node.names:
            symbol = base if alias.name == "*" else f"{base}.{alias.name}"
            self.found.append((symbol, node.lineno))
            self.meaning[alias.asname or alias.name] = symbol

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain = _chain(node)
        if chain is None or chain[0] not in self.meaning:
            self.generic_visit(node)
            return
        symbol = ".".join([self.meaning[chain[0]], *chain[1:]])
        self.found.append((symbol, node.lineno))


def _chain(node: ast.expr) -> list[str] | None:
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else None


def _first_missing(symbol: str) -> str:
    """The shortest beginning of a missing symbol that is missing itself."""
    parts = symbol.split(".")
    for length in range(2, len(parts)):
        beginning = ".".join(parts[:length])
        if not has(beginning):
            return beginning
    return symbol


def symbols(source: str, filename: str) -> list[tuple[str, int]]:
    """Every use of a name of TensorFlow in a program's text, with its line."""
    try:
        tree = ast.parse(source, filename)
    except SyntaxError:
        tree = ast.parse(python2.converted(source, filename), filename)
    reader = _Reader()
    # Imports first: a function may use a name that is imported below it.
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            reader.visit(node)
    for node in ast.iter_child_nodes(tree):
        _visit_but_imports(reader, node)
    return reader.found


def _visit_but_imports(reader: _Reader, node: ast.AST) -> None:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return
    if isinstance(node, ast.Attribute) and _chain(node) is not None:
        reader.visit_Attribute(node)
        return
    for child in ast.iter_child_nodes(node):
        _visit_but_imports(reader, child)


def _files(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                yield from (
                    os.path.join(folder, name) for name in sorted(names) if name.endswith(".py")
                )
        else:
            yield path


def examine(paths: Sequence[str]) -> tuple[dict[str, Use], list[str]]:
    """The symbols that files and folders use, and the files that could not be read."""
    uses: dict[str, Use] = {}
    unread: list[str] = []
    for filename in _files(paths):
        try:
            found = symbols(python2.read_source(filename), filename)
        except (OSError, SyntaxError) as error:
            unread.append(f"{filename}: {error}")
            continue
        for symbol, line in found:
            name = symbol if has(symbol) else _first_missing(symbol)
            uses.setdefault(name, Use(name)).places.append(f"{filename}:{line}")
    return uses, unread


def report(paths: Sequence[str]) -> int:
    """Prints what a program needs and what of it is missing; 0 where nothing is."""
    uses, unread = examine(paths)
    missing = sorted((use for use in uses.values() if not use.is_there), key=lambda use: use.symbol)
    for line in unread:
        print(f"can't read {line}", file=sys.stderr)
    print(f"{len(uses)} symbols of TensorFlow are used, {len(missing)} of them are missing")
    for use in missing:
        print(f"  {use.symbol}  ({', '.join(use.places[:3])}{', …' if use.places[3:] else ''})")
        if why := absent.reason(use.symbol):
            print(f"      {why}")
    return 1 if missing or unread else 0
