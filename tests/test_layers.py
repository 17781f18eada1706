"""Imports go one way through Penstock's layers: this table says which, these tests that they do."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "penstock"

# From the bottom up: a module imports from its own layer and from those above it in this table.
# A module belongs to the longest name here that it equals or lies in.
LAYERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("proto", ("proto",)),
    ("foundations", ("errors", "dtypes", "shapes", "devices", "platform")),
    ("ir", ("ir",)),
    ("graph", ("ops", "autodiff", "passes", "placement", "partition", "state", "checkpoint")),
    ("kernels", ("kernels",)),
    ("runtime", ("runtime",)),
    ("distributed", ("distributed",)),
    ("client", ("client", "eager")),
    # The libraries are summary, train, layers, …, the modules that re-export public
    # names (nn, math, …), and the examples: whatever the other rows do not name.
    ("libraries", ()),
    ("cli", ("cli", "__main__")),
)

# Within a layer modules may import each other, except that what works on any graph must not know
# single ops: those facts come from the op registry in ir.
FORBIDDEN = {
    (graph_part, "ops")
    for graph_part in ("passes", "placement", "partition", "state", "checkpoint")
}

# `import penstock` runs the whole package, so only what is written on the public API may.
MAY_IMPORT_ROOT = {"libraries", "cli"}

MAY_IMPORT_TORCH = {"kernels", "runtime"}

_RANK = {layer: rank for rank, (layer, _) in enumerate(LAYERS)}
_LAYER_OF = {name: layer for layer, names in LAYERS for name in names}


@dataclass(frozen=True)
class Import:
    """One imported module, as the line that imports it names it."""

    module: str
    line: int


@dataclass(frozen=True)
class Module:
    """A source file of the package under its dotted name."""

    name: str
    path: Path

    @property
    def package(self) -> str:
        return self.name if self.path.name == "__init__.py" else self.name.rpartition(".")[0]


def modules_of(package: Path) -> dict[str, Module]:
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, path)
    return found


def imports_of(module: Module, modules: dict[str, Module]) -> Iterator[Import]:
    """Yield every import of a file, wherever it stands: module, function, `if TYPE_CHECKING`."""
    for node in ast.walk(ast.parse(module.path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(module, node)
            for alias in node.names:
                member = f"{base}.{alias.name}"
                yield Import(member if member in modules else base, node.lineno)
        elif isinstance(node, ast.Call) and (name := _imported_by_call(node)):
            yield Import(name, node.lineno)


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.package.split(".")
    parts = parts[: len(parts) - node.level + 1]
    return ".".join(parts + ([node.module] if node.module else []))


def _imported_by_call(node: ast.Call) -> str | None:
    """Return the module of `importlib.import_module("…")` and `__import__("…")`."""
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    if name not in ("import_module", "__import__") or not node.args:
        return None
    argument = node.args[0]
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    return None


def part_of(name: str) -> str | None:
    """Return the longest table entry that holds a module of the package, if any does."""
    parts = name.split(".")[1:]
    prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((prefix for prefix in prefixes if prefix in _LAYER_OF), None)


def layer_of(name: str) -> str:
    return _LAYER_OF.get(part_of(name) or "", "libraries")


def broken_rule(importer: str, imported: str, root: str) -> str | None:
    """Return what is wrong with one module's import of another, or None."""
    layer = layer_of(importer)
    if imported.split(".")[0] == "torch":
        if layer in MAY_IMPORT_TORCH:
            return None
        return f"only {' and '.join(sorted(MAY_IMPORT_TORCH))} import torch, not {layer}"
    if imported.split(".")[0] != root:
        return None
    if imported == root:
        if layer in MAY_IMPORT_ROOT:
            return None
        return f"{layer} must not import {root} itself: name the module that is meant"
    target = layer_of(imported)
    if _RANK[target] > _RANK[layer]:
        order = " < ".join(name for name, _ in LAYERS)
        return f"{layer} must not import from {target}, which is above it ({order})"
    if (part_of(importer), part_of(imported)) in FORBIDDEN:
        return f"{part_of(importer)} must not import {part_of(imported)}"
    return None


def violations(package: Path) -> list[str]:
    modules = modules_of(package)
    found = []
    for module in modules.values():
        if module.name == package.name:
            continue  # the root gathers the public names from everywhere
        for imported in imports_of(module, modules):
            if rule := broken_rule(module.name, imported.module, package.name):
                where = f"{module.path.relative_to(package.parent)}:{imported.line}"
                found.append(f"{where}: {module.name} imports {imported.module}: {rule}")
    return found


def test_imports_go_one_way() -> None:
    assert modules_of(PACKAGE), f"no modules under {PACKAGE}"
    found = violations(PACKAGE)
    assert not found, "\n" + "\n".join(found)


def _run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "program",
    [
        "import penstock",
        "import penstock as tf; w = tf.Variable(tf.zeros([2, 2])); "
        "tf.gradients(tf.matmul(w, tf.constant([[1.0], [2.0]])), w)",
    ],
    ids=["import", "build a graph"],
)
def test_torch_stays_out(program: str) -> None:
    result = _run(
        program + "; import sys; sys.exit('torch' in sys.modules and 'torch is imported')"
    )
    assert result.returncode == 0, result.stderr


# The checker itself, on trees with one thing in them.

PLANTED = {
    "a layer above": ("ir/graph.py", "from penstock.client import session", "ir must not"),
    "inside a function": ("ir/graph.py", "def f():\n    import penstock.runtime", "ir must not"),
    "for types alone": (
        "state/queues.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from penstock.runtime import x",
        "graph must not import from runtime",
    ),
    "relative": ("ir/graph.py", "from ..client.session import Session", "ir must not"),
    "by a call": (
        "ops/math.py",
        "import importlib\nimportlib.import_module('penstock.kernels.math')",
        "graph must not import from kernels",
    ),
    "forbidden sibling": ("passes/fold.py", "from penstock.ops import math", "passes must not"),
    "the root": ("ops/math.py", "import penstock as tf", "must not import penstock itself"),
    "a name of the root": ("ops/math.py", "from penstock import Session", "must not import penst"),
    "proto is lowest": ("proto/pool.py", "from penstock import errors", "proto must not"),
    "a library from below": ("ir/graph.py", "from penstock.train import saver", "libraries"),
    "cli from a library": ("train/saver.py", "from penstock.cli import main", "above it"),
    "torch outside kernels": ("ops/math.py", "from torch.nn import functional", "torch"),
}

ALLOWED = {
    "a layer below": ("client/session.py", "from penstock.ir.graph import Graph"),
    "a sibling": ("ops/math.py", "from penstock import autodiff"),
    "autodiff to ops": ("autodiff/gradients.py", "from penstock.ops import math"),
    "graph parts": ("partition/split.py", "from penstock.placement import placer"),
    "a foundation": ("ir/graph.py", "from penstock import errors"),
    "the root, in a library": ("train/saver.py", "import penstock as tf"),
    "the root, in an example": ("examples/digits.py", "import penstock as tf"),
    "torch in kernels": ("kernels/math.py", "import torch"),
    "anything, in the root": ("__init__.py", "from penstock.cli import main"),
    "another package": ("ir/graph.py", "import penstock_tools, numpy"),
}


def _tree(directory: Path, filename: str, source: str) -> Path:
    package = directory / "penstock"
    for name in ("__init__.py", "errors.py", "autodiff/__init__.py", filename):
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (package / filename).write_text(source)
    return package


@pytest.mark.parametrize(("filename", "source", "rule"), PLANTED.values(), ids=PLANTED.keys())
def test_planted_violation_is_found(tmp_path: Path, filename: str, source: str, rule: str) -> None:
    (found,) = violations(_tree(tmp_path, filename, source))
    last_line = source.count("\n") + 1
    assert found.startswith(f"penstock/{filename}:{last_line}: ")
    assert rule in found


@pytest.mark.parametrize(("filename", "source"), ALLOWED.values(), ids=ALLOWED.keys())
def test_allowed_import_passes(tmp_path: Path, filename: str, source: str) -> None:
    assert violations(_tree(tmp_path, filename, source)) == []


def test_longest_prefix_decides() -> None:
    assert layer_of("penstock.ops.math") == "graph"
    assert layer_of("penstock.math") == "libraries"
    assert layer_of("penstock.operations") == "libraries"
    assert layer_of("penstock.cli.main") == "cli"
