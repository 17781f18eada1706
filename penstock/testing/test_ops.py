"""`tensorflow.python.framework.test_ops`: op types that only tests of graphs use.

They have signatures and, with few exceptions (`test_kernels`), no kernels. They are registered when
this module is first imported, which no program does.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock import dtypes
from penstock.internal_paths import generated_ops
from penstock.internal_paths.op_def_library import OpDefLibrary
from penstock.ir.registry import OpSpec, Trait, attr, op
from penstock.platform.versions import GRAPH_DEF_VERSION

_WORDS = (dtypes.string, dtypes.bool)
_AT_LEAST_NONE = attr("int", minimum=0)
_AT_LEAST_TWO = attr("int", minimum=2)
_ANY_TYPES = attr("list(type)", minimum=0)

_PLAIN = """
    A() -> out: float32
    B() -> out: float32
    Foo1(a: float32, b: int32, c: int32) -> d: float32, e: int32
    Foo2(a: float32, b: string, c: string) -> d: float32, e: int32
    Foo3(a: float32, b: string, c: float32) -> d: float32, e: int32
    CopyOp(a: T) -> b: T
    None()
    IntOutput() -> a: int32
    Int64Output() -> out: int64
    RefOutput() -> a: &int32
    FloatOutput() -> a: float32
    TwoFloatOutputs() -> a: float32, b: float32
    FiveFloatOutputs() -> a: float32, b: float32, c: float32, d: float32, e: float32
    RefOutputFloatOutput() -> a: &float32, b: float32
    RefInputFloatInput(a: &float32, b: float32)
    IntInput(a: int32)
    IntInputIntOutput(a: int32) -> b: int32
    FloatInput(a: float32)
    TwoIntOutputs() -> a: int32, b: int32
    IntOutputFloatOutput() -> a: int32, b: float32
    FloatOutputStringOutput() -> a: float32, b: string
    TwoIntInputs(a: int32, b: int32)
    TwoFloatInputs(a: float32, b: float32)
    IntInputFloatInput(a: int32, b: float32)
    RefInputIntInput(a: &int32, b: int32)
    TwoFloatInputsFloatOutput(a: float32, b: float32) -> c: float32
    TwoFloatInputsIntOutput(a: float32, b: float32) -> c: int32
    RefInputFloatInputIntOutput(a: &float32, b: float32) -> c: int32
    ListInput(a: N*T)
    ListOutput() -> a: *T
    Unary(a: T) -> b: T
    OpWithFutureDefaultAttr()
    Simple(a: int32) -> out: float32
    OutT() -> a: T
    ReservedInput(input: int32)
    Polymorphic(a: T) -> out: T
    PolymorphicOut() -> out: T
    Binary(a: T, b: T) -> out: T
    RefIn(a: &T)
    TwoRefsIn(a: &T, b: &T)
    RefOut() -> a: &T
    TestStringOutput(input: float32) -> output1: float32, output2: string
"""


def _scalar(spec: OpSpec) -> OpSpec:
    spec.shape(lambda op, *inputs: ())
    return spec


_one = np.array(1, np.int32)
_SPECS: tuple[OpSpec, ...] = (
    *(op(line) for line in _PLAIN.split("\n") if line.strip()),
    _scalar(op("KernelLabel() -> result: string")),
    _scalar(op("GraphDefVersion() -> version: int32", Trait.STATEFUL)),
    op("ResourceCreateOp(resource: resource)", Trait.STATEFUL),
    op("ResourceUsingOp(resource: resource)", Trait.STATEFUL),
    _scalar(op("ResourceInitializedOp(resource: resource) -> initialized: bool", Trait.STATEFUL)),
    _scalar(op("DevicePlacementOp() -> device: string", Trait.STATEFUL)),
    op(
        "StubResourceHandleOp() -> resource: resource", Trait.STATEFUL, container="", shared_name=""
    ),
    op("TestAttr() -> out: T", Trait.STATEFUL, T=(dtypes.float32, dtypes.float64)),
    op("OpWithDefaultAttr() -> a: int32", default_float=123.0),
    op("IntAttr() -> out: int64", foo=1),
    op("StringListAttr()", a=attr("list(string)"), b=attr("string")),
    op(
        "DefaultAttrs()",
        string_val="abc",
        string_list_val=attr("list(string)", ["abc", ""]),
        int_val=123,
        int_list_val=attr("list(int)", [1, 2, 3]),
        float_val=10.0,
        float_list_val=attr("list(float)", [10.0]),
        bool_val=True,
        bool_list_val=attr("list(bool)", [True, False]),
        type_val=dtypes.int32,
        type_list_val=attr("list(type)", [dtypes.int32, dtypes.float32]),
        shape_val=attr("shape", (2, 1)),
        shape_list_val=attr("list(shape)", [(), (1,)]),
        tensor_val=attr("tensor", _one),
        tensor_list_val=attr("list(tensor)", [_one]),
    ),
    op("FuncAttr()", f=attr("func")),
    op("FuncListAttr()", f=attr("list(func)")),
    op("PolymorphicDefaultOut() -> out: T", T=dtypes.string),
    op("Restrict(a: T) -> out: T", T=_WORDS),
    op("TypeList(a: *T)", T=_ANY_TYPES),
    op("TypeListTwice(a: *T, b: *T)", T=_ANY_TYPES),
    op("OutTypeList() -> out: *T", T=_ANY_TYPES),
    op("TypeListRestrict(a: *T)", T=attr("list(type)", allowed=_WORDS, minimum=1)),
    op("OutTypeListRestrict() -> out: *t", t=attr("list(type)", allowed=_WORDS, minimum=1)),
    op("Attr()", a=attr("int")),
    op("AttrFloat()", a=attr("float")),
    op("AttrBool()", a=attr("bool")),
    op("AttrBoolList()", a=attr("list(bool)")),
    op("AttrMin()", a=attr("int", minimum=5)),
    op("AttrListMin()", a=attr("list(int)", minimum=2)),
    op("AttrEnum()", a=attr("string", allowed=("apples", "oranges"))),
    op("AttrEnumList()", a=attr("list(string)", allowed=("apples", "oranges"))),
    op("AttrShape()", a=attr("shape")),
    op("AttrShapeList()", a=attr("list(shape)")),
    op("AttrPartialShape()", a=attr("shape")),
    op("AttrPartialShapeList()", a=attr("list(shape)")),
    op("AttrDefault()", a="banana"),
    op("AttrListDefault()", a=attr("list(int)", [5, 15])),
    op("AttrEmptyListDefault()", a=attr("list(float)", [])),
    op("ReservedAttr()", range=attr("int")),
    op("AttrTypeDefault(a: T)", T=dtypes.int32),
    op("AttrListTypeDefault(a: N*T, b: N*T)", T=dtypes.int32, N=attr("int", minimum=1)),
    op("NIntsIn(a: N*int32)", N=_AT_LEAST_TWO),
    op("NPolymorphicIn(a: N*T)", T=attr("type"), N=_AT_LEAST_TWO),
    op("NPolymorphicRestrictIn(a: N*T)", T=_WORDS, N=_AT_LEAST_TWO),
    op("NInTwice(a: N*int32, b: N*string)", N=_AT_LEAST_NONE),
    op("NInPolymorphicTwice(a: N*T, b: N*T)", T=attr("type"), N=_AT_LEAST_NONE),
    op("NInTwoTypeVariables(a: N*S, b: N*T)", S=attr("type"), T=attr("type"), N=_AT_LEAST_NONE),
    op("InPolymorphicTwice(a: N*T, b: M*T)", T=dtypes.int32, N=_AT_LEAST_NONE, M=_AT_LEAST_NONE),
    op("NIntsOut() -> a: N*int32", N=_AT_LEAST_TWO),
    op("NIntsOutDefault() -> a: N*int32", N=attr("int", 3, minimum=2)),
    op("NPolymorphicOut() -> a: N*T", T=attr("type"), N=_AT_LEAST_TWO),
    op("NPolymorphicOutDefault() -> a: N*T", T=dtypes.bool, N=attr("int", 2, minimum=2)),
    op("NPolymorphicRestrictOut() -> a: N*T", T=_WORDS, N=_AT_LEAST_TWO),
    op("SimpleStruct() -> a: n_a*int32", n_a=_AT_LEAST_NONE),
    op("MixedStruct() -> a: n_a*int32, b: float32", n_a=_AT_LEAST_NONE),
    op(
        "ComplexStruct() -> a: n_a*int32, b: n_b*int64, c: *t_c",
        n_a=_AT_LEAST_NONE,
        n_b=_AT_LEAST_NONE,
        t_c=_ANY_TYPES,
    ),
)

_kernel_label_required = op("KernelLabelRequired(input: int32) -> result: string")


@_kernel_label_required.shape
def _(op: Any, given: Any) -> Any:
    if given is not None and len(given) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(given)}")
    return ()


_old = op("Old()")


@_old.shape
def _(op: Any) -> Any:
    version = op.graph.graph_def_versions.producer
    if version >= 8:
        raise NotImplementedError(
            f"Op Old is not available in GraphDef version {version}. It has been removed in "
            "version 8. For reasons."
        )
    return []


_requires_older = op("RequiresOlderGraphVersion() -> version: int32", Trait.STATEFUL)


@_requires_older.shape
def _(op: Any) -> Any:
    if op.graph.graph_def_versions.producer != GRAPH_DEF_VERSION - 1:
        raise ValueError("Wrong graph version for shape")
    return ()


importlib.import_module("penstock.testing.test_kernels")

_op_def_lib = OpDefLibrary()
_OP_TYPES = {
    generated_ops.snake_case(spec.name): spec.name
    for spec in (*_SPECS, _kernel_label_required, _old, _requires_older)
}


def __getattr__(name: str) -> Callable[..., Any]:
    op_type = name if name in _OP_TYPES.values() else _OP_TYPES.get(name)
    if op_type is None:
        raise AttributeError(f"there is no op type for tests of which {name!r} is the function")
    return generated_ops._function(op_type)


def __dir__() -> list[str]:
    return sorted(_OP_TYPES)
