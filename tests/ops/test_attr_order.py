"""Attrs are registered in the order of TensorFlow's definitions: functions take them in it."""

from __future__ import annotations

import pytest

import penstock  # noqa: F401  registers every op
from penstock.internal_paths.generated_ops import parameters
from penstock.ir import registry
from penstock.ir.registry import OpSpec
from tests.ops.opdefs import public_op_types, table


def _explicit(spec: OpSpec, names: list[str], with_default: bool) -> list[str]:
    return [
        name
        for name in names
        if name not in spec.implicit_attrs and spec.attrs[name].has_default is with_default
    ]


@pytest.mark.parametrize("name", public_op_types())
def test_attrs_are_in_order(name: str) -> None:
    spec = registry.find(name)
    assert spec is not None
    wanted = [attr["name"] for attr in table()[name]["attrs"]]
    for with_default in (False, True):
        ours = _explicit(spec, list(spec.attrs), with_default)
        assert ours == _explicit(spec, wanted, with_default)


def test_later_attrs_leave_the_name_its_place() -> None:
    spec = registry.find("MatMul")
    assert spec is not None
    names = list(parameters(spec).parameters)
    assert names == ["a", "b", "transpose_a", "transpose_b", "name", "grad_a", "grad_b"]
    with pytest.raises(TypeError, match="too many positional"):
        parameters(spec).bind(1, 2, False, False, "product", True)
