"""Writes docs/compatibility.md: from the op registry, the API's names, and the notes beside it.

python tools/compatibility.py            writes the file
python tools/compatibility.py --check    says whether it is up to date
"""

from __future__ import annotations

import csv
import importlib
import pathlib
import sys
from collections import defaultdict

import penstock as tf
from penstock import absent
from penstock.cli.doctor import has
from penstock.ir import registry
from penstock.kernels import registry as kernels

ROOT = pathlib.Path(__file__).parents[1]
PAGE = ROOT / "docs" / "compatibility.md"
NOTES = ROOT / "docs" / "compatibility_notes.md"
CENSUS = ROOT / "tests" / "api" / "census_symbols.csv"

INTRODUCTION = """# What is compatible, and what is not there

This page is written by `make docs`: the tables come from the op registry and from the API itself,
the notes from `docs/compatibility_notes.md`.

Penstock follows TensorFlow 1.x: op types, attrs and defaults of TensorFlow's own table (a test
compares every registered op with it), node names and graphs as `tensorflow.compat.v1` builds them,
values, gradients and error classes as recorded from a real TensorFlow 2.21.
"""


def public_ops() -> dict[str, registry.OpSpec]:
    importlib.import_module("penstock.kernels")
    return {name: spec for name, spec in registry.specs().items() if not name.startswith("_")}


def gradient_of(name: str) -> str:
    try:
        return "no gradient" if registry.gradient_of(name) is None else ""
    except LookupError:
        return "no gradient"


def family_of(name: str) -> str:
    """The module that registered an op's kernel, by its name."""
    kernel = kernels.find(name, "CPU")
    if kernel is None:
        return "run by the executor itself"
    return kernel.factory.__module__.rpartition(".")[2].replace("_", " ")


def op_table() -> str:
    families: dict[str, list[str]] = defaultdict(list)
    ops = public_ops()
    for name in sorted(ops):
        families[family_of(name)].append(f"{name}\\*" if gradient_of(name) else name)
    lines = [
        f"## Op types: {len(ops)}",
        "",
        "A star: without a gradient (as in TensorFlow, where the op is not differentiable there).",
        "",
        "| family | op types |",
        "|---|---|",
    ]
    lines += [f"| {family} | {', '.join(names)} |" for family, names in sorted(families.items())]
    return "\n".join(lines)


def census_table() -> str:
    with CENSUS.open() as file:
        symbols = [row["symbol"] for row in csv.DictReader(file)]
    missing = [symbol for symbol in symbols if not has(symbol)]
    there = len(symbols) - len(missing)
    return "\n".join(
        [
            "## The API",
            "",
            f"Of the {len(symbols)} symbols that at least 3 of 100 public TensorFlow 1.x "
            f"repositories use, {there} are there.",
            "`penstock doctor program.py` lists what a program uses and what of it is missing.",
            "",
            "| missing | why, and what to use |",
            "|---|---|",
            *(f"| `{symbol}` | {reason} |" for symbol, reason in sorted(absent.REASONS.items())),
        ]
    )


def page() -> str:
    parts = [INTRODUCTION, NOTES.read_text(), census_table(), op_table()]
    return "\n".join(part.rstrip() + "\n" for part in parts)


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        if PAGE.exists() and PAGE.read_text() == text:
            return 0
        print("docs/compatibility.md is not up to date: run `make docs`", file=sys.stderr)
        return 1
    PAGE.write_text(text)
    print(f"{PAGE.relative_to(ROOT)}: {len(public_ops())} op types; penstock {tf.__version__}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
