"""Op types of staging areas. `penstock.ops.staging` has the classes."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.ir.registry import STATEFUL, WAITS, OpSpec, attr, not_differentiable, op
from penstock.ops.shape_checks import with_rank
from penstock.shapes import Shape

_AREA: dict[str, Any] = {
    "capacity": attr("int", 0, minimum=0),
    "memory_limit": attr("int", 0, minimum=0),
}
_NAMED: dict[str, Any] = {"container": "", "shared_name": ""}
_TYPES: dict[str, Any] = {"dtypes": attr("list(type)")}

Stage = op("Stage(values: *dtypes)", STATEFUL, WAITS, **_AREA, **_NAMED)
Unstage = op("Unstage() -> values: *dtypes", STATEFUL, WAITS, **_AREA, **_NAMED)
StagePeek = op("StagePeek(index: int32) -> values: *dtypes", STATEFUL, WAITS, **_AREA, **_NAMED)
StageSize = op("StageSize() -> size: int32", STATEFUL, **_AREA, **_TYPES, **_NAMED)
StageClear = op("StageClear()", STATEFUL, **_AREA, **_TYPES, **_NAMED)


class MapOps(NamedTuple):
    """The op types of one kind of area with keys."""

    stage: OpSpec
    unstage: OpSpec
    unstage_no_key: OpSpec
    peek: OpSpec
    size: OpSpec
    incomplete_size: OpSpec
    clear: OpSpec


def _map_ops(kind: str) -> MapOps:
    counting = {**_AREA, **_TYPES, **_NAMED}
    ops = MapOps(
        op(
            f"{kind}Stage(key: int64, indices: int32, values: *fake_dtypes)",
            STATEFUL,
            WAITS,
            **_AREA,
            **_TYPES,
            **_NAMED,
        ),
        op(
            f"{kind}Unstage(key: int64, indices: int32) -> values: *dtypes",
            STATEFUL,
            WAITS,
            **_AREA,
            **_NAMED,
        ),
        op(
            f"{kind}UnstageNoKey(indices: int32) -> key: int64, values: *dtypes",
            STATEFUL,
            WAITS,
            **_AREA,
            **_NAMED,
        ),
        op(
            f"{kind}Peek(key: int64, indices: int32) -> values: *dtypes",
            STATEFUL,
            WAITS,
            **_AREA,
            **_NAMED,
        ),
        op(f"{kind}Size() -> size: int32", STATEFUL, **counting),
        op(f"{kind}IncompleteSize() -> size: int32", STATEFUL, **counting),
        op(f"{kind}Clear()", STATEFUL, **counting),
    )
    ops.unstage.shape(_unknown_shapes)
    ops.peek.shape(_unknown_shapes)
    ops.unstage_no_key.shape(lambda op, indices: [None] * (1 + len(op.attrs["dtypes"])))
    ops.size.shape(_scalar)
    ops.incomplete_size.shape(_scalar)
    not_differentiable(*ops)
    return ops


def _unknown_shapes(op: Any, *inputs: Shape) -> list[Shape]:
    return [None] * len(op.attrs["dtypes"])


def _scalar(op: Any) -> Shape:
    return ()


Unstage.shape(_unknown_shapes)
StageSize.shape(_scalar)
not_differentiable(Stage, Unstage, StagePeek, StageSize, StageClear)
MAP = _map_ops("Map")
ORDERED_MAP = _map_ops("OrderedMap")


@StagePeek.shape
def _(op: Any, index: Shape) -> list[Shape]:
    with_rank(index, 0)
    return _unknown_shapes(op)
