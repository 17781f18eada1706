"""Variables behind handles: their value after an update is compared too."""

from typing import Any

from tests.ops.case import (
    Case,
    Made,
    Ref,
    Resource,
    array,
    bf16,
    bools,
    c64,
    f16,
    f32,
    f64,
    i32,
    i64,
    ints,
    strings,
)
from tests.ops.cases import state

UNSET = {"initialized": False}


def _handles() -> list[Case]:
    handle = {"shape": [2, 3], "dtype": "float32", "shared_name": "h"}
    loose = Made("VarHandleOp", (), {**handle, "shape": None})
    partial = Made("VarHandleOp", (), {**handle, "shape": [None, 3]})
    first = Made("AssignVariableOp", (loose, f32(2, 3)))
    return [
        Case("VarHandleOp", (), handle),
        Case("VarIsInitializedOp", (Resource(f32(2)),)),
        Case("VarIsInitializedOp", (Resource(f32(2), **UNSET),)),
        Case("VariableShape", (Resource(f32(2, 0, 3)),)),
        Case("VariableShape", (Resource(f32()),), {"out_type": "int64"}),
        Case("VariableShape", (loose,), after=(first,), label="unknown rank"),
        Case("VariableShape", (partial,), label="uninitialized", fails=True),
        Case("DestroyResourceOp", (Resource(f32(2)),)),
        Case("DestroyResourceOp", (Resource(f32(2), **UNSET),)),
        Case(
            "DestroyResourceOp",
            (Resource(f32(2), **UNSET),),
            {"ignore_lookup_error": False},
            label="nothing there",
            fails=True,
        ),
        Case("ReadVariableOp", (Resource(f32(2, 3)),), {"dtype": "float32"}, grad=(0,)),
        Case("ReadVariableOp", (Resource(f64(2)),), {"dtype": "float64"}, grad=(0,)),
        Case("ReadVariableOp", (Resource(strings("a", "b")),), {"dtype": "string"}),
        Case("ReadVariableOp", (loose,), {"dtype": "float32"}, after=(first,), label="loose"),
        Case(
            "ReadVariableOp",
            (Resource(f32(2)),),
            {"dtype": "int32"},
            label="of another type",
            fails=True,
        ),
        Case(
            "ReadVariableOp",
            (Resource(f32(2), **UNSET),),
            {"dtype": "float32"},
            label="uninitialized",
            fails=True,
        ),
    ]


def _assignments() -> list[Case]:
    op = "AssignVariableOp"
    loose = Made("VarHandleOp", (), {"shape": None, "dtype": "float32", "shared_name": "l"})
    partial = Made("VarHandleOp", (), {"shape": [None], "dtype": "float32", "shared_name": "p"})
    strict = {"validate_shape": True}
    return [
        Case(op, (Resource(f32(2, 3)), f32(2, 3))),
        Case(op, (Resource(f64(2)), f64(2)), strict),
        Case(op, (Resource(i32(0, 9, 3)), i32(0, 9, 3))),
        Case(op, (Resource(bools(3)), bools(3))),
        Case(op, (Resource(f32()), f32()), label="scalar"),
        Case(op, (Resource(f32(0)), f32(0)), label="empty"),
        Case(op, (Resource(strings("a", "b")), strings("c", "")), label="strings"),
        Case(op, (Resource(f32(2), **UNSET), f32(2)), label="first value"),
        Case(op, (loose, f32(2)), strict, label="any shape"),
        Case(op, (partial, f32(2)), label="any size"),
        Case(op, (partial, f32(2, 2)), label="another rank", fails=True),
        Case(op, (Resource(f32(2)), f32(3)), label="shapes differ", fails=True),
        Case(op, (Resource(f32(2)), f32(3)), strict, label="shapes must not differ", fails=True),
        Case(op, (Resource(f32(2)), f64(2)), label="types differ", fails=True),
    ]


def _sums(op: str) -> list[Case]:
    square = Resource(f32(3, 3))
    read = Made("ReadVariableOp", (square,), {"dtype": "float32"})
    turned = Made("Transpose", (read, array([1, 0], "int32")))
    return [
        Case(op, (Resource(f32(2, 3)), f32(2, 3))),
        Case(op, (Resource(f64(2)), f64(2))),
        Case(op, (Resource(f16(3)), f16(3))),
        Case(op, (Resource(bf16(3)), bf16(3))),
        Case(op, (Resource(i64(0, 9, 3)), i64(0, 9, 3))),
        Case(op, (Resource(c64(2)), c64(2))),
        Case(op, (Resource(ints("uint8", 0, 200, 3)), ints("uint8", 0, 200, 3))),
        Case(op, (Resource(f32()), f32()), label="scalar"),
        Case(op, (square, read), label="itself"),
        Case(op, (square, turned), label="itself transposed"),
        Case(op, (Resource(f32(2, 3)), f32(3)), label="not broadcast", fails=True),
        Case(op, (Resource(f32(2), **UNSET), f32(2)), label="uninitialized", fails=True),
    ]


def _counts(dtype: str) -> list[Case]:
    attrs = {"limit": 5, "T": dtype}
    return [
        Case("ResourceCountUpTo", (Resource(array(3, dtype)),), attrs),
        Case("ResourceCountUpTo", (Resource(array(5, dtype)),), attrs, label=dtype, fails=True),
    ]


def _reads() -> list[Case]:
    op, attrs = "ResourceGather", {"dtype": "float32"}
    loose = Made("VarHandleOp", (), {"shape": None, "dtype": "float32", "shared_name": "l"})
    first = Made("AssignVariableOp", (loose, f32(4, 3)))
    batched = {"batch_dims": 1, **attrs}
    unset = Resource(f32(3), **UNSET)
    return [
        Case(op, (Resource(f32(5, 3)), i32(0, 5, 4)), attrs, grad=(0,)),
        Case(op, (Resource(f64(5, 2)), i64(0, 5, 2, 3)), {"dtype": "float64"}, grad=(0,)),
        Case(op, (Resource(f32(5)), array(3, "int32")), attrs, label="one", grad=(0,)),
        Case(op, (Resource(f32(5, 3)), i32(0, 5, 0)), attrs, label="none", grad=(0,)),
        Case(op, (Resource(strings("a", "b")), i32(0, 2, 3)), {"dtype": "string"}),
        Case(op, (Resource(i32(0, 9, 4, 2)), i32(0, 4, 3)), {"dtype": "int32"}),
        Case(op, (loose, i32(0, 4, 2)), attrs, after=(first,), label="unknown rank"),
        Case(op, (Resource(f32(2, 4, 3)), i32(0, 4, 2, 5)), batched, grad=False),
        Case(op, (Resource(f32(3)), array([0, 3], "int32")), attrs, label="beyond", fails=True),
        Case(op, (Resource(f32(3)), array([-1], "int32")), attrs, label="before", fails=True),
        Case(op, (unset, i32(0, 3, 2)), attrs, label="uninitialized", fails=True),
        Case(op, (Resource(f32(3)), i32(0, 3, 1)), {"dtype": "int32"}, label="type", fails=True),
        *_reads_of_slices(),
    ]


def _reads_of_slices() -> list[Case]:
    op, attrs = "ResourceGatherNd", {"dtype": "float32"}
    pairs = array([[0, 1], [2, 0]], "int32")
    return [
        Case(op, (Resource(f32(3, 2)), pairs), attrs, grad=(0,)),
        Case(op, (Resource(f32(3, 2, 2)), pairs), attrs, grad=(0,)),
        Case(op, (Resource(f32(3, 2)), array([[2], [2]], "int64")), attrs, grad=(0,)),
        Case(op, (Resource(f32(3, 2)), i32(0, 3, 2, 2, 1)), attrs, grad=(0,)),
        Case(op, (Resource(f32(3)), array([1], "int32")), attrs, label="one", grad=False),
        Case(op, (Resource(f32(3)), i32(0, 3, 0, 1)), attrs, label="none", grad=(0,)),
        Case(op, (Resource(strings("a", "b")), array([[1]], "int32")), {"dtype": "string"}),
        Case(op, (Resource(f32(3, 2)), array([[0, 2]], "int32")), attrs, label="far", fails=True),
        Case(op, (Resource(f32(3)), array([[0, 0]], "int32")), attrs, label="deep", fails=True),
    ]


def _behind_handle(case: Case) -> Case:
    """A case of an update by reference, for the same variable behind a handle."""
    attrs: dict[str, Any] = dict(case.attrs)
    if "Nd" not in case.op:
        attrs.pop("use_locking", None)
    inputs = tuple(
        Resource(value.value, value.initialized) if isinstance(value, Ref) else value
        for value in case.inputs
    )
    return Case(f"Resource{case.op}", inputs, attrs, case.label, fails=case.fails)


CASES = [
    *_handles(),
    *_assignments(),
    *_sums("AssignAddVariableOp"),
    *_sums("AssignSubVariableOp"),
    *_counts("int32"),
    *_counts("int64"),
    *_reads(),
    Case(
        "ResourceScatterDiv",
        (Resource(f32(3)), array([0, 1], "int32"), array([2, 0], "float32")),
        label="by zero",
        fails=True,
    ),
    *[_behind_handle(case) for case in state.CASES if case.op.startswith("Scatter")],
]
