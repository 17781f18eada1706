"""Cases and records themselves: what is stored comes back, and a changed case is noticed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.ops import records
from tests.ops.case import (
    Case,
    Made,
    Ref,
    array,
    bf16,
    c64,
    f32,
    i32,
    number,
    restart_draws,
    string,
    strings,
)
from tests.ops.records import Built, Record

VALUES: dict[str, np.ndarray] = {
    "float32": f32(2, 3),
    "scalar": array(3, "int32"),
    "empty": f32(0, 2),
    "bfloat16": bf16(3),
    "complex64": c64(2),
    "bool": array([True, False], "bool"),
    "quantized": np.array([1, 2], dtype=[("quint8", "u1")]),
    "strings": strings(["a", b"\x00\xff"], ["", b"z\x00"]),
    "scalar string": string(b"ab\x00"),
}


def _record(**fields: Any) -> Record:
    return Record("digest", {"fed": Built([[2, None], None]), "shaped": Built(error="E")}, **fields)


def test_arrays_come_back(tmp_path: Path) -> None:
    path = tmp_path / "family.npz"
    records.write(path, {"case": _record(outputs=[*VALUES.values(), None])})
    found = records.read(path)["case"]
    assert found.modes == _record().modes
    assert found.outputs.pop() is None
    for value, stored in zip(VALUES.values(), found.outputs, strict=True):
        assert stored is not None
        assert (stored.dtype, stored.shape) == (value.dtype, value.shape)
        assert stored.tolist() == value.tolist()


def test_the_same_records_are_the_same_bytes(tmp_path: Path) -> None:
    a, b = _record(outputs=[VALUES["strings"]]), _record(gradients=[VALUES["float32"]])
    records.write(tmp_path / "one.npz", {"a": a, "b": b})
    records.write(tmp_path / "two.npz", {"b": b, "a": a})
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()


def _case(**changes: Any) -> Case:
    restart_draws()
    fields: dict[str, Any] = {"op": "Add", "inputs": (f32(2), f32(2)), "attrs": {"a": 1}}
    case = Case(**{**fields, **changes})
    number([case])
    return case


@pytest.mark.parametrize(
    "changes",
    [
        {"op": "Sub"},
        {"inputs": (f32(2), f32(3))},
        {"inputs": (f32(2), f32(2) + 1)},
        {"inputs": (f32(2), Ref(f32(2)))},
        {"inputs": (f32(2), Made("Neg", (f32(2),)))},
        {"inputs": (f32(2), Made("Neg", (f32(2),))[1])},
        {"attrs": {"a": 2}},
        {"attrs": {"a": array([1], "int32")}},
        {"after": (Made("NoOp"),)},
        {"outputs": (0,)},
        {"grad": (1,)},
        {"label": "other"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_digest_changes_with_the_case(changes: dict[str, Any]) -> None:
    assert _case().digest() == _case().digest()
    assert _case(**changes).digest() != _case().digest()


def test_stale_record_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = _case()
    monkeypatch.setattr(records, "_read", lambda family: {case.id: Record(case.digest())})
    assert records.find("family", case).digest == case.digest()
    with pytest.raises(records.StaleRecord, match=r"has changed.*record\.py family"):
        records.find("family", _case(attrs={"a": 2}))
    with pytest.raises(records.StaleRecord, match="has no record"):
        records.find("family", _case(op="Sub"))


def test_draws_depend_on_nothing_outside_the_case() -> None:
    first, second = (Case("Add", (f32(3), f32(3))) for _ in range(2))
    assert first.inputs[0].tolist() == second.inputs[0].tolist()
    assert first.inputs[0].tolist() != first.inputs[1].tolist()


def test_ids_are_unique() -> None:
    cases = [Case("Add"), Case("Add"), Case("Sub"), Case("Add", label="two words")]
    number(cases)
    assert [case.id for case in cases] == ["Add-0", "Add-1", "Sub-0", "Add-two-words"]
    with pytest.raises(ValueError, match="two cases have the id 'Add-x'"):
        number([Case("Add", label="x"), Case("Add", label="x")])


def test_inputs_are_arrays() -> None:
    with pytest.raises(TypeError, match="got 3"):
        Case("Add", (i32(0, 2, 1), 3))
