"""What tools/opdef.py prints registers the op that the table describes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock import dtypes
from penstock.ir import registry, signature, type_sets
from penstock.ir.registry import OpSpec, Trait
from tests.ops.opdefs import differences, table
from tools import opdef

TOOL = Path(opdef.__file__)

# Names that no registration can have: a namespace in a test of TensorFlow's, a Python keyword.
UNUSUAL = {"Namespace>TestStringOutput", "None"}


def _op(text: str, *traits: Trait, **attrs: Any) -> OpSpec:
    """As `op`, but nothing is registered."""
    return OpSpec(signature.parse(text, attrs), frozenset(traits))


def test_every_registration_is_the_tables() -> None:
    writer = opdef.Writer(opdef.read_type_sets())
    names = {"dtypes": dtypes, **vars(registry), **vars(type_sets), "op": _op}
    wrong = []
    for name, definition in table().items():
        if name in UNUSUAL:
            continue
        made: dict[str, Any] = {}
        exec(writer.registration(name, definition), names, made)
        wrong += [f"{name}: {line}" for line in differences(made[name], definition)]
    assert not wrong, "\n".join(wrong)


def test_imports_are_complete() -> None:
    writer = opdef.Writer(opdef.read_type_sets())
    statements = [writer.registration(name, table()[name]) for name in ("Abs", "Assign", "Conv2D")]
    made: dict[str, Any] = {}
    exec(writer.imports(), made)
    made["op"] = _op
    exec("\n".join(statements), made)
    assert made["Abs"].name == "Abs"


def test_type_sets_are_read_from_the_source() -> None:
    expected = {
        name: tuple(dtype.name for dtype in value)
        for name, value in vars(type_sets).items()
        if name.isupper()
    }
    assert opdef.read_type_sets() == expected


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    # -I -S: neither the checkout nor installed packages can be imported.
    command = [sys.executable, "-I", "-S", str(TOOL), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_runs_without_penstock() -> None:
    result = _run("MatMul", "AddV2")
    assert result.returncode == 0, result.stderr
    assert 'AddV2 = op("AddV2(x: T, y: T) -> z: T", COMMUTATIVE, AGGREGATE' in result.stdout
    assert "from penstock.ir.type_sets import COMPLEX, " in result.stdout


@pytest.mark.parametrize(("pattern", "count"), [("MatMul", 1), ("BatchMatMulV[23]", 2)])
def test_patterns(pattern: str, count: int) -> None:
    assert len(_run("--list", pattern).stdout.split()) == count


def test_unknown_op_is_refused() -> None:
    result = _run("MatMull")
    assert result.returncode == 1
    assert "MatMul" in result.stderr
