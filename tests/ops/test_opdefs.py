"""The signature of every registered op is TensorFlow's."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import pytest

import penstock  # noqa: F401  registers every op
from penstock.ir import registry
from penstock.ir.registry import OpSpec, Trait
from penstock.ir.signature import Signature
from tests.ops.opdefs import differences, public_op_types, table

REGISTERED = public_op_types()
#: Its effect is to end the process.
DIFFERENCES = {"Abort": ["is_stateful: True, TensorFlow has False"]}


@pytest.mark.parametrize("name", REGISTERED)
def test_op_is_tensorflows(name: str) -> None:
    spec = registry.find(name)
    assert spec is not None
    found = differences(spec, table()[name])
    assert found == DIFFERENCES.get(name, []), f"{name}:\n  " + "\n  ".join(found)


def test_no_op_of_other_names() -> None:
    """In a process of its own: other tests register ops of theirs in this one."""
    program = "import penstock; from penstock.ir import registry; print(*registry.specs())"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    public = {name for name in result.stdout.split() if not name.startswith("_")}
    assert public, "nothing is registered"
    assert public <= table().keys(), f"TensorFlow has no op {sorted(public - table().keys())}"


def _changed(name: str, **changes: object) -> OpSpec:
    spec = registry.find(name)
    assert spec is not None
    attrs = dict(spec.attrs)
    for key, value in changes.items():
        attrs[key] = dataclasses.replace(attrs[key], **value)  # type: ignore[arg-type]
    return OpSpec(Signature(name, spec.inputs, spec.outputs, attrs), spec.traits)


def test_differences_are_found() -> None:
    """The comparison itself, on an op that is changed in one thing after another."""
    name, definition = "PlaceholderWithDefault", table()["PlaceholderWithDefault"]
    spec = registry.find(name)
    assert spec is not None
    assert differences(spec, definition) == []
    for changes, fact in (
        ({"shape": {"kind": "list(int)"}}, "attr shape, kind"),
        ({"shape": {"default": ()}}, "attr shape, has a default"),
        ({"dtype": {"minimum": 2}}, "attr dtype, minimum"),
        ({"dtype": {"allowed": ("float32",)}}, "attr dtype, allowed"),
    ):
        (found,) = differences(_changed(name, **changes), definition)
        assert found.startswith(fact)
    stateful = OpSpec(
        Signature(name, spec.inputs, spec.outputs, spec.attrs), frozenset({Trait.STATEFUL})
    )
    assert differences(stateful, definition) == ["is_stateful: True, TensorFlow has False"]
    renamed = (dataclasses.replace(spec.inputs[0], name="value"),)
    other = OpSpec(Signature(name, renamed, spec.outputs, {}), spec.traits)
    assert [line.partition(":")[0] for line in differences(other, definition)] == [
        "input 0",
        "attr dtype",
        "attr shape",
    ]
